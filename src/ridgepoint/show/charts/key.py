"""What stands above and below a drawn roofline: its title, its key, its notes."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.resources import RESOURCES
from ridgepoint.show.charts.plane import Plane, RidgeMark
from ridgepoint.show.charts.sheet import Rgb, Sheet
from ridgepoint.show.words import shown_name

# Okabe and Ito's palette, told apart by readers of every colour vision; yellow and black, which
# vanish on white and among the roofs, are left out.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

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
