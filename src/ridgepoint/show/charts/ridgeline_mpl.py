"""The Ridgeline's figures as pictures, by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.models.ridgeline import Region
from ridgepoint.show.charts.key import draw_notes, draw_title, pale
from ridgepoint.show.charts.mpl import set_up
from ridgepoint.show.charts.ridgeline_plane import Area, Chart, ChartsFigure, Dot, Line
from ridgepoint.show.charts.sheet import INK, Sheet
from ridgepoint.show.labels import Box, Pair, Room, Segment, along, around
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REGION_INKS: dict[Region, str] = {"compute": "#0072B2", "memory": "#009E73", "network": "#D55E00"}
"""Of Okabe and Ito's palette, told apart by readers of every colour vision."""
_UNDECIDED = "#777777"
_SHAPES: dict[Region, str] = {"compute": "o", "memory": "s", "network": "^"}
"""A marker for each region, for readers who see no colours."""
_LINE_SHAPES = {"compute": "o", "memory": "s", "network": "^", "total": "D"}
_AT_EDGE = {"left": "<", "right": ">", "top": "^", "bottom": "v"}
_STYLES: dict[str, dict[str, Any]] = {
    "ridge": {"color": INK, "linewidth": 1.4, "zorder": 2.2},
    "balance": {"color": INK, "linewidth": 1.0, "linestyle": (0, (5, 2.5)), "zorder": 2.1},
    "iso": {"color": "#777777", "linewidth": 0.6, "linestyle": (0, (1, 2)), "zorder": 1.8},
    "path": {"color": INK, "linewidth": 0.8, "zorder": 2.6},
    "roof": {"color": INK, "linewidth": 1.4, "zorder": 2.2},
    "total": {"color": INK, "linewidth": 1.2, "linestyle": (0, (4, 2)), "zorder": 2.4},
    **{
        region: {"color": ink, "linewidth": 1.1, "zorder": 2.3}
        for region, ink in REGION_INKS.items()
    },
}
# How much a label loses by lying on a line.
_COSTS = {"ridge": 3, "roof": 3, "iso": 1, "balance": 2, "path": 2}
_POINTS_PER_INCH = 72
_HEIGHT_OVER_WIDTH = 0.86
_RIGHT_IN = 0.26
_BELOW = 4.0
"""Rows of ticks and of a label below a chart, in letters."""
_KEY_IN = 0.1
_STRAIGHT = math.radians(5)
_SLANT = 35
_BOLD = 1.16


def draw(chart: Chart, ax: Axes) -> list[str]:
    """Draw one chart on axes of their final size; nothing is shown or saved.

    Returns
    -------
    list of str
        Labels for which there was no room.
    """
    sheet = Sheet.of(ax)
    set_up(chart, sheet)
    for text in ax.get_xticklabels():
        text.set_parse_math(False)
        if chart.is_slanted:
            text.set(rotation=_SLANT, ha="right", rotation_mode="anchor")
    middle = (sheet.width / 2, sheet.height / 2)
    room = Room(frame=Box(centre=middle, width=sheet.width, height=sheet.height))
    for area in chart.areas:
        _fill(area, sheet)
    for line in chart.lines:
        _draw_line(line, sheet, room)
    for dot in chart.dots:
        _draw_dot(dot, sheet, room)
    first = [line for line in chart.lines if line.style != "iso"]
    rest = [line for line in chart.lines if line.style == "iso"]
    left_out = [line.label for line in first if not _name_line(line, sheet, room)]
    left_out += [dot.label for dot in chart.dots if not _name_dot(dot, sheet, room)]
    left_out += [area.label for area in chart.areas if not _name_area(area, sheet, room)]
    return left_out + [line.label for line in rest if not _name_line(line, sheet, room)]


def save(figure: ChartsFigure, path: str | Path, *, width_in: float | None = None) -> None:
    """Write charts side by side to a file; as `ridgepoint.show.charts.mpl.save`.

    Parameters
    ----------
    figure : ChartsFigure
    path : str or Path
    width_in : float or None
        Inches; None: 4.6 for each chart.
    """
    width = 4.6 * len(figure.charts) if width_in is None else width_in
    write(lambda: _drawn(figure, width_in=width), path)


