"""Figures as text, for a terminal at the far end of ssh."""

from __future__ import annotations

import math
import textwrap

from ridgepoint.figures.canvas import Canvas, Cell
from ridgepoint.figures.key import ridge_note
from ridgepoint.figures.plane import Coordinates, Program, RoofLine, RooflineFigure
from ridgepoint.figures.words import shown_name

_SMALLEST = (40, 12)
_TICK_COLUMNS = 7
_STYLES = {"outer": "\x1b[1m", "lower": "\x1b[2m", "beside": "\x1b[2m"}
_INKS = tuple(f"\x1b[1;{code}m" for code in (34, 31, 32, 35, 33, 36))
_RESET = "\x1b[0m"
# Unlike any stroke of a roof, in braille and (as "=") in ASCII.
_CAP = "┬"
_PLAIN = str.maketrans({_CAP: "=", "…": "~", "–": "-", "−": "-", "×": "x", "µ": "u"})


def render(
    figure: RooflineFigure, *, width: int = 80, height: int = 24, color: bool, ascii: bool = False
) -> str:
    """Return a roofline as text.

    Parameters
    ----------
    figure : RooflineFigure
    width, height : int
        Columns, and rows of the plane with its axes; titles, key and notes come on top. At
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
    canvas = Canvas(columns=width - _TICK_COLUMNS - 2, rows=height - 3, ascii=ascii)
    for roof in figure.roofs:
        ends = _fractions(figure, roof.start), _fractions(figure, roof.end)
        canvas.line(*ends, dashed=roof.role != "outer", style=_STYLES[roof.role])
    hidden = _put_points(figure, canvas)
    _put_caps(figure, canvas)
    for roof in figure.roofs:
        if roof.role != "beside":
            _label(roof, figure, canvas)
    lines = [
        *_wrapped(figure.title, width),
        *_wrapped(figure.subtitle, width),
        f"{figure.y_label}",
        *_framed(figure, canvas, color),
        *_key(figure, hidden, width, color),
    ]
    if ascii:
        lines = [_to_ascii(line) for line in lines]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _to_ascii(line: str) -> str:
    return line.translate(_PLAIN).encode("ascii", "replace").decode("ascii")


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent)


def _fractions(figure: RooflineFigure, place: Coordinates) -> Coordinates:
    """Return a place on the plane in fractions from its lower left corner."""
    limits = (figure.x_limits, figure.y_limits)
    x, y = (
        math.log10(value / low) / math.log10(high / low)
        for value, (low, high) in zip(place, limits, strict=True)
    )
    return x, y


def _put_points(figure: RooflineFigure, canvas: Canvas) -> dict[str, str]:
    """Write every program's letter at each of its points, small for the caches.

    Return the letters that lie under others, by the letter that hides them.
    """
    owners: dict[Cell, str] = {}
    hidden: dict[str, str] = {}
    # Points at DRAM come first: a cell belongs to the first that claims it.
    marks = [
        (point.level != "dram", index, program.letter, point)
        for index, program in enumerate(figure.programs)
        for point in program.points
    ]
    for is_cache, index, letter, point in sorted(marks, key=lambda mark: mark[:2]):
        mark = letter.lower() if is_cache else letter
        row, column = canvas.cell(_fractions(figure, point.at))
        cell = (row, min(column, canvas.columns - len(mark)))
        owner = owners.setdefault(cell, letter)
        if owner == letter and canvas.is_bare(*cell, mark):
            canvas.write(*cell, mark, style=_INKS[index % len(_INKS)])
        elif owner != letter and not is_cache:
            hidden[letter] = owner
    return hidden


def _put_caps(figure: RooflineFigure, canvas: Canvas) -> None:
    """Mark what bounds every program, where no letter stands."""
    for index, program in enumerate(figure.programs):
        if program.attainable is not None:
            cell = canvas.cell(_fractions(figure, program.attainable.at))
            if canvas.is_bare(*cell, _CAP):
                canvas.write(*cell, _CAP, style=_INKS[index % len(_INKS)])


def _label(roof: RoofLine, figure: RooflineFigure, canvas: Canvas) -> None:
    """Write a roof's label where it fits: horizontal ones at the right, others on the line."""
    left, right = (
        canvas.cell(_fractions(figure, roof.start)),
        canvas.cell(_fractions(figure, roof.end)),
    )
    places: list[Cell]
    if roof.is_diagonal:
        text = shown_name(roof.resource)
        places = _along(left, right, len(text))
    else:
        text = roof.label
        at = canvas.columns - len(text)
        places = [(left[0] - 1, at), (left[0], at), (left[0] + 1, at)]
    free = [place for place in places if canvas.is_free(*place, text)]
    if free:
        best = min(free, key=lambda place: canvas.strokes_under(place[0], place[1], text))
        chosen = free[0] if roof.is_diagonal else best
        canvas.write(*chosen, text, style=_STYLES[roof.role])


