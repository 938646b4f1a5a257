"""The report of a measured program, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts, FlopCount, Traffic, add_known
from ridgepoint.core.measurement import Counted, Measurement
from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.advice import TRY_BOPS
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.own_roofs import IssuePlace
from ridgepoint.models.placement import Placement, at_ends
from ridgepoint.models.ranking import matters
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any
from ridgepoint.show.advice_text import advice_list
from ridgepoint.show.charts.miss_curve import curve_sentences
from ridgepoint.show.own_roofs import mix_row, per_cycle_text
from ridgepoint.show.protocol_text import protocol_lines
from ridgepoint.show.tables.alternative_table import alternatives
from ridgepoint.show.tables.bop_rows import bop_rows
from ridgepoint.show.tables.function_table import function_times, functions
from ridgepoint.show.tables.layout import caution_list, codes_in_short
from ridgepoint.show.tables.line_table import lines
from ridgepoint.show.tables.region_table import regions
from ridgepoint.show.time_parts import part_of, time_parts
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import (
    UNKNOWN,
    machine_title,
    partial_note,
    percent,
    printable,
    shown_amount,
    shown_command,
    shown_cores,
    shown_name,
    with_quartiles,
)
from ridgepoint.show.work import judged_by, shown_work_per_byte

_MOST_FUNCTIONS = 10
_ENDS = 2
"""The least and the most of the caches."""

_ALIKE = 0.01
"""Relative difference below which the ends of an interval are not worth a word."""

Row = tuple[str, str]


def run(
    analysis: Analysis, *, most_functions: int = _MOST_FUNCTIONS, every_caution: bool = False
) -> RenderableType:
    """Return the report of a measured program: what it did, what bounds it, what to doubt.

    Parameters
    ----------
    analysis : Analysis
    most_functions : int
        Rows of the function table; the rest is summed in one more.
    every_caution : bool
        Whether to tell those in full, too, that could not change the verdict.

    Returns
    -------
    RenderableType
        What is unknown reads "unknown", never 0.
    """
    measurement, placement = analysis.measurement, analysis.placement
    metric = analysis.metric
    command = printable(shown_command(measurement.command))
    parts: list[RenderableType] = [
        *_partial(measurement),
        Text(command, style="bold", overflow="fold"),
        *_selected(measurement),
        Padding(grid(_seen(measurement, metric, placement)), (1, 0, 0, 0)),
        Padding(grid(_placed(analysis)), (1, 0, 0, 0)),
    ]
    if placement is not None:
        advised, explained = analysis.advice, analysis.explained
        assert analysis.conclusion is not None  # it is placed
        advises = any(one.code != TRY_BOPS for one in advised)
        sentences = verdict(analysis.conclusion, advised=advises)
        said = ".\n".join(_capital(sentence) for sentence in sentences) + "."
        parts.append(Padding(Text(said, style="bold"), (1, 0, 0, 0)))
        spent = None if explained is None else time_parts(explained, metric)
        if spent is not None:
            parts.append(Padding(spent, (1, 0, 0, 0)))
        if advised:
            parts.append(Padding(advice_list(advised), (1, 0, 0, 0)))
    parts += (Padding(part, (1, 0, 0, 0)) for part in _parts(analysis, most_functions))
    doubts = tuple(
        dict.fromkeys(measurement.all_cautions if placement is None else placement.cautions)
    )
    if doubts:
        files = {one.object for one in measurement.counted.functions if one.object}
        told = [one for one in doubts if every_caution or matters(one, placement)]
        minor = _minor([one for one in doubts if one not in told])
        parts.append(Padding(caution_list(told, files, minor=minor), (1, 0, 0, 0)))
    return Group(*parts)


def _minor(cautions: Sequence[Caution]) -> str | None:
    """Return the line about cautions that could not change the verdict; None: there are none."""
    if not cautions:
        return None
    several = len(cautions) > 1
    return (
        f"{len(cautions)} minor caution{'s' if several else ''}, which could not change the "
        f"verdict: {codes_in_short(cautions)} ('ridgepoint show --cautions' or --json)"
    )


def _partial(measurement: Measurement) -> Iterator[RenderableType]:
    """Yield a warning where the counts are not of the whole run."""
    note = partial_note(measurement)
    if note is not None:
        yield Text(f"WARNING: {note}", style="bold red")


def _selected(measurement: Measurement) -> Iterator[RenderableType]:
    """Yield what was counted alone."""
    if measurement.counted.selected is not None:
        yield Text(f"only {printable(measurement.counted.selected)}: all else is left out")


def _parts(analysis: Analysis, most_functions: int) -> Iterator[RenderableType]:
    """Yield a table for each way to take the counts apart, and what other caches would do."""
    measurement = analysis.measurement
    counted = measurement.counted
    if counted.regions:
        yield regions(analysis)
    if measurement.sampled is not None and measurement.timed is not None:
        yield function_times(analysis, measurement.sampled, most=most_functions)
    if counted.functions:
        yield functions(counted, most_functions, metric=analysis.metric)
    hottest = lines(measurement, analysis.placement)
    if hottest is not None:
        yield hottest
    if counted.alternatives:
        yield alternatives(analysis)
    if counted.miss_curve is not None:
        said = curve_sentences(measurement, analysis.machine)
        yield Text(".\n".join(_capital(sentence) for sentence in said) + ".")


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def grid(rows: Iterable[Row]) -> Table:
    """Return what was found, each with its name."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True, min_width=len("   instructions"))
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table


