"""Kernels of many sizes: each is a path of intensities and performances, from size to size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ridgepoint.core.counts import Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.models.derived import machine_along
from ridgepoint.models.placement import cores_that_apply
from ridgepoint.models.roofline import Roofline
from ridgepoint.models.roofs import ShownRoof, shown_roofs
from ridgepoint.suites.kernels.results import Case, Result

Direction = Literal["total", "read", "write"]
"""Which bytes at DRAM the intensity is over: all, those read, or those written."""
Work = Literal["measured", "pseudo"]
"""Which work counts: what was counted, or the pseudo flop of an FFT, 5 n log2 n."""

WORK = "fp64"
"""The work of the reference suite."""

# Of two lower ceilings closer than this only one is shown: paths need room for their labels.
_APART = 1.9
# Roofs of fewer cores that reach this much of those of all look like the same line.
_ALIKE = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPoint:
    """A kernel of one size.

    Parameters
    ----------
    n : int
    intensity : float
        flop/byte; infinite where no byte moved.
    performance : Estimate
        flop/s.
    """

    n: int
    intensity: float
    performance: Estimate

    def is_beyond(self, right: float) -> bool:
        """Return whether its intensity is beyond the right edge of the frame."""
        return self.intensity > right

    def at(self, right: float) -> tuple[float, float]:
        """Return the place where it is drawn: at the right edge if it lies beyond."""
        return min(self.intensity, right), self.performance.median


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A kernel from its smallest size to its largest.

    Parameters
    ----------
    name : str
    cores : float
        Number of cores that it keeps busy.
    points : tuple of PathPoint
        At least one, in the order of n.
    roofs : Roofline or None
        Roofs that bound it; None: none does, or they are unknown.
    """

    name: str
    cores: float
    points: tuple[PathPoint, ...]
    roofs: Roofline | None

    @property
    def best_share(self) -> float | None:
        """Best share of attainable performance; None: not known."""
        if self.roofs is None:
            return None
        return max(
            point.performance.median / float(self.roofs.attainable(point.intensity))
            for point in self.points
        )


def machine_of_direction(machine: Machine, direction: Direction) -> Machine:
    """Return a machine whose DRAM bandwidth is that of one direction."""
    return machine_along(machine, WORK, None if direction == "total" else direction)


def measured_paths(
    machine: Machine,
    results: Sequence[Result],
    *,
    direction: Direction = "total",
    work: Work = "measured",
) -> tuple[tuple[Path, ...], list[str]]:
    """Return the paths of results, and why results are missing from them."""
    seen = machine_of_direction(machine, direction)
    groups, missing = _placed(results, direction, work)
    paths = []
    for case, points in groups.items():
        cores = cores_that_apply(case.threads, machine.cores)
        # Pseudo work is not the work done, so its roofs do not bound it.
        roofs = _roofline(seen, cores, direction) if work == "measured" else None
        name = _name(case, groups)
        paths.append(Path(name=name, cores=cores, points=tuple(points), roofs=roofs))
    return tuple(paths), missing


def roofs_along(
    machine: Machine, direction: Direction, *, cores: Sequence[float]
) -> tuple[ShownRoof, ...]:
    """Return the roofs over the intensity of one direction.

    Parameters
    ----------
    machine : Machine
        Machine returned by `machine_of_direction`.
    direction : {"total", "read", "write"}
    cores : sequence of float
        Core counts of the points, ascending; roofs for fewer than the most are drawn beside.
    """
    most = cores[-1] if cores else 1.0
    roofs = shown_roofs(
        machine,
        precisions=[WORK] if machine.knows(WORK) else [],
        cores=most,
        beside=cores[:-1] or ([1.0] if most > 1 else []),
    )
    return tuple(
        replace(roof, resource=f"dram_{direction}")
        if roof.resource == "dram" and direction != "total"
        else roof
        for roof in _thinned(roofs)
    )


