"""Surfaces of performance as pictures, by matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.show import theme
from ridgepoint.show.chart import Ticks
from ridgepoint.show.pictures import write
from ridgepoint.show.surface import Cut, SurfaceFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE_IN = (6.0, 5.4)
_FONT = 8.0
_VIEW = {"elev": 24.0, "azim": -128.0}
_CUT_INKS = {"memory": "#B22222", "network": "#00408A"}
"""As in the paper: the roofline red, the compute-network roofline blue."""


def save_surface(figure: SurfaceFigure, path: str | Path) -> None:
    """Write a surface to a file; as `ridgepoint.show.draw_mpl.save`."""
    write(lambda: _drawn(figure), path)


def _drawn(figure: SurfaceFigure) -> Figure:
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    drawn = Figure(figsize=_SIZE_IN)
    axes = Axes3D(drawn, rect=(0.02, 0.05, 0.9, 0.83), auto_add_to_figure=False)
    drawn.add_axes(axes)
    drawn.text(0.04, 0.955, figure.title, fontsize=_FONT * 1.3, fontweight="bold", color=theme.INK)
    drawn.text(0.04, 0.92, figure.subtitle, fontsize=_FONT, color=theme.INK, parse_math=False)
    for face in figure.faces:
        corners = [tuple(map(math.log10, corner)) for corner in face.corners]
        ink = theme.hex_of(face.region)
        axes.add_collection3d(
            Poly3DCollection([corners], facecolor=theme.pale(ink), edgecolor=ink, linewidth=0.9)
        )
        middle = [sum(values) / len(corners) for values in zip(*corners, strict=True)]
        axes.text(
            *middle, f"{face.region}-bound", color=ink, fontsize=_FONT, fontweight="bold",
            ha="center", zorder=10,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85},
        )  # fmt: skip
    for cut in figure.cuts:
        _draw_cut(cut, axes, floor=math.log10(figure.z.limits[0]))
    _set_up(figure, axes)
    if figure.cuts:
        drawn.legend(
            handles=[line for line in axes.lines if not str(line.get_label()).startswith("_")],
            loc="upper left", fontsize=_FONT, frameon=False, bbox_to_anchor=(0.02, 0.91),
        )  # fmt: skip
    return drawn


def _draw_cut(cut: Cut, axes: Any, *, floor: float) -> None:
    """Draw a line on the surface, and its shadow, dashed."""
    x, y, z = ([math.log10(value) for value in each] for each in zip(*cut.places, strict=True))
    ink = _CUT_INKS[cut.style]
    axes.plot(x, y, z, color=ink, linewidth=1.8, zorder=9, label=cut.name)
    axes.plot(x, y, [floor] * len(x), color=ink, linewidth=1.2, linestyle=(0, (4, 2)), zorder=8)


def _set_up(figure: SurfaceFigure, axes: Any) -> None:
    axes.set_proj_type("ortho")
    axes.view_init(**_VIEW)
    axes.set_xlim(*_logs(figure.x.limits))
    axes.set_ylim(*_logs(figure.y.limits))
    axes.set_zlim(*_logs(figure.z.limits))
    axes.set_xticks(_places(figure.x.ticks), [text for _, text in figure.x.ticks], fontsize=_FONT)
    axes.set_yticks(_places(figure.y.ticks), [text for _, text in figure.y.ticks], fontsize=_FONT)
    axes.set_zticks(_places(figure.z.ticks), [text for _, text in figure.z.ticks], fontsize=_FONT)
    axes.set_xlabel(figure.x.label, fontsize=_FONT, labelpad=6)
    axes.set_ylabel(figure.y.label, fontsize=_FONT, labelpad=6)
    axes.set_zlabel(figure.z.label, fontsize=_FONT, labelpad=10)
    axes.zaxis.set_tick_params(pad=5)


def _logs(limits: Sequence[float]) -> tuple[float, float]:
    return math.log10(limits[0]), math.log10(limits[1])


def _places(ticks: Ticks) -> list[float]:
    return [math.log10(value) for value, _ in ticks]
