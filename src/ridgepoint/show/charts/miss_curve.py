"""Memory traffic over the size of the cache: as a chart, and in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter

from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.caches.working_sets import (
    SMALLEST_BYTES,
    WorkingSet,
    moved_at,
    moved_bytes,
    working_sets,
    written_bytes,
)
from ridgepoint.show.axes import decade_ticks, power_ticks, widened, with_prefix
from ridgepoint.show.chart import Axis, Chart, Entry, Interval, Label, Line, Mark, Place
from ridgepoint.show.words import measured_name, partial_note, percent

_MOST_NAMED = 4
# Room for the caches' names above the curve.
_HEADROOM = 1.6
_HEIGHT = 0.55


def miss_curve_chart(measurement: Measurement, machine: Machine) -> Chart:
    """Return the memory traffic of a measurement over the size of one cache.

    Parameters
    ----------
    measurement : Measurement
        Measurement with a miss curve.
    machine : Machine
        Machine whose caches are marked if the meter simulated none.

    Returns
    -------
    Chart
        Staircases of bytes read and written together, and of bytes written alone (lines still
        dirty at the end included), which ends where nothing more is written.
    """
    curve = measurement.counted.miss_curve
    assert curve is not None
    caches = _caches(measurement, machine)
    moved = moved_bytes(curve)
    sets = working_sets(curve)
    x_limits = _sizes(curve, caches)
    known = [
        float(amount)
        for size, amount in zip(_ends(curve), moved, strict=True)
        if amount > 0 and size > x_limits[0]
    ] or [1.0]
    y_limits = widened((math.inf, 0.0), [*known, _HEADROOM * max(known)])
    floor = y_limits[0] / 2
    part = partial_note(measurement)
    return Chart(
        title=measured_name(measurement),
        subtitle=_subtitle(curve),
        x=Axis(
            label="Size of the cache",
            limits=x_limits,
            ticks=power_ticks(x_limits, lambda size: format_size(round(size))),
        ),
        y=Axis(
            label="Memory traffic [B]", limits=y_limits, ticks=decade_ticks(y_limits, with_prefix)
        ),
        lines=(
            *(_cache_line(cache, y_limits) for cache in caches),
            Line(kind="curve", places=_stairs(curve, moved, x_limits, floor=floor), ink=0,
                 name="read and written"),
            Line(kind="second", places=_stairs(curve, written_bytes(curve), x_limits, floor=floor),
                 ink=1, name="written"),
        ),
        marks=tuple(_set_mark(curve, working_set) for working_set in sets),
        key=tuple(_key(has_sets=bool(sets))),
        notes=(*([part] if part else []), *curve_sentences(measurement, machine)),
        height=_HEIGHT,
    )  # fmt: skip


def _sizes(curve: MissCurve, caches: Sequence[Cache]) -> Interval:
    """Return the limits of the axis of sizes, powers of two."""
    smallest = min((curve.capacities_bytes[0], *(cache.size_bytes for cache in caches)))
    left = 1 << (max(smallest, SMALLEST_BYTES).bit_length() - 1)
    # A sentence below refers to twice the last cache; and where the last working set fits, the
    # curve beyond should be visible.
    largest = max(
        2 * left,
        curve.capacities_bytes[-1],
        *(2 * cache.size_bytes for cache in caches),
        *(2 * working_set.size_bytes for working_set in working_sets(curve)),
    )
    return float(left), float(1 << (largest - 1).bit_length())


def _cache_line(cache: Cache, y_limits: Interval) -> Line:
    """Return an upright line at the size of a cache."""
    name = _name(cache)
    text = f"{name} {format_size(cache.size_bytes)}"
    places = tuple((float(cache.size_bytes), end) for end in y_limits)
    return Line(kind="size", places=places, label=Label(text=text, short=name), name=text)


def _set_mark(curve: MissCurve, working_set: WorkingSet) -> Mark:
    """Return a mark at the size from which a working set fits."""
    size = format_size(working_set.size_bytes)
    return Mark(
        at=(float(working_set.size_bytes), float(moved_at(curve, working_set.size_bytes))),
        label=Label(text=size, rank=1),
        name=f"working set of {size}",
        summary=f"{_saved(working_set)} less memory traffic once it fits",
    )


def _key(*, has_sets: bool) -> Iterator[Entry]:
    yield Entry(text="read and written", line="curve", ink=0, is_abreast=True)
    yield Entry(text="written", line="second", ink=1, is_abreast=True)
    if has_sets:
        yield Entry(text="a working set begins to fit", shape="circle", ink="ink", is_abreast=True)


def curve_sentences(measurement: Measurement, machine: Machine | None) -> tuple[str, ...]:
    """Return what a measurement's miss curve shows, in sentences without full stops.

    Parameters
    ----------
    measurement : Measurement
        Measurement with a miss curve.
    machine : Machine or None
        As for `miss_curve_chart`.
    """
    curve = measurement.counted.miss_curve
    assert curve is not None
    caches = _caches(measurement, machine)
    return (_sets_sentence(curve), *([_larger_sentence(curve, caches[-1])] if caches else []))


def _sets_sentence(curve: MissCurve) -> str:
    sets = working_sets(curve)
    if not sets:
        return (
            "no working set stands out: as the cache grows, the traffic falls slowly or not at all"
        )
    # The rest is named on the plane; the sets that save most deserve a sentence.
    most = sorted(sets, key=attrgetter("saves_bytes"), reverse=True)[:_MOST_NAMED]
    first, *others = sorted(most, key=attrgetter("size_bytes"))
    parts = [
        f"{format_size(first.size_bytes)} ({_saved(first)} less memory traffic once it fits)",
        *(f"{format_size(other.size_bytes)} ({_saved(other)} less)" for other in others),
    ]
    return f"working set{'s' if others else ''}: {', '.join(parts)}"


def _saved(working_set: WorkingSet) -> str:
    return format_si(working_set.saves_bytes, "B", digits=3)


def _larger_sentence(curve: MissCurve, last: Cache) -> str:
    """Return the effect of a last cache of twice the size, and of half the size."""
    named = f"{_name(last)} ({format_size(last.size_bytes)})"
    if last.size_bytes // 2 < curve.capacities_bytes[0]:
        return f"nothing is known about caches half as large as {named}"
    now, half, twice = (
        moved_at(curve, size)
        for size in (last.size_bytes, last.size_bytes // 2, last.size_bytes * 2)
    )
    if not now:
        return f"with a cache as large as {named}, no memory traffic remains"
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


def _caches(measurement: Measurement, machine: Machine | None) -> list[Cache]:
    """Return the simulated data caches, or else those of the machine."""
    caches: Sequence[Cache] = measurement.counted.caches
    if not caches and machine is not None:
        caches = machine.caches
    data = (cache for cache in caches if cache.kind != "instruction")
    return sorted(data, key=lambda cache: cache.level)


def _name(cache: Cache) -> str:
    return f"L{cache.level}"


def _subtitle(curve: MissCurve) -> str:
    followed = (
        "every line followed" if curve.sampling == 1 else f"one line in {curve.sampling} followed"
    )
    return (
        f"one fully associative LRU cache, {curve.line_bytes} B lines; {followed}; lines that "
        "are dirty at the end count as written"
    )


def _ends(curve: MissCurve) -> tuple[float, ...]:
    """Return the size up to which each row holds, in bytes."""
    return (*map(float, curve.capacities_bytes[1:]), math.inf)


def _stairs(
    curve: MissCurve, amounts: Sequence[int], x_limits: Interval, *, floor: float
) -> tuple[Place, ...]:
    """Return the corners of a staircase in the frame; zero traffic is below it."""
    corners: list[Place] = []
    for start, end, amount in zip(curve.capacities_bytes, _ends(curve), amounts, strict=True):
        if end <= x_limits[0]:
            continue
        height = max(float(amount), floor)
        corners += [(max(float(start), x_limits[0]), height), (min(end, x_limits[1]), height)]
        if not amount:
            return tuple(corners[:-1])
    return tuple(corners)
