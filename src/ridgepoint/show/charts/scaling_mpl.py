"""Figures of cores and nodes as pictures, by matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.core.units import format_si
from ridgepoint.show.charts.key import colour
from ridgepoint.show.charts.scaling_plane import Curve, CurvesFigure, Figure, Mark, SurfaceFigure
from ridgepoint.show.charts.sheet import INK
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing

_SIZE_IN = (7.0, 4.8)
_FONT = 9.0
_FAINT = "#999999"
_MOST_TICKS = 9
_NO_ROOM = 0.82
"""Of the width: further right, the name of a mark does not fit beside it."""
_LETTERS = 108
"""Of a line of the subtitle."""


def draw(figure: Figure, ax: Axes) -> None:
    """Draw a figure on matplotlib axes; nothing is shown or saved."""
    if isinstance(figure, CurvesFigure):
        _draw_curves(figure, ax)
    else:
        _draw_surface(figure, ax)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file; as `ridgepoint.show.charts.mpl.save`."""

    def make() -> Drawing:
        from matplotlib.figure import Figure as Drawing

        drawing = Drawing(figsize=_SIZE_IN, layout="constrained")
        draw(figure, drawing.add_subplot())
        return drawing

    write(make, path)


def _draw_curves(figure: CurvesFigure, ax: Axes) -> None:
    lines = 0
    for curve in figure.curves:
        if curve.role == "limit":
            ax.plot(curve.x, curve.y, color=INK, linewidth=1.0, linestyle=(0, (4, 2)))
        elif curve.role == "level":
            ax.plot(curve.x, curve.y, color=_FAINT, linewidth=1.2)
        else:
            ink = colour(lines)
            # The second is broken, since it may lie on the first.
            stroke = (0, (5, 2)) if lines else "-"
            ax.plot(
                curve.x, curve.y, color=ink, linewidth=1.8, linestyle=stroke, label=curve.label,
                zorder=3,
            )  # fmt: skip
            if curve.low:
                ax.fill_between(
                    curve.x, curve.low, curve.high, color=ink, alpha=0.2, linewidth=0,
                    label="95 % interval of the fit",
                )  # fmt: skip
            lines += 1
    if figure.measured:
        ax.errorbar(
            [point.x for point in figure.measured],
            [point.y for point in figure.measured],
            yerr=[
                [point.y - point.low for point in figure.measured],
                [point.high - point.y for point in figure.measured],
            ],
            fmt="o", color=INK, markerfacecolor="white", markersize=5, capsize=2, elinewidth=0.9,
            label="measured: median, quartiles", zorder=4,
        )  # fmt: skip
    _set_up(figure, ax)
    for curve in figure.curves:
        if curve.role != "curve":
            _name_line(curve, figure, ax)
    _draw_marks(figure.marks, ax)
    ax.legend(fontsize=_FONT - 1, loc="best", framealpha=0.9)


def _draw_surface(figure: SurfaceFigure, ax: Axes) -> None:
    import numpy as np

    filled = ax.contourf(figure.x, figure.y, figure.z, levels=np.linspace(0, 1, 21), cmap="viridis")
    lines = ax.contour(
        figure.x, figure.y, figure.z, levels=figure.levels, colors="white", linewidths=1.0
    )
    _titles(figure, ax)
    ax.set(xscale="log", yscale="log", xlim=_ends(figure.x), ylim=_ends(figure.y))
    _power_ticks(ax.xaxis, figure.x)
    ax.clabel(lines, fmt="%.1f", fontsize=_FONT - 1)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    drawing = ax.get_figure(root=True)
    if drawing is not None:
        bar = drawing.colorbar(filled, ax=ax, ticks=[0, 0.2, 0.4, 0.6, 0.8, 1.0])
        bar.set_label(figure.z_label, fontsize=_FONT)
        bar.ax.tick_params(labelsize=_FONT)
    _draw_marks(figure.marks, ax)


