"""Figures as pictures by matplotlib, which is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ridgepoint.show.charts.plane import Plane
from ridgepoint.show.charts.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AnyPlane = TypeVar("_AnyPlane", bound=Plane)
_POINTS_PER_INCH = 72


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
