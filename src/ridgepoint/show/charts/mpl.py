"""Figures as pictures by matplotlib, which is imported only when one is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ridgepoint.show.charts.key import CAP, MARKERS, colour, draw_key, draw_title
from ridgepoint.show.charts.plane import Attainable, Plane, Point, Program, RooflineFigure
from ridgepoint.show.charts.region_marks import draw_regions, name_regions
from ridgepoint.show.charts.roofs_mpl import draw_roofs, name_roofs
from ridgepoint.show.charts.samples import SamplesFigure
from ridgepoint.show.charts.samples import draw as draw_samples
from ridgepoint.show.charts.sheet import Sheet
from ridgepoint.show.labels import Box, Room
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AnyPlane = TypeVar("_AnyPlane", bound=Plane)
_JOIN_COST = 2
_POINTS_PER_INCH = 72
_HEIGHT_OVER_WIDTH = 0.78


def draw(figure: RooflineFigure, ax: Axes | None = None) -> Axes:
    """Draw a roofline.

    Parameters
    ----------
    figure : RooflineFigure
    ax : matplotlib.axes.Axes or None
        Of its final size: labels are placed for it, and the key needs room below. None: new
        axes in a figure 7 inches wide.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; nothing is shown or saved.
    """
    if ax is None:
        return _drawn(figure, width_in=7.0)
    _draw_on(figure, ax)
    return ax


def save(figure: RooflineFigure, path: str | Path, *, width_in: float = 7.0) -> None:
    """Write a roofline to a file; a file of that name is replaced, whole or not at all.

    Parameters
    ----------
    figure : RooflineFigure
    path : str or Path
        Its ending chooses the format: ``.svg``, ``.png`` or ``.pdf``.
    width_in : float
        Width in inches; the height follows. 3.5 suits a column of a paper, 8 a slide.

    Raises
    ------
    RidgepointError
        If the ending is another one, or the file cannot be written.

    Notes
    -----
    The same figure makes the same bytes, whatever the user's matplotlib settings are.
    """
    write(lambda: _figure_of(_drawn(figure, width_in=width_in)), path)


def save_samples(figures: Sequence[SamplesFigure], path: str | Path) -> None:
    """Write the samples of ceilings to a file, one plot below the other; as `save` does."""
    from matplotlib.figure import Figure

    def make() -> Figure:
        drawn = Figure(figsize=(7.0, 2.6 * len(figures)), layout="constrained")
        for figure, axes in zip(figures, drawn.subplots(len(figures), squeeze=False), strict=True):
            draw_samples(figure, axes[0])
        return drawn

    write(make, path)


def _figure_of(axes: Axes) -> Figure:
    from matplotlib.figure import Figure

    drawn = axes.figure
    assert isinstance(drawn, Figure)
    return drawn


def _drawn(figure: RooflineFigure, *, width_in: float) -> Axes:
    return new_axes(figure, _draw_on, width_in=width_in, height_over_width=_HEIGHT_OVER_WIDTH)


def new_axes(
    figure: _AnyPlane,
    draw_on: Callable[[_AnyPlane, Axes], tuple[float, float]],
    *,
    width_in: float,
    height_over_width: float,
    right_in: float = 0.26,
) -> Axes:
    """Return new axes with a figure on them, in a picture that is as high as its key needs.

    Parameters
    ----------
    figure : Plane
    draw_on : callable
        Draws it on axes; returns the points needed above and below them.
    width_in : float
        Of the picture, inches.
    height_over_width : float
        Of the axes.
    right_in : float
        Room beside the axes, inches.
    """
    from ridgepoint.show.picture import Picture

    left = 0.28 + 0.055 * width_in
    across = width_in - left - right_in
    up = across * height_over_width
    drawn = Picture(figsize=(width_in, up))
    axes = drawn.add_axes((left / width_in, 0.0, across / width_in, 1.0))
    top, bottom = (points / _POINTS_PER_INCH for points in draw_on(figure, axes))
    total = up + bottom + top
    drawn.set_size_inches(width_in, total)
    axes.set_position((left / width_in, bottom / total, across / width_in, up / total))
    return axes


def _draw_on(figure: RooflineFigure, axes: Axes) -> tuple[float, float]:
    """Draw everything; return the points needed above and below the axes."""
    sheet = Sheet.of(axes)
    set_up(figure, sheet)
    middle = (sheet.width / 2, sheet.height / 2)
    room = Room(frame=Box(centre=middle, width=sheet.width, height=sheet.height))
    draw_roofs(figure.roofs, sheet, room)
    for index, program in enumerate(figure.programs):
        _draw_program(program, colour(index), sheet, room)
        _draw_attainable(program, colour(index), sheet, room)
        draw_regions(program, colour(index), sheet, room)
    if len(figure.programs) > 1:
        for index, program in enumerate(figure.programs):
            _name_program(program, colour(index), sheet, room)
    for index, program in enumerate(figure.programs):
        if program.attainable is not None and program.attainable.is_alone:
            _say_unknown(program.attainable, colour(index), sheet, room)
    nameless = [
        name
        for index in range(len(figure.programs))
        for name in name_regions(figure, index, colour(index), sheet, room)
    ]
    left_out = nameless + name_roofs(figure.roofs, figure.ridges, sheet, room)
    return draw_title(figure, sheet), draw_key(figure, sheet, left_out)


def set_up(figure: Plane, sheet: Sheet) -> None:
    """Set up the axes: scales, limits, ticks, grid."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axes = sheet.axes
    axes.set(xscale="log", yscale="log", xlim=figure.x_limits, ylim=figure.y_limits)
    axes.autoscale(False)
    for axis, ticks in ((axes.xaxis, figure.x_ticks), (axes.yaxis, figure.y_ticks)):
        axis.set_major_locator(FixedLocator([value for value, _ in ticks]))
        axis.set_major_formatter(FixedFormatter([text for _, text in ticks]))
        axis.set_minor_locator(NullLocator())
    axes.tick_params(labelsize=sheet.font, length=2.5, width=0.6, pad=2)
    axes.set_xlabel(figure.x_label, fontsize=sheet.font, labelpad=2)
    axes.set_ylabel(figure.y_label, fontsize=sheet.font, labelpad=2)
    axes.grid(True, which="major", color="#E6E6E6", linewidth=0.5)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_linewidth(0.6)