def _along(left: Cell, right: Cell, length: int) -> list[Cell]:
    """Return places centred on a rising line, from its lower end."""
    rise, run = left[0] - right[0], max(right[1] - left[1], 1)
    return [
        (round(left[0] - rise * step / run), left[1] + step - length // 2)
        for step in range(length, run)
    ]


def _framed(figure: RooflineFigure, canvas: Canvas, color: bool) -> list[str]:
    """Return the canvas with its axes and ticks."""
    ticks = {
        canvas.cell(_fractions(figure, (figure.x_limits[0], y)))[0]: t for y, t in figure.y_ticks
    }
    corner, rule, post, tick = ("+", "-", "|", "+") if canvas.ascii else ("└", "─", "│", "┤")
    rows = [
        f"{ticks.get(number, ''):>{_TICK_COLUMNS}} {tick if number in ticks else post}{line}"
        for number, line in enumerate(canvas.lines(color=color))
    ]
    below = [" "] * (canvas.columns + _TICK_COLUMNS + 2)
    for x, text in figure.x_ticks:
        at = canvas.cell(_fractions(figure, (x, figure.y_limits[0])))[1] + _TICK_COLUMNS + 2
        start = min(at - len(text) // 2, len(below) - len(text))
        if all(mark == " " for mark in below[max(start - 1, 0) : start + len(text) + 1]):
            below[start : start + len(text)] = text
    axis = " " * (_TICK_COLUMNS + 1) + corner + rule * canvas.columns
    return [*rows, axis, "".join(below), f"{figure.x_label:>{len(below)}}"]


def _key(figure: RooflineFigure, hidden: dict[str, str], width: int, color: bool) -> list[str]:
    """Return the key: roofs on diagonals, programs by letter, notes."""
    slopes = [roof.label for roof in figure.roofs if roof.is_diagonal and roof.role == "outer"]
    beside = [roof.label for roof in figure.roofs if roof.role == "beside"]
    lines = _wrapped("; ".join(slopes), width, "  ")
    if beside:
        lines += _wrapped(f"dotted beside: {'; '.join(beside)}", width, "  ")
    for index, program in enumerate(figure.programs):
        ink = _INKS[index % len(_INKS)] if color else ""
        lines += _program_rows(program, width, ink)
    if figure.attainable_note is not None:
        lines += _wrapped(f"{_CAP}  {figure.attainable_note}", width, "   ")
    levels = [shown_name(level) for level in figure.levels if level != "dram"]
    if levels:
        capital = "capital: intensity over DRAM traffic; " if "dram" in figure.levels else ""
        lines += _wrapped(f"{capital}small: over {', '.join(levels)} traffic", width, "  ")
    for letter, owner in hidden.items():
        lines.append(f"{letter}: its point lies under {owner}")
    for note in (*figure.notes, *([ridge_note(figure.ridges)] if figure.ridges else [])):
        lines += _wrapped(note, width, "  ")
    return lines


def _program_rows(program: Program, width: int, ink: str) -> list[str]:
    text = f"{program.name}: {program.summary}" if program.summary else program.name
    rows = _wrapped(f"{program.letter}  {text}", width, "   ")
    if ink:
        rows[0] = f"{ink}{program.letter}{_RESET}{rows[0][len(program.letter) :]}"
    return rows
