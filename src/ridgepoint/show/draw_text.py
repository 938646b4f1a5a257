"""Charts as text, for a terminal at the far end of ssh."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from ridgepoint.show.chart import Chart, Entry, Page
from ridgepoint.show.text_plane import SOLID, TextPlane, glyph_of, style_of
from ridgepoint.show.theme import STROKES

_SMALLEST = (40, 12)
_LINES = ("╌╌", "──")
"""Before the text of a line in the key: broken, and solid."""
_PLAIN = str.maketrans({
    "┬": "=", "●": "*", "○": "o", "■": "#", "□": "#", "▲": "^", "△": "^", "◆": "%", "◇": "%",
    "▼": "v", "▽": "v", "★": "*", "☆": "*", "─": "-", "╌": ".", "█": "#", "▒": "=", "░": ":",
    "…": "~", "–": "-", "−": "-", "×": "x", "µ": "u",
})  # fmt: skip
_RESET = "\x1b[0m"


def render(
    picture: Chart | Page, *, width: int = 80, height: int = 24, color: bool, ascii: bool = False
) -> str:
    """Return a picture as text.

    Parameters
    ----------
    picture : Chart or Page
    width, height : int
        Columns, and rows of each plane with its axes; titles, key and notes come on top. At
        least 40 and 12 are used.
    color : bool
        Whether to colour with ANSI escapes.
    ascii : bool
        Whether to use ASCII only, for encodings without braille.

    Returns
    -------
    str
        Lines of at most `width` columns; a newline at the end.
    """
    width, height = max(width, _SMALLEST[0]), max(height, _SMALLEST[1])
    if isinstance(picture, Chart):
        lines = _drawn(picture, width=width, height=height, color=color, ascii=ascii)
    else:
        lines = [
            *_wrapped((picture.title, picture.subtitle), width),
            *(
                line
                for chart in picture.charts
                for line in _drawn(chart, width=width, height=height, color=color, ascii=ascii)
            ),
            *_key(picture.key, width, color=color),
            *_wrapped(picture.notes, width, "  "),
        ]
    if ascii:
        lines = [line.translate(_PLAIN).encode("ascii", "replace").decode() for line in lines]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _drawn(chart: Chart, *, width: int, height: int, color: bool, ascii: bool) -> list[str]:
    """Return one chart: its title, its plane, its key, its notes."""
    plane = TextPlane.of(chart, width=width, height=height, ascii=ascii)
    above = chart.y.label
    if chart.right is not None:
        above += f"{chart.right.label:>{max(width - len(above), 2)}}"
    return [
        *_wrapped((chart.title, chart.subtitle, above), width),
        *plane.framed(color=color),
        *_wrapped(plane.unwritten(), width, "  "),
        *_key(chart.key, width, color=color),
        *_wrapped((*plane.hidden(), *chart.notes), width, "  "),
    ]


def _wrapped(texts: Iterable[str], width: int, indent: str = "") -> list[str]:
    """Return texts in lines of at most `width` columns; all but the first of each are indented."""
    return [line for text in texts for line in textwrap.wrap(text, width, subsequent_indent=indent)]


def _key(entries: Sequence[Entry], width: int, *, color: bool) -> list[str]:
    """Return the rows of a key; entries abreast share theirs."""
    rows = []
    for is_abreast, group in groupby(entries, key=lambda entry: entry.is_abreast):
        own = list(group)
        for shared in [own] if is_abreast else [[entry] for entry in own]:
            own_rows = _entry_rows(shared, width)
            rows += _coloured(own_rows, shared) if color and own_rows else own_rows
    return rows


def _entry_rows(entries: Sequence[Entry], width: int) -> list[str]:
    """Return one entry, or several one after the other; what ends in a colon leads the next."""
    if len(entries) == 1 and not entries[0].is_abreast:
        entry, sample = entries[0], _sample(entries[0])
        indent, gap = ("   ", 2) if entry.is_part else ("", 3)
        text = f"{sample:<{gap - 1}} {entry.text}" if sample else entry.text
        return [indent + row for row in _wrapped((text,), width - len(indent), " " * gap)]
    text = ""
    for entry in entries:
        text += "" if not text else " " if text.endswith(":") else "; "
        text += f"{_sample(entry)} {entry.text}".strip()
    return _wrapped((text,), width, "  ")


def _sample(entry: Entry) -> str:
    """Return what stands before the text of an entry; empty: nothing."""
    if entry.glyph or entry.lead:
        return entry.glyph or entry.lead
    if entry.line is not None and entry.line != "points":
        return _LINES[entry.line in SOLID]
    return glyph_of(entry.shape or "none", entry.face)


def _coloured(rows: list[str], entries: Sequence[Entry]) -> list[str]:
    """Return rows in which every sample has its ink."""
    text = "\n".join(rows)
    for entry in entries:
        sample, ink = _sample(entry), entry.ink
        if ink is None and entry.line is not None:
            ink = STROKES[entry.line].ink
        style = "" if ink is None else style_of(ink, bold=True)
        if not sample or not style:
            continue
        # A row may end between any two words.
        words = (re.escape(word) for word in entry.text.split())
        place = re.search(r"\s+".join((re.escape(sample), *words)), text)
        assert place is not None
        end = place.start() + len(sample)
        text = f"{text[: place.start()]}{style}{sample}{_RESET}{text[end:]}"
    return text.split("\n")
