"""The least time that each path of a program needs, with the range that its parts leave."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.models.advice.subject import Subject
from ridgepoint.models.explanations import DIVIDE
from ridgepoint.models.mix import DIVIDER
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.traffic_ranges import intensity_range
from ridgepoint.models.work import used_precisions


def needs(subject: Subject) -> dict[str, Estimate]:
    """Return the least time of each path at its full rate, of issue and of the divider [s].

    Parameters
    ----------
    subject : Subject

    Notes
    -----
    The range of a time combines that of the ceiling, that of the traffic where it was estimated or
    counted several times, and the times on the smallest and the largest share of the caches.
    """
    placement = subject.placement
    assert placement.bound is not None
    times = {path: float(time) for path, time in placement.bound.times_s.items()}
    if placement.mix is not None and placement.mix.bound is not None and subject.mix is not None:
        constraints = dict(placement.mix.bound.constraints_s)
        if DIVIDER in constraints:
            times[DIVIDE] = constraints.pop(DIVIDER)
        times[COMPUTE] = max(times.get(COMPUTE, 0.0), *constraints.values(), 0.0)
    # Libraries may choose other code in a native run: then the instructions were different.
    if placement.issue.time_s is not None and not subject.doubted("avx2-path"):
        times[ISSUE] = placement.issue.time_s
    return {path: _ranged(subject, path, seconds) for path, seconds in times.items()}


def _ranged(subject: Subject, path: str, seconds: float) -> Estimate:
    """Return a time with its range."""
    slow, fast = _ceiling_range(subject, path)
    fewer, more = _traffic_range(subject, path)
    low, high = seconds * fewer / fast, seconds * more / slow
    for end in subject.placement.ends:
        if end.bound is not None and path in end.bound.times_s:
            other = float(end.bound.times_s[path])
            low, high = min(low, other), max(high, other)
    return Estimate([seconds], interval=(min(low, seconds), max(high, seconds)))


def _ceiling_range(subject: Subject, path: str) -> tuple[float, float]:
    """Return the ends of the ceilings' intervals over their medians: the widest of all used."""
    amounts = subject.placement.demand.amounts
    if path in {COMPUTE, DIVIDE}:
        names = list(used_precisions(amounts))
    elif path == ISSUE:
        names = [ISSUE]
    else:
        names = [path, *(name for name in amounts if RESOURCES[name].path == path)]
    found = [_relative(subject.machine, name, subject.placement.cores) for name in names]
    return min((low for low, _ in found), default=1.0), max(
        (high for _, high in found), default=1.0
    )


def _relative(machine: Machine, resource: str, cores: float) -> tuple[float, float]:
    """Return the ends of a rate's interval over its median; of few samples, the extremes."""
    low, high = 1.0, 1.0
    for ceiling in nearest_ceilings(machine, resource, cores):
        assert ceiling.rate is not None
        least, most = spread(ceiling.rate)
        low, high = min(low, least / ceiling.rate.median), max(high, most / ceiling.rate.median)
    return low, high


def nearest_ceilings(machine: Machine, resource: str, cores: float) -> Iterator[Ceiling]:
    """Yield the fastest ceilings for a resource at the next lower and higher numbers of cores."""
    best = {
        threads: ceiling
        for threads in sorted({ceiling.threads for ceiling in machine.ceilings})
        if (ceiling := machine.best(resource, threads=threads)) is not None
    }
    below = max((threads for threads in best if threads <= cores), default=None)
    above = min((threads for threads in best if threads >= cores), default=None)
    for threads in dict.fromkeys((below, above)):
        if threads is not None:
            yield best[threads]


def spread(estimate: Estimate) -> tuple[float, float]:
    """Return the 95 % interval of a median; of too few samples for one, the least and the most."""
    if estimate.low is None or estimate.high is None:
        return min(estimate.samples), max(estimate.samples)
    return estimate.low, estimate.high


def _traffic_range(subject: Subject, path: str) -> tuple[float, float]:
    """Return the fewest and the most bytes of a level over those that were counted."""
    if path not in LEVELS:
        return 1.0, 1.0
    placement = subject.placement
    found = intensity_range(subject.measurement, placement.metric, path, placement.bandwidth)
    work, part = placement.work, subject.traffic(path)
    moved = None if part is None else part.total_bytes
    if found is None or not work or not moved:
        return 1.0, 1.0
    own = work / moved
    fewest = 0.0 if found.high == inf else own / found.high
    return fewest, own / found.low if found.low else inf
