"""Latency over size as a picture, by matplotlib."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.core.units import format_si, format_size
from ridgepoint.show.charts.key import colour
from ridgepoint.show.charts.latency import LatencyFigure
from ridgepoint.show.charts.sheet import INK
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

_WIDTH_IN, _HEIGHT_IN = 7.0, 4.6
_GREY = "#777777"
_WRAPPED = 118
_LABEL_AT = 0.985


def draw(figure: LatencyFigure) -> Figure:
    """Return the figure drawn; nothing is shown or saved."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(_WIDTH_IN, _HEIGHT_IN), layout="constrained")
    drawn.suptitle(figure.title, fontsize=10.5, fontweight="bold", x=0.01, ha="left", color=INK)
    axes = drawn.subplots()
    for index, line in enumerate(figure.lines):
        ink = colour(index)
        axes.fill_between(
            line.sizes_bytes, line.low_s, line.high_s, color=ink, alpha=0.18, linewidth=0
        )
        axes.plot(line.sizes_bytes, line.median_s, "os"[index % 2], color=ink, markersize=3,
                  label=line.label)  # fmt: skip
        if line.fit:
            axes.plot(*zip(*line.fit, strict=True), color=ink, linewidth=1.0, linestyle=(0, (4, 2)))
    _frame(axes)
    _levels(figure, axes)
    notes = "\n".join(textwrap.fill(note, _WRAPPED) for note in (figure.subtitle, *figure.notes))
    drawn.legend(loc="outside lower left", fontsize=8, frameon=False, ncols=len(figure.lines),
                 title=notes, title_fontsize=7.5, alignment="left")  # fmt: skip
    return drawn


def save(figure: LatencyFigure, path: str | Path) -> None:
    """Write the figure to a file; as `ridgepoint.show.charts.mpl.save`."""
    write(lambda: draw(figure), path)


def _levels(figure: LatencyFigure, axes: Axes) -> None:
    """Mark each level: its size and interval, and dotted what the system says."""
    top = axes.get_xaxis_transform()
    for mark in figure.levels:
        if mark.high_bytes > mark.low_bytes:
            axes.axvspan(mark.low_bytes, mark.high_bytes, color=_GREY, alpha=0.13, linewidth=0)
        axes.axvline(mark.size_bytes, color=_GREY, linewidth=0.9)
        _name(axes, mark.size_bytes, mark.label, top)
        if mark.stated_bytes is not None and mark.stated_bytes <= axes.get_xlim()[1]:
            axes.axvline(mark.stated_bytes, color=_GREY, linewidth=0.9, linestyle=":")
            said = f"{mark.label.split()[0]} as the system says {format_size(mark.stated_bytes)}"
            _name(axes, mark.stated_bytes, said, top)


def _name(axes: Axes, size_bytes: int, text: str, transform: Transform) -> None:
    axes.text(size_bytes, _LABEL_AT, f"{text} ", rotation=90, va="top", ha="right", fontsize=7.5,
              color=INK, transform=transform)  # fmt: skip


def _frame(axes: Axes) -> None:
    """Give the axes their scales, ticks and titles."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("working set of each core", fontsize=8.5)
    axes.set_ylabel("time per access", fontsize=8.5)
    axes.xaxis.set_major_locator(LogLocator(base=2.0, subs=(1.0,), numticks=10))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(max(round(x), 1))))
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: format_si(y, "s", digits=3).rstrip()))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=7.5, colors=INK)
    axes.grid(which="major", linewidth=0.4, color="#dddddd")
    axes.set_axisbelow(True)
