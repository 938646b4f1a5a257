"""The figures with which the paper explains the Ridgeline: Figs. 2a to 2e."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.show.axes import clipped, decades, log_axis, si_text, with_prefix
from ridgepoint.show.chart import Area, Chart, Interval, Label, Line, Page
from ridgepoint.show.charts.ridgeline_plane import (
    X_LABEL,
    Frame,
    edges,
    frame_corners,
    machines_line,
    region_area,
    region_areas,
    y_label,
)
from ridgepoint.show.words import shown_intensity

_AROUND = 30.0
_ROOM = 1.6
_K_STEPS = (0.01, 0.1, 1.0, 10.0)
"""Of the ridge's own k, for lines of equal network intensity."""


def explained(ridgeline: Ridgeline) -> dict[str, Page]:
    """Return Figs. 2a to 2e, by name: how two rooflines make the plane, with full overlap."""
    full = replace(ridgeline, overlap="full")
    plane, limits = _plane(full)
    x_limits, y_limits = limits
    ridge = full.ridge
    upright = Line(
        kind="curve",
        ink="network",
        places=((ridge.memory_intensity, y_limits[0]), (ridge.memory_intensity, y_limits[1])),
        label=Label(f"I_M* = {shown_intensity(ridge.memory_intensity)}"),
    )
    level = Line(
        kind="curve",
        ink="compute",
        places=(
            (x_limits[0], ridge.arithmetic_intensity),
            (x_limits[1], ridge.arithmetic_intensity),
        ),
        label=Label(f"I_A* = {shown_intensity(ridge.arithmetic_intensity)} {full.unit}/byte"),
    )
    halves = _halves(full, limits)
    figures = {
        "2a": (
            replace(plane, title="The roofline divides the plane", areas=halves[:2],
                    lines=(level,)),
            _roofline_beside(full, y_limits),
        ),
        "2b": (
            replace(plane, title="So does the memory-network roofline", areas=halves[2:],
                    lines=(upright,)),
            _memory_network_roofline(full, x_limits),
        ),
        "2c": (
            replace(plane, title="Together: four quadrants", areas=_quadrants(full, limits),
                    lines=(level, upright)),
        ),
        "2d": (
            replace(plane, title="x y = I_N, flop per byte of network",
                    lines=(*_equal_k(full, limits), level, upright)),
        ),
        "2e": (
            replace(plane, title="The regions", areas=region_areas(full, limits),
                    lines=edges(full, limits)),
        ),
    }  # fmt: skip
    return {name: Page(charts=charts, columns=2) for name, charts in figures.items()}


def _plane(ridgeline: Ridgeline) -> tuple[Chart, Frame]:
    """Return the empty plane around the ridge point, and its limits."""
    ridge = ridgeline.ridge
    limits = [
        decades([value / _AROUND, value * _AROUND])
        for value in (ridge.memory_intensity, ridge.arithmetic_intensity)
    ]
    chart = Chart(
        title="",
        subtitle=machines_line(ridgeline),
        x=log_axis(X_LABEL, limits[0], shown_intensity),
        y=log_axis(y_label(ridgeline), limits[1], shown_intensity),
    )
    return chart, (limits[0], limits[1])


def _halves(ridgeline: Ridgeline, limits: Frame) -> tuple[Area, ...]:
    """Return the areas above and below I_A*, then left and right of I_M*."""
    up = math.log10(ridgeline.ridge.arithmetic_intensity)
    right = math.log10(ridgeline.ridge.memory_intensity)
    corners = frame_corners(limits)
    return (
        region_area("compute", clipped(corners, [lambda x, y: y - up]), "compute-bound"),
        region_area("memory", clipped(corners, [lambda x, y: up - y]), "memory-bound"),
        region_area("network", clipped(corners, [lambda x, y: right - x]), "network-bound"),
        region_area("memory", clipped(corners, [lambda x, y: x - right]), "memory-bound"),
    )


