"""Images of a field by matplotlib, in the look of charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.show import theme
from ridgepoint.show.draw_key import draw_key, draw_title
from ridgepoint.show.images import Image, Images
from ridgepoint.show.pictures import write
from ridgepoint.show.sheet import MARKERS, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_COLUMNS = 2
_LEFT_IN, _RIGHT_IN, _ABOVE_IN, _BELOW_IN = 0.52, 0.78, 0.24, 0.38
"""Around each image: ticks and labels, the bar of colours, a title."""
_HEAD_IN, _FOOT_IN = 0.42, 0.25
_BAR_IN, _GAP_IN = 0.11, 0.07


def save(picture: Images, path: str | Path, *, width_in: float = 8.0) -> None:
    """Write images to a file; as `ridgepoint.show.draw_mpl.save`."""
    write(lambda: drawn(picture, width_in=width_in), path)


def drawn(picture: Images, *, width_in: float = 8.0) -> Figure:
    """Return images drawn, two in a row; nothing is shown or saved."""
    from ridgepoint.show.picture import Picture

    cell_in = width_in / _COLUMNS
    side_in = cell_in - _LEFT_IN - _RIGHT_IN
    row_in = _ABOVE_IN + side_in + _BELOW_IN
    rows = -(-len(picture.images) // _COLUMNS)
    height_in = _HEAD_IN + rows * row_in + _FOOT_IN
    figure = Picture(figsize=(width_in, height_in))
    font = theme.font_for(side_in * theme.POINTS_PER_INCH)
    for index, image in enumerate(picture.images):
        row, column = divmod(index, _COLUMNS)
        left = column * cell_in + _LEFT_IN
        bottom = height_in - _HEAD_IN - (row + 1) * row_in + _BELOW_IN
        axes, bar = (
            figure.add_axes(
                (begin / width_in, bottom / height_in, wide / width_in, side_in / height_in),
                label=f"{name} {index}",
            )
            for name, begin, wide in (
                ("image", left, side_in),
                ("bar", left + side_in + _GAP_IN, _BAR_IN),
            )
        )
        shown = _draw(image, picture.half_arcmin, Sheet.of(axes).with_font(font))
        _draw_bar(image, shown, bar, font)
    head = Sheet.across(figure, "head", font, at=1 - _HEAD_IN / height_in)
    draw_title(picture.title, picture.subtitle, head)
    foot = Sheet.across(figure, "foot", font, at=_FOOT_IN / height_in)
    draw_key(picture.key, foot, below=0.0)
    return figure


def _draw(image: Image, half_arcmin: float, sheet: Sheet) -> AxesImage:
    """Draw one image with its marks, its beam and its title."""
    from matplotlib.colors import AsinhNorm, Normalize

    axes = sheet.axes
    low, high = image.limits
    norm: Normalize = (
        Normalize(low, high) if image.linear is None else AsinhNorm(image.linear, low, high)
    )
    ends = (-half_arcmin, half_arcmin)
    colours = "RdBu_r" if image.linear is None else "inferno"
    shown = axes.imshow(
        image.pixels.T, origin="lower", extent=(*ends, *ends), norm=norm, cmap=colours,
        interpolation="nearest", aspect="auto",
    )  # fmt: skip
    axes.set_xlabel("l [arcmin]", fontsize=sheet.font, labelpad=2)
    axes.set_ylabel("m [arcmin]", fontsize=sheet.font, labelpad=2)
    _set_look(axes, sheet.font)
    for mark in image.marks:
        # Hollow, and not white: the pixels in it are what it marks.
        axes.scatter(
            *mark.at, marker=MARKERS[mark.shape], s=(sheet.marker * mark.size) ** 2,
            facecolor="none", edgecolor=theme.hex_of(mark.ink), linewidth=0.9,
        )  # fmt: skip
    if image.beam:
        axes.fill(*zip(*image.beam, strict=True), facecolor="white", edgecolor=theme.INK,
                  linewidth=0.5)  # fmt: skip
        right = max(x for x, _ in image.beam)
        middle = sum(y for _, y in image.beam) / len(image.beam)
        axes.annotate("beam", (right, middle), xytext=(3, 0), textcoords="offset points",
                      color="white", fontsize=sheet.small, va="center")  # fmt: skip
    draw_title(image.title, "", sheet)
    return shown


def _draw_bar(image: Image, shown: AxesImage, axes: Axes, font: float) -> None:
    """Draw what the colours of an image mean."""
    figure = axes.get_figure(root=True)
    assert figure is not None  # axes belong to a figure
    bar = figure.colorbar(shown, cax=axes, extend="both")
    bar.set_ticks([value for value, _ in image.ticks], labels=[text for _, text in image.ticks])
    bar.minorticks_off()
    bar.set_label(image.unit, fontsize=font)
    _set_look(axes, font)


def _set_look(axes: Axes, font: float) -> None:
    axes.tick_params(labelsize=font, length=2.5, width=0.6, pad=2)
    for spine in axes.spines.values():
        spine.set_linewidth(0.6)
