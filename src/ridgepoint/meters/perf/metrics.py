"""From what counters read to what a program did; what is not known says why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ridgepoint.meters.perf.catalogue import Event, Metric, Quality
from ridgepoint.meters.perf.opened import Key, Readings
from ridgepoint.meters.perf.plan import Plan

LEAST_SHARE = 0.999
"""Of the time during which an event was to be counted it must have been. An event that takes turns
misses far more; between its start and its first tick the kernel may lose some microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A metric that was counted.

    Parameters
    ----------
    value : int
        In flop, instructions or bytes.
    quality : str
        See `ridgepoint.meters.perf.catalogue.Quality`; the worst, of several kinds of core.
    by_width : dict of int or None to int
        The value by the width of vectors, in bits; 0: scalars, None: not told apart.
    """

    value: int
    quality: Quality
    by_width: dict[int | None, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A metric that was not counted.

    Parameters
    ----------
    reason : str
    is_absent : bool
        Whether this CPU has no event for it at all; else it was to be counted, in vain.
    """

    reason: str
    is_absent: bool = False


Amounts = dict[str, Amount | Unknown]


def amounts(
    plan: Plan, readings: Readings, refused: Mapping[Key, str] = MappingProxyType({})
) -> Amounts:
    """Return every metric of a plan, counted or not.

    Parameters
    ----------
    plan : Plan
    readings : mapping
        Of the counters of all its rounds, and of the machine as far as they could be opened.
    refused : mapping
        Why others could not be.
    """
    found: Amounts = {
        name: Unknown(reason=reason, is_absent=True) for name, reason in plan.unknown.items()
    }
    for name in plan.metrics:
        found[name] = _amount(plan, name, readings, refused)
    return found


def _amount(
    plan: Plan, name: str, readings: Readings, refused: Mapping[Key, str]
) -> Amount | Unknown:
    metrics = plan.metrics[name]
    lack = _lack(plan, metrics, readings, refused)
    if lack is not None:
        return Unknown(reason=lack)
    if metrics[0].part_of is not None:
        whole = _amount(plan, metrics[0].part_of, readings, refused)
        return whole if isinstance(whole, Unknown) else _share(plan, metrics[0], readings, whole)
    by_width: dict[int | None, int] = {}
    for metric in metrics:
        for event in metric.events:
            flop = event.weight * _count(plan, metric, (event,), readings)
            by_width[event.width_bits] = by_width.get(event.width_bits, 0) + flop
    doubtful = [metric.quality for metric in metrics if metric.quality != "documented"]
    return Amount(
        value=sum(by_width.values()),
        quality=doubtful[0] if doubtful else "documented",
        by_width=by_width,
    )


def _share(plan: Plan, metric: Metric, readings: Readings, whole: Amount) -> Amount:
    """Return the share of another metric that the events of this one tell."""
    own = _count(plan, metric, metric.events, readings)
    both = own + _count(plan, metric, metric.rest, readings)
    value = round(whole.value * own / both) if both else 0
    return Amount(value=value, quality=metric.quality)


def _count(plan: Plan, metric: Metric, events: Iterable[Event], readings: Readings) -> int:
    return sum(readings[counter.key].count for counter in plan.counters(metric, events))


def _lack(
    plan: Plan, metrics: tuple[Metric, ...], readings: Readings, refused: Mapping[Key, str]
) -> str | None:
    """Return why a metric is not known; None: it was counted all the time."""
    shares: dict[str, float] = {}
    for metric in metrics:
        for counter in plan.counters(metric, (*metric.events, *metric.rest)):
            reading = readings.get(counter.key)
            if reading is None:
                return refused.get(
                    counter.key, f"{counter.name} was not counted on {counter.pmu.name}"
                )
            if not reading.enabled_ns:
                return (
                    f"the counter of {counter.name} was never started: this thread executed no "
                    "program"
                )
            shares[counter.pmu.name] = min(shares.get(counter.pmu.name, 1.0), reading.share)
    if plan.microarchitecture.core_of(metrics[0]) is None:
        share = min(shares.values())
        takes_turns = "another program counts there too"
    else:
        # A thread runs on one kind of core at a time, so that the shares of all kinds add up.
        share = sum(shares.values())
        takes_turns = _elsewhere(plan, metrics) or "another program uses the counters too"
    if share < LEAST_SHARE:
        return f"it was counted for only {share:.1%} of the time: {takes_turns}"
    return None


def _elsewhere(plan: Plan, metrics: tuple[Metric, ...]) -> str | None:
    """Return which cores cannot count a metric, if there are such."""
    counted = {pmu.name for metric in metrics for pmu in plan.instances[metric.pmu]}
    others = [
        pmu
        for core in plan.microarchitecture.core
        for pmu in plan.instances[core.pmu]
        if pmu.name not in counted
    ]
    if not others:
        return None
    names = ", ".join(pmu.name for pmu in others)
    able = [pmu for metric in metrics for pmu in plan.instances[metric.pmu]]
    cpus = ",".join(str(cpu) for pmu in able for cpu in pmu.cpus)
    return f"the cores of {names} cannot count it (pin the program: taskset -c {cpus})"
