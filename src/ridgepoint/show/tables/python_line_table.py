"""The lines of a Python program that take its time."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.counts import traffic_at
from ridgepoint.core.lines import PythonLine, PythonLines, Tracing
from ridgepoint.core.timed import Timed
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.work import Metric, work_total
from ridgepoint.show.symbols import file_names
from ridgepoint.show.tables.parts_table import (
    Cells,
    intensity_column,
    parts_table,
    placed_cells,
    rate_column,
    work_cells,
)
from ridgepoint.show.words import UNKNOWN, percent, printable, shown_name

_LEAST_SHARE = 0.005
"""Samples say little of less."""

_LONGEST_TEXT = 42


def python_lines(times: PythonLines, timed: Timed, *, most: int) -> RenderableType:
    """Return a row per line of Python, the longest first, and where else the CPU time went.

    Parameters
    ----------
    times : PythonLines
    timed : Timed
        The program's unsampled runs.
    most : int
        Rows beside those of the rest.
    """
    cpu_s = timed.cpu_s.median or sum(line.cpu_s.median for line in times.lines)
    shown = [
        line for line in times.lines[:most] if cpu_s and line.cpu_s.median >= _LEAST_SHARE * cpu_s
    ]
    names = file_names([line.file for line in shown])
    rows: list[tuple[str, Cells]] = [
        (f"{names[line.file]}:{line.line}", _cells(line, cpu_s)) for line in shown
    ]
    rest_s = [line.cpu_s.median for line in times.lines[len(shown) :]]
    others = (
        (f"{len(rest_s)} more", sum(rest_s)),
        ("in no line", times.outside_s),
        ("line unknown", times.unlocated_s),
        ("no samples", times.unsampled_s),
    )
    rows += [
        (name, {"CPU time": percent(time_s / cpu_s)})
        for name, time_s in others
        if cpu_s and time_s >= _LEAST_SHARE * cpu_s
    ]
    columns = ["source", "CPU time", "Python", "native", "kernel"]
    if any(line.other_threads_s for line in shown):
        columns.append("other threads")
    table = parts_table("line of Python", columns, rows, names=["source"])
    table.columns[1].max_width = _LONGEST_TEXT
    return Group(table, Text(said_of_samples(times)))


def _cells(line: PythonLine, cpu_s: float) -> Cells:
    """Return the share of the program's CPU time in a line, and what of it was where."""
    time_s = line.cpu_s.median
    low, high = line.cpu_s.low or time_s, line.cpu_s.high or time_s
    parts = {
        "Python": line.interpreter_s,
        "native": line.native_s,
        "kernel": line.system_s,
        "other threads": line.other_threads_s,
    }
    return {
        "source": UNKNOWN if line.text is None else printable(line.text),
        "CPU time": f"{percent(time_s / cpu_s)} ±{(high - low) / 2 / cpu_s * 100:.1f}",
        **{name: percent(part_s / time_s) for name, part_s in parts.items() if part_s},
    }


def python_line_work(analysis: Analysis, *, most: int) -> RenderableType | None:
    """Return a row per line of Python with its work and its place; None: lines were not counted.

    Parameters
    ----------
    analysis : Analysis
        Of the whole program.
    most : int
        Rows, of the lines with most time.
    """
    times, metric = analysis.measurement.lines, analysis.metric
    if times is None or times.tracing is None:
        return None
    if metric == "bop":
        return Text("The work of lines is known in flop alone: '--work flop' shows it.")
    shown = [(line, part) for line, part in analysis.lines if _is_known(line, metric)][:most]
    if not shown:
        return Text("No line of its own Python files has work of its own or memory traffic.")
    names = file_names([line.file for line, _ in shown])
    rows = [
        (f"{names[line.file]}:{line.line}", _placed(line, part, metric)) for line, part in shown
    ]
    intensity, rate = intensity_column(metric), rate_column(metric)
    columns = ["begun", "work", "DRAM", intensity, rate, "attainable", "limiter"]
    table = parts_table("line of Python", columns, rows, words=["limiter"])
    return Group(table, Text(said_of_counts(times.tracing)))


def _is_known(line: PythonLine, metric: Metric) -> bool:
    """Return whether a line did anything that a roofline is about."""
    dram = traffic_at(line.traffic, "dram")
    assert line.counts is not None
    return bool(work_total(line.counts, metric)) or bool(dram is not None and dram.known_bytes)


def _placed(line: PythonLine, part: Analysis, metric: Metric) -> Cells:
    assert line.counts is not None
    cells = {
        "begun": UNKNOWN if line.executions is None else f"{line.executions:,}",
        **work_cells(line.counts, line.traffic, metric),
    }
    if part.placement is None:
        return cells
    return {**cells, **placed_cells(part.placement, line.counts)}


def said_of_counts(tracing: Tracing) -> str:
    """Return what counting by line changed."""
    factors = ", ".join(
        f"{name if name in ('instructions', 'flop') else shown_name(name)} x {factor:.3g}"
        for name, factor in tracing.factors.items()
        if name != "l1"
    )
    return (
        f"with all that is below a line, counted in a run of its own in which lines began "
        f"{tracing.events:,} times; what that changed in the whole program: {factors}"
    )


def said_of_samples(times: PythonLines) -> str:
    """Return how well the times of lines are known."""
    runs = "1 run" if times.runs == 1 else f"{times.runs} runs"
    return (
        f"{times.samples} samples of {runs}; ± 95 %; the columns after CPU time are parts of the "
        "line's own time"
    )
