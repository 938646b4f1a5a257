"""What a matplotlib figure says, as lines of text: labels, positions, colours, shapes.

Places are in the unit of the axes, not of the paper, so that layouts do not move them; those of
labels that were put where there is room (``at X Y``) are in shares of the axes. All letters are
taken to be equally wide, so that no version of a font moves those either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from matplotlib.collections import Collection, LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import FancyArrowPatch, Patch, Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator, FuncFormatter

_MOST_POINTS = 8
_LETTER = 0.56
"""Width of a letter over its size, on average."""
_LETTERS = "os^Dv<>PX*_"
_BLANK = 0.14
"""Width of the blank before the first and after the last letter, together."""


@contextmanager
def written_as_text() -> Iterator[None]:
    """Let `Figure.savefig` write what a figure says in place of a picture."""

    def savefig(figure: Figure, content: Any, **_: object) -> None:
        content.write((said(figure) + "\n").encode())

    with (
        mock.patch.object(Figure, "savefig", savefig),
        mock.patch("ridgepoint.show.text_size._relative_width", _relative_width),
    ):
        yield


def _relative_width(text: str, is_bold: bool, family: tuple[str, ...]) -> float:
    """Return the width of a text over its size, if all letters are equally wide."""
    return _LETTER * len(text) + _BLANK


def said(figure: Figure) -> str:
    """Return what a figure says."""
    width, height = figure.get_size_inches()
    lines = [f"picture {width:.1f} x {height:.1f} in"]
    title = getattr(figure, "_suptitle", None)
    if title is not None and title.get_text():
        lines.append(f"  title {title.get_text()!r}")
    lines += [
        f"  {line}" for text in figure.texts if text is not title for line in _text(text, None)
    ]
    lines += [f"  {line}" for legend in figure.legends for line in _legend(legend, None)]
    for axes in figure.axes:
        own = list(_axes(axes))
        if own:
            lines += ["axes" if _is_shown(axes) else "around", *(f"  {line}" for line in own)]
    return "\n".join(lines)


def _axes(axes: Any) -> Iterator[str]:
    for place in ("left", "center", "right"):
        if title := axes.get_title(loc=place):
            yield f"title {title!r}"
    names = ("x", "y", "z") if axes.name == "3d" else ("x", "y")
    for name in names if _is_shown(axes) else ():
        yield from _axis(name, axes)
    # In the order in which they are drawn; spines, axes and the background are not among them.
    skipped = {*axes.spines.values(), axes.patch, axes.title, axes.xaxis, axes.yaxis}
    skipped |= {getattr(axes, name, None) for name in ("_left_title", "_right_title")}
    on_contours = {
        text
        for contours in axes.collections
        if isinstance(contours, ContourSet)
        for text in contours.labelTexts
    }
    for artist in axes.get_children():
        if artist in on_contours:
            yield f"text {artist.get_text()!r} on its contour {_colour(artist.get_color())}"
        elif artist not in skipped and artist.get_visible():
            yield from _artist(artist, axes)


def _is_shown(axes: Any) -> bool:
    """Return whether axes are drawn, rather than being there for texts to hang from."""
    return bool(axes.axison) or axes.name == "3d"


def _axis(name: str, axes: Any) -> Iterator[str]:
    axis = getattr(axes, f"{name}axis")
    low, high = getattr(axes, f"get_{name}lim")()
    scale = getattr(axes, f"get_{name}scale")()
    yield f"{name} {axis.label.get_text()!r} {scale} {_number(low)} .. {_number(high)}"
    formatter, places = axis.get_major_formatter(), axis.get_majorticklocs()
    if isinstance(axis.get_major_locator(), FixedLocator):
        texts = formatter.format_ticks(places)
        shown = (f"{_number(place)} {text!r}" for place, text in zip(places, texts, strict=True))
        yield f"  ticks {'; '.join(shown)}"
    elif isinstance(formatter, FuncFormatter):
        # Where they are is matplotlib's choice, and differs by its version.
        yield f"  ticks such as {formatter(low)!r}"


def _artist(artist: Any, axes: Any) -> Iterable[str]:
    for kind, lines in _SAYING.items():
        if isinstance(artist, kind):
            return lines(artist, axes)
    return [type(artist).__name__]


def _text(text: Text, axes: Any) -> Iterator[str]:
    if not text.get_text():
        return
    look = [_colour(text.get_color()), f"{text.get_fontsize():.1f}"]
    if text.get_fontweight() not in ("normal", 400):
        look.append(str(text.get_fontweight()))
    if text.get_rotation():
        look.append(f"turned {text.get_rotation():.0f}")
    yield f"text {text.get_text()!r} {_place(text, axes)}{' '.join(look)}"


def _place(text: Text, axes: Any) -> str:
    """Return where a text is; nothing for those around the axes, which stand in rows."""
    if axes is None:
        return ""
    if axes.name == "3d":
        return f"in {_pair(text.get_position_3d())} "  # type: ignore[attr-defined]
    if isinstance(text, Annotation):
        return f"by {_pair(text.xy)} " if text.xycoords == "data" else ""
    x, y = text.get_position()
    if text.get_transform() == axes.transData and _is_shown(axes):
        return f"in {_pair((x, y))} "
    if text.get_transform() == axes.transAxes and 0 <= y <= 1:
        return f"at {x:.2f} {y:.2f} "
    return ""


def _line(line: Line2D, axes: Any) -> Iterator[str]:
    data = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()  # type: ignore[attr-defined]
    points = [tuple(map(float, point)) for point in zip(*data, strict=True)]
    if line.get_transform() == axes.transAxes and all(point[1] < 0 for point in points):
        yield f"key {_marker(line)}"
        return
    kind = [] if line.get_linestyle() == "None" else [_stroke(line)]
    if line.get_marker() not in ("None", None, "", " "):
        kind.append(_marker(line))
    name = str(line.get_label())
    yield f"line {' '.join(kind)}{_named(name)}: {_points(points)}"


def _stroke(line: Any) -> str:
    dashes = getattr(line, "_unscaled_dash_pattern", (0, None))[1]
    style = "" if dashes is None else f" dashed {'-'.join(f'{part:.3g}' for part in dashes)}"
    return f"{_colour(line.get_color(), line.get_alpha())} {line.get_linewidth():.2g} wide{style}"


def _marker(line: Line2D) -> str:
    edge, face = _colour(line.get_markeredgecolor()), _colour(line.get_markerfacecolor())
    look = edge if edge == face else f"{edge} filled {face}"
    return f"marker {line.get_marker()} {look} {line.get_markersize():.1f}"


def _collection(collection: Collection, axes: Any) -> Iterator[str]:
    colours = _colours(collection.get_facecolor()), _colours(collection.get_edgecolor())
    look = " edge ".join(each or "none" for each in colours)
    hatch = f" hatched {collection.get_hatch()}" if collection.get_hatch() else ""
    name = _named(str(collection.get_label()))
    if isinstance(collection, PathCollection):
        if collection.get_offset_transform() == axes.transAxes:
            yield f"key {_shape(collection)} {look}{hatch}"
            return
        sizes = ", ".join(f"{size:.3g}" for size in collection.get_sizes()[:_MOST_POINTS])
        places = [tuple(map(float, point)) for point in collection.get_offsets()]
        yield f"marks {_shape(collection)} {look}{hatch} of {sizes}{name}: {_points(places)}"
        return
    kind = "lines" if isinstance(collection, LineCollection) else "area"
    if axes.name == "3d":
        yield f"{kind} {look}{name}"
        return
    for path in collection.get_paths():
        points = [tuple(map(float, point)) for point in path.vertices]
        if isinstance(collection, ContourSet):
            # What lies between the ends differs by version, too.
            points = [points[0], points[-1]] if points else []
        yield f"{kind} {look}{hatch}{name}: {_points(points)}"


def _shape(collection: Collection) -> str:
    """Return matplotlib's letter of the shape of marks."""
    outline = collection.get_paths()[0].vertices
    for letter in _LETTERS:
        style = MarkerStyle(letter)
        known = style.get_path().transformed(style.get_transform()).vertices
        if known.shape == outline.shape and np.allclose(known, outline):
            return letter
    return "of another shape"


