"""The figure of measured training steps as a picture, by matplotlib."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.core.units import format_si
from ridgepoint.show.pictures import write
from ridgepoint.show.theme import INK, hex_of
from training_steps import StepsFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_IN = (7.0, 4.8)
_FONT = 9.0
_LETTERS = 108
_STYLES: dict[str, dict[str, Any]] = {
    "none": {"color": INK, "linewidth": 1.6},
    # Upon one of the next two, wherever it is.
    "full": {"color": INK, "linewidth": 1.4, "linestyle": (0, (4, 3)), "zorder": 2.5},
    "compute": {"color": hex_of("compute"), "linewidth": 1.0},
    "network": {"color": hex_of("network"), "linewidth": 1.0},
}
_MARKS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "color": INK, "markersize": 6},
    {"marker": "s", "color": hex_of("compute"), "markersize": 4},
    {"marker": "^", "color": hex_of("network"), "markersize": 4},
)


def draw(figure: StepsFigure, ax: Axes) -> None:
    """Draw the figure on matplotlib axes; nothing is shown or saved."""
    from matplotlib.ticker import LogLocator, NullLocator

    for curve in figure.curves:
        style = _STYLES[curve.role]
        ax.plot(curve.batches, curve.times_s, label=curve.label, **style)
    for dots, mark in zip(figure.dots, _MARKS, strict=True):
        below = [time - low for time, low in zip(dots.times_s, dots.low_s, strict=True)]
        above = [high - time for time, high in zip(dots.times_s, dots.high_s, strict=True)]
        ax.errorbar(
            dots.batches, dots.times_s, yerr=[below, above], label=dots.label, linestyle="none",
            markerfacecolor="white", capsize=2, elinewidth=0.9, zorder=3, **mark,
        )  # fmt: skip
    ax.axvline(figure.crossing, color="#999999", linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    ax.set(xscale="log", yscale="log", xlim=_ends(figure.curves[0].batches))
    ax.annotate(
        f"equal at {figure.crossing:,.0f}", (figure.crossing, 1), xytext=(-4, -5),
        xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=_FONT - 1,
        color="#666666", ha="right", va="top",
    )  # fmt: skip
    ax.set_xticks(figure.dots[0].batches, [f"{batch:,.0f}" for batch in figure.dots[0].batches])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(lambda value, _: format_si(value, "s"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(True, color="#E6E6E6", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=_FONT)
    ax.set_xlabel("batch of each node [samples]", fontsize=_FONT)
    ax.set_ylabel("time of one step", fontsize=_FONT)
    lines = textwrap.wrap(figure.subtitle, _LETTERS)
    ax.set_title(
        figure.title + "\n" * len(lines), fontsize=_FONT + 2, fontweight="bold", loc="left"
    )
    ax.text(0, 1.015, "\n".join(lines), transform=ax.transAxes, fontsize=_FONT - 1, va="bottom")
    ax.legend(fontsize=_FONT - 1, loc="lower right", framealpha=0.9)


def save(figure: StepsFigure, path: str | Path) -> None:
    """Write the figure to a file; as `ridgepoint.show.draw_mpl.save`."""

    def make() -> Figure:
        from matplotlib.figure import Figure

        drawing = Figure(figsize=_SIZE_IN, layout="constrained")
        draw(figure, drawing.add_subplot())
        return drawing

    write(make, path)


def _ends(values: tuple[float, ...]) -> tuple[float, float]:
    return values[0], values[-1]
