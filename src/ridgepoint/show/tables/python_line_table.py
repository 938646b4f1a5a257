"""The lines of a Python program that take its time."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.lines import LineTime, LineTimes
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.show.symbols import file_names
from ridgepoint.show.tables.parts_table import Cells, parts_table
from ridgepoint.show.words import UNKNOWN, percent, printable

_LEAST_SHARE = 0.005
"""Samples say little of less."""

_LONGEST_TEXT = 42


def python_lines(times: LineTimes, timed: Timed, *, most: int) -> RenderableType:
    """Return a row per line of Python, the longest first, and where else the CPU time went.

    Parameters
    ----------
    times : LineTimes
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
    return Group(table, Text(_said(times)))


def _cells(line: LineTime, cpu_s: float) -> Cells:
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


def _said(times: LineTimes) -> str:
    runs = "1 run" if times.runs == 1 else f"{times.runs} runs"
    own_s = sum(line.cpu_s.median for line in times.lines)
    return (
        f"{times.samples} samples of {runs}; ± 95 %; {format_si(own_s, 's', digits=3)} of CPU time "
        "in or below lines of the program's own files, which the columns at the right divide"
    )
