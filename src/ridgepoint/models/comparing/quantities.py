"""The amounts by which two measurements are compared, each under the name that a gate uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ridgepoint.core.counted import Counted, CountedOnce, TrafficEstimate
from ridgepoint.core.counts import Counts, Traffic, traffic_at
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.resources import LEVELS, PRECISIONS
from ridgepoint.models.work import WORK_UNITS, Metric, work_total

RUNTIME, CPU_TIME = "runtime", "cpu time"
TIMES = (RUNTIME, CPU_TIME)
WORK, INSTRUCTIONS, BOPS, NETWORK = "work", "instructions", "bops", "network"
TRAFFIC = tuple(f"{level}{way}" for level in LEVELS for way in ("", " read", " write"))
COUNTS = (WORK, *PRECISIONS, INSTRUCTIONS, BOPS, *TRAFFIC, NETWORK)
QUANTITIES = (*TIMES, *COUNTS)
"""All of them; each is a name in a gate, and a key in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An amount of a program or of a part of it.

    Parameters
    ----------
    unit : str
        Base unit: ``s``, ``flop``, ``BOP``, ``B``; empty for numbers of instructions.
    value : Estimate or None
        Samples of a time; a count has an interval only where it was estimated, or counted several
        times. None: not measured.
    """

    unit: str
    value: Estimate | None


Amounts = Mapping[str, Amount]
"""Every one of `QUANTITIES`, in that order."""


def unit_of(quantity: str, metric: Metric = "flop") -> str:
    """Return the base unit of a quantity; that of work is the metric's."""
    if quantity in TIMES:
        return "s"
    if quantity == WORK:
        return WORK_UNITS[metric]
    if quantity in PRECISIONS:
        return "flop"
    return {INSTRUCTIONS: "", BOPS: "BOP"}.get(quantity, "B")


def amounts_of(measured: Measurement | Timing, metric: Metric = "flop") -> Amounts:
    """Return the amounts of a whole program, with its work in one metric."""
    timed = measured.timed
    times = {} if timed is None else {RUNTIME: timed.runtime_s, CPU_TIME: timed.cpu_s}
    if isinstance(measured, Timing):
        return _all(times, metric)
    distributed = measured.distributed
    sent = None if distributed is None else distributed.network_bytes
    return _all(
        {
            **times,
            **_work(measured.counted, metric),
            **_traffic(measured.counted),
            NETWORK: None if sent is None else Estimate([sent]),
        },
        metric,
    )


def amounts_of_part(
    counts: Counts | None,
    traffic: Sequence[Traffic],
    runtime_s: Estimate | None,
    metric: Metric = "flop",
) -> Amounts:
    """Return the amounts of a region or a function; its CPU time is not known."""
    known: dict[str, Estimate | None] = {RUNTIME: runtime_s}
    if counts is not None:
        known |= _counts(counts, metric)
        known |= _levels(traffic)
    return _all(known, metric)


def _all(known: Mapping[str, Estimate | None], metric: Metric) -> Amounts:
    return {
        quantity: Amount(unit=unit_of(quantity, metric), value=known.get(quantity))
        for quantity in QUANTITIES
    }


def _counts(counts: Counts, metric: Metric) -> dict[str, Estimate | None]:
    work = counts.work
    return {
        WORK: _exactly(work_total(counts, metric)),
        **{precision: _exactly(work.get(precision, 0)) for precision in PRECISIONS},
        INSTRUCTIONS: _exactly(counts.instructions),
        BOPS: _exactly(work_total(counts, "bop")),
    }


def _work(counted: Counted, metric: Metric) -> dict[str, Estimate | None]:
    """Return the counts of a program; of several counted runs, with what lies between them."""
    known = _counts(counted.counts, metric)
    flop = [run.flop for run in counted.runs]
    bops = [run.bop for run in counted.runs]
    known[WORK] = _between(known[WORK], flop if metric == "flop" else bops)
    known[BOPS] = _between(known[BOPS], bops)
    return known


def _levels(traffic: Sequence[Traffic]) -> dict[str, Estimate | None]:
    known: dict[str, Estimate | None] = {}
    for level in LEVELS:
        moved = traffic_at(traffic, level)
        if moved is not None:
            known[level] = _exactly(moved.total_bytes)
            known[f"{level} read"] = _exactly(moved.read_bytes)
            known[f"{level} write"] = _exactly(moved.write_bytes)
    return known


def _traffic(counted: Counted) -> dict[str, Estimate | None]:
    """Return the traffic of a program, with its interval where it was estimated."""
    known = _levels(counted.traffic)
    for quantity, value in known.items():
        if counted.estimate is not None:
            known[quantity] = _estimated(quantity, value, counted.estimate)
        elif value is not None:
            known[quantity] = _between(value, [_of_run(quantity, run) for run in counted.runs])
    return known


def _estimated(quantity: str, value: Estimate | None, estimate: TrafficEstimate) -> Estimate | None:
    level, _, way = quantity.partition(" ")
    interval = estimate.at(level)
    if value is None or interval is None:
        return value
    ends = {"read": interval.read_bytes, "write": interval.write_bytes}
    low, high = ends.get(way, interval.total_bytes)
    return _with_ends(value, float(low), float(high))


def _of_run(quantity: str, run: CountedOnce) -> int | None:
    level, _, way = quantity.partition(" ")
    moved = traffic_at(run.traffic, level)
    if moved is None:
        return None
    return {"read": moved.read_bytes, "write": moved.write_bytes}.get(way, moved.total_bytes)


def _between(value: Estimate | None, runs: Sequence[int | None]) -> Estimate | None:
    """Return a count with the least and the most of several counted runs as its interval."""
    known = [float(run) for run in runs if run is not None]
    if value is None or not known or len(known) < len(runs):
        return value
    return _with_ends(value, min(known), max(known))


def _with_ends(value: Estimate, low: float, high: float) -> Estimate:
    middle = value.median
    return Estimate(value.samples, interval=(min(low, middle), max(high, middle)))


def _exactly(count: float | None) -> Estimate | None:
    return None if count is None else Estimate([count])
