"""Doubts about a program's place: another machine's roofs, other caches, what is left out."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.bound import Bound
from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si, format_size, format_size_roughly
from ridgepoint.models.thresholds import ABOVE_ROOF, FAR_BELOW, SNAP_CORES
from ridgepoint.models.work import work_total

# A scalar operation without a ceiling takes as long as this many flop of the widest vectors: in
# fp32, a 512-bit FMA on two ports does 64.
_WIDEST = 64
_MEASURE_BOPS = (
    "measure the machine again with 'ridgepoint machine', or bound the program by a published "
    "machine that has such a ceiling, for example with --machine e5645"
)

_SAME_SIZE = 1.02
"""Ratio of two sizes of one cache: simulated ones have whole sets."""


def elsewhere(measurement: Measurement, machine: Machine) -> list[Caution]:
    """Return a caution if a runtime from one machine is placed under the roofs of another."""
    ran_on = measurement.context.cpu
    if measurement.timed is None or ran_on == machine.host.cpu:
        return []
    return [
        Caution(
            "other-machine",
            f"the program was timed on {ran_on!r}; the roofs are of {machine.name!r}",
            "read from this how fast that machine could run the program, not how close the "
            "program comes to its roofs",
        )
    ]


def other_caches(measurement: Measurement, machine: Machine) -> list[Caution]:
    """Return a caution if traffic from one machine's caches is bounded by another's roofs."""
    caches = _data(measurement.counted.caches)
    if machine.caches and measurement.distributed is None:  # a rank has its share of them
        return _differing(caches, _data(machine.caches), machine)
    if not caches or machine.caches or measurement.context.cpu == machine.host.cpu:
        return []
    return [
        Caution(
            "other-caches",
            f"the caches of {machine.name!r} are not known: the traffic is that of "
            f"{', '.join(f'L{c.level} {format_size(c.size_bytes)}' for c in caches)}",
            "describe the caches: --cache l1=32k:8,l2=1m:16,l3=32m:16",
        )
    ]


def are_simulated(caches: Sequence[Cache], machine: Machine) -> bool:
    """Return whether simulated caches are those of a machine: of all its levels, as large."""
    simulated, owned = _data(caches), _data(machine.caches)
    return (
        bool(owned)
        and {cache.level for cache in simulated} == {cache.level for cache in owned}
        and not _differing(simulated, owned, machine)
    )


def _differing(
    simulated: Sequence[Cache], owned: Sequence[Cache], machine: Machine
) -> list[Caution]:
    """Return a caution if the simulated caches differ in size from the machine's."""
    sizes = {cache.level: cache.size_bytes for cache in owned}
    others = [
        f"{format_size_roughly(cache.size_bytes)} of L{cache.level}, not "
        f"{format_size_roughly(sizes[cache.level])}"
        for cache in simulated
        if cache.level in sizes
        and not 1 / _SAME_SIZE <= cache.size_bytes / sizes[cache.level] <= _SAME_SIZE
    ]
    if not others:
        return []
    return [
        Caution(
            "other-caches",
            f"the traffic was simulated with other caches than those of {machine.name!r}: "
            f"{', '.join(others)}",
            "measure without --cache, or with machine= in Python, to simulate the caches whose "
            "roofs bound the program",
        )
    ]


def _data(caches: Sequence[Cache]) -> list[Cache]:
    return [cache for cache in caches if cache.kind != "instruction"]


def _amount(name: str, asked: Demand) -> str:
    return format_si(float(asked.amounts[name]), RESOURCES[name].unit.replace("byte", "B"))


def left_out(asked: Demand, limit: Bound | None, machine: Machine) -> list[Caution]:
    """Return a caution for work and memory traffic for which the machine has no ceiling."""
    missing = asked.amounts if limit is None else limit.left_out
    work = 0.0 if limit is None else float(limit.known.amount("compute"))
    return [
        Caution(
            "no-ceiling",
            f"{machine.name} has no {name} ceiling: "
            f"{_amount(name, asked)} are left out of the bound",
            "the bound still holds, but may be too low"
            + (f": {_MEASURE_BOPS}" if name == "bop" else ""),
            effect=(
                _WIDEST * float(asked.amounts[name]) / work
                if work and RESOURCES[name].path == "compute"
                else None
            ),
            on=RESOURCES[name].path,
        )
        for name in missing
        if RESOURCES[name].path in {"compute", "dram"}
    ]


def bops_unknown(counts: Counts) -> list[Caution]:
    """Return a caution if basic operations are not known."""
    if work_total(counts, "bop") is not None:
        return []
    equation = "Eq. (3), instructions - branches - loads - stores,"
    why = (
        f"the meter does not report all terms of {equation}"
        if counts.eq3_bop is None
        else f"{equation} gives {counts.eq3_bop}"
    )
    return [
        Caution(
            "no-bops",
            f"the basic operations are not known: {why} and what each instruction does was not "
            "counted",
            "count with --meter engine",
        )
    ]


def above(name: str, efficiency: float, limit: Bound) -> Caution:
    """Return the caution for a part that is faster than its roof allows."""
    return Caution(
        "above-roof",
        f"{name} is {efficiency:.2f} times as fast as its roof ({limit.binding}) allows",
        "the simulated traffic or a ceiling is wrong: read the other cautions, and measure the "
        "machine again",
    )


def judge(
    efficiency: float,
    cores_busy: float,
    limit: Bound,
    disturbances: Sequence[Caution],
    *,
    explained: bool,
) -> list[Caution]:
    """Return the cautions that follow from a point's distance to the roof.

    `explained`: the program's own instructions explain its time, however far the roofs are.
    """
    cautions = []
    if efficiency > ABOVE_ROOF:
        cautions.append(above("the program", efficiency, limit))
    elif efficiency < FAR_BELOW and not explained:
        cautions.append(
            Caution(
                "far-below",
                f"the program reaches {efficiency:.1%} of its nearest roof ({limit.binding})",
                "no measured roof explains its runtime: look for integer work, dependent "
                "operations, cache latency, branches, system calls or start-up time",
            )
        )
    if cores_busy < 1 - 2 * SNAP_CORES:
        why = "it waits for input, a disk or a lock: no roof of the processor bounds that time"
        if disturbances:
            why = "other programs used the CPUs for a part of its time: measure again without them"
        seen = f"the program kept {cores_busy:.2f} of one core busy"
        cautions.append(Caution("waiting", seen, why))
    return cautions


def last_size(caches: Sequence[Cache]) -> str:
    """Return the size and level of the last cache."""
    last = _data(caches)[-1]
    return f"{format_size(last.size_bytes)} of L{last.level}"