def _draw_program(program: Program, ink: str, sheet: Sheet, room: Room) -> None:
    """Draw a program's points and the line that joins them."""
    if not program.points:
        return
    x, y = zip(*(point.at for point in program.points), strict=True)
    sheet.axes.plot(x, y, color=ink, linewidth=0.6, zorder=4)
    places = [sheet.at(point.at) for point in program.points]
    room.lines += [(segment, _JOIN_COST) for segment in pairwise(places)]
    for point in program.points:
        filled = point.level == "dram"
        size = sheet.marker if filled else sheet.marker * 0.8
        sheet.axes.errorbar(
            *point.at,
            yerr=[[point.at[1] - point.low], [point.high - point.at[1]]],
            fmt=">" if point.is_infinite else MARKERS[point.level],
            color=ink,
            markerfacecolor=ink if filled else "white",
            markersize=size,
            markeredgewidth=0.9,
            elinewidth=0.9,
            capsize=size * 0.35,
            zorder=6 if filled else 5,
            clip_on=False,
        )
        room.taken.append(_around(point, sheet))


def _draw_attainable(program: Program, ink: str, sheet: Sheet, room: Room) -> None:
    """Draw a cap at what bounds a program, and a dotted line from its point at DRAM.

    Without a point it is a hollow marker, and the line begins at the axis.
    """
    if program.attainable is None:
        return
    x, high = program.attainable.at
    heights = [point.at[1] for point in program.points if point.level == "dram"]
    low = heights[0] if heights else sheet.axes.get_ylim()[0]
    # Under the labels (3), which may have to lie on it.
    style: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (1, 1.5)), "zorder": 2.5}
    sheet.axes.plot((x, x), (low, high), color=ink, **style)
    room.lines.append(((sheet.at((x, low)), sheet.at((x, high))), _JOIN_COST))
    if program.attainable.is_alone:
        sheet.axes.plot(x, high, "o", color=ink, markerfacecolor="white", markersize=sheet.marker,
                        markeredgewidth=0.9, zorder=5)  # fmt: skip
        height = sheet.marker
    else:
        sheet.axes.plot(x, high, CAP, color=ink, markersize=sheet.marker * 1.6,
                        markeredgewidth=1.6, zorder=4.5)  # fmt: skip
        height = 2.4
    room.taken.append(Box(centre=sheet.at((x, high)), width=sheet.marker * 1.6, height=height))


def _around(point: Point, sheet: Sheet) -> Box:
    """Return the rectangle that a marker and its error bar fill."""
    size = sheet.marker * 1.25
    x, y = sheet.at(point.at)
    low, high = (sheet.at((point.at[0], value))[1] for value in (point.low, point.high))
    bottom, top = min(low, y - size / 2), max(high, y + size / 2)
    return Box(centre=(x, (bottom + top) / 2), width=size, height=top - bottom)


def _name_program(program: Program, ink: str, sheet: Sheet, room: Room) -> None:
    """Write a program's letter beside its last point, or beside its mark without one."""
    if program.points:
        at = program.points[-1].at
    elif program.attainable is not None:
        at = program.attainable.at
    else:
        return
    x, y = sheet.at(at)
    eighth = math.pi / 4
    places = [
        (x + far * math.cos(turn * eighth), y + far * math.sin(turn * eighth))
        for far in (sheet.font * 0.95, sheet.font * 1.4, sheet.font * 1.9)
        for turn in (2, 0, 6, 4, 1, 7, 3, 5)
    ]
    width, height = sheet.font * 0.8 * len(program.letter), sheet.font * 0.95
    box = room.place(Box(centre=place, width=width, height=height) for place in places)
    if box is not None:
        sheet.label(program.letter, box, colour=ink, size=sheet.font, weight="bold")


def _say_unknown(mark: Attainable, ink: str, sheet: Sheet, room: Room) -> None:
    """Write beside a mark without a point that its time is unknown."""
    text = "time unknown"
    x, y = sheet.at(mark.at)
    width, height = sheet.text_width(text, sheet.small) + 2, sheet.small * 1.1
    beside, below = (width + sheet.marker) / 2 + 3, sheet.font
    box = room.place(
        Box(centre=(x + right * beside, y - down * below), width=width, height=height)
        for right, down in ((1, 1), (1, 2), (-1, 2), (1, 3), (-1, 3), (1, 0), (-1, 0), (-1, -1))
    )
    if box is not None:
        sheet.label(text, box, colour=ink, size=sheet.small)
