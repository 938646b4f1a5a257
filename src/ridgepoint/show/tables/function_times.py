"""The functions in which a program spends its time: how long, how fast, and what bounds them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.measurement import Sampled, TimedFunction
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis, TimedPart
from ridgepoint.models.placement import Placement
from ridgepoint.models.work import WORK_UNITS, hardly_any
from ridgepoint.show.tables.function_table import MADE_AT_RUN_TIME
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import (
    UNKNOWN,
    percent,
    printable,
    program_name,
    share_of_roof,
    shown_limit,
    shown_symbol,
)
from ridgepoint.show.work import shown_work_per_byte, used_precisions

_LEAST_SHARE = 0.005


def function_times(analysis: Analysis, sampled: Sampled, *, most: int) -> RenderableType:
    """Return a row per function, the longest first, and where else the time went.

    Parameters
    ----------
    analysis : Analysis
        Of a program of which native runs were timed.
    sampled : Sampled
        Its own.
    most : int
        Rows beside those of the rest.
    """
    measurement = analysis.measurement
    runtime_s = 0.0 if measurement.timed is None else measurement.timed.runtime_s.median
    each = analysis.functions
    least_s = _LEAST_SHARE * runtime_s
    shown = [one for one in each if one.timed.runtime_s.median >= least_s][:most]
    unit = WORK_UNITS[analysis.metric]
    columns = ("time", f"{unit}/byte", f"{unit}/s", "attainable", "limiter")
    table = plain_table("function", *columns, right=columns[:-1])
    table.columns[0].ratio = 1
    for one in shown:
        _add(table, _name(one.timed), (_time(one.timed, runtime_s), *_placed(one)))
    rest = [one.timed for one in each[len(shown) :]]
    if rest:
        rest_s = sum(timed.runtime_s.median for timed in rest)
        _add(table, f"{len(rest)} more", (percent(rest_s / runtime_s),))
    known_s = sum(one.timed.runtime_s.median for one in each)
    _add(table, "kernel, waiting", (percent(max(1 - known_s / runtime_s, 0.0)),))
    return Group(table, Text(_said(sampled)))


def times_alone(sampled: Sampled, runtime_s: float, *, most: int) -> RenderableType:
    """Return a row per function of a program that was not counted, and where else the time went.

    Parameters
    ----------
    sampled : Sampled
    runtime_s : float
        Median of the program's.
    most : int
        Rows beside those of the rest.
    """
    table = plain_table("function", "object", "time", right=("time",))
    table.columns[0].ratio = 1
    each = sampled.functions
    shown = [one for one in each if one.runtime_s.median >= _LEAST_SHARE * runtime_s][:most]
    for timed in shown:
        held_by = "" if timed.object is None else printable(program_name((timed.object,)))
        _add(table, _name(timed), (held_by, _time(timed, runtime_s)))
    if rest := each[len(shown) :]:
        rest_s = sum(timed.runtime_s.median for timed in rest)
        _add(table, f"{len(rest)} more", ("", percent(rest_s / runtime_s)))
    known_s = sum(timed.runtime_s.median for timed in each)
    _add(table, "kernel, waiting", ("", percent(max(1 - known_s / runtime_s, 0.0))))
    return Group(table, Text(_said(sampled)))


def _said(sampled: Sampled) -> str:
    runs = "1 run" if sampled.runs == 1 else f"{sampled.runs} runs"
    kernel = format_si(sampled.system_s, "s", digits=3)
    return (
        f"{sampled.samples} samples of {runs}, one in {format_si(sampled.period_s, 's', digits=3)} "
        f"of CPU time in user mode; ± 95 %; {kernel} of each run in the kernel"
    )


def _name(timed: TimedFunction) -> str:
    if timed.name is not None:
        return shown_symbol(timed.name, timed.object)
    if timed.object is None:
        return f"code {MADE_AT_RUN_TIME}"
    return f"in {printable(program_name((timed.object,)))}"


def _time(timed: TimedFunction, runtime_s: float) -> str:
    """Return the share of the runtime, and how far it may be off."""
    share = timed.runtime_s.median / runtime_s
    error = timed.relative_error * share * 100
    return f"{percent(share)} ±{error:.1f}" if error < 9.95 else f"{percent(share)} ±{error:.0f}"


def _placed(one: TimedPart) -> tuple[str, ...]:
    """Return intensity, performance, the most that is attainable, and what bounds it."""
    function, analysis = one.counts, one.analysis
    if function is None or analysis is None:
        return (UNKNOWN, UNKNOWN)
    placement, metric = analysis.placement, analysis.metric
    if placement is None:
        return ()
    if hardly_any(function.counts, metric):
        return ("-", "-", "-", _limit(placement))
    moved = next((part.total_bytes for part in function.traffic if part.level == "dram"), None)
    performance, attainable = placement.performance_per_s, placement.attainable_per_s
    return (
        shown_work_per_byte(function.counts, metric, moved),
        UNKNOWN if performance is None else _rate(performance.median),
        UNKNOWN if attainable is None else _rate(attainable),
        _limit(placement),
    )


def _rate(work_per_s: float) -> str:
    """Return a rate without the unit, which stands above it."""
    return format_si(work_per_s, "", digits=3).strip()


def _limit(placement: Placement) -> str:
    if placement.bound is None:
        return UNKNOWN
    limit = shown_limit(str(placement.bound.binding), used_precisions(placement.demand.amounts))
    if placement.efficiency is None:
        return limit
    reached = share_of_roof(placement.efficiency, is_above=placement.is_above_roof)
    return f"{limit}, {reached}"


def _add(table: Table, name: str, cells: Sequence[str]) -> None:
    filled = [*cells, *[""] * (len(table.columns) - 1 - len(cells))]
    table.add_row(Text(name, overflow="ellipsis", no_wrap=True), *filled)
