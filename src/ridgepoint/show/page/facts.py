"""What is known of a program or a part of it, each quantity with how it came about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.own_roofs import COMPUTE
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import SAME
from ridgepoint.models.traffic_ranges import intensity_range
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any, work_total
from ridgepoint.show.page.dc_facts import dc_facts
from ridgepoint.show.page.document import Fact, Input
from ridgepoint.show.words import (
    UNKNOWN,
    limit_text,
    percent,
    printable,
    share_of_roof,
    shown_amount,
    shown_cores,
    shown_intensity,
    shown_name,
    tolerance,
    with_quartiles,
)

ROOFLINE = "Williams, Waterman and Patterson, CACM 52(4), 2009, doi:10.1145/1498765.1498785"
_METHOD, _COUNTING = "docs/method.md", "docs/counting.md"
PartKind = Literal["program", "region", "function"]
_TIMES: dict[PartKind, str] = {
    "program": "wall-clock time of whole native runs, from start to exit",
    "region": "wall-clock time in native runs in which at least one thread was inside",
    "function": "share of the program's native runs that samples of CPU time were in the function "
    "itself, without what it calls",
}


def facts(analysis: Analysis, *, uncertain: Estimate | None = None) -> tuple[Fact, ...]:
    """Return what is known of a program, a region or a function.

    Parameters
    ----------
    analysis : Analysis
        Of it alone.
    uncertain : Estimate or None
        Its time, where that is not known well enough for a performance; None: not known at all.
    """
    placement = analysis.placement
    found = [*_time(analysis.measurement, uncertain), *_work(analysis), *_traffic(analysis)]
    if placement is not None:
        found += [*_performance(placement), *_bound(placement), *dc_facts(placement)]
    return tuple(found)


def _kind_of(measurement: Measurement) -> PartKind:
    """Return what a measurement is of: a part that was counted alone begins with its kind."""
    selected = (measurement.counted.selected or "").partition(" ")[0]
    return next((kind for kind in _TIMES if kind == selected), "program")


def _time(measurement: Measurement, uncertain: Estimate | None) -> Iterator[Fact]:
    kind = _kind_of(measurement)
    timed = measurement.timed
    if timed is None:
        text = f"{UNKNOWN}: it was counted, not timed"
        if uncertain is not None:
            text = f"{with_quartiles(uncertain, 's')}: too uncertain for a performance"
        yield Fact(
            key="runtime",
            name="T, runtime",
            text=text,
            how=f"Measured as the {_TIMES[kind]}; more runs would tell."
            if uncertain is not None
            else f"It would be the {_TIMES[kind]}.",
            source=_METHOD,
        )
        return
    runtime = timed.runtime_s
    yield Fact(
        key="runtime",
        name="T, runtime",
        text=with_quartiles(runtime, "s"),
        how=f"The median of n = {runtime.n}: {_TIMES[kind]}.",
        samples=runtime.samples if runtime.n > 1 else None,
        samples_unit="s",
        source=_METHOD,
    )
    yield Fact(
        key="cores",
        name="cores busy",
        text=f"{timed.cores_busy:.2f}",
        how=f"CPU time over wall-clock time: {format_si(timed.cpu_s.median, 's')} / "
        f"{format_si(runtime.median, 's')}",
        inputs=(_input("CPU time", timed.cpu_s, "s"), _input("T", runtime, "s")),
        samples=timed.cpu_s.samples if timed.cpu_s.n > 1 else None,
        samples_unit="s of CPU time",
        source=_METHOD,
    )


def _work(analysis: Analysis) -> Iterator[Fact]:
    counted, metric = analysis.measurement.counted, analysis.metric
    counts, unit = counted.counts, WORK_UNITS[metric]
    total = work_total(counts, metric)
    yield Fact(
        key="work",
        name=f"W, work in {unit}",
        text=f"{UNKNOWN}: {printable(counted.meter)} does not count it"
        if total is None
        else _exactly(total, unit),
        how=f"Counted by {printable(counted.meter)}, instruction by instruction; an FMA is 2 flop "
        "for each lane."
        if metric == "flop"
        else f"Counted by {printable(counted.meter)}: computations, comparisons and addresses.",
        inputs=tuple(_kinds(counts, metric)),
        source=_COUNTING if metric == "flop" else "docs/bops.md",
    )
    parts = {
        "loads": counts.loads, "stores": counts.stores, "branches": counts.branches,
        "not decoded": counts.undecoded or None,
    }  # fmt: skip
    yield Fact(
        key="instructions",
        name="instructions",
        text=_exactly(counts.instructions, ""),
        how=f"Counted by {printable(counted.meter)}.",
        inputs=tuple(
            Input(name=name, text=_exactly(count, "")) for name, count in parts.items() if count
        ),
        source=_COUNTING,
    )


def _kinds(counts: Counts, metric: Metric) -> Iterator[Input]:
    """Yield the kinds of work, the largest first."""
    if metric == "flop":
        for kind in sorted(counts.flop, key=lambda each: -each.flop):
            width = "" if kind.width_bits is None else f" {kind.width_bits}-bit"
            width = " scalar" if kind.width_bits == 0 else width
            operation = f" {kind.operation}" if kind.operation else ""
            yield Input(
                name=f"{kind.precision}{width}{operation}", text=_exactly(kind.flop, "flop")
            )
        return
    if counts.basic_operations is not None:
        yield Input(name="refined", text=_exactly(counts.basic_operations.total, "BOP"))
    if counts.eq3_bop is not None:
        yield Input(name="by Eq. (3)", text=_exactly(counts.eq3_bop, "BOP"))


def _traffic(analysis: Analysis) -> Iterator[Fact]:
    """Yield bytes and intensity of every level, from the core outwards."""
    measurement, metric = analysis.measurement, analysis.metric
    work, unit = work_total(measurement.counted.counts, metric), WORK_UNITS[metric]
    for level in LEVELS:
        part = measurement.traffic_at(level)
        if part is None:
            if level == "dram":
                yield _unknown_traffic(measurement)
            continue
        yield _bytes(measurement, part)
        if work is not None and not hardly_any(measurement.counted.counts, metric):
            yield _intensity(measurement, part, work, metric, unit)


def _unknown_traffic(measurement: Measurement) -> Fact:
    return Fact(
        key="bytes-dram",
        name="Q, bytes at DRAM",
        text=f"{UNKNOWN}: {printable(measurement.counted.meter)} did not tell",
        how="Traffic is simulated with the machine's caches, or read from counters of the memory.",
        source=_COUNTING,
    )


def _bytes(measurement: Measurement, part: Traffic) -> Fact:
    """Return the bytes of a level."""
    level, counted = shown_name(part.level), measurement.counted
    estimate = None if counted.estimate is None else counted.estimate.at(part.level)
    between = ""
    if estimate is not None:
        low, high = estimate.total_bytes
        between = f" (95 % interval {format_si(low, 'B')} to {format_si(high, 'B')})"
    how = (
        "Every access went through a simulation of the machine's caches."
        if counted.caches
        else f"Read by {printable(counted.meter)} from the caches of the machine itself."
    )
    if estimate is not None and counted.estimate is not None:
        how = (
            f"Estimated from {counted.estimate.bursts} parts of the run, "
            f"{percent(counted.estimate.share)} of it, in which every access went through a "
            "simulation of the machine's caches."
        )
    return Fact(
        key=f"bytes-{part.level}",
        name=f"Q, bytes at {level}",
        text=f"{UNKNOWN}: only its reads are known, {_exactly(part.read_bytes, 'B')}"
        if part.total_bytes is None
        else f"{_exactly(part.total_bytes, 'B')}{between}",
        how=how,
        inputs=(
            Input(name="read", text=_exactly(part.read_bytes, "B")),
            Input(
                name="written",
                text=UNKNOWN if part.write_bytes is None else _exactly(part.write_bytes, "B"),
            ),
        ),
        source=_COUNTING,
    )


def _intensity(
    measurement: Measurement, part: Traffic, work: int, metric: Metric, unit: str
) -> Fact:
    level, moved = shown_name(part.level), part.total_bytes
    found = intensity_range(measurement, metric, part.level)
    between = ""
    if found is not None:
        kind = "95 % interval" if found.runs is None else f"quartiles of {found.runs} counted runs"
        between = f" ({kind} {shown_intensity(found.low)} to {shown_intensity(found.high)})"
    if moved is None:
        text = f"{UNKNOWN}: the bytes written at {level} are not known"
    elif not moved:
        text = "infinite: no byte moved there"
    else:
        text = f"{shown_intensity(work / moved)} {unit}/byte{between}"
    ways = {"Qr": part.read_bytes, "Qw": part.write_bytes}
    return Fact(
        key=f"intensity-{part.level}",
        name=f"I, intensity at {level}",
        text=text,
        how=f"I = W / Q = {format_si(work, unit)} / {shown_amount(moved, 'B')}",
        inputs=(
            Input(name="W", text=_exactly(work, unit)),
            *(
                Input(name=f"W/{way}", text=f"{shown_intensity(work / count)} {unit}/byte")
                for way, count in ways.items()
                if count
            ),
        ),
        source=ROOFLINE,
    )


def _performance(placement: Placement) -> Iterator[Fact]:
    unit, performance = f"{WORK_UNITS[placement.metric]}/s", placement.performance_per_s
    runtime, work = placement.runtime_s, placement.work
    if performance is None or runtime is None or work is None:
        why = "its time is not known well enough"
        if runtime is not None:
            why = "it does no such work" if work is not None else "its work is not known"
        yield Fact(
            key="performance", name="P, performance", text=f"{UNKNOWN}: {why}", how="P = W / T",
            source=ROOFLINE,
        )  # fmt: skip
        return
    yield Fact(
        key="performance",
        name="P, performance",
        text=with_quartiles(performance, unit),
        how=f"P = W / T = {format_si(work, WORK_UNITS[placement.metric])} / "
        f"{format_si(runtime.median, 's')}",
        inputs=(
            Input(name="W", text=_exactly(work, WORK_UNITS[placement.metric])),
            _input("T", runtime, "s"),
        ),
        samples=performance.samples if performance.n > 1 else None,
        samples_unit=unit,
        source=ROOFLINE,
    )


def _bound(placement: Placement) -> Iterator[Fact]:
    """Yield what the machine allows, what limits, and how near the program is to that."""
    bound, machine = placement.bound, placement.machine
    if bound is None:
        yield Fact(
            key="bound",
            name="least time",
            text=f"{UNKNOWN}: {printable(machine.name)} has no ceiling for anything that it asks",
            source=ROOFLINE,
        )
        return
    on = f"{shown_cores(placement.cores)} of {printable(machine.name)}"
    yield Fact(
        key="bound",
        name="least time",
        text=format_si(float(bound.time_s), "s"),
        how=f"The longest of what each resource needs at its full rate on {on}.",
        inputs=tuple(needs(placement)),
        source=ROOFLINE,
    )
    limit = limit_text(placement)
    yield Fact(
        key="limit",
        name="limited by",
        text=limit or UNKNOWN,
        how=f"What needs the most time at its full rate, and what needs as long within "
        f"{tolerance(SAME)}.",
        source=ROOFLINE,
    )
    unit = WORK_UNITS[placement.metric]
    if placement.attainable_per_s is not None and placement.work is not None:
        yield Fact(
            key="attainable",
            name="attainable",
            text=format_si(placement.attainable_per_s, f"{unit}/s"),
            how=f"W over the least time: {format_si(placement.work, unit)} / "
            f"{format_si(float(bound.time_s), 's')}, on {on}",
            source=ROOFLINE,
        )
    yield _efficiency(placement)


def _efficiency(placement: Placement) -> Fact:
    efficiency, runtime, bound = placement.efficiency, placement.runtime_s, placement.bound
    if efficiency is None or runtime is None or bound is None:
        return Fact(
            key="efficiency", name="efficiency", text=f"{UNKNOWN}: its time is not known",
            how="The least time over the runtime.", source=ROOFLINE,
        )  # fmt: skip
    ends = placement.efficiency_at_ends
    between = ""
    if ends is not None:
        between = (
            f" ({percent(ends[0])} to {percent(ends[1])} with the smallest and the largest share "
            "of the caches)"
        )
    return Fact(
        key="efficiency",
        name="efficiency",
        text=share_of_roof(efficiency, is_above=placement.is_above_roof) + between,
        how=f"The least time over the runtime: {format_si(float(bound.time_s), 's')} / "
        f"{format_si(runtime.median, 's')}; 100 % is the roof.",
        inputs=(
            Input(name="least time", text=format_si(float(bound.time_s), "s")),
            _input("T", runtime, "s"),
        ),
        source=ROOFLINE,
    )


def needs(placement: Placement) -> Iterator[Input]:
    """Yield the time of each limit, the longest first: its amount over its rate."""
    bound, machine = placement.bound, placement.machine
    if bound is None:
        return
    for name, seconds in sorted(bound.constraints_s.items(), key=lambda pair: -float(pair[1])):
        resource = RESOURCES.get(name)
        if name == COMPUTE or resource is None or not machine.knows(name):
            yield Input(name=_name_of(name), text=format_si(float(seconds), "s"))
            continue
        rate = float(machine.rate(name, cores=placement.cores))
        amount = float(bound.demand.amount(name))
        unit = resource.unit.replace("byte", "B")
        yield Input(
            name=_name_of(name),
            text=f"{format_si(amount, unit)} / {format_si(rate, f'{unit}/s')} = "
            f"{format_si(float(seconds), 's')}",
        )


def _name_of(constraint: str) -> str:
    return shown_name(constraint) if constraint in RESOURCES else constraint


def _input(name: str, estimate: Estimate, unit: str) -> Input:
    return Input(name=name, text=with_quartiles(estimate, unit))


def _exactly(count: float, unit: str) -> str:
    """Return a count with a prefix, and exactly where that is more."""
    short = f"{format_si(count, unit)}".rstrip()
    exact = f"{count:,.0f} {unit}".rstrip().replace(",", "\u202f")
    return short if abs(count) < 10_000 else f"{short} ({exact})"