def _quadrants(ridgeline: Ridgeline, limits: Frame) -> tuple[Area, ...]:
    """Return the quadrants, with the limits that both rooflines give in each."""
    (left, right), (bottom, top) = limits
    x, y = ridgeline.ridge.memory_intensity, ridgeline.ridge.arithmetic_intensity
    return (
        region_area(
            "network",
            frame_corners(((left, x), (bottom, y))),
            "roofline: memory\nmemory-network: network\nso network-bound",
        ),
        region_area(
            "memory", frame_corners(((x, right), (bottom, y))), "both: memory\nso memory-bound"
        ),
        region_area(
            "compute",
            frame_corners(((x, right), (y, top))),
            "roofline: compute\nmemory-network: memory\nso compute-bound",
        ),
        region_area(
            None,
            frame_corners(((left, x), (y, top))),
            "roofline: compute\nmemory-network: network\nwhich of the two?",
        ),
    )


def _equal_k(ridgeline: Ridgeline, limits: Frame) -> tuple[Line, ...]:
    """Return lines on which performance depends on the network alone."""
    left, right = limits[0]
    lines = []
    for step in _K_STEPS:
        k = ridgeline.ridge.network_intensity * step
        bound_by = float(ridgeline.attainable_by_network(k))
        said = ", the ridge" if step == 1 else ""
        lines.append(
            Line(
                kind="roof" if step == 1 else "balance",
                places=((left, k / left), (right, k / right)),
                label=Label(
                    f"k = {shown_intensity(k)}{said}: "
                    f"at most {si_text(bound_by, f'{ridgeline.unit}/s', digits=3)}"
                ),
            )
        )
    return tuple(lines)


def _roofline_beside(ridgeline: Ridgeline, y_limits: Interval) -> Chart:
    """Return the roofline, turned to share the plane's vertical axis."""
    y = np.array([y_limits[0], ridgeline.ridge.arithmetic_intensity, y_limits[1]])
    rates = ridgeline.attainable(math.inf, y)
    places = tuple(zip(np.atleast_1d(rates).tolist(), y.tolist(), strict=True))
    limits = decades([rate for rate, _ in places], room=_ROOM)
    return Chart(
        title="Roofline, on the same vertical axis",
        subtitle="memory limits below its knee, compute above it",
        x=log_axis(f"Performance [{ridgeline.unit}/s]", limits, with_prefix),
        y=log_axis(y_label(ridgeline), y_limits, shown_intensity),
        lines=(
            Line(kind="roof", places=places),
            Line(
                kind="curve",
                ink="compute",
                places=((limits[0], y[1]), (limits[1], y[1])),
                label=Label(f"I_A* = {shown_intensity(y[1])}"),
            ),
        ),
    )


def _memory_network_roofline(ridgeline: Ridgeline, x_limits: Interval) -> Chart:
    """Return the memory bandwidth that the network allows, over the memory intensity."""
    x = ridgeline.ridge.memory_intensity
    at = (x_limits[0], x, x_limits[1])
    seconds = ridgeline.place(work=0.0, memory_bytes=1.0, network_bytes=1 / np.array(at)).time_s
    places = tuple(zip(at, (1 / np.atleast_1d(seconds)).tolist(), strict=True))
    y_limits = decades([rate for _, rate in places], room=_ROOM)
    return Chart(
        title="Memory-network roofline, on the same horizontal axis",
        subtitle="the network limits left of its knee, memory right of it",
        x=log_axis(X_LABEL, x_limits, shown_intensity),
        y=log_axis("Memory bandwidth [B/s]", y_limits, with_prefix),
        lines=(
            Line(kind="roof", places=places),
            Line(
                kind="curve",
                ink="network",
                places=((x, y_limits[0]), (x, y_limits[1])),
                label=Label(f"I_M* = {shown_intensity(x)}"),
            ),
        ),
    )
