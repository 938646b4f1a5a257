"""Roofs, their labels and their ridge points on matplotlib's axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ridgepoint.show.charts.plane import RidgeMark, RoofLine
from ridgepoint.show.charts.sheet import INK, Sheet
from ridgepoint.show.labels import Box, Room, along

_STYLES: dict[str, dict[str, Any]] = {
    "outer": {"color": INK, "linewidth": 1.3, "zorder": 2.2},
    "own": {"color": INK, "linewidth": 1.1, "linestyle": (0, (1, 1.2)), "zorder": 2.15},
    "lower": {"color": "#777777", "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 2.1},
    "beside": {"color": "#B0B0B0", "linewidth": 1.1, "zorder": 2.0},
}
_INKS = {"outer": INK, "own": INK, "lower": "#555555", "beside": "#777777"}
# How much a label loses by lying on a line.
_COSTS = {"outer": 3, "own": 2, "lower": 1, "beside": 1}


def draw_roofs(roofs: Sequence[RoofLine], sheet: Sheet, room: Room) -> None:
    """Draw every roof, which labels then avoid."""
    for roof in roofs:
        sheet.axes.plot(*zip(roof.start, roof.end, strict=True), **_STYLES[roof.role])
        room.lines.append(((sheet.at(roof.start), sheet.at(roof.end)), _COSTS[roof.role]))


def name_roofs(
    roofs: Sequence[RoofLine], ridges: Sequence[RidgeMark], sheet: Sheet, room: Room
) -> list[str]:
    """Label the roofs and mark the ridge points; return the labels for which there is no room."""
    # What limits most gets its label first, then the ridge points, then the rest.
    first = [roof for roof in roofs if _is_limit(roof)]
    left_out = _label_roofs(first, sheet, room)
    _mark_ridges(ridges, sheet, room)
    return left_out + _label_roofs([roof for roof in roofs if roof not in first], sheet, room)


def _is_limit(roof: RoofLine) -> bool:
    is_dram = roof.resource.startswith("dram")
    return roof.role == "outer" and (not roof.is_diagonal or is_dram)


def _label_roofs(roofs: Sequence[RoofLine], sheet: Sheet, room: Room) -> list[str]:
    """Write every roof's label on its line; return those for which there is no room."""
    left_out = []
    for roof in roofs:
        segment = (sheet.at(roof.start), sheet.at(roof.end))
        height = sheet.small * 1.2
        width = sheet.text_width(roof.label, sheet.small) + sheet.small
        box = None
        # Near its line or, where points are in the way, a little off it.
        for lift in (0.6, 1.2):
            places = along(
                segment,
                width=width,
                height=height,
                offsets=(height * lift, 0.0, -height * lift),
                from_right=not roof.is_diagonal,
            )
            box = box or room.place(places, own=segment)
        if box is None:
            left_out.append(roof.label)
        else:
            sheet.label(roof.label, box, colour=_INKS[roof.role], size=sheet.small)
    return left_out


def _mark_ridges(ridges: Sequence[RidgeMark], sheet: Sheet, room: Room) -> None:
    """Mark every ridge point, with its intensity where there is room."""
    size = sheet.small * 0.92
    several = len({ridge.precision for ridge in ridges}) > 1
    for ridge in reversed(ridges):
        sheet.axes.plot(*ridge.at, "o", color=INK, markersize=sheet.font * 0.3, zorder=3)
        if several and ridge.level != "dram":
            continue  # two rows of numbers would hide the roofs; the key has them all
        x, y = sheet.at(ridge.at)
        width = sheet.text_width(ridge.label, size) + 1
        middle = (x, y + size * 0.35 + width / 2)
        box = room.place([Box(centre=middle, width=width, height=size, angle=math.pi / 2)])
        if box is not None:
            sheet.label(ridge.label, box, colour=INK, size=size)
