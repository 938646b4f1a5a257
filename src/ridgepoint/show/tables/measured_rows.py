"""What was measured of a program, row by row: its time, work, traffic and instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, Traffic, add_known
from ridgepoint.core.measurement import Measurement, Protocol
from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.own_roofs import IssuePlace
from ridgepoint.models.traffic_ranges import traffic_at_ends
from ridgepoint.models.work import bop_source, hardly_any
from ridgepoint.show.own_roofs import per_cycle_text
from ridgepoint.show.tables.layout import Row
from ridgepoint.show.tables.time_and_advice import part_of
from ridgepoint.show.words import (
    UNKNOWN,
    percent,
    printable,
    shown_amount,
    shown_name,
    with_quartiles,
)
from ridgepoint.show.work import judged_by

_SHOWN_CLASSES = {
    "arithmetic": "arithmetic",
    "fp_arithmetic": "fp arithmetic",
    "logic": "logic",
    "compare": "compare",
    "fp_compare": "fp compare",
    "addressing": "addressing",
}


def measured_rows(analysis: Analysis) -> Iterator[Row]:
    """Yield what was measured: T, W, Q, instructions."""
    measurement, metric, placement = analysis.measurement, analysis.metric, analysis.placement
    timed, counted = measurement.timed, measurement.counted
    if timed is None:
        yield "T  runtime", f"{UNKNOWN} (counted, not timed)"
    else:
        yield (
            "T  runtime",
            f"{with_quartiles(timed.runtime_s, 's')}, {timed.cores_busy:.2f} cores busy",
        )
        if measurement.whole is not None:
            yield "", part_of(timed, measurement.whole)
        if timed.exit_status:
            yield "   exit status", str(timed.exit_status)
    yield from _work(counted.counts) if metric == "flop" else _bop_work(counted.counts)
    judged = judged_by(counted.counts, metric)
    if judged is not None:
        yield "   judged by", judged
    yield from _traffic(measurement)
    yield "   instructions", _mix(counted.counts, None if placement is None else placement.issue)
    if counted.counts.undecoded:
        part = percent(counted.counts.undecoded / max(counted.counts.instructions, 1))
        yield (
            "   undecoded",
            (f"{part} of the instructions could not be decoded: their work and bytes are unknown"),
        )
    if counted.energy_j:
        domains = ", ".join(
            f"{printable(name)} {format_si(joule, 'J')}" for name, joule in counted.energy_j.items()
        )
        yield "E  energy", f"{domains}, of the whole machine"
    processes = "" if counted.processes in {None, 1} else f", {counted.processes} processes"
    covered = _covered(counted)
    yield "   counted by", f"{printable(counted.meter)}{processes}{covered}"
    if measurement.protocol is not None:
        yield "   protocol", "\n".join(_protocol_lines(measurement.protocol))


def _covered(counted: Counted) -> str:
    """Return how much of the time was counted, where that is not all."""
    if counted.coverage is None or not counted.coverage.is_known:
        return ""
    # 100.0 % would say of all but a few samples that it is all.
    share = min(counted.coverage.share, 0.999) if counted.coverage.share < 1 else 1
    return f"; W covers {100 * share:.3g} % of the time"


def _work(counts: Counts) -> Iterator[Row]:
    """Yield the work, each precision with its vector widths and its share of FMA."""
    if not counts.work_flop:
        yield "W  work", "no floating-point operation"
        return
    if hardly_any(counts):
        exact = ", ".join(f"{flop} flop {precision}" for precision, flop in counts.work.items())
        yield "W  work", f"hardly any: {exact}"
        return
    for index, (precision, flop) in enumerate(counts.work.items()):
        kinds = [kind for kind in counts.flop if kind.precision == precision]
        shares = "; ".join(filter(None, (_widths(kinds, flop), _fused(kinds, flop))))
        amount = f"{format_si(flop, 'flop')} {precision}{': ' if shares else ''}{shares}"
        yield "" if index else "W  work", f"{amount}{_masked(kinds, flop)}"


def _masked(kinds: Sequence[FlopCount], flop: int) -> str:
    """Return the share under a mask, and how much was useful where that is known and less."""
    masked = sum(kind.masked_flop or 0 for kind in kinds)
    if not masked:
        return ""
    useful = add_known(kind.useful_flop for kind in kinds)
    share = f"; {percent(masked / flop)} under a mask"
    return share if useful in {None, flop} else f"{share}, {format_si(useful, 'flop')} useful"


def _widths(kinds: Sequence[FlopCount], flop: int) -> str:
    """Return the share of each vector width, or nothing where the meter cannot tell."""
    widths: dict[int, int] = {}
    for kind in kinds:
        if kind.width_bits is None:
            return ""
        widths[kind.width_bits] = widths.get(kind.width_bits, 0) + kind.flop
    return ", ".join(
        f"{percent(part / flop)} {f'{width}-bit' if width else 'scalar'}"
        for width, part in sorted(widths.items(), reverse=True)
        if part
    )


def _fused(kinds: Sequence[FlopCount], flop: int) -> str:
    """Return the share of FMA, or nothing where the meter cannot tell."""
    if any(kind.fma is None for kind in kinds):
        return ""
    return f"{percent(sum(kind.flop for kind in kinds if kind.fma) / flop)} by FMA"


def _traffic(measurement: Measurement) -> Iterator[Row]:
    """Yield the traffic of every level, memory first."""
    head = "Q  traffic"
    if measurement.traffic_at("dram") is None:
        yield head, f"DRAM  {UNKNOWN}"
        head = ""
    for level in reversed(LEVELS):
        part = measurement.traffic_at(level)
        if part is not None:
            moved = (
                f"{_moved(part)}{_interval(measurement, level)}{_moved_at_ends(measurement, level)}"
            )
            yield head, f"{shown_name(level):<5} {moved}"
            head = ""
    estimate = measurement.counted.estimate
    if estimate is not None:
        of = {
            "accesses": f"{estimate.bursts} bursts, {percent(estimate.share)} of all accesses",
            "rounds": f"{estimate.bursts} calls that do {percent(estimate.share)} of the rounds of "
            "the outermost loop",
        }
        yield "", f"estimated from {of[estimate.of]}"


def _interval(measurement: Measurement, level: str) -> str:
    """Return between what the traffic of a level lies, if it was estimated."""
    estimate = measurement.counted.estimate
    interval = None if estimate is None else estimate.at(level)
    return "" if interval is None else f"{_in_all(interval.total_bytes)} (95 % interval)"


def _moved_at_ends(measurement: Measurement, level: str) -> str:
    """Return what would be moved with the least and with the most of the caches, if it differs."""
    ends = traffic_at_ends(measurement, level)
    if ends is None:
        return ""
    lasts = [end.caches[-1] for end in measurement.counted.ends]
    sizes = " to ".join(format_size(cache.size_bytes) for cache in lasts)
    return f"{_in_all(ends)}, depending on how much neighbours leave: {sizes} of L{lasts[0].level}"


def _in_all(ends: tuple[float, float]) -> str:
    return f"\n      in all {format_si(ends[0], 'B')} to {format_si(ends[1], 'B')}"


def _moved(part: Traffic) -> str:
    amounts = {"read": part.read_bytes, "written": part.write_bytes}
    if part.level == "dram" or part.pending_write_bytes is not None:
        amounts["pending"] = part.pending_write_bytes
    return ", ".join(f"{way} {shown_amount(count, 'B')}" for way, count in amounts.items())


def _mix(counts: Counts, issue: IssuePlace | None) -> str:
    total = counts.instructions
    if not total:
        return UNKNOWN
    flop = add_known(kind.instructions for kind in counts.flop)
    shares = (
        (counts.loads, "load"),
        (counts.stores, "store"),
        (counts.branches, "branch"),
        (flop, "floating point"),
    )
    mix = ", ".join(
        f"{percent(count / total)} {verb}" for count, verb in shares if count is not None
    )
    cycles = per_cycle_text(issue)
    amount = format_si(total, "").rstrip() + (f", {cycles}" if cycles else "")
    return f"{amount}{': ' if mix else ''}{mix}"


def _bop_work(counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield the work in basic operations, how it was counted, and Eq. (3) beside it."""
    refined, source = counts.basic_operations, bop_source(counts)
    by_equation = UNKNOWN if counts.eq3_bop is None else _bop(counts.eq3_bop)
    if refined is None:
        amount = f"{by_equation} by Eq. (3)" if source == "eq3" else UNKNOWN
        yield "W  work", amount
        return
    yield "W  work", f"{_bop(refined.total)} refined{_classes(refined)}"
    yield "   by Eq. (3)", by_equation


