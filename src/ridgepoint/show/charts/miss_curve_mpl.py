"""A miss curve as a picture, by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.show.charts.key import colour, draw_title
from ridgepoint.show.charts.miss_curve import MissCurveFigure
from ridgepoint.show.charts.mpl import new_axes, set_up
from ridgepoint.show.charts.sheet import INK, Sheet
from ridgepoint.show.labels import Box, Pair, Room
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT_OVER_WIDTH = 0.55
_NOTE = "#555555"
_LINE_COST = 3
_MARK_COST = 1
_LEAST_STEP = 1.0


def draw(figure: MissCurveFigure, ax: Axes | None = None) -> Axes:
    """Draw a miss curve; as `ridgepoint.show.charts.mpl.draw`."""
    if ax is None:
        return new_axes(figure, _draw_on, width_in=7.0, height_over_width=_HEIGHT_OVER_WIDTH)
    _draw_on(figure, ax)
    return ax


def save(figure: MissCurveFigure, path: str | Path, *, width_in: float = 7.0) -> None:
    """Write a miss curve to a file; as `ridgepoint.show.charts.mpl.save`."""
    from matplotlib.figure import Figure

    def make() -> Figure:
        axes = new_axes(figure, _draw_on, width_in=width_in, height_over_width=_HEIGHT_OVER_WIDTH)
        drawn = axes.figure
        assert isinstance(drawn, Figure)
        return drawn

    write(make, path)


def _draw_on(figure: MissCurveFigure, axes: Axes) -> tuple[float, float]:
    """Draw everything; return the points needed above and below the axes."""
    sheet = Sheet.of(axes)
    set_up(figure, sheet)
    middle = (sheet.width / 2, sheet.height / 2)
    room = Room(frame=Box(centre=middle, width=sheet.width, height=sheet.height))
    for index, (corners, style) in enumerate(
        ((figure.moved, "-"), (figure.written, (0, (3, 1.5))))
    ):
        axes.plot(*zip(*corners, strict=True), color=colour(index), linestyle=style, linewidth=1.4,
                  zorder=3 - index / 10)  # fmt: skip
        places = _seen([sheet.at(corner) for corner in corners])
        room.lines += [(pair, _LINE_COST) for pair in pairwise(places)]
    _mark_caches(figure, sheet, room)
    _mark_sets(figure, sheet, room)
    return draw_title(figure, sheet), _draw_key(figure, sheet)


def _seen(places: Sequence[Pair]) -> list[Pair]:
    """Return a staircase without the steps that no eye can see, each of which would cost."""
    seen = [places[0]]
    for before, place in pairwise(places):
        if abs(place[1] - seen[-1][1]) > _LEAST_STEP:
            seen += [before, place]
    return [*seen, places[-1]]


def _mark_caches(figure: MissCurveFigure, sheet: Sheet, room: Room) -> None:
    """Draw an upright line at the size of every cache, its name beside it at the top."""
    for mark in figure.caches:
        ends = [(float(mark.size_bytes), y) for y in figure.y_limits]
        sheet.axes.plot(*zip(*ends, strict=True), color="#777777", linewidth=0.8,
                        linestyle=(0, (4, 2)), zorder=2)  # fmt: skip
        bottom, top = (sheet.at(end) for end in ends)
        room.lines.append(((bottom, top), _MARK_COST))
        x = top[0]
        width, height = sheet.text_width(mark.label, sheet.small) + 2, sheet.small
        reach = width / 2 + sheet.small * 0.4
        box = room.place(
            Box(centre=(at, up), width=width, height=height, angle=math.pi / 2)
            for up in (sheet.height - reach, reach, sheet.height / 2)
            for at in (x - height * 0.75, x + height * 0.75)
        )
        if box is not None:
            sheet.label(mark.label, box, colour=_NOTE, size=sheet.small)


def _mark_sets(figure: MissCurveFigure, sheet: Sheet, room: Room) -> None:
    """Mark where every working set begins to fit, with its size."""
    size = sheet.marker
    places = [sheet.at(mark.at) for mark in figure.working_sets]
    room.taken += [Box(centre=place, width=size, height=size) for place in places]
    for mark, (x, y) in zip(figure.working_sets, places, strict=True):
        sheet.axes.plot(*mark.at, "o", color=INK, markersize=size, zorder=4)
        width, height = sheet.text_width(mark.label, sheet.small) + 2, sheet.small * 1.1
        beside = (width + size) / 2 + 2
        candidates = [
            Box(centre=(x + right * beside, y + up * sheet.font), width=width, height=height)
            for right, up in ((1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1.2), (0, -1.2), (1, -1))
        ]
        box = room.place(candidates)
        if box is not None:
            sheet.label(mark.label, box, colour=INK, size=sheet.small)


def _draw_key(figure: MissCurveFigure, sheet: Sheet) -> float:
    """Write what is drawn, and the notes, below the axes; return the points that they need."""
    offset, indent = sheet.font * 4.3, 0.0
    samples = [("-", colour(0), "read and written"), ("--", colour(1), "written")]
    for stroke, ink, text in samples:
        indent = _sample(stroke, ink, text, sheet, below=offset, indent=indent)
    if figure.working_sets:
        text = "a working set begins to fit"
        if indent + sheet.font * 1.2 + sheet.text_width(text, sheet.font) > sheet.width:
            offset, indent = offset + sheet.font * 1.4, 0.0
        sheet.sample("o", below=offset, indent=indent, colour=INK, filled=True)
        sheet.row(text, below=offset, indent=indent + sheet.font * 1.2)
    offset += sheet.font * 1.5
    for note in figure.notes:
        for line in sheet.wrapped(note, size=sheet.small):
            sheet.row(line, below=offset, colour=_NOTE, size=sheet.small)
            offset += sheet.small * 1.35
    return offset + sheet.font * 0.2


def _sample(
    stroke: str, ink: str, text: str, sheet: Sheet, *, below: float, indent: float
) -> float:
    """Draw a piece of a line and what it stands for; return where the next one begins."""
    ends = (indent / sheet.width, (indent + sheet.font * 2) / sheet.width)
    height = -below / sheet.height
    sheet.axes.plot(ends, (height, height), stroke, color=ink, linewidth=1.4, clip_on=False,
                    transform=sheet.axes.transAxes)  # fmt: skip
    sheet.row(text, below=below, indent=indent + sheet.font * 2.5)
    return indent + sheet.font * 4 + sheet.text_width(text, sheet.font)
