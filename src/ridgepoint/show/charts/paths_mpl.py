"""Kernels of many sizes as a picture, by matplotlib."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from ridgepoint.show.charts.key import colour, draw_notes, draw_title
from ridgepoint.show.charts.mpl import new_axes, set_up
from ridgepoint.show.charts.paths import Path, PathPoint, PathsFigure
from ridgepoint.show.charts.plane import RoofLine
from ridgepoint.show.charts.roofs_mpl import draw_roofs, name_roofs
from ridgepoint.show.charts.sheet import Sheet
from ridgepoint.show.labels import Box, Room, around
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT_OVER_WIDTH = 0.78
_NOTE = "#555555"
# Each path has a shape of its own, for readers who see no colours.
_SHAPES = ("o", "s", "^", "D", "v", "P", "X")
_BEYOND = ">"
_JOIN_COST = 1
# Bold letters are so much wider.
_BOLD = 1.14
_DOTTED = (0, (1, 1.5))


def draw(figure: PathsFigure, ax: Axes | None = None) -> Axes:
    """Draw kernels of many sizes; as `ridgepoint.show.charts.mpl.draw`."""
    if ax is None:
        return _drawn(figure, width_in=7.0)
    _draw_on(figure, ax)
    return ax


def save(figure: PathsFigure, path: str | FilePath, *, width_in: float = 7.0) -> None:
    """Write kernels of many sizes to a file; as `ridgepoint.show.charts.mpl.save`."""
    from matplotlib.figure import Figure

    def make() -> Figure:
        drawn = _drawn(figure, width_in=width_in).figure
        assert isinstance(drawn, Figure)
        return drawn

    write(make, path)


def _drawn(figure: PathsFigure, *, width_in: float) -> Axes:
    # Ticks and the label of a second axis need as much room as those of the first.
    right_in = 0.26 + 0.04 * width_in if figure.cycle_ticks else 0.26
    return new_axes(
        figure,
        _draw_on,
        width_in=width_in,
        height_over_width=_HEIGHT_OVER_WIDTH,
        right_in=right_in,
    )


def _draw_on(figure: PathsFigure, axes: Axes) -> tuple[float, float]:
    """Draw everything; return the points needed above and below the axes."""
    sheet = Sheet.of(axes)
    set_up(figure, sheet)
    if figure.cycle_ticks:
        _draw_cycles(figure, sheet)
    middle = (sheet.width / 2, sheet.height / 2)
    room = Room(frame=Box(centre=middle, width=sheet.width, height=sheet.height))
    draw_roofs(figure.roofs, sheet, room)
    for index, path in enumerate(figure.paths):
        _draw_path(path, index, sheet, room)
    left_out = name_roofs(figure.roofs, figure.ridges, sheet, room)
    room.taken += [_strip(roof, sheet) for roof in figure.roofs if roof.role == "outer"]
    for index, path in enumerate(figure.paths):
        _name_path(path, colour(index), sheet, room)
    for index, path in enumerate(figure.paths):
        _name_sizes(path, colour(index), sheet, room)
    return draw_title(figure, sheet), _draw_key(figure, sheet, left_out)


def _draw_cycles(figure: PathsFigure, sheet: Sheet) -> None:
    """Draw the axis in flop/cycle at the right."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    right = sheet.axes.twinx()
    right.set(yscale="log", ylim=figure.y_limits)
    right.yaxis.set_major_locator(FixedLocator([at for at, _ in figure.cycle_ticks]))
    right.yaxis.set_major_formatter(FixedFormatter([text for _, text in figure.cycle_ticks]))
    right.yaxis.set_minor_locator(NullLocator())
    # Away from the markers of points beyond the frame.
    right.tick_params(labelsize=sheet.font, length=2.5, width=0.6, pad=sheet.marker * 0.6)
    right.set_ylabel(figure.cycle_label, fontsize=sheet.font, labelpad=2)
    for spine in right.spines.values():
        spine.set_visible(False)


