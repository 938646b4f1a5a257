"""A plane of two logarithmic axes as text: what every drawing on a terminal shares."""

from __future__ import annotations

import math
import textwrap

from ridgepoint.show.charts.canvas import Canvas
from ridgepoint.show.charts.plane import Coordinates, Plane

CAP = "┬"
"""Mark of what bounds a program: unlike any stroke of a line, in braille and (as "=") in ASCII."""
TICK_COLUMNS = 7
"""Columns left of the axis."""
MARGIN_ROWS = 3
"""Rows below the axis: itself, ticks, label."""

REGION = "●"
"""Mark of a region."""
UNTIMED_REGION = "○"
"""Mark of a region of unknown time, at what bounds it."""
REGION_ABOVE = "!"
"""Mark of a region that is above its roof."""

_PLAIN = str.maketrans(
    {CAP: "=", REGION: "*", UNTIMED_REGION: "o", "…": "~", "–": "-", "−": "-", "×": "x", "µ": "u"}
)


def canvas_for(*, width: int, height: int, ascii: bool) -> Canvas:
    """Return the canvas of a plane that takes so many columns and rows with its axes."""
    return Canvas(columns=width - TICK_COLUMNS - 2, rows=height - MARGIN_ROWS, ascii=ascii)


def fractions(figure: Plane, place: Coordinates) -> Coordinates:
    """Return a place on the plane in fractions from its lower left corner."""
    limits = (figure.x_limits, figure.y_limits)
    x, y = (
        math.log10(value / low) / math.log10(high / low)
        for value, (low, high) in zip(place, limits, strict=True)
    )
    return x, y


def framed(figure: Plane, canvas: Canvas, *, color: bool) -> list[str]:
    """Return the canvas with its axes and ticks."""
    ticks = {
        canvas.cell(fractions(figure, (figure.x_limits[0], y)))[0]: t for y, t in figure.y_ticks
    }
    corner, rule, post, tick = ("+", "-", "|", "+") if canvas.ascii else ("└", "─", "│", "┤")
    rows = [
        f"{ticks.get(number, ''):>{TICK_COLUMNS}} {tick if number in ticks else post}{line}"
        for number, line in enumerate(canvas.lines(color=color))
    ]
    below = [" "] * (canvas.columns + TICK_COLUMNS + 2)
    for x, text in figure.x_ticks:
        at = canvas.cell(fractions(figure, (x, figure.y_limits[0])))[1] + TICK_COLUMNS + 2
        start = min(at - len(text) // 2, len(below) - len(text))
        if all(mark == " " for mark in below[max(start - 1, 0) : start + len(text) + 1]):
            below[start : start + len(text)] = text
    axis = " " * (TICK_COLUMNS + 1) + corner + rule * canvas.columns
    return [*rows, axis, "".join(below), f"{figure.x_label:>{len(below)}}"]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return a text in lines of at most so many columns, all but the first indented."""
    return textwrap.wrap(text, width, subsequent_indent=indent)


def page(lines: list[str], *, ascii: bool) -> str:
    """Return lines as one text, in ASCII where asked."""
    if ascii:
        lines = [line.translate(_PLAIN).encode("ascii", "replace").decode() for line in lines]
    return "\n".join(line.rstrip() for line in lines) + "\n"
