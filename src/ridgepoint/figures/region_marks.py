"""The points of regions in a picture: discs as large as their share of the time, with names."""

from __future__ import annotations

import math

from ridgepoint.figures.key import pale
from ridgepoint.figures.labels import Box, Room
from ridgepoint.figures.plane import Program, RegionPoint, RooflineFigure
from ridgepoint.figures.sheet import Sheet

# How much a label loses by lying on the line below a point of unknown time.
_STEM_COST = 1
# Areas of discs, in those of a program's marker: of no share of the time, and what all of it adds.
_SMALLEST = 0.36
_GROWTH = 1.6


def draw_regions(program: Program, ink: str, sheet: Sheet, room: Room) -> None:
    """Draw the points of a program's regions: discs, or hollow ones where the time is unknown."""
    for region in program.regions:
        point, size = region.point, _size(region, sheet)
        x, y = sheet.at(point.at)
        if not region.is_timed:
            bottom = (point.at[0], sheet.axes.get_ylim()[0])
            sheet.axes.plot(*zip(bottom, point.at, strict=True), color=ink, linewidth=0.7,
                            linestyle=(0, (1, 1.5)), zorder=2.5)  # fmt: skip
            room.lines.append(((sheet.at(bottom), (x, y)), _STEM_COST))
        sheet.axes.errorbar(
            *point.at,
            yerr=[[point.at[1] - point.low], [point.high - point.at[1]]],
            fmt=">" if point.is_infinite else "o",
            color=ink,
            markerfacecolor=pale(ink) if region.is_timed else "white",
            markersize=size,
            markeredgewidth=0.9,
            elinewidth=0.9,
            zorder=4.7,
            clip_on=False,
        )
        low, high = (sheet.at((point.at[0], value))[1] for value in (point.low, point.high))
        low, high = min(low, y - size / 2), max(high, y + size / 2)
        room.taken.append(Box(centre=(x, (low + high) / 2), width=size, height=high - low))


def name_regions(
    figure: RooflineFigure, index: int, ink: str, sheet: Sheet, room: Room
) -> list[str]:
    """Write the names of a program's regions beside their points; return those without room."""
    program, left_out = figure.programs[index], []
    for region in program.regions:
        text = figure.region_label(program, region)
        box = room.place(_places(text, region, sheet))
        if box is None:
            left_out.append(text)
        else:
            sheet.label(text, box, colour=ink, size=sheet.small)
    return left_out


def _size(region: RegionPoint, sheet: Sheet) -> float:
    """Return the diameter of a region's disc."""
    return sheet.marker * math.sqrt(_SMALLEST + _GROWTH * (region.share or 0.0))


def _places(text: str, region: RegionPoint, sheet: Sheet) -> list[Box]:
    """Return places for a text around a point: beside it, then above, below and aslant."""
    x, y = sheet.at(region.point.at)
    width, height = sheet.text_width(text, sheet.small) + 2, sheet.small * 1.15
    clear = _size(region, sheet) / 2 + 2
    beside, upright = clear + width / 2, clear + height / 2
    turns = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
    return [
        Box(
            centre=(x + right * (beside if up == 0 else width / 2), y + up * (upright + farther)),
            width=width,
            height=height,
        )
        for farther in (0.0, height * 0.8)
        for right, up in turns
        if up or not farther
    ]