def _patch(patch: Patch, axes: Any) -> Iterator[str]:
    face, edge = _colour(patch.get_facecolor()), _colour(patch.get_edgecolor())
    look = f"{face} edge {edge}" + (f" hatched {patch.get_hatch()}" if patch.get_hatch() else "")
    name = _named(str(patch.get_label()))
    if isinstance(patch, Rectangle):
        x, y = patch.get_xy()
        sides = f"{_number(patch.get_width())} x {_number(patch.get_height())}"
        yield f"bar {look}{name}: {_pair((x, y))} {sides}"
        return
    if isinstance(patch, FancyArrowPatch):
        yield f"arrow {look}{name}"
        return
    vertices = patch.get_path().vertices
    if patch.get_data_transform() != axes.transData:
        yield f"shape {look}{name}"
        return
    yield f"shape {look}{name}: {_points([tuple(map(float, point)) for point in vertices])}"


def _image(image: AxesImage, _: Any) -> Iterator[str]:
    pixels = image.get_array()
    assert pixels is not None
    low, high = image.get_clim()
    rows, columns = pixels.shape[:2]
    yield f"image {rows} x {columns}, colours {_number(low)} .. {_number(high)}"


def _legend(legend: Legend, _: Any) -> Iterator[str]:
    texts = [text.get_text() for text in legend.get_texts()]
    title = legend.get_title().get_text()
    yield f"legend {title!r}: {'; '.join(map(repr, texts))}"


_SAYING: dict[type, Callable[..., Iterable[str]]] = {
    Legend: _legend,
    Text: _text,
    Line2D: _line,
    Collection: _collection,
    AxesImage: _image,
    Patch: _patch,
}


def _named(name: str) -> str:
    return "" if name.startswith("_") or not name else f" {name!r}"


def _points(points: Sequence[tuple[float, ...]]) -> str:
    """Return points; of many the first, the last and some between, and how many there are."""
    if len(points) <= _MOST_POINTS:
        return " ".join(map(_pair, points))
    last = len(points) - 1
    chosen = [points[last * step // (_MOST_POINTS - 1)] for step in range(_MOST_POINTS)]
    return f"{len(points)} points, of which {' '.join(map(_pair, chosen))}"


def _pair(point: Iterable[Any]) -> str:
    return f"({', '.join(_number(value) for value in point)})"


def _number(value: Any) -> str:
    """Return a number to three digits; what is nothing but rounding is 0."""
    number = float(value)
    return "0" if abs(number) < 1e-15 else f"{number:.3g}"


def _colour(colour: Any, alpha: float | None = None) -> str:
    if isinstance(colour, str) and colour == "none":
        return "none"
    text = to_hex(colour, keep_alpha=True)
    if alpha is not None:
        text = to_hex((*_rgb(text), alpha), keep_alpha=True)
    if text.endswith("00"):
        return "none" if len(text) == len("#rrggbbaa") else text
    return text[:7] if text.endswith("ff") else text


def _rgb(text: str) -> tuple[float, ...]:
    return tuple(int(text[start : start + 2], 16) / 255 for start in (1, 3, 5))


def _colours(colours: Any) -> str:
    return " ".join(dict.fromkeys(_colour(tuple(colour)) for colour in colours))
