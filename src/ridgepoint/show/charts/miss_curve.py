"""Memory traffic over the size of the cache, as a figure value and in sentences."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.counts import MissCurve
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.caches.working_sets import (
    SMALLEST_BYTES,
    moved_bytes,
    working_sets,
    written_bytes,
)
from ridgepoint.show.charts.plane import Coordinates, Plane
from ridgepoint.show.charts.roofs import decades, widened
from ridgepoint.show.words import measured_name, partial_note, percent

# More texts on one axis run into each other.
_MOST_TICKS = 9
_MOST_NAMED = 4
# Above the curve stand the names of the caches.
_HEADROOM = 1.6


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheMark:
    """A cache of the machine on the axis of sizes.

    Parameters
    ----------
    name : str
        ``L1``, ``L2``, ...
    size_bytes : int
    """

    name: str
    size_bytes: int

    @property
    def label(self) -> str:
        """Name and size."""
        return f"{self.name} {format_size(self.size_bytes)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSetMark:
    """Where a working set begins to fit.

    Parameters
    ----------
    at : tuple of float
        Size of the cache and memory traffic with it, bytes.
    label : str
    """

    at: Coordinates
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissCurveFigure(Plane):
    """Memory traffic over the size of one cache; both axes are in bytes.

    Parameters
    ----------
    moved, written : tuple of tuple of float
        Corners of a staircase, size and traffic: read and written together, and written alone
        (lines still dirty at the end included), which ends where nothing more is written.
        Corners may lie below the frame.
    caches : tuple of CacheMark
        Of the machine that was simulated, from the core outwards.
    working_sets : tuple of WorkingSetMark
    notes : tuple of str
    """

    moved: tuple[Coordinates, ...]
    written: tuple[Coordinates, ...]
    caches: tuple[CacheMark, ...]
    working_sets: tuple[WorkingSetMark, ...]
    notes: tuple[str, ...]


def miss_curve_figure(measurement: Measurement, machine: Machine) -> MissCurveFigure:
    """Return the figure of a measurement's miss curve.

    Parameters
    ----------
    measurement : Measurement
        With a miss curve.
    machine : Machine
        Whose caches are marked where the meter simulated none.
    """
    curve = measurement.counted.miss_curve
    assert curve is not None
    caches = _marks(measurement, machine)
    moved = moved_bytes(curve)
    smallest = min((curve.capacities_bytes[0], *(mark.size_bytes for mark in caches)))
    left = _power_below(max(smallest, SMALLEST_BYTES))
    # Twice the last cache is what a sentence below speaks of; and where the last working set fits
    # some of what follows is to be seen.
    sets = working_sets(curve)
    sizes = (
        *(2 * left, curve.capacities_bytes[-1]),
        *(2 * mark.size_bytes for mark in caches),
        *(2 * one.size_bytes for one in sets),
    )
    x_limits = (float(left), float(_power_above(max(sizes))))
    shown = [
        float(amount)
        for size, amount in zip(_ends(curve), moved, strict=True)
        if amount > 0 and size > x_limits[0]
    ]
    shown = shown or [1.0]
    y_limits = widened((math.inf, 0.0), [*shown, _HEADROOM * max(shown)])
    x_ticks = _size_ticks(x_limits)
    part = partial_note(measurement)
    return MissCurveFigure(
        title=measured_name(measurement),
        subtitle=_subtitle(curve),
        x_label="Size of the cache",
        y_label="Memory traffic [B]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=tuple((float(size), format_size(size)) for size in x_ticks),
        y_ticks=tuple((value, format_si(value, "").rstrip()) for value in decades(y_limits)),
        moved=_stairs(curve, moved, x_limits, floor=y_limits[0] / 2),
        written=_stairs(curve, written_bytes(curve), x_limits, floor=y_limits[0] / 2),
        caches=caches,
        working_sets=tuple(
            WorkingSetMark(
                at=(float(one.size_bytes), float(_moved_at(curve, one.size_bytes))),
                label=format_size(one.size_bytes),
            )
            for one in sets
        ),
        notes=(*([part] if part else []), *curve_sentences(measurement, machine)),
    )


def curve_sentences(measurement: Measurement, machine: Machine | None) -> tuple[str, ...]:
    """Return what a measurement's miss curve says, without full stops.

    Parameters
    ----------
    measurement : Measurement
        With a miss curve.
    machine : Machine or None
        As for `miss_curve_figure`.
    """
    curve = measurement.counted.miss_curve
    assert curve is not None
    caches = _marks(measurement, machine)
    return (_sets_sentence(curve), *([_larger_sentence(curve, caches[-1])] if caches else []))


def _sets_sentence(curve: MissCurve) -> str:
    found = working_sets(curve)
    if not found:
        return "no working set stands out: the traffic falls slowly, or not, as the cache grows"
    # The rest is named on the plane; those that save most are worth a sentence.
    most = sorted(found, key=lambda one: -one.saves_bytes)[:_MOST_NAMED]
    said = ", ".join(
        f"{format_size(one.size_bytes)} ({format_si(one.saves_bytes, 'B', digits=3)} less memory "
        "traffic once it fits)"
        if index == 0
        else f"{format_size(one.size_bytes)} ({format_si(one.saves_bytes, 'B', digits=3)} less)"
        for index, one in enumerate(sorted(most, key=lambda one: one.size_bytes))
    )
    return f"working set{'s' if len(most) > 1 else ''}: {said}"


def _larger_sentence(curve: MissCurve, last: CacheMark) -> str:
    """Return what a last cache of twice the size, and of half the size, would change."""
    named = f"{last.name} ({format_size(last.size_bytes)})"
    if last.size_bytes // 2 < curve.capacities_bytes[0]:
        return f"of caches half as large as {named} nothing is known"
    now, half, twice = (
        _moved_at(curve, size)
        for size in (last.size_bytes, last.size_bytes // 2, last.size_bytes * 2)
    )
    if not now:
        return f"a cache as large as {named} leaves no memory traffic"
    more = half / now - 1
    if twice == now == half:
        return f"a cache half as large as {named}, or twice, would move as many bytes"
    saved = percent(1 - twice / now) if twice < now else "nothing"
    of = " of the memory traffic" if twice < now else ""
    factor = f"{half / now:.3g} times as much" if more >= 1 else f"{percent(more)} more"
    factor = "as much" if half == now else factor
    return (
        f"a cache twice as large as {named} would save {saved}{of}; one half as large would move "
        f"{factor}"
    )


def _moved_at(curve: MissCurve, size_bytes: int) -> int:
    """Return the traffic of a cache of some size; see `MissCurve.traffic_at`."""
    return moved_bytes(curve)[bisect_right(curve.capacities_bytes, size_bytes) - 1]


def _marks(measurement: Measurement, machine: Machine | None) -> tuple[CacheMark, ...]:
    """Return the data caches that were simulated, else those of the machine."""
    caches: Sequence[Cache] = measurement.counted.caches
    if not caches and machine is not None:
        caches = machine.caches
    data = sorted((c for c in caches if c.kind != "instruction"), key=lambda cache: cache.level)
    return tuple(CacheMark(name=f"L{c.level}", size_bytes=c.size_bytes) for c in data)


def _subtitle(curve: MissCurve) -> str:
    followed = (
        "every line followed" if curve.sampling == 1 else f"one line in {curve.sampling} followed"
    )
    return (
        f"one fully associative LRU cache, {curve.line_bytes} B lines; {followed}; what is dirty "
        "at the end counts as written"
    )


def _power_below(size_bytes: int) -> int:
    return 1 << (size_bytes.bit_length() - 1)


def _power_above(size_bytes: int) -> int:
    return 1 << (size_bytes - 1).bit_length()


def _size_ticks(limits: Coordinates) -> list[int]:
    """Return powers of two, as many as there is room for."""
    low, high = (round(math.log2(limit)) for limit in limits)
    step = max(1, math.ceil((high - low) / _MOST_TICKS))
    return [1 << power for power in range(low, high + 1, step)]


def _ends(curve: MissCurve) -> tuple[float, ...]:
    """Return up to which size each row holds."""
    return (*map(float, curve.capacities_bytes[1:]), math.inf)


def _stairs(
    curve: MissCurve, amounts: Sequence[int], x_limits: Coordinates, *, floor: float
) -> tuple[Coordinates, ...]:
    """Return the corners of a staircase in the frame; nothing moved is below it."""
    corners: list[Coordinates] = []
    for start, end, amount in zip(curve.capacities_bytes, _ends(curve), amounts, strict=True):
        if end <= x_limits[0]:
            continue
        height = max(float(amount), floor)
        corners += [(max(float(start), x_limits[0]), height), (min(end, x_limits[1]), height)]
        if not amount:
            return tuple(corners[:-1])
    return tuple(corners)
