"""Latency over the size of a working set, with the caches in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ridgepoint.core.cache_capacity import LatencyCurve
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_size
from ridgepoint.models.caches.capacity_fit import fitted_latency
from ridgepoint.show.axes import log_ticks, power_ticks
from ridgepoint.show.chart import Area, Axis, Chart, Entry, Interval, Label, Line
from ridgepoint.show.latency_text import (
    cache_name,
    curve_name,
    latency_notes,
    latency_rows,
    latency_title,
    require_latency,
    shown_latency,
)
from ridgepoint.show.theme import shape_of

_POINTS = 201
_ROOM = 1.3
"""Factor around what is drawn."""
_HEIGHT = 0.52
_MOST_SIZES = 9


def latency_chart(machine: Machine) -> Chart:
    """Return the chart of a machine's latency over size.

    Raises
    ------
    RidgepointError
        If the machine's latency was not measured.
    """
    require_latency(machine)
    curves = machine.latency_curves
    sizes = [size for curve in curves for size in (curve.sizes_bytes[0], curve.sizes_bytes[-1])]
    times = [time for curve in curves for times in curve.rounds_s for time in times]
    x_limits = (min(sizes) / _ROOM, max(sizes) * _ROOM)
    y_limits = (min(times) / _ROOM, max(times) * _ROOM)
    title, subtitle = latency_title(machine).split("\n")
    fits = [_fit(ink, curve, machine) for ink, curve in enumerate(curves)]
    return Chart(
        title=title,
        subtitle=subtitle,
        x=Axis(
            label="Working set of each core",
            limits=x_limits,
            ticks=power_ticks(x_limits, lambda size: format_size(round(size)), most=_MOST_SIZES),
        ),
        y=Axis(label="Time per access", limits=y_limits, ticks=log_ticks(y_limits, shown_latency)),
        areas=tuple(_intervals(machine, y_limits)),
        lines=(
            *_levels(machine, x_limits, y_limits),
            *(fit for fit in fits if fit is not None),
            *(_measured(ink, curve) for ink, curve in enumerate(curves)),
        ),
        key=tuple(
            Entry(
                text=curve_name(curve),
                ink=ink,
                line="points" if fits[ink] is None else "fit",
                has_band=True,
                shape=shape_of(ink),
                is_abreast=True,
            )
            for ink, curve in enumerate(curves)
        ),
        notes=(
            "Random lines; each access waits for the previous one. Bands: all rounds. Dashed: "
            "the fitted model. Grey: each cache, and the interval of its capacity.",
            *latency_notes(machine),
        ),
        height=_HEIGHT,
    )


def _measured(ink: int, curve: LatencyCurve) -> Line:
    """Return the medians of a curve, and all its rounds as a band."""
    by_size = list(zip(*curve.rounds_s, strict=True))
    return Line(
        kind="points",
        places=tuple(zip(map(float, curve.sizes_bytes), curve.latency_s, strict=True)),
        ink=ink,
        low=tuple(map(min, by_size)),
        high=tuple(map(max, by_size)),
        shape=shape_of(ink),
        name=curve_name(curve),
    )


def _fit(ink: int, curve: LatencyCurve, machine: Machine) -> Line | None:
    """Return the latency by the fitted capacities; None: no level differs from another."""
    sizes = np.geomspace(curve.sizes_bytes[0], curve.sizes_bytes[-1], _POINTS)
    fitted = fitted_latency(curve, machine.capacities, sizes_bytes=sizes)
    if fitted is None:
        return None
    places = tuple(zip(sizes.tolist(), fitted.tolist(), strict=True))
    return Line(kind="fit", places=places, ink=ink, name=f"model of {curve_name(curve)}")


def _intervals(machine: Machine, y_limits: Interval) -> Iterator[Area]:
    """Yield the interval of each capacity measured on one core, from edge to edge."""
    low, high = y_limits
    for cache, stated, capacities in latency_rows(machine):
        alone = next((capacity for capacity in capacities if capacity.threads == 1), None)
        if alone is None or alone.low_bytes == alone.high_bytes:
            continue
        left, right = float(alone.low_bytes), float(alone.high_bytes)
        yield Area(
            corners=((left, low), (right, low), (right, high), (left, high)),
            ink="faint",
            name=f"{cache_name(cache, stated)}, the interval of its capacity",
        )


def _levels(machine: Machine, x_limits: Interval, y_limits: Interval) -> Iterator[Line]:
    """Yield the size of each cache in use, and the system's description where that differs."""
    for cache, stated, _ in latency_rows(machine):
        named = [(cache.size_bytes, cache_name(cache, stated))]
        if stated is not None and stated.size_bytes != cache.size_bytes:
            name = f"L{cache.level} as the system reports it, {format_size(stated.size_bytes)}"
            named.append((stated.size_bytes, name))
        for size_bytes, name in named:
            if x_limits[0] <= size_bytes <= x_limits[1]:
                places = tuple((float(size_bytes), height) for height in y_limits)
                yield Line(kind="size", places=places, label=Label(text=name), name=name)
