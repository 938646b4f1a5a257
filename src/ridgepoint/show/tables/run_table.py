"""The report of a measured program, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si
from ridgepoint.models.advice import TRY_BOPS
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.dc_ceilings import dc_place
from ridgepoint.models.one_bandwidth import Bandwidth
from ridgepoint.models.placement import Placement
from ridgepoint.models.traffic_ranges import intensity_range
from ridgepoint.models.work import WORK_UNITS, hardly_any
from ridgepoint.show.charts.miss_curve import curve_sentences
from ridgepoint.show.own_roofs import mix_row
from ridgepoint.show.tables.alternative_table import alternatives
from ridgepoint.show.tables.dc_table import dc_table
from ridgepoint.show.tables.function_table import function_times, functions
from ridgepoint.show.tables.layout import Row, caution_list, codes_in_short, grid, sections
from ridgepoint.show.tables.line_table import lines
from ridgepoint.show.tables.measured_rows import measured_rows
from ridgepoint.show.tables.python_line_table import python_line_work, python_lines
from ridgepoint.show.tables.rank_table import ranks
from ridgepoint.show.tables.region_table import regions
from ridgepoint.show.tables.roofs_table import (
    cycle_row,
    one_bandwidth_table,
    other_machines,
    range_text,
)
from ridgepoint.show.tables.time_and_advice import advice_list, time_parts
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import (
    UNKNOWN,
    machine_title,
    partial_note,
    percent,
    printable,
    shown_command,
    shown_cores,
    shown_name,
    shown_share,
    with_quartiles,
)
from ridgepoint.show.work import shown_work_per_byte

_MOST_FUNCTIONS = 10


def run(
    analysis: Analysis,
    *,
    most_functions: int = _MOST_FUNCTIONS,
    every_caution: bool = False,
    others: Sequence[Machine] = (),
    bandwidths: Sequence[Bandwidth] = (),
    in_cycles: bool = False,
) -> RenderableType:
    """Return the report of a measured program: what it did, what bounds it, what to doubt.

    Parameters
    ----------
    analysis : Analysis
    most_functions : int
        Rows of the function table; the rest is summed in one more.
    every_caution : bool
        Whether to tell those in full, too, that could not change the verdict.
    others : sequence of Machine
        Machines of which it is told what they would allow.
    bandwidths : sequence of {"read", "write", "copy"}
        Bandwidths below which it is placed by the bytes that each moves.
    in_cycles : bool
        Whether to give rates per cycle too.

    Returns
    -------
    RenderableType
        What is unknown reads "unknown", never 0.
    """
    measurement, placement = analysis.measurement, analysis.placement
    parts: list[RenderableType | None] = [
        _head(measurement),
        grid(measured_rows(analysis)),
        grid(_placed(analysis, in_cycles=in_cycles)),
    ]
    if placement is not None and (on_dc_roofline := dc_place(placement)) is not None:
        parts.append(dc_table(on_dc_roofline))
    if placement is not None and bandwidths:
        parts.append(one_bandwidth_table(analysis, bandwidths))
    if placement is not None and others:
        parts.append(other_machines(analysis, others))
    if analysis.conclusion is not None:
        advised, explained = analysis.advice, analysis.explained
        advises = any(caution.code != TRY_BOPS for caution in advised)
        parts += (
            Text(_sentences(verdict(analysis.conclusion, advised=advises)), style="bold"),
            None if explained is None else time_parts(explained, analysis.metric),
            advice_list(advised) if advised else None,
        )
    parts += _parts(analysis, most_functions)
    if doubts := analysis.doubts:
        files = {caution.object for caution in measurement.counted.functions if caution.object}
        told = [caution for caution, matters in doubts.items() if every_caution or matters]
        minor = _minor([caution for caution in doubts if caution not in told])
        parts.append(caution_list(told, files, minor=minor))
    if analysis.machine is not None and measurement.distributed is not None:
        parts.append(ranks(analysis))
    return sections(*parts)


def _head(measurement: Measurement) -> RenderableType:
    """Return what was measured, below a warning where the counts are not of the whole run."""
    command = printable(shown_command(measurement.command))
    parts = [Text(command, style="bold", overflow="fold")]
    note, selected = partial_note(measurement), measurement.counted.selected
    if note is not None:
        parts.insert(0, Text(f"WARNING: {note}", style="bold red"))
    if selected is not None:
        parts.append(Text(f"only {printable(selected)}: the rest of the program is left out"))
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


def _parts(analysis: Analysis, most_functions: int) -> Iterator[RenderableType]:
    """Yield a table for each way to take the counts apart, and what other caches would do."""
    measurement = analysis.measurement
    counted = measurement.counted
    if counted.regions:
        yield regions(analysis)
    if measurement.sampled is not None and measurement.timed is not None:
        yield function_times(analysis, measurement.sampled, most=most_functions)
    if measurement.lines is not None and measurement.timed is not None:
        yield python_lines(measurement.lines, measurement.timed, most=most_functions)
        if (work := python_line_work(analysis, most=most_functions)) is not None:
            yield work
    if counted.functions:
        yield functions(counted, most_functions, metric=analysis.metric)
    hottest = lines(measurement, analysis.placement)
    if hottest is not None:
        yield hottest
    if counted.alternatives:
        yield alternatives(analysis)
    if counted.miss_curve is not None:
        yield Text(_sentences(curve_sentences(measurement, analysis.machine)))


def _sentences(sentences: Iterable[str]) -> str:
    """Return sentences on lines of their own."""
    return "\n".join(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in sentences)


def _placed(analysis: Analysis, *, in_cycles: bool) -> Iterator[Row]:
    """Yield intensity, performance, and what the machine allows."""
    measurement, machine, placement = analysis.measurement, analysis.machine, analysis.placement
    metric = analysis.metric
    of_work = not hardly_any(measurement.counted.counts, metric)
    if of_work:
        yield "I  intensity", _intensities(analysis)
    if placement is None or machine is None:
        yield (
            "   roofs",
            f"{UNKNOWN}: there is no machine to bound it by; 'ridgepoint machine' measures "
            "this one",
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
    efficiency = shown_share(placement.efficiency)
    yield "   efficiency", f"{efficiency}{_efficiency_at_ends(placement)}"
    if in_cycles:
        yield cycle_row(placement)
    if of_work and (own := mix_row(placement)) is not None:
        yield "   own mix", own


def _efficiency_at_ends(placement: Placement) -> str:
    """Return the efficiency with the least and with the most of the caches, if it differs."""
    if placement.efficiency_at_ends is None:
        return ""
    low, high = map(percent, placement.efficiency_at_ends)
    return f" ({low} to {high} with the smallest and the largest share of the caches)"


def _performance(placement: Placement) -> str:
    performance = placement.performance_per_s
    if performance is None:
        return f"{UNKNOWN} (not timed)"
    return with_quartiles(performance, f"{WORK_UNITS[placement.metric]}/s")


def _intensities(analysis: Analysis) -> str:
    """Return W/Q of every level, memory first."""
    measurement, metric, texts = analysis.measurement, analysis.metric, []
    for level in reversed(LEVELS):
        part = measurement.traffic_at(level)
        if part is None and level != "dram":
            continue
        moved = None if part is None else part.total_bytes
        if moved == 0:
            texts.append(f"{shown_name(level)} infinite (no byte moved)")
        else:
            intensity = shown_work_per_byte(measurement.counted.counts, metric, moved)
            ends = range_text(intensity_range(measurement, metric, level))
            texts.append(f"{shown_name(level)} {intensity}{ends}")
    return f"{', '.join(texts)} {WORK_UNITS[metric]}/byte"