def _seen(measurement: Measurement, metric: Metric, placement: Placement | None) -> Iterator[Row]:
    """Yield what was measured: T, W, Q, instructions."""
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
    yield from _work(counted.counts) if metric == "flop" else bop_rows(counted.counts)
    judged = judged_by(counted.counts, metric)
    if judged is not None:
        yield "   judged by", judged
    yield from _traffic(measurement)
    yield "   instructions", _mix(counted.counts, None if placement is None else placement.issue)
    if counted.counts.undecoded:
        part = percent(counted.counts.undecoded / max(counted.counts.instructions, 1))
        yield "   undecoded", f"{part} of the instructions: their work and bytes are unknown"
    if counted.energy_j:
        domains = ", ".join(
            f"{printable(name)} {format_si(joule, 'J')}" for name, joule in counted.energy_j.items()
        )
        yield "E  energy", f"{domains}, of the whole machine"
    processes = "" if counted.processes in {None, 1} else f", {counted.processes} processes"
    covered = _covered(counted)
    yield "   counted by", f"{printable(counted.meter)}{processes}{covered}"
    if measurement.protocol is not None:
        yield "   protocol", "\n".join(protocol_lines(measurement.protocol))


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
        said = "; ".join(filter(None, (_widths(kinds, flop), _fused(kinds, flop))))
        under_mask = _masked(kinds, flop)
        yield (
            "" if index else "W  work",
            f"{format_si(flop, 'flop')} {precision}{': ' if said else ''}{said}{under_mask}",
        )


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
            said = (
                f"{_moved(part)}{_interval(measurement, level)}{_moved_at_ends(measurement, level)}"
            )
            yield head, f"{shown_name(level):<5} {said}"
            head = ""
    estimate = measurement.counted.estimate
    if estimate is not None:
        yield (
            "",
            f"estimated from {estimate.bursts} bursts, {percent(estimate.share)} of all accesses",
        )


def _interval(measurement: Measurement, level: str) -> str:
    """Return between what the traffic of a level lies, if it was estimated."""
    estimate = measurement.counted.estimate
    interval = None if estimate is None else estimate.at(level)
    if interval is None:
        return ""
    low, high = (
        read + written
        for read, written in zip(interval.read_bytes, interval.write_bytes, strict=True)
    )
    return f"\n      in all {format_si(low, 'B')} to {format_si(high, 'B')} (95 % interval)"