def _set_up(figure: CurvesFigure, ax: Axes) -> None:
    from matplotlib.ticker import LogLocator

    _titles(figure, ax)
    x = [value for curve in figure.curves for value in curve.x]
    ax.set(xscale="log", xlim=_ends(x), ylim=figure.y_limits)
    _power_ticks(ax.xaxis, x)
    if figure.y_scale == "share":
        ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    else:
        ax.set_yscale("log")
        ax.set_ylim(figure.y_limits)
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(
            lambda value, _: format_si(value, "").strip() if figure.y_unit else f"{value:g}"
        )
        ax.yaxis.set_minor_formatter(lambda value, _: "")
    ax.grid(True, which="major", color="#E6E6E6", linewidth=0.6)
    ax.set_axisbelow(True)


def _titles(figure: Figure, ax: Axes) -> None:
    # What is said of x stays on one line.
    lines = textwrap.wrap(figure.subtitle.replace(" = ", "\u00a0=\u00a0"), _LETTERS)
    ax.set_title(
        figure.title + "\n" * len(lines), fontsize=_FONT + 2, fontweight="bold", loc="left"
    )
    ax.text(
        0, 1.015, "\n".join(lines), transform=ax.transAxes, fontsize=_FONT - 1, va="bottom",
        parse_math=False,
    )  # fmt: skip
    ax.set_xlabel(figure.x_label, fontsize=_FONT)
    ax.set_ylabel(figure.y_label, fontsize=_FONT)
    ax.tick_params(labelsize=_FONT)


def _power_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Set ticks at powers of 2, or of 4 and more where they would be many."""
    low, high = _ends(values)
    step = 2
    while step**_MOST_TICKS < high / low:
        step *= 2
    ticks = [1.0]
    while ticks[-1] * step <= high:
        ticks.append(ticks[-1] * step)
    axis.set_ticks([one for one in ticks if one >= low])
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axis.set_ticks([], minor=True)


def _name_line(curve: Curve, figure: CurvesFigure, ax: Axes) -> None:
    """Write the name of a limit or level along it, where it is inside the axes."""
    low, high = figure.y_limits
    inside = [i for i, y in enumerate(curve.y) if low <= y <= high * 0.95]
    if not inside:
        return
    # Level lines are named at their left, others along them, where the line leaves room.
    is_level, is_limit = max(curve.y) < 1.02 * min(curve.y), curve.role == "limit"
    at = inside[0] if is_level else inside[len(inside) * (3 if is_limit else 4) // 5]
    is_left = is_limit and not is_level
    is_falling = curve.y[-1] < curve.y[0]
    ax.annotate(
        curve.label, (curve.x[at], curve.y[at]),
        xytext=(-5 if is_left else 6, 4 if is_limit or is_falling else -4),
        textcoords="offset points", ha="right" if is_left else "left",
        va="bottom" if is_limit or is_falling else "top",
        fontsize=_FONT - 1, color=INK if is_limit else "#666666", parse_math=False,
    )  # fmt: skip


def _draw_marks(marks: Sequence[Mark], ax: Axes) -> None:
    for mark in marks:
        ax.plot(
            mark.x, mark.y, "D", color="#B03030", markersize=6, markeredgecolor="white", zorder=5,
            clip_on=False,
        )  # fmt: skip
        # Below a curve that rises, but above it where there is no room at the right.
        at = ax.transAxes.inverted().transform(ax.transData.transform((mark.x, mark.y)))[0]
        is_right = at > _NO_ROOM
        ax.annotate(
            mark.label, (mark.x, mark.y), xytext=(-6, 8) if is_right else (5, -17),
            textcoords="offset points", ha="right" if is_right else "left", fontsize=_FONT - 1,
            color="#B03030", fontweight="bold", parse_math=False, zorder=6,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
        )  # fmt: skip


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low / 2, high * 2)