def _thinned(roofs: Sequence[ShownRoof]) -> list[ShownRoof]:
    """Return roofs of DRAM and of the peak without those that almost coincide with another one.

    They would crowd the paths. The lowest of the lower ceilings stays.
    """
    outer = [roof for roof in roofs if roof.role == "outer"]
    beside = [roof for roof in roofs if roof.role == "beside"]
    kept = outer + [roof for roof in beside if not any(_are_alike(roof, own) for own in outer)]
    lower = sorted((roof for roof in roofs if roof.role == "lower"), key=lambda roof: -roof.rate)
    for roof in (*lower[-1:], *lower[:-1]):
        others = [other.rate for other in kept if other.is_peak]
        if all(max(roof.rate, rate) / min(roof.rate, rate) >= _APART for rate in others):
            kept.append(roof)
    return [roof for roof in roofs if roof in kept]


def _are_alike(roof: ShownRoof, other: ShownRoof) -> bool:
    return roof.resource == other.resource and other.rate / roof.rate < _ALIKE


def _placed(
    results: Iterable[Result], direction: Direction, work: Work
) -> tuple[dict[Case, list[PathPoint]], list[str]]:
    """Return the points of every path, under its smallest case, and why others are missing."""
    groups: dict[tuple[str, int, str], dict[Case, PathPoint]] = {}
    reasons: dict[str, list[str]] = {}
    for result in sorted(results, key=lambda result: result.case.n):
        point = _point(result, direction, work)
        if isinstance(point, str):
            reasons.setdefault(point, []).append(str(result.case))
        else:
            groups.setdefault(_key(result.case), {})[result.case] = point
    order = list(dict.fromkeys(_key(result.case) for result in results))
    ordered = [groups[key] for key in order if key in groups]
    return (
        {next(iter(group)): list(group.values()) for group in ordered},
        [f"no point for {'; '.join(names)}: {reason}" for reason, names in reasons.items()],
    )


def _key(case: Case) -> tuple[str, int, str]:
    return case.workload, case.threads, case.state


def _point(result: Result, direction: Direction, work: Work) -> PathPoint | str:
    """Return a result's point, not framed yet, or why it has none."""
    measurement = result.measurement
    if measurement is None:
        return result.failure or "it was not measured"
    flop = (
        measurement.counted.counts.work_flop if work == "measured" else result.expected.pseudo_flop
    )
    if not flop:
        return "it has no pseudo flop" if work == "pseudo" else "no floating-point work"
    if measurement.timed is None:
        return "its time is unknown"
    traffic = measurement.traffic_at("dram")
    moved = None if traffic is None else _bytes(traffic, direction)
    if moved is None:
        return "its DRAM traffic is unknown"
    return PathPoint(
        n=result.case.n,
        intensity=flop / moved if moved else math.inf,
        performance=measurement.timed.runtime_s.map(lambda seconds: flop / seconds),
    )


def _bytes(traffic: Traffic, direction: Direction) -> int | None:
    if direction == "total":
        return traffic.total_bytes
    return traffic.read_bytes if direction == "read" else traffic.write_bytes


def _name(case: Case, cases: Iterable[Case]) -> str:
    """Return a path's name: its workload, and whatever it does not share with the others."""
    parts = [case.workload]
    if len({other.threads for other in cases}) > 1:
        parts.append("1 thread" if case.threads == 1 else f"{case.threads} threads")
    if len({other.state for other in cases}) > 1:
        parts.append(case.state)
    return ", ".join(parts)


def _roofline(machine: Machine, cores: float, direction: Direction) -> Roofline | None:
    """Return the roofs that bound work on some cores; None: they are not all known."""
    one_way = None if direction == "total" else direction
    roofs = Roofline(machine=machine, work=WORK, cores=cores, direction=one_way)
    return roofs if machine.knows(WORK) and "dram" in roofs.levels else None