def _drawn(figure: ChartsFigure, *, width_in: float) -> Figure:
    """Return the charts with their keys, in a picture that is as high as they need."""
    from matplotlib.figure import Figure

    cell_in = width_in / len(figure.charts)
    left_in = 0.32 + 0.07 * cell_in
    across, up = cell_in - left_in - _RIGHT_IN, (cell_in - left_in) * _HEIGHT_OVER_WIDTH
    drawn = Figure(figsize=(width_in, up))
    begins = [left_in + cell_in * index for index in range(len(figure.charts))]
    axes = [
        # Labels tell axes at one place apart.
        drawn.add_axes((begin / width_in, 0.0, across / width_in, 1.0), label=str(index))
        for index, begin in enumerate(begins)
    ]
    left_out = [
        name for ax, chart in zip(axes, figure.charts, strict=True) for name in draw(chart, ax)
    ]
    sheets = [Sheet.of(ax) for ax in axes]
    pairs = list(zip(figure.charts, sheets, strict=True))
    top = max(draw_title(chart, sheet) for chart, sheet in pairs) / _POINTS_PER_INCH
    below = max(_draw_key(chart, sheet) for chart, sheet in pairs) / _POINTS_PER_INCH
    margin = 0.1
    notes = drawn.add_axes(
        (margin / width_in, 0.0, (width_in - 2 * margin) / width_in, _KEY_IN / up), label="notes"
    )
    notes.set_axis_off()
    wide = Sheet.of(notes)
    small = Sheet(axes=notes, width=wide.width, height=wide.height, font=sheets[0].font)
    said = [name for name in dict.fromkeys(left_out) if name]
    notes_in = draw_notes(figure.notes, (), small, small.font, left_out=said) / _POINTS_PER_INCH
    total = top + up + below + notes_in
    drawn.set_size_inches(width_in, total)
    for ax, begin in zip(axes, begins, strict=True):
        ax.set_position(
            (begin / width_in, (below + notes_in) / total, across / width_in, up / total)
        )
    notes.set_position(
        (margin / width_in, notes_in / total, 1 - 2 * margin / width_in, _KEY_IN / total)
    )
    return drawn


def _fill(area: Area, sheet: Sheet) -> None:
    """Colour an area; one that is undecided stays white."""
    if area.region is None:
        return
    x, y = zip(*area.corners, strict=True)
    sheet.axes.fill(x, y, color=pale(REGION_INKS[area.region]), linewidth=0, zorder=0.1)


def _draw_line(line: Line, sheet: Sheet, room: Room) -> None:
    sheet.axes.plot(*zip(*line.places, strict=True), **_stroke(line, sheet))
    if line.joined:
        cost = _COSTS.get(line.style, 2)
        room.lines += [(part, cost) for part in _straight(line, sheet)]


def _stroke(line: Line, sheet: Sheet) -> dict[str, Any]:
    """Return how matplotlib draws a line."""
    style = dict(_STYLES[line.style])
    if line.marked:
        shape = _LINE_SHAPES.get(line.style, "o")
        style |= {"marker": shape, "markersize": sheet.marker * 0.75}
    return style if line.joined else style | {"linestyle": "none"}


def _draw_dot(dot: Dot, sheet: Sheet, room: Room) -> None:
    size = sheet.marker
    sheet.axes.plot(
        *dot.at,
        _SHAPES[dot.region] if dot.edge is None else _AT_EDGE[dot.edge],
        color=INK,
        markerfacecolor=REGION_INKS[dot.region],
        markersize=size,
        markeredgewidth=0.8,
        zorder=5,
        clip_on=False,
    )
    if dot.label:
        room.taken.append(Box(centre=sheet.at(dot.at), width=size * 1.15, height=size * 1.15))


def _name_dot(dot: Dot, sheet: Sheet, room: Room) -> bool:
    """Write a point's name beside it; return whether there was room."""
    if not dot.label:
        return True
    width, height = sheet.text_width(dot.label, sheet.small) + 2, sheet.small * 1.05
    box = room.place(
        Box(centre=place, width=width, height=height)
        for place in around(sheet.at(dot.at), width, height, marker=sheet.marker)
    )
    if box is not None:
        sheet.label(dot.label, box, colour=INK, size=sheet.small)
    return box is not None


def _name_line(line: Line, sheet: Sheet, room: Room) -> bool:
    """Write a line's label along its longest straight part within the frame."""
    if not line.label:
        return True
    height = sheet.small * 1.2
    width = sheet.text_width(line.label, sheet.small) + sheet.small
    lifts = (0.6, 1.1) if line.style != "iso" else (0.0,)
    parts = sorted(_straight(line, sheet), key=lambda part: -math.dist(*part))
    for part in parts:
        if math.dist(*part) <= width:
            continue
        for lift in lifts:
            upwards = part if part[0][0] <= part[1][0] else (part[1], part[0])
            offsets = (height * lift, 0.0, -height * lift)
            places = along(upwards, width=width, height=height, offsets=offsets,
                           from_right=line.style not in ("ridge", "iso"))  # fmt: skip
            box = room.place(places, own=part)
            if box is not None:
                ink = "#555555" if line.style == "iso" else _STYLES[line.style]["color"]
                sheet.label(line.label, box, colour=ink, size=sheet.small)
                return True
    return not parts  # a line that is not within the frame needs no label


