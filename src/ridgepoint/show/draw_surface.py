"""Surfaces of performance by matplotlib, in the look of charts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgepoint.show import theme
from ridgepoint.show.chart import Axis, Entry
from ridgepoint.show.draw_key import draw_key, draw_title, title_height
from ridgepoint.show.pictures import write
from ridgepoint.show.sheet import Sheet
from ridgepoint.show.surface import Cut, Surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH_IN, _HEIGHT_IN = 6.0, 5.4
_HEAD_IN, _FOOT_IN = 0.42, 0.2
_VIEW = {"elev": 24.0, "azim": -128.0}


def save(surface: Surface, path: str | Path) -> None:
    """Write a surface to a file; as `ridgepoint.show.draw_mpl.save`."""
    write(lambda: drawn(surface), path)


def drawn(surface: Surface) -> Figure:
    """Return a surface drawn; nothing is shown or saved."""
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    from ridgepoint.show.picture import Picture

    figure = Picture(figsize=(_WIDTH_IN, _HEIGHT_IN))
    axes = Axes3D(figure, rect=(0.02, 0.1, 0.9, 0.86), auto_add_to_figure=False)
    figure.add_axes(axes)
    font = theme.font_for(0.85 * _WIDTH_IN * theme.POINTS_PER_INCH)
    for face in surface.faces:
        corners = [tuple(map(math.log10, corner)) for corner in face.corners]
        ink = theme.hex_of(face.region)
        axes.add_collection3d(
            Poly3DCollection([corners], facecolor=theme.pale(ink), edgecolor=ink, linewidth=0.9)
        )
        middle = [sum(values) / len(corners) for values in zip(*corners, strict=True)]
        axes.text(
            *middle, f"{face.region}-bound", color=ink, fontsize=font, fontweight="bold",
            ha="center", zorder=10,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85},
        )  # fmt: skip
    for cut in surface.cuts:
        _draw_cut(cut, axes, floor=math.log10(surface.z.limits[0]))
    _set_up(surface, axes, font)
    head = Sheet.across(figure, "head", font, at=1 - _HEAD_IN / _HEIGHT_IN)
    needed_in = title_height(surface.title, surface.subtitle, head) / theme.POINTS_PER_INCH
    if needed_in > _HEAD_IN:
        head = Sheet.across(figure, "lower head", font, at=1 - needed_in / _HEIGHT_IN)
    draw_title(surface.title, surface.subtitle, head)
    draw_key(
        [
            Entry(text=cut.name, line="curve", ink=cut.region, is_abreast=True)
            for cut in surface.cuts
        ],
        Sheet.across(figure, "foot", font, at=_FOOT_IN / _HEIGHT_IN),
        below=0.0,
    )
    return figure


def _draw_cut(cut: Cut, axes: Any, *, floor: float) -> None:
    """Draw a line on the surface, and its shadow, dashed."""
    x, y, z = ([math.log10(value) for value in along] for along in zip(*cut.places, strict=True))
    ink = theme.hex_of(cut.region)
    axes.plot(x, y, z, color=ink, linewidth=1.8, zorder=9)
    axes.plot(x, y, [floor] * len(x), color=ink, linewidth=1.2, linestyle=(0, (4, 2)), zorder=8)


def _set_up(surface: Surface, axes: Any, font: float) -> None:
    """Set up the axes: their view, scales, ticks and labels."""
    axes.set_proj_type("ortho")
    axes.view_init(**_VIEW)
    axes.set_xlim(*map(math.log10, surface.x.limits))
    axes.set_ylim(*map(math.log10, surface.y.limits))
    axes.set_zlim(*map(math.log10, surface.z.limits))
    axes.set_xticks(*_ticks(surface.x), fontsize=font)
    axes.set_yticks(*_ticks(surface.y), fontsize=font)
    axes.set_zticks(*_ticks(surface.z), fontsize=font)
    axes.set_xlabel(surface.x.label, fontsize=font, labelpad=6)
    axes.set_ylabel(surface.y.label, fontsize=font, labelpad=6)
    axes.set_zlabel(surface.z.label, fontsize=font, labelpad=8)


def _ticks(axis: Axis) -> tuple[list[float], list[str]]:
    return [math.log10(value) for value, _ in axis.ticks], [text for _, text in axis.ticks]
