"""An image of a known sky as a picture, by matplotlib."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ridgepoint.show.charts.imaging import ImagingFigure, Panel
from ridgepoint.show.pictures import write
from ridgepoint.suites.imaging.restore import Beam

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT = 8
_HEIGHT_OVER_WIDTH = 0.9
_FROM_EDGE = 0.06


def save(figure: ImagingFigure, path: str | Path, *, width_in: float = 8.0) -> None:
    """Write the four pictures to a file; as `ridgepoint.show.charts.mpl.save`."""

    def make() -> Figure:
        from matplotlib.figure import Figure as Drawn
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06, wspace=0.03)
        drawn = Drawn(figsize=(width_in, _HEIGHT_OVER_WIDTH * width_in), layout=layout)
        drawn.suptitle(f"{figure.title}\n{figure.subtitle}", fontsize=_FONT + 1)
        for panel, ax in zip(figure.panels, drawn.subplots(2, 2).flat, strict=True):
            draw(figure, panel, ax)
        return drawn

    write(make, path)


def draw(figure: ImagingFigure, panel: Panel, ax: Axes) -> None:
    """Draw one picture on axes in minutes of arc."""
    from matplotlib.colors import AsinhNorm, Normalize

    is_linear = panel.linear >= panel.high
    norm: Normalize = (
        Normalize(panel.low, panel.high)
        if is_linear
        else AsinhNorm(panel.linear, panel.low, panel.high)
    )
    half = figure.half_arcmin
    shown = ax.imshow(
        panel.pixels.T, origin="lower", extent=(-half, half, -half, half), norm=norm,
        cmap="RdBu_r" if is_linear else "inferno", interpolation="nearest",
    )  # fmt: skip
    ax.set_title(panel.title, fontsize=_FONT + 1, fontweight="bold", loc="left")
    ax.tick_params(labelsize=_FONT - 1)
    ax.set_xlabel("l [arcmin]", fontsize=_FONT)
    ax.set_ylabel("m [arcmin]", fontsize=_FONT)
    drawn = ax.get_figure(root=True)
    assert drawn is not None  # axes belong to a figure
    bar = drawn.colorbar(shown, ax=ax, fraction=0.046, pad=0.03, extend="both")
    if not is_linear:
        bar.set_ticks(_decades(panel))
        bar.minorticks_off()
    bar.ax.tick_params(labelsize=_FONT - 1)
    bar.set_label(panel.unit, fontsize=_FONT)
    if panel.has_marks:
        _mark_sources(figure, ax)
    if panel.title.startswith("restored"):
        _draw_beam(figure.beam, figure, ax)


def _decades(panel: Panel) -> list[float]:
    """Return zero and the powers of ten in that part of a scale that is logarithmic."""
    first, last = math.ceil(math.log10(panel.linear)), math.floor(math.log10(panel.high))
    return [0.0, *(10.0**power for power in range(first, last + 1))]


def _mark_sources(figure: ImagingFigure, ax: Axes) -> None:
    """Circle the true places, so that the pixels in them can be seen."""
    for is_extended, shape in ((False, "o"), (True, "s")):
        places = [(x, y) for x, y, extended in figure.sources_arcmin if extended == is_extended]
        if places:
            x, y = zip(*places, strict=True)
            ax.scatter(x, y, marker=shape, s=90, facecolor="none", edgecolor="#7fd4ff",
                       linewidth=0.9,
                       label="extended source" if is_extended else "point source")  # fmt: skip
    ax.legend(fontsize=_FONT - 1, loc="upper right", framealpha=0.8)


def _draw_beam(beam: Beam, figure: ImagingFigure, ax: Axes) -> None:
    """Draw the half maximum of the beam in the lower left corner."""
    angle = np.linspace(0, 2 * math.pi, 60)
    x, y = np.cos(angle), np.sin(angle)
    away = np.sqrt(math.log(2) / (beam.a * x**2 + beam.b * x * y + beam.c * y**2))
    corner = -figure.half_arcmin * (1 - 2 * _FROM_EDGE)
    ax.fill(corner + away * x * figure.pixel_arcmin, corner + away * y * figure.pixel_arcmin,
            facecolor="white", edgecolor="black", linewidth=0.5)  # fmt: skip
    ax.annotate("beam", (corner, corner), xytext=(9, 0), textcoords="offset points",
                color="white", fontsize=_FONT - 1, va="center")  # fmt: skip
