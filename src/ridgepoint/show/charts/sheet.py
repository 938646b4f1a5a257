"""Axes of a known size: text and markers on the plane and below it."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ridgepoint.show.labels import Box, Pair
from ridgepoint.show.text_size import text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rgb = tuple[float, float, float]
"""Red, green and blue, from 0 to 1."""

INK = "#222222"
_POINTS_PER_INCH = 72
# Letters of DejaVu Sans are 0.56 of their size wide, on average over English text.
_LETTER = 0.56


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Axes of a known size, and the size of text that suits them; all in points.

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
    def of(cls, axes: Axes) -> Sheet:
        """Return the sheet of axes as large as they are now."""
        drawn = axes.get_figure(root=True)
        if drawn is None:
            raise ValueError("ax must belong to a figure")
        box, dpi = axes.get_window_extent(), drawn.dpi
        width, height = (size / dpi * _POINTS_PER_INCH for size in (box.width, box.height))
        font = min(max(4.9 + 0.6 * width / _POINTS_PER_INCH, 6.0), 12.0)
        return cls(axes=axes, width=width, height=height, font=font)

    @property
    def small(self) -> float:
        """Size of labels and notes."""
        return self.font * 0.88

    @property
    def marker(self) -> float:
        """Size of a filled marker."""
        return self.font * 0.62

    def at(self, place: Pair) -> Pair:
        """Return where a place of the plane is, from the lower left corner."""
        inner = self.axes.transData + self.axes.transAxes.inverted()
        x, y = inner.transform(place)
        return float(x) * self.width, float(y) * self.height

    def text_width(self, text: str, size: float) -> float:
        """Return the width of a text."""
        # Without the blank before the first and after the last letter.
        return text_width(text, size) - 0.14 * size

    def wrapped(self, text: str, *, indent: float = 0.0, size: float) -> list[str]:
        """Return a text in lines that fit the width of the axes."""
        return textwrap.wrap(text, max(int((self.width - indent) / (_LETTER * size)), 20)) or [""]

    def label(
        self, text: str, box: Box, *, colour: str, size: float, weight: str = "normal"
    ) -> None:
        """Write a text in the middle of a rectangle on the plane, turned with it."""
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
            fontweight=weight,
            parse_math=False,
            zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.1, "alpha": 0.92},
        )

    def row(
        self,
        text: str,
        *,
        below: float,
        indent: float = 0.0,
        colour: str = INK,
        size: float | None = None,
        weight: str = "normal",
    ) -> None:
        """Write one row below the axes; above them where `below` is less than -height."""
        self.axes.text(
            indent / self.width,
            -below / self.height,
            text,
            transform=self.axes.transAxes,
            fontsize=self.font if size is None else size,
            color=colour,
            fontweight=weight,
            va="center_baseline",
            parse_math=False,
        )

    def sample(
        self,
        marker: str,
        *,
        below: float,
        indent: float,
        colour: str,
        filled: bool,
        face: Rgb | None = None,
    ) -> None:
        """Draw one marker below the axes; with a face of another colour than its edge, if given."""
        self.axes.plot(
            (indent + self.font * 0.4) / self.width,
            -below / self.height,
            marker,
            color=colour,
            markerfacecolor=(face or colour) if filled else "white",
            markersize=self.marker,
            markeredgewidth=0.9,
            transform=self.axes.transAxes,
            clip_on=False,
        )
