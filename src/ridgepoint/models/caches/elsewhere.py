"""A program's traffic on the caches of another machine, from what one run of it tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Traffic, traffic_at
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.units import format_size_roughly
from ridgepoint.models.placement_cautions import are_simulated

Source = Literal["simulated", "miss curve", "other caches"]
"""Where traffic comes from: simulated with the machine's own caches; read off the miss curve at
their sizes; or measured with other caches, as nothing else is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficThere:
    """A measurement with the traffic that it would have on a machine.

    Parameters
    ----------
    measurement : Measurement
    source : {"simulated", "miss curve", "other caches"}
    cautions : tuple of Caution
        Doubts about the traffic.
    """

    measurement: Measurement
    source: Source
    cautions: tuple[Caution, ...] = ()


def traffic_there(measurement: Measurement, machine: Machine) -> TrafficThere:
    """Return a measurement with the traffic that it would have on a machine, and whence.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine
        One node. Ranks of MPI on it have equal parts of a cache that its CPUs share.

    Notes
    -----
    The miss curve is that of one cache, fully associative, LRU, write-back, which all of a process
    shares. Below a cache of this size the traffic is that of the curve there: what L1 misses moves
    at L2, and so on. So no level keeps what another holds already (as if caches were inclusive), no
    two lines compete for a set, and nothing is prefetched. Traffic at L1 does not depend on caches.
    """
    counted, ranks = measurement.counted, _ranks_of_a_node(measurement)
    machine = replace(machine, caches=_for_each(machine.caches, ranks))
    same = [
        (traffic, caches)
        for traffic, caches in (
            (counted.traffic, counted.caches),
            *((other.traffic, other.caches) for other in counted.alternatives),
        )
        if are_simulated(caches, machine)
    ]
    if same:
        return TrafficThere(
            measurement=_with(measurement, *same[0]) if same[0][1] != counted.caches
            else measurement,
            source="simulated",
        )  # fmt: skip
    if counted.miss_curve is None or not _data(machine.caches):
        return TrafficThere(
            measurement=measurement,
            source="other caches",
            cautions=(_of_other_caches(measurement, machine),),
        )
    traffic = traffic_of_curve(counted.miss_curve, machine.caches)
    first = traffic_at(counted.traffic, "l1")
    return TrafficThere(
        measurement=_with(
            measurement, (*(() if first is None else (first,)), *traffic), machine.caches
        ),
        source="miss curve",
        cautions=tuple(_of_curve(measurement, counted.miss_curve, machine, traffic)),
    )


def _for_each(caches: Sequence[Cache], sharers: int) -> tuple[Cache, ...]:
    """Return the caches that each of several processes on a node gets: of shared ones its part."""
    return tuple(
        replace(cache, size_bytes=max(1, cache.size_bytes // min(sharers, cache.cores)))
        for cache in caches
    )


def traffic_of_curve(curve: MissCurve, caches: Sequence[Cache]) -> tuple[Traffic, ...]:
    """Return the traffic below each data cache of a machine.

    Parameters
    ----------
    curve : MissCurve
    caches : sequence of Cache

    Returns
    -------
    tuple of Traffic
        At ``l2`` below L1, and so on; at ``dram`` below the last one. A level is left out if its
        cache is smaller than all that the curve knows.
    """
    data = _data(caches)
    found = []
    for cache, after in zip(data, [*data[1:], None], strict=True):
        level = "dram" if after is None else f"l{after.level}"
        if cache.size_bytes >= curve.capacities_bytes[0]:
            found.append(replace(curve.traffic_at(cache.size_bytes), level=level))
    return tuple(found)


def curve_over_simulation(measurement: Measurement) -> float | None:
    """Return the traffic at DRAM by the miss curve over that by the simulation of the same run.

    Both know the same accesses; they differ in what the caches are like: sets and ways here, fully
    associative there. None: one is not known, or nothing moved.
    """
    counted = measurement.counted
    simulated = traffic_at(counted.traffic, "dram")
    data = _data(counted.caches)
    if counted.miss_curve is None or simulated is None or not data:
        return None
    by_curve = [
        part
        for part in traffic_of_curve(counted.miss_curve, counted.caches)
        if part.level == "dram"
    ]
    moved = simulated.known_bytes + (simulated.pending_write_bytes or 0)
    if not by_curve or not moved:
        return None
    return (by_curve[0].known_bytes + (by_curve[0].pending_write_bytes or 0)) / moved


def _with(
    measurement: Measurement, traffic: tuple[Traffic, ...], caches: tuple[Cache, ...]
) -> Measurement:
    counted = replace(
        measurement.counted, traffic=traffic, caches=caches, ends=(), estimate=None, runs=()
    )
    return replace(measurement, counted=counted)


def _ranks_of_a_node(measurement: Measurement) -> int:
    whole = measurement.distributed
    return 1 if whole is None else max(1, len(whole.ranks) // max(1, len(whole.nodes)))


def _data(caches: Sequence[Cache]) -> list[Cache]:
    return sorted(
        (cache for cache in caches if cache.kind != "instruction"), key=lambda cache: cache.level
    )


def _of_other_caches(measurement: Measurement, machine: Machine) -> Caution:
    own = _sizes(_data(measurement.counted.caches)) or "of the host where it was counted"
    there = _data(machine.caches)
    if not there:
        return Caution(
            "other-caches",
            f"the caches of {machine.name!r} are not known: the traffic is that of {own}",
            "give a file of that machine with its caches",
        )
    return Caution(
        "other-caches",
        f"the traffic is that of {own}; {machine.name!r} has {_sizes(there)}",
        "measure the program with 'ridgepoint run --miss-curve', or with --what-if and the caches "
        "of that machine",
    )


def _sizes(caches: Sequence[Cache]) -> str:
    return ", ".join(f"L{cache.level} {format_size_roughly(cache.size_bytes)}" for cache in caches)


def _of_curve(
    measurement: Measurement, curve: MissCurve, machine: Machine, traffic: Sequence[Traffic]
) -> list[Caution]:
    cautions = []
    data = _data(machine.caches)
    if len(traffic) < len(data):
        cautions.append(
            Caution(
                "curve-too-short",
                f"the miss curve begins at {format_size_roughly(curve.capacities_bytes[0])}, and "
                f"{machine.name!r} has smaller caches: traffic below these is not known",
                "the bound holds without it",
            )
        )
    lines = {cache.line_bytes for cache in data}
    if lines - {curve.line_bytes}:
        cautions.append(
            Caution(
                "other-lines",
                f"the miss curve is of lines of {curve.line_bytes} byte; those of "
                f"{machine.name!r} have {', '.join(map(str, sorted(lines)))}",
                "traffic that does not use whole lines is another there",
            )
        )
    if not measurement.counted.is_sequential and measurement.distributed is None:
        cautions.append(
            Caution(
                "shared-curve",
                "the miss curve is of one cache that all threads share; each core of "
                f"{machine.name!r} has its own L1, and as a rule its own L2",
                "take the traffic at the inner levels as a guess",
            )
        )
    return cautions
