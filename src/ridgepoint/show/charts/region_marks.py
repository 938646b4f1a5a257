"""The points of regions in a picture: discs as large as their share of the time, with names."""

from __future__ import annotations

import math

from ridgepoint.show.charts.key import ALARM, CAP, pale
from ridgepoint.show.charts.plane import Coordinates, Program, RegionPoint, RooflineFigure
from ridgepoint.show.charts.sheet import Sheet
from ridgepoint.show.labels import Box, Room, Segment

# How much a label loses by lying on the line below a point, and on that between it and its name.
_STEM_COST = 1
_LEAD_COST = 3
# Areas of discs, in those of a program's marker: of no share of the time, and what all of it adds.
_SMALLEST = 0.36
_GROWTH = 1.6
# Heights of a name that it may stand above or below its point.
_FARTHEST = 8


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
        if region.roof is not None:
            _draw_passed_roof(region, region.roof, sheet, room)
        sheet.axes.errorbar(
            *point.at,
            yerr=[[point.at[1] - point.low], [point.high - point.at[1]]],
            fmt=">" if point.is_infinite else "o",
            color=ink,
            markerfacecolor=pale(ink) if region.is_timed else "white",
            markersize=size,
            markeredgecolor=ink if region.roof is None else ALARM,
            markeredgewidth=0.9 if region.roof is None else 1.8,
            elinewidth=0.9,
            zorder=4.7,
            clip_on=False,
        )
        low, high = (sheet.at((point.at[0], value))[1] for value in (point.low, point.high))
        low, high = min(low, y - size / 2), max(high, y + size / 2)
        room.taken.append(Box(centre=(x, (low + high) / 2), width=size, height=high - low))


def _draw_passed_roof(region: RegionPoint, roof: Coordinates, sheet: Sheet, room: Room) -> None:
    """Draw the roof that a region is above as a cap below it, and a line up to its point."""
    sheet.axes.plot(*zip(roof, region.point.at, strict=True), color=ALARM, linewidth=1.2,
                    zorder=4.6)  # fmt: skip
    sheet.axes.plot(*roof, CAP, color=ALARM, markersize=sheet.marker * 1.6, markeredgewidth=1.6,
                    zorder=4.6)  # fmt: skip
    room.lines.append(((sheet.at(roof), sheet.at(region.point.at)), _LEAD_COST))


def name_regions(
    figure: RooflineFigure, index: int, ink: str, sheet: Sheet, room: Room
) -> list[str]:
    """Write the names of a program's regions beside their points; return those without room."""
    program, left_out = figure.programs[index], []
    names: list[Box] = []
    # From the top: lines from points to names then seldom cross.
    for region in sorted(program.regions, key=lambda region: -region.point.at[1]):
        text = figure.region_label(program, region)
        box = room.place(
            place
            for place in _places(text, region, sheet)
            if not any(name.meets(_lead(region, place, sheet)) for name in names)
        )
        if box is None:
            left_out.append(text)
            continue
        sheet.label(text, box, colour=ink, size=sheet.small)
        names.append(box)
        lead = _lead(region, box, sheet)
        if math.dist(*lead) > _clear(region, sheet) + 0.5:
            _draw_lead(lead, ink, sheet)
            room.lines.append((lead, _LEAD_COST))
    return left_out


def _lead(region: RegionPoint, box: Box, sheet: Sheet) -> Segment:
    """Return the shortest line from a point to its name."""
    x, y = sheet.at(region.point.at)
    (left, bottom), (right, top) = box.corners[0], box.corners[2]
    return (x, y), (min(max(x, left), right), min(max(y, bottom), top))


def _draw_lead(lead: Segment, ink: str, sheet: Sheet) -> None:
    across, up = zip(*((x / sheet.width, y / sheet.height) for x, y in lead), strict=True)
    axes = sheet.axes
    axes.plot(across, up, color=ink, linewidth=0.5, transform=axes.transAxes, zorder=2.6)


def _size(region: RegionPoint, sheet: Sheet) -> float:
    """Return the diameter of a region's disc."""
    return sheet.marker * math.sqrt(_SMALLEST + _GROWTH * (region.share or 0.0))


def _clear(region: RegionPoint, sheet: Sheet) -> float:
    """Return how far from the middle of a point a name may begin."""
    return _size(region, sheet) / 2 + 2


def _places(text: str, region: RegionPoint, sheet: Sheet) -> list[Box]:
    """Return places for a text: beside a point, above and below it, then farther away."""
    x, y = sheet.at(region.point.at)
    width, height = sheet.text_width(text, sheet.small) + 2, sheet.small * 1.15
    clear = _clear(region, sheet)
    beside, over = clear + width / 2, clear + height / 2
    away = beside + 1.5 * height
    offsets = [(beside, 0.0), (-beside, 0.0)]
    offsets += [(across, up) for up in (-over, over) for across in (0.0, width / 2, -width / 2)]
    for step in range(1, _FARTHEST + 1):
        offsets += [(across, up * step * height) for across in (away, -away) for up in (-1.0, 1.0)]
    return [Box(centre=(x + across, y + up), width=width, height=height) for across, up in offsets]
