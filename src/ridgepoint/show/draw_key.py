"""What stands above and below drawn axes: title, key, notes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby

from ridgepoint.show import theme
from ridgepoint.show.chart import Entry
from ridgepoint.show.sheet import MARKERS, Sheet, colour_of, faced, stroke_of
from ridgepoint.show.text_size import text_width, wrapped

_ABOVE_AXES = 0.9
_NOTE_ROW = 1.35


def draw_title(title: str, subtitle: str, sheet: Sheet, *, scale: float = 1.15) -> float:
    """Write title and subtitle above the axes; return the points that they need."""
    offset = sheet.font * _ABOVE_AXES
    for row, size, is_bold in reversed(_title_rows(title, subtitle, sheet, scale)):
        sheet.rows(row, below=-sheet.height - offset, size=size, is_bold=is_bold)
        offset += size * _NOTE_ROW
    return offset


def title_height(title: str, subtitle: str, sheet: Sheet, *, scale: float = 1.15) -> float:
    """Return the points that title and subtitle need above the axes."""
    rows = _title_rows(title, subtitle, sheet, scale)
    return sheet.font * _ABOVE_AXES + sum(size * _NOTE_ROW for _, size, _ in rows)


def _title_rows(
    title: str, subtitle: str, sheet: Sheet, scale: float
) -> list[tuple[str, float, bool]]:
    """Return the rows of a title, each with its size and whether it is bold."""
    large, small = sheet.font * scale, sheet.small
    # Bold letters are wider.
    rows = [
        *((row, large, True) for row in wrapped(title, sheet.width * 0.9, large)),
        *((row, small, False) for row in wrapped(subtitle, sheet.width, small)),
    ]
    return [(row, size, is_bold) for row, size, is_bold in rows if row]


def draw_key(key: Sequence[Entry], sheet: Sheet, *, below: float) -> float:
    """Write the rows of a key, from so many points below the axes; return where the next begin."""
    for is_abreast, entries in groupby(key, key=lambda entry: entry.is_abreast):
        if is_abreast:
            below = _draw_abreast(list(entries), sheet, below=below)
            continue
        for entry in entries:
            below = _draw_entry(entry, sheet, below=below, indent=0.0)
    return below


def _draw_abreast(entries: Sequence[Entry], sheet: Sheet, *, below: float) -> float:
    """Write entries in one row, or in columns of one width if there is no room for that."""
    gap = sheet.font * 1.2
    widths = [_begin(entry, sheet) + text_width(entry.text, sheet.font) + gap for entry in entries]
    if sum(widths) - gap <= sheet.width:
        columns, indents = len(entries), [0.0, *accumulate(widths)]
    else:
        columns = max(1, int((sheet.width + gap) // max(widths)))
        indents = [(sheet.width + gap) / columns * column for column in range(columns)]
    rows = [entries[at : at + columns] for at in range(0, len(entries), columns)]
    for row in rows:
        ends = [
            _draw_entry(entry, sheet, below=below, indent=indent)
            for entry, indent in zip(row, indents, strict=False)
        ]
        below = max(ends)
    return below


def draw_notes(
    notes: Sequence[str], left_out: Sequence[str], sheet: Sheet, *, below: float
) -> float:
    """Write the small rows below a key; return where what follows would begin."""
    rows = list(notes)
    if left_out:
        rows.append(f"not labelled for want of room: {'; '.join(dict.fromkeys(left_out))}")
    for note in rows:
        below = sheet.rows(note, below=below, colour=theme.NOTE, size=sheet.small)
    return below


def _begin(entry: Entry, sheet: Sheet) -> float:
    """Return where an entry's text begins, after its sample."""
    begin = sheet.font * 1.2 if entry.is_part else 0.0
    if entry.line is not None and entry.line != "points":
        begin += sheet.font * 2.3
    elif entry.shape is not None:
        begin += sheet.font * 1.2
    if entry.lead:
        begin += text_width(entry.lead, sheet.font, is_bold=True) + sheet.font * 0.4
    return begin


def _draw_entry(entry: Entry, sheet: Sheet, *, below: float, indent: float) -> float:
    """Draw the sample and write the text of an entry; return where the next row begins."""
    begin = indent + _begin(entry, sheet)
    size = sheet.small if entry.is_part else sheet.font
    _draw_sample(entry, sheet, below=below, indent=indent + sheet.font * 1.2 * entry.is_part)
    if entry.lead:
        width = text_width(entry.lead, sheet.font, is_bold=True) + sheet.font * 0.4
        colour = theme.hex_of("ink" if entry.ink is None else entry.ink)
        sheet.rows(entry.lead, below=below, indent=begin - width, colour=colour, is_bold=True)
    return sheet.rows(entry.text, below=below, indent=begin, size=size)


def _draw_sample(entry: Entry, sheet: Sheet, *, below: float, indent: float) -> None:
    """Draw a piece of the line and the shape that an entry speaks of."""
    height = -below / sheet.height
    transform = sheet.axes.transAxes
    if entry.line is not None and entry.line != "points":
        ends = [(indent + sheet.font * far) / sheet.width for far in (0.0, 1.8)]
        if entry.has_band:
            half = sheet.font * 0.4 / sheet.height
            sheet.axes.fill_between(
                ends, height - half, height + half, transform=transform, clip_on=False,
                color=colour_of(entry.line, entry.ink), alpha=theme.BAND_ALPHA, linewidth=0,
            )  # fmt: skip
        style = stroke_of(entry.line, entry.ink)
        sheet.axes.plot(ends, (height, height), transform=transform, clip_on=False, **style)
        middle = indent + sheet.font * 0.9
    else:
        middle = indent + sheet.font * 0.4
    if entry.shape is not None and entry.shape != "none":
        colour = colour_of(entry.line or "path", entry.ink)
        look = faced(entry.face, colour) if entry.shape != "cap" else {"color": colour}
        sheet.axes.scatter(
            [middle / sheet.width], [height], s=sheet.marker**2, marker=MARKERS[entry.shape],
            linewidth=0.9, transform=transform, clip_on=False, zorder=5,
            **look,
        )  # fmt: skip