def _moved_at_ends(measurement: Measurement, level: str) -> str:
    """Return what would be moved with the least and with the most of the caches, if it differs."""
    part = measurement.traffic_at(level)
    totals = [
        other.total_bytes
        for end in at_ends(measurement)
        if (other := end.traffic_at(level)) is not None
    ]
    known = [total for total in totals if total is not None]
    if part is None or part.total_bytes is None or len(known) != _ENDS:
        return ""
    low, high = min(*known, part.total_bytes), max(*known, part.total_bytes)
    if high <= low * (1 + _ALIKE):
        return ""
    sizes = " to ".join(
        format_size(cache.size_bytes)
        for end in measurement.counted.ends
        for cache in end.caches[-1:]
    )
    return (
        f"\n      in all {format_si(low, 'B')} to {format_si(high, 'B')}, as neighbours leave it "
        f"{sizes} of L{measurement.counted.ends[0].caches[-1].level}"
    )


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
    said = ", ".join(
        f"{percent(count / total)} {verb}" for count, verb in shares if count is not None
    )
    cycles = per_cycle_text(issue)
    amount = format_si(total, "").rstrip() + (f", {cycles}" if cycles else "")
    return f"{amount}{': ' if said else ''}{said}"


def _placed(analysis: Analysis) -> Iterator[Row]:
    """Yield intensity, performance, and what the machine allows."""
    measurement, machine, placement = analysis.measurement, analysis.machine, analysis.placement
    metric = analysis.metric
    of_work = not hardly_any(measurement.counted.counts, metric)
    if of_work:
        yield "I  intensity", _intensities(measurement, metric)
    if placement is None or machine is None:
        yield (
            "   roofs",
            f"{UNKNOWN}: no machine to bound it with; 'ridgepoint machine' measures this one",
        )
        return
    if of_work:
        yield "P  performance", _performance(placement)
    on = f"on {shown_cores(placement.cores)} of {machine_title(machine)}"
    if placement.attainable_per_s is not None and of_work:
        attainable = format_si(placement.attainable_per_s, f"{WORK_UNITS[metric]}/s")
        yield "   attainable", f"{attainable} {on}"
    elif placement.bound is not None:
        yield "   attainable", f"{format_si(float(placement.bound.time_s), 's')} at best, {on}"
    else:
        yield "   attainable", f"{UNKNOWN} {on}"
    known = placement.efficiency is not None
    efficiency = percent(placement.efficiency or 0.0) if known else UNKNOWN
    yield "   efficiency", f"{efficiency}{_efficiency_at_ends(placement)}"
    if of_work and (own := mix_row(placement)) is not None:
        yield "   own mix", own


def _efficiency_at_ends(placement: Placement) -> str:
    """Return the efficiency with the least and with the most of the caches, if it differs."""
    own = placement.efficiency
    known = [end.efficiency for end in placement.ends if end.efficiency is not None]
    if own is None or len(known) != _ENDS:
        return ""
    low, high = min(*known, own), max(*known, own)
    if high <= low * (1 + _ALIKE):
        return ""
    return f" ({percent(low)} to {percent(high)} with the least and the most of the caches)"


def _performance(placement: Placement) -> str:
    performance = placement.performance_per_s
    if performance is None:
        return f"{UNKNOWN} (not timed)"
    return with_quartiles(performance, f"{WORK_UNITS[placement.metric]}/s")


def _intensities(measurement: Measurement, metric: Metric) -> str:
    """Return W/Q of every level, memory first."""
    said = []
    for level in reversed(LEVELS):
        part = measurement.traffic_at(level)
        if part is None and level != "dram":
            continue
        moved = None if part is None else part.total_bytes
        if moved == 0:
            said.append(f"{shown_name(level)} infinite (no byte moved)")
        else:
            intensity = shown_work_per_byte(measurement.counted.counts, metric, moved)
            said.append(f"{shown_name(level)} {intensity}")
    return f"{', '.join(said)} {WORK_UNITS[metric]}/byte"
