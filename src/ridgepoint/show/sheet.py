"""Axes of a known size: where places of a chart are on them, and texts written on and below them.

All lengths are in points, from the lower left corner of the axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from ridgepoint.show import theme
from ridgepoint.show.axes import share_of
from ridgepoint.show.chart import Chart, Face, Ink, LineKind, Place, Shape
from ridgepoint.show.labels import Box, Pair
from ridgepoint.show.text_size import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS: dict[Shape, str] = {
    "circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "plus": "P",
    "cross": "X", "star": "*", "cap": "_", "none": "",
}  # fmt: skip
_PAPER_ALPHA = 0.92
_MARGIN_IN = 0.1
"""Left and right of what stands above and below all axes of a picture."""
_LEADING = 1.4
"""Distance of rows, in sizes of their letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Axes of a known size, and the size of text that suits them.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    width, height, font : float
    """

    axes: Axes
    width: float
    height: float
    font: float

    @classmethod
    def of(cls, axes: Axes) -> Self:
        """Return the sheet of axes as large as they are now."""
        drawn = axes.get_figure(root=True)
        if drawn is None:
            raise ValueError("ax must belong to a figure")
        box, dpi = axes.get_window_extent(), drawn.dpi
        width, height = (size / dpi * theme.POINTS_PER_INCH for size in (box.width, box.height))
        return cls(axes=axes, width=width, height=height, font=theme.font_for(width))

    @classmethod
    def across(
        cls, figure: Figure, name: str, font: float, *, left_in: float = _MARGIN_IN, at: float = 0.0
    ) -> Sheet:
        """Return invisible axes across a picture, at a share of its height, to write texts at."""
        width_in = float(figure.get_figwidth())
        share = left_in / width_in, 1 - (left_in + _MARGIN_IN) / width_in
        axes = figure.add_axes((share[0], at, share[1], 0.01), label=name)
        axes.set_axis_off()
        return cls.of(axes).with_font(font)

    def with_font(self, font: float) -> Sheet:
        """Return the same axes for another size of text."""
        return replace(self, font=font)

    @property
    def small(self) -> float:
        """Size of labels and notes."""
        return self.font * 0.88

    @property
    def marker(self) -> float:
        """Diameter of a usual mark."""
        return self.font * 0.62

    @property
    def frame(self) -> Box:
        """The rectangle of the axes."""
        return Box(centre=(self.width / 2, self.height / 2), width=self.width, height=self.height)

    def at(self, place: Place, chart: Chart) -> Pair:
        """Return where a place of a chart is."""
        return (
            share_of(place[0], chart.x) * self.width,
            share_of(place[1], chart.y) * self.height,
        )

    def label(
        self,
        text: str,
        box: Box,
        *,
        colour: str,
        paper: theme.Rgb | None,
        size: float,
        is_bold: bool,
    ) -> None:
        """Write a text in the middle of a rectangle on the plane, turned with it.

        It hides the lines that it lies on, by paper of a colour; None: it lies on a bar or a disc.
        """
        self.axes.text(
            box.centre[0] / self.width,
            box.centre[1] / self.height,
            text,
            transform=self.axes.transAxes,
            rotation=math.degrees(box.angle),
            ha="center",
            va="center",
            fontsize=size,
            color=colour,
            fontweight="bold" if is_bold else "normal",
            parse_math=False,
            linespacing=1.1,
            zorder=3.5 if paper else 5.2,
            bbox=paper
            and {"facecolor": paper, "edgecolor": "none", "pad": 0.1, "alpha": _PAPER_ALPHA},
        )

    def rows(
        self,
        text: str,
        *,
        below: float,
        indent: float = 0.0,
        colour: str = theme.INK,
        size: float | None = None,
        is_bold: bool = False,
    ) -> float:
        """Write a text below the axes in as many rows as it needs; return where the next begins.

        It stands above the axes where `below` is less than the height of the axes below 0.
        """
        size = self.font if size is None else size
        for row in wrapped(text, self.width - indent, size):
            self.axes.text(
                indent / self.width,
                -below / self.height,
                row,
                transform=self.axes.transAxes,
                fontsize=size,
                color=colour,
                fontweight="bold" if is_bold else "normal",
                va="center_baseline",
                parse_math=False,
            )
            below += size * _LEADING
        return below


def stroke_of(kind: LineKind, ink: Ink | None) -> dict[str, Any]:
    """Return how matplotlib draws a line of a kind."""
    stroke = theme.STROKES[kind]
    style: dict[str, Any] = {
        "color": colour_of(kind, ink),
        "linewidth": stroke.width,
        "zorder": stroke.order,
    }
    if stroke.dashes:
        style["linestyle"] = (0, stroke.dashes)
    return style if stroke.width else style | {"linestyle": "none"}


def colour_of(kind: LineKind, ink: Ink | None) -> str:
    """Return the colour of a line: its own, or that of its kind."""
    own = theme.STROKES[kind].ink if ink is None else ink
    return theme.hex_of("ink" if own is None else own)


def faced(face: Face, colour: str) -> dict[str, Any]:
    """Return how matplotlib fills a shape, as the properties of a patch."""
    if face == "full":
        return {"facecolor": colour, "edgecolor": colour}
    white = face == "hollow"
    filled = {"facecolor": "white" if white else theme.pale(colour), "edgecolor": colour}
    return filled | ({"hatch": "////"} if face == "hatched" else {})
