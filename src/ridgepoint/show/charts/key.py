"""What stands above and below a drawn roofline: its title, its key, its notes."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.resources import RESOURCES
from ridgepoint.show.charts.plane import Plane, RegionPoint, RidgeMark, RooflineFigure
from ridgepoint.show.charts.sheet import INK, Rgb, Sheet
from ridgepoint.show.words import shown_name

# Okabe and Ito's palette, told apart by readers of every colour vision; yellow and black, which
# vanish on white and among the roofs, are left out.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
CAP = "_"
"""Marker of what bounds a program."""
ALARM = "#B00020"
"""Colour of what cannot be: a point above its roof."""
MARKERS = {"dram": "o", "l3": "D", "l2": "s", "l1": "^"}
"""Marker of a point over the traffic of each level."""

_NOTE = "#555555"
# How much of a colour is left in a pale one.
_PALE = 0.25


def colour(index: int) -> str:
    """Return the colour of a program."""
    return _COLOURS[index % len(_COLOURS)]


def pale(ink: str) -> Rgb:
    """Return a colour, mixed with white: the face of a region's point."""
    parts = (int(ink[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (1 - (1 - part) * _PALE for part in parts)
    return red, green, blue


def ridge_note(ridges: Sequence[RidgeMark]) -> str:
    """Return every ridge point in one sentence."""
    several = len({ridge.precision for ridge in ridges}) > 1
    named = (
        f"{shown_name(r.level)}{f' {r.precision}' if several else ''} {r.label}" for r in ridges
    )
    units = dict.fromkeys(f"{RESOURCES[ridge.precision].unit}/byte" for ridge in ridges)
    return f"ridge points [{' '.join(units)}]: {', '.join(named)}"


def draw_title(figure: Plane, sheet: Sheet) -> float:
    """Write title and subtitle above the axes; return the points that they need."""
    large, small = sheet.font * 1.15, sheet.small
    lines = [
        *((line, large, "bold") for line in sheet.wrapped(figure.title, size=large * 1.1)),
        *((line, small, "normal") for line in sheet.wrapped(figure.subtitle, size=small)),
    ]
    offset = sheet.font * 0.9
    for line, size, weight in reversed(lines):
        sheet.row(line, below=-sheet.height - offset, size=size, weight=weight)
        offset += size * 1.35
    return offset


def draw_key(figure: RooflineFigure, sheet: Sheet, left_out: Sequence[str]) -> float:
    """Write the key and the notes below the axes; return the points that they need.

    Parameters
    ----------
    figure : RooflineFigure
    sheet : Sheet
    left_out : sequence of str
        Labels for which there was no room on the plane.
    """
    offset = sheet.font * 4.3
    if figure.levels:
        _draw_levels(figure, sheet, offset)
        offset += sheet.font * 1.4
    for index in range(len(figure.programs)):
        offset = _draw_program(figure, index, sheet, offset)
    if figure.attainable_note is not None:
        offset = _draw_attainable(figure, figure.attainable_note, sheet, offset)
    notes = list(figure.notes)
    if figure.levels:
        of_functions = any(p.kind == "function" for one in figure.programs for p in one.regions)
        sampled = "; of functions: 95 % intervals" if of_functions else ""
        notes.append(f"error bars: quartiles of performance{sampled}")
    shared = [region for program in figure.programs for region in program.regions if region.share]
    if shared:
        kinds = " and ".join(f"{kind}s" for kind in dict.fromkeys(one.kind for one in shared))
        notes.append(f"pale discs: {kinds}, the larger the more of the time they took")
    above = [part.name for one in figure.programs for part in one.regions if part.roof]
    if above:
        notes.append(f"red: above its roof, which is the bar below it ({', '.join(above)})")
    return draw_notes(notes, figure.ridges, sheet, offset, left_out=left_out)


def draw_notes(
    notes: Sequence[str],
    ridges: Sequence[RidgeMark],
    sheet: Sheet,
    offset: float,
    *,
    left_out: Sequence[str],
) -> float:
    """Write the small lines below the key, and return the height of all [points]."""
    said = [*notes]
    if left_out:
        said.append(f"not labelled for want of room: {'; '.join(left_out)}")
    if ridges:
        said.append(ridge_note(ridges))
    for note in said:
        for line in sheet.wrapped(note, size=sheet.small):
            sheet.row(line, below=offset, colour=_NOTE, size=sheet.small)
            offset += sheet.small * 1.35
    return offset + sheet.font * 0.2


def _draw_levels(figure: RooflineFigure, sheet: Sheet, offset: float) -> None:
    """Write which marker stands for which level."""
    lead = "intensity over the traffic of"
    sheet.row(lead, below=offset)
    indent = sheet.text_width(lead, sheet.font) + sheet.font
    for level in figure.levels:
        name, filled = shown_name(level), level == "dram"
        sheet.sample(MARKERS[level], below=offset, indent=indent, colour=INK, filled=filled)
        sheet.row(name, below=offset, indent=indent + sheet.font * 1.2)
        indent += sheet.font * 2.4 + sheet.text_width(name, sheet.font)


def _draw_program(figure: RooflineFigure, index: int, sheet: Sheet, offset: float) -> float:
    """Write one program's rows; return where the next begin."""
    program, several = figure.programs[index], len(figure.programs) > 1
    indent = sheet.font * (1.6 + 0.8 * len(program.letter) if several else 1.2)
    if program.points or program.attainable:
        filled = bool(program.points)
        sheet.sample("o", below=offset, indent=0.0, colour=colour(index), filled=filled)
    if several:
        sheet.row(
            program.letter,
            below=offset,
            indent=sheet.font * 1.2,
            colour=colour(index),
            weight="bold",
        )
    text = f"{program.name}: {program.summary}" if program.summary else program.name
    for line in sheet.wrapped(text, indent=indent, size=sheet.font):
        sheet.row(line, below=offset, indent=indent)
        offset += sheet.font * 1.4
    for region in program.regions:
        offset = _draw_region(region, colour(index), sheet, below=offset, indent=indent)
    return offset


def _draw_region(
    region: RegionPoint, ink: str, sheet: Sheet, *, below: float, indent: float
) -> float:
    """Write one region's rows; return where the next begin."""
    face = pale(ink) if region.is_timed else None
    filled, size = region.is_timed, sheet.small
    sheet.sample("o", below=below, indent=indent, colour=ink, filled=filled, face=face)
    indent += sheet.font * 1.2
    for line in sheet.wrapped(f"{region.name}: {region.summary}", indent=indent, size=size):
        sheet.row(line, below=below, indent=indent, size=size)
        below += size * 1.4
    return below


def _draw_attainable(figure: RooflineFigure, note: str, sheet: Sheet, offset: float) -> float:
    """Write what the caps stand for; return where the next row begins."""
    marked = [index for index, program in enumerate(figure.programs) if program.is_capped]
    ink = colour(marked[0]) if len(marked) == 1 else INK
    sheet.sample(CAP, below=offset, indent=0.0, colour=ink, filled=True)
    for line in sheet.wrapped(note, indent=sheet.font * 1.2, size=sheet.font):
        sheet.row(line, below=offset, indent=sheet.font * 1.2)
        offset += sheet.font * 1.4
    return offset
