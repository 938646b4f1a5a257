"""A miss curve as text, for a terminal."""

from __future__ import annotations

from itertools import pairwise

from ridgepoint.show.charts.axes_text import canvas_for, fractions, framed, page, wrapped
from ridgepoint.show.charts.canvas import Canvas
from ridgepoint.show.charts.miss_curve import MissCurveFigure
from ridgepoint.show.charts.plane import Coordinates

_SMALLEST = (40, 12)
_INKS = {"moved": "\x1b[1;34m", "written": "\x1b[31m", "caches": "\x1b[2m", "sets": "\x1b[1m"}
_SET = "*"


def render(
    figure: MissCurveFigure, *, width: int = 80, height: int = 24, color: bool, ascii: bool = False
) -> str:
    """Return a miss curve as text; as `ridgepoint.show.charts.terminal.render`."""
    width, height = max(width, _SMALLEST[0]), max(height, _SMALLEST[1])
    canvas = canvas_for(width=width, height=height, ascii=ascii)
    for mark in figure.caches:
        x, _ = fractions(figure, (float(mark.size_bytes), figure.y_limits[0]))
        canvas.line((x, 0.0), (x, 0.999), dashed=True, style=_INKS["caches"])
    _draw(figure.written, figure, canvas, dashed=True, style=_INKS["written"])
    _draw(figure.moved, figure, canvas, dashed=False, style=_INKS["moved"])
    for set_mark in figure.working_sets:
        row, column = canvas.cell(fractions(figure, set_mark.at))
        canvas.write(row, column, _SET, style=_INKS["sets"])
    for mark in figure.caches:
        _name(mark.name, float(mark.size_bytes), figure, canvas)
    lines = [
        *wrapped(figure.title, width),
        *wrapped(figure.subtitle, width),
        figure.y_label,
        *framed(figure, canvas, color=color),
        *_key(figure, width),
    ]
    return page(lines, ascii=ascii)


def _draw(
    corners: tuple[Coordinates, ...],
    figure: MissCurveFigure,
    canvas: Canvas,
    *,
    dashed: bool,
    style: str,
) -> None:
    places = [fractions(figure, corner) for corner in corners]
    for start, end in pairwise(places):
        canvas.line(start, end, dashed=dashed, style=style)


def _name(name: str, size_bytes: float, figure: MissCurveFigure, canvas: Canvas) -> None:
    """Write the name of a cache beside its line, as high as there is room."""
    _, column = canvas.cell(fractions(figure, (size_bytes, figure.y_limits[0])))
    places = [(row, at) for row in (0, 1, 2) for at in (column + 1, column - len(name))]
    free = [place for place in places if canvas.is_free(*place, name)]
    if free:
        canvas.write(*free[0], name, style=_INKS["caches"])


def _key(figure: MissCurveFigure, width: int) -> list[str]:
    """Return what the lines and marks are, and the notes."""
    said = ["line: read and written", "dashed: written"]
    if figure.caches:
        said.append(f"upright: {', '.join(mark.label for mark in figure.caches)}")
    if figure.working_sets:
        sizes = ", ".join(mark.label for mark in figure.working_sets)
        said.append(f"{_SET}: where a working set begins to fit ({sizes})")
    lines = wrapped("; ".join(said), width, "  ")
    for note in figure.notes:
        lines += wrapped(note, width, "  ")
    return lines