def _straight(line: Line, sheet: Sheet) -> Iterator[Segment]:
    """Yield the straight parts of a line within the frame."""
    places = [sheet.at(place) for place in line.places]
    start = 0
    for index in range(1, len(places)):
        is_last = index + 1 == len(places)
        if is_last or not _is_straight(places[start], places[index], places[index + 1]):
            part = _within((places[start], places[index]), sheet)
            if part is not None:
                yield part
            start = index


def _is_straight(first: Pair, middle: Pair, last: Pair) -> bool:
    angles = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in ((first, middle), (middle, last))]
    return abs(angles[0] - angles[1]) < _STRAIGHT


def _within(segment: Segment, sheet: Sheet) -> Segment | None:
    """Return the part of a segment within the frame; None: there is none."""
    (x0, y0), (x1, y1) = segment
    enter, leave = 0.0, 1.0
    for begin, step, size in ((x0, x1 - x0, sheet.width), (y0, y1 - y0, sheet.height)):
        if step == 0:
            if not 0 <= begin <= size:
                return None
            continue
        ends = sorted((-begin / step, (size - begin) / step))
        enter, leave = max(enter, ends[0]), min(leave, ends[1])
    if enter >= leave:
        return None
    return tuple((x0 + t * (x1 - x0), y0 + t * (y1 - y0)) for t in (enter, leave))  # type: ignore[return-value]


def _name_area(area: Area, sheet: Sheet, room: Room) -> bool:
    """Write an area's label where in it there is most room."""
    rows = area.label.splitlines()
    if not rows:
        return True
    size = sheet.font
    corners = [sheet.at(corner) for corner in area.corners]
    middle = (
        sum(x for x, _ in corners) / len(corners),
        sum(y for _, y in corners) / len(corners),
    )
    width = max(sheet.text_width(row, size) for row in rows) * _BOLD + 4
    height = size * 1.25 * len(rows)
    low, high = (
        tuple(pick(values) for values in zip(*corners, strict=True)) for pick in (min, max)
    )
    places = sorted(
        (
            (low[0] + (high[0] - low[0]) * i / 16, low[1] + (high[1] - low[1]) * j / 24)
            for i in range(1, 16)
            for j in range(1, 24)
        ),
        key=lambda place: math.dist(place, middle),
    )
    boxes = (Box(centre=place, width=width, height=height) for place in places)
    box = room.place(box for box in boxes if all(_holds(corners, c) for c in box.corners))
    if box is None:
        return False
    ink = _UNDECIDED if area.region is None else REGION_INKS[area.region]
    for index, row in enumerate(rows):
        lower = box.centre[1] + size * 1.25 * ((len(rows) - 1) / 2 - index)
        own = Box(centre=(box.centre[0], lower), width=width, height=size)
        sheet.label(row, own, colour=ink, size=size, weight="bold")
    return True


def _holds(corners: list[Pair], place: Pair) -> bool:
    """Return whether a convex polygon, counterclockwise, holds a place."""
    return all(
        (x1 - x0) * (place[1] - y0) - (y1 - y0) * (place[0] - x0) >= 0
        for (x0, y0), (x1, y1) in pairwise([*corners, corners[0]])
    )


def _draw_key(chart: Chart, sheet: Sheet) -> float:
    """Write which line is which below a chart; return the points that it needs below."""
    offset = sheet.font * _BELOW
    if chart.is_slanted:
        # Dollar signs would be measured as mathematics.
        texts = [text.replace("$", "S") for _, text in chart.x_ticks]
        longest = max(sheet.text_width(text, sheet.font) for text in texts)
        offset += longest * math.sin(math.radians(_SLANT))
    indent = 0.0
    for line in chart.lines:
        if not line.name:
            continue
        width = sheet.text_width(line.name, sheet.font) + sheet.font * 3.2
        if indent and indent + width > sheet.width:
            indent, offset = 0.0, offset + sheet.font * 1.4
        _sample(line, sheet, below=offset, indent=indent)
        sheet.row(line.name, below=offset, indent=indent + sheet.font * 2.2)
        indent += width
    return offset + sheet.font * 0.6 if indent else offset


def _sample(line: Line, sheet: Sheet, *, below: float, indent: float) -> None:
    style = _stroke(line, sheet) | {"markevery": [1]}
    x = [(indent + sheet.font * far) / sheet.width for far in (0.0, 0.9, 1.8)]
    y = [-below / sheet.height] * 3
    sheet.axes.plot(x, y, transform=sheet.axes.transAxes, clip_on=False, **style)
