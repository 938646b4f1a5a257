"""The functions of a program: what each did of its work and traffic, and the time it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.counted import Counted, Remainder
from ridgepoint.core.counts import FunctionCounts, traffic_at
from ridgepoint.core.timed import Sampled, TimedFunction
from ridgepoint.core.units import format_si
from ridgepoint.core.unknown import sum_if_known
from ridgepoint.models.analysis import Analysis, TimedPart
from ridgepoint.models.work import Metric, hardly_any, work_total
from ridgepoint.show.symbols import shown_symbol
from ridgepoint.show.tables.parts_table import (
    Cells,
    intensity_column,
    parts_table,
    placed_cells,
    rate_column,
    share_cell,
    work_cells,
)
from ridgepoint.show.words import UNKNOWN, percent, printable, program_name

# A function below this in every column explains nothing.
_LEAST_SHARE = 0.001
# Samples tell less than counts.
_LEAST_SHARE_OF_TIME = 0.005

_MADE_AT_RUN_TIME = "made at run time"
"""Stands in place of a file."""

Amounts = Mapping[str, int | None]


def functions(counted: Counted, most: int, *, metric: Metric = "flop") -> Table:
    """Return the functions that did most of anything, and the rest in one row.

    Parameters
    ----------
    counted : Counted
        Of the whole program.
    most : int
        Rows beside that of the rest.
    metric : {"flop", "bop"}
        What work is counted in.

    Returns
    -------
    Table
        By the largest of a function's shares of work, instructions and DRAM traffic. Work is
        left out where there is hardly any; reads stand for traffic where writes are unknown.
    """
    remainder = () if counted.remainder is None else (counted.remainder,)
    known = (*counted.functions, *remainder)
    moved = (traffic_at(part.traffic, "dram") for part in known)
    reads_only = any(dram is not None and dram.write_bytes is None for dram in moved)
    amounts = [_amounts(part, metric, reads_only=reads_only) for part in known]
    traffic = "DRAM reads" if reads_only else "DRAM"
    total = {
        "work": work_total(counted.counts, metric) or 0,
        "instr.": counted.counts.instructions,
        traffic: sum(part[traffic] or 0 for part in amounts),
    }
    if hardly_any(counted.counts, metric):
        del total["work"]
    largest = [_largest_share(part, total) for part in amounts[: len(counted.functions)]]
    order = sorted(range(len(largest)), key=lambda index: -largest[index])
    first = [index for index in order if largest[index] >= _LEAST_SHARE][:most]
    rows = [
        (
            shown_symbol(counted.functions[index].name, counted.functions[index].object),
            {"object": _file(counted.functions[index]), **_shares(amounts[index], total)},
        )
        for index in first
    ]
    if rest := [part for index, part in enumerate(amounts) if index not in first]:
        together = {name: sum_if_known(part[name] for part in rest) for name in total}
        number = len(largest) - len(first) + sum(part.functions for part in remainder)
        rows.append((f"{number} more", _shares(together, total)))
    table = parts_table("function", ["object", *total], rows, names=["object"])
    table.columns[1].max_width = len(_MADE_AT_RUN_TIME)
    return table


def _amounts(
    function: FunctionCounts | Remainder, metric: Metric, *, reads_only: bool
) -> dict[str, int | None]:
    """Return what a function did, by column; None: unknown."""
    dram = traffic_at(function.traffic, "dram")
    return {
        "work": work_total(function.counts, metric),
        "instr.": function.counts.instructions,
        "DRAM reads": None if dram is None else dram.read_bytes,
        **({} if reads_only else {"DRAM": None if dram is None else dram.total_bytes}),
    }


def _largest_share(amounts: Amounts, total: Mapping[str, int]) -> float:
    return max((amounts[name] or 0) / total[name] if total[name] else 0.0 for name in total)


def _shares(amounts: Amounts, total: Mapping[str, int]) -> dict[str, str]:
    return {name: share_cell(amounts[name], total[name]) for name in total}


def _file(function: FunctionCounts) -> str:
    """Return the file that holds a function's code.

    Code in none whose bytes a meter saw was made at run time; of others nothing is known.
    """
    if function.object:
        return printable(PurePath(function.object).name)
    return UNKNOWN if function.counts.undecoded else _MADE_AT_RUN_TIME


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
    timed, metric = analysis.measurement.timed, analysis.metric
    runtime_s = 0.0 if timed is None else timed.runtime_s.median
    columns = ["time", intensity_column(metric), rate_column(metric), "attainable", "limiter"]
    placed = [_placed(part, metric) for part in analysis.functions]
    rows = _time_rows(sampled, runtime_s, most, placed)
    return Group(parts_table("function", columns, rows, words=["limiter"]), Text(_said(sampled)))


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
    held_by = [
        {"object": "" if timed.object is None else printable(program_name((timed.object,)))}
        for timed in sampled.functions
    ]
    rows = _time_rows(sampled, runtime_s, most, held_by)
    table = parts_table("function", ["object", "time"], rows, words=["object"])
    return Group(table, Text(_said(sampled)))


def _time_rows(
    sampled: Sampled, runtime_s: float, most: int, known: Sequence[Cells]
) -> list[tuple[str, Cells]]:
    """Return the functions with their times and what else is `known` of each, and the rest."""
    times_s = [timed.runtime_s.median for timed in sampled.functions]
    shown = sum(time_s >= _LEAST_SHARE_OF_TIME * runtime_s for time_s in times_s[:most])
    rows: list[tuple[str, Cells]] = [
        (_sampled_name(timed), {"time": _time(timed, runtime_s), **cells})
        for timed, cells in zip(sampled.functions[:shown], known, strict=False)
    ]
    if rest_s := times_s[shown:]:
        rows.append((f"{len(rest_s)} more", {"time": percent(sum(rest_s) / runtime_s)}))
    outside = max(1 - sum(times_s) / runtime_s, 0.0)
    return [*rows, ("kernel, waiting", {"time": percent(outside)})]


def _said(sampled: Sampled) -> str:
    runs = "1 run" if sampled.runs == 1 else f"{sampled.runs} runs"
    kernel = format_si(sampled.system_s, "s", digits=3)
    return (
        f"{sampled.samples} samples of {runs}, one in {format_si(sampled.period_s, 's', digits=3)} "
        f"of CPU time in user mode; ± 95 %; {kernel} of each run in the kernel"
    )


def _sampled_name(timed: TimedFunction) -> str:
    if timed.name is not None:
        return shown_symbol(timed.name, timed.object)
    if timed.object is None:
        return f"code {_MADE_AT_RUN_TIME}"
    return f"in {printable(program_name((timed.object,)))}"


def _time(timed: TimedFunction, runtime_s: float) -> str:
    """Return the share of the runtime, and how far it may be off."""
    share = timed.runtime_s.median / runtime_s
    error = timed.relative_error * share * 100
    return f"{percent(share)} ±{error:.1f}" if error < 9.95 else f"{percent(share)} ±{error:.0f}"


def _placed(part: TimedPart, metric: Metric) -> Cells:
    """Return a function's intensity, performance, what it can reach, and what limits it."""
    if part.counts is None or part.analysis is None:
        return {intensity_column(metric): UNKNOWN, rate_column(metric): UNKNOWN}
    cells = work_cells(part.counts.counts, part.counts.traffic, metric)
    if part.analysis.placement is not None:
        cells |= placed_cells(part.analysis.placement, part.counts.counts)
    return cells
