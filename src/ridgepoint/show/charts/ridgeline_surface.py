"""Performance as a surface over two intensities: Figs. 1 and 3 of the Ridgeline paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import Region
from ridgepoint.show.axes import clipped, decade_ticks, decades, with_prefix
from ridgepoint.show.chart import Axis, Interval, Place
from ridgepoint.show.charts.ridgeline_plane import (
    X_LABEL,
    Frame,
    machines_line,
    region_corners,
    y_label,
)
from ridgepoint.show.surface import Cut, Face, Surface
from ridgepoint.show.words import shown_intensity

_AROUND = 30.0
_BELOW_RIDGE = 5.0
_MOST_TICKS = 4
"""On an axis: three of them have little room."""


def surfaces(ridgeline: Ridgeline) -> dict[str, Surface]:
    """Return Figs. 1 and 3, by name, with full overlap, so that their faces are flat.

    Parameters
    ----------
    ridgeline : Ridgeline
    """
    full = replace(ridgeline, overlap="full")
    return {"1": _over_both_bytes(full), "3": _over_the_plane(full)}


def _over_both_bytes(ridgeline: Ridgeline) -> Surface:
    """Return performance over flop per memory byte and flop per network byte."""
    ridge = ridgeline.ridge
    limits = (_around(ridge.arithmetic_intensity), _around(ridge.network_intensity))
    up, out = (math.log10(v) for v in (ridge.arithmetic_intensity, ridge.network_intensity))
    bounds: dict[Region, tuple[Callable[[float, float], float], ...]] = {
        "compute": (lambda x, y: x - up, lambda x, y: y - out),
        "memory": (lambda x, y: up - x, lambda x, y: (y - out) - (x - up)),
        "network": (lambda x, y: out - y, lambda x, y: (x - up) - (y - out)),
    }
    (left, right), (bottom, top) = limits
    corners = ((left, bottom), (right, bottom), (right, top), (left, top))
    faces = {region: clipped(corners, keeps) for region, keeps in bounds.items()}

    def height(i_a: float, i_n: float) -> float:
        return float(ridgeline.attainable(i_n / i_a, i_a))

    return _surface(
        ridgeline,
        title="Roofline in three dimensions",
        labels=(y_label(ridgeline), f"Network intensity I_N [{ridgeline.unit}/byte]"),
        limits=limits,
        faces=faces,
        height=height,
    )


def _over_the_plane(ridgeline: Ridgeline) -> Surface:
    """Return performance over the Ridgeline's plane, with a roofline of each kind on it."""
    ridge = ridgeline.ridge
    limits = (_around(ridge.memory_intensity), _around(ridge.arithmetic_intensity))
    faces = region_corners(ridgeline, limits)

    def height(i_m: float, i_a: float) -> float:
        return float(ridgeline.attainable(i_m, i_a))

    # Each line through the network-bound region has a knee where it meets the next region.
    x, y = ridge.memory_intensity * _BELOW_RIDGE, ridge.arithmetic_intensity * _BELOW_RIDGE
    (left, right), (bottom, top) = limits
    at_memory = [(x, value) for value in (bottom, ridge.arithmetic_intensity, top)]
    at_compute = [(value, y) for value in (left, ridge.network_intensity / y, right)]
    cuts = (
        Cut(
            region="memory",
            places=tuple((*at, height(*at)) for at in at_memory),
            name=f"roofline at I_M = {shown_intensity(x)}",
        ),
        Cut(
            region="network",
            places=tuple((*at, height(*at)) for at in at_compute),
            name=f"compute-network roofline at I_A = {shown_intensity(y)}",
        ),
    )
    flat = _surface(
        ridgeline,
        title="Performance over the plane",
        labels=(X_LABEL, y_label(ridgeline)),
        limits=limits,
        faces=faces,
        height=height,
    )
    return replace(flat, cuts=cuts)


def _surface(
    ridgeline: Ridgeline,
    *,
    title: str,
    labels: tuple[str, str],
    limits: Frame,
    faces: dict[Region, tuple[Place, ...]],
    height: Callable[[float, float], float],
) -> Surface:
    """Return a surface with these faces and the model's heights."""
    solid = tuple(
        Face(region=region, corners=tuple((x, y, height(x, y)) for x, y in corners))
        for region, corners in faces.items()
    )
    z_limits = decades([z for face in solid for _, _, z in face.corners])
    return Surface(
        title=title,
        subtitle=machines_line(ridgeline),
        x=_axis(labels[0], limits[0], shown_intensity),
        y=_axis(labels[1], limits[1], shown_intensity),
        z=_axis(f"Attainable performance [{ridgeline.unit}/s]", z_limits, with_prefix),
        faces=solid,
    )


def _around(value: float) -> Interval:
    return decades([value / _AROUND, value * _AROUND])


def _axis(label: str, limits: Interval, shown: Callable[[float], str]) -> Axis:
    return Axis(label=label, limits=limits, ticks=decade_ticks(limits, shown, most=_MOST_TICKS))