def _draw_path(path: Path, index: int, sheet: Sheet, room: Room) -> None:
    """Draw a path's points with their bars, and the line that joins them."""
    ink = colour(index)
    for before, point in pairwise(path.points):
        ends = (before.at, point.at)
        # Of a line to infinity only the direction is true.
        style = _DOTTED if before.is_beyond != point.is_beyond else "-"
        # Under the labels (3), which may have to lie on it.
        sheet.axes.plot(*zip(*ends, strict=True), color=ink, linewidth=0.8, linestyle=style,
                        zorder=2.6)  # fmt: skip
        room.lines.append(((sheet.at(ends[0]), sheet.at(ends[1])), _JOIN_COST))
    for point in path.points:
        _draw_point(point, _SHAPES[index % len(_SHAPES)], ink, sheet, room)


def _draw_point(point: PathPoint, shape: str, ink: str, sheet: Sheet, room: Room) -> None:
    x, y = point.at
    size = sheet.marker * 0.85
    known = point.x_low is not None and point.x_high is not None and not point.is_beyond
    sheet.axes.errorbar(
        x,
        y,
        xerr=[[x - point.x_low], [point.x_high - x]] if known else None,  # type: ignore[operator]
        yerr=[[y - point.low], [point.high - y]],
        fmt=_BEYOND if point.is_beyond else shape,
        color=ink,
        markersize=size,
        markeredgewidth=0.0,
        elinewidth=0.8,
        capsize=size * 0.35,
        capthick=0.8,
        zorder=5,
        clip_on=False,
    )
    room.taken.append(Box(centre=sheet.at(point.at), width=size * 1.2, height=size * 1.2))


def _strip(roof: RoofLine, sheet: Sheet) -> Box:
    """Return the rectangle of a roof, which no name of a path may hide."""
    (x0, y0), (x1, y1) = sheet.at(roof.start), sheet.at(roof.end)
    return Box(
        centre=((x0 + x1) / 2, (y0 + y1) / 2),
        width=math.hypot(x1 - x0, y1 - y0),
        height=2.0,
        angle=math.atan2(y1 - y0, x1 - x0),
    )


def _name_path(path: Path, ink: str, sheet: Sheet, room: Room) -> None:
    """Write a path's name beside one of its points, the largest size first."""
    width, height = sheet.text_width(path.name, sheet.small) * _BOLD + 2, sheet.small * 1.1
    places = (
        place
        for point in reversed(path.points)
        for place in around(sheet.at(point.at), width, height, marker=sheet.marker)
    )
    box = room.place(Box(centre=place, width=width, height=height) for place in places)
    if box is not None:
        sheet.label(path.name, box, colour=ink, size=sheet.small, weight="bold")


def _name_sizes(path: Path, ink: str, sheet: Sheet, room: Room) -> None:
    """Write n beside the first and the last point of a path, where there is room."""
    size = sheet.small * 0.92
    for point in dict.fromkeys((path.points[0], path.points[-1])):
        text = path.shown_size(point.n)
        width, height = sheet.text_width(text, size) + 2, size * 1.05
        places = around(sheet.at(point.at), width, height, marker=sheet.marker)
        box = room.place(Box(centre=place, width=width, height=height) for place in places)
        if box is not None:
            sheet.label(text, box, colour=ink, size=size)


def _draw_key(figure: PathsFigure, sheet: Sheet, left_out: list[str]) -> float:
    """Write the key and the notes below the axes; return the points that they need."""
    offset, indent = sheet.font * 4.3, sheet.font * 1.2
    for index, path in enumerate(figure.paths):
        shape = _SHAPES[index % len(_SHAPES)]
        sheet.sample(shape, below=offset, indent=0.0, colour=colour(index), filled=True)
        for line in sheet.wrapped(f"{path.name}, {path.summary}", indent=indent, size=sheet.font):
            sheet.row(line, below=offset, indent=indent)
            offset += sheet.font * 1.4
    return draw_notes(figure.notes, figure.ridges, sheet, offset, left_out=left_out)
