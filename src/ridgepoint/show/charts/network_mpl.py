"""The network of a measured cluster as a picture, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.core.measured_cluster import PATTERNS
from ridgepoint.core.units import format_si, format_size
from ridgepoint.show.charts.network import Band, Curve, NetworkFigure
from ridgepoint.show.charts.sheet import INK
from ridgepoint.show.pictures import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette and a grey; a marker each, for readers who see no colours.
_INKS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777")
_MARKERS = ("o", "^", "v", "s", "D", "P", "X")
_FEW_DECADES = 100
_ROW_IN = 2.9
_HEAD_IN = 1.3


def draw(figure: NetworkFigure) -> Figure:
    """Return the figure drawn, 8 inches wide: a row for each panel; nothing is shown or saved."""
    from ridgepoint.show.picture import Picture

    rows = len(figure.panels)
    drawn = Picture(figsize=(8.0, _HEAD_IN + _ROW_IN * rows), layout="constrained")
    drawn.suptitle(figure.title, fontsize=11, fontweight="bold", x=0.01, ha="left", color=INK)
    plots = drawn.subplots(rows, 2, squeeze=False, sharex=True)
    for panel, (left, right) in zip(figure.panels, plots, strict=True):
        for curve in panel.curves:
            _line(left, curve, curve.rates_bytes_per_s)
            _line(right, curve, curve.times_s)
        if figure.link_bytes_per_s is not None and panel.title.startswith("between"):
            left.axhline(figure.link_bytes_per_s, color=INK, linewidth=0.9, linestyle=(0, (5, 3)),
                         label="one link, one way")  # fmt: skip
        _frame(left, f"{panel.title}: bus bandwidth [B/s]", "")
        _frame(right, f"{panel.title}: time [s]", "s")
    for axes in plots[-1]:
        axes.set_xlabel("message size", fontsize=8)
    handles = {
        text: handle
        for axes in plots[:, 0]
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower left",
        ncols=4,
        fontsize=8,
        frameon=False,
        title=figure.subtitle,
        title_fontsize=7.5,
        alignment="left",
    )
    return drawn


def save(figure: NetworkFigure, path: str | Path) -> None:
    """Write the figure to a file; as `ridgepoint.show.charts.mpl.save`."""
    write(lambda: draw(figure), path)


def _line(axes: Axes, curve: Curve, values: tuple[Band, ...]) -> None:
    index = [str(pattern) for pattern in PATTERNS].index(curve.pattern)
    ink, low, median, high = _INKS[index], *zip(*values, strict=True)
    axes.fill_between(curve.sizes_bytes, low, high, color=ink, alpha=0.15, linewidth=0)
    axes.plot(curve.sizes_bytes, median, color=ink, marker=_MARKERS[index], markersize=3.5,
              linewidth=1.1, label=curve.pattern)  # fmt: skip


def _frame(axes: Axes, title: str, unit: str) -> None:
    """Give axes their scales, ticks and title."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_title(title, fontsize=8.5, loc="left", color=INK)
    axes.xaxis.set_major_locator(LogLocator(base=2.0, subs=(1.0,), numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(max(round(x), 1))))
    low, high = axes.get_ylim()
    subs = (1.0,) if high > _FEW_DECADES * low else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: format_si(y, unit, digits=3).rstrip())
    )
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=7, colors=INK)
    axes.grid(which="major", linewidth=0.4, color="#dddddd")
    axes.set_axisbelow(True)