def _classes(done: BasicOperations) -> str:
    """Return the share of each class that occurs, the largest first."""
    amounts = {field.name: getattr(done, field.name) for field in fields(done)}
    shares = [
        f"{percent(part / done.total)} {_SHOWN_CLASSES[name]}"
        for name, part in sorted(amounts.items(), key=lambda pair: -pair[1])
        if part
    ]
    return f": {', '.join(shares)}" if shares else ""


def _bop(bops: int) -> str:
    return format_si(bops, "BOP") if bops > 0 else f"{bops} BOP"


def _protocol_lines(protocol: Protocol) -> Iterator[str]:
    """Yield how the times and the counts of calls came about, a line for each."""
    single, many = ("entry", "entries") if protocol.state == "in place" else ("call", "calls")
    calls = f"one {single}" if protocol.calls == 1 else f"the mean of {protocol.calls} {many}"
    yield f"{protocol.state}: a sample is {calls}{_on_what(protocol)}{_by(protocol.threads)}"
    counted = ""
    if protocol.counted_calls:
        noun = single if protocol.counted_calls == 1 else many
        counted = f"; counts are the mean of {protocol.counted_calls} {noun}"
    yield f"an empty {single} takes {format_si(protocol.overhead_s, 's')}{counted}"


def _on_what(protocol: Protocol) -> str:
    if protocol.data_bytes is None:
        return ""
    size = format_si(protocol.data_bytes, "B")
    return f" on {protocol.replicas} replicas of {size}" if protocol.replicas > 1 else f" on {size}"


def _by(threads: int | None) -> str:
    return "" if threads is None else f", {threads} thread{'s' if threads > 1 else ''}"
