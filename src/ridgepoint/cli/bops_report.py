"""What `ridgepoint bops` prints: a table, or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import fields_of, report
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.meters.source import SourceCounts
from ridgepoint.show.tables.layout import caution_list
from ridgepoint.show.tables.parts_table import parts_table, share_cell
from ridgepoint.show.words import file_names, printable, program_name, shown_symbol

_CLASSES = {
    "arithmetic": "integer arithmetic",
    "fp_arithmetic": "floating-point arithmetic",
    "logic": "logic and bitwise",
    "compare": "comparisons of integers",
    "fp_compare": "comparisons of floating-point numbers",
    "addressing": "addressing of arrays",
}
_MADE_BY_COMPILER = "the compiler's own"
"""Stands in place of a file and a line."""


def rate_bop_per_s(counts: SourceCounts, timed: Timed | None) -> float | None:
    """Return basic operations per second of the native program; None: its time is unknown."""
    if timed is None or not counts.complete or not timed.runtime_s.median:
        return None
    return counts.operations.total / timed.runtime_s.median


def document(command: Sequence[str], counts: SourceCounts, timed: Timed | None) -> dict[str, Any]:
    """Return the report as fields of a JSON object; rates in BOP/s, times in s."""
    fields = {
        "command": command,
        **_done(counts.operations),
        "functions": [
            {**fields_of(function, "name", "symbol", "file", "line"), **_done(function.operations)}
            for function in counts.functions
        ],
        "lines": [
            {**fields_of(line, "file", "line"), **_done(line.operations)} for line in counts.lines
        ],
        **fields_of(counts, "complete", "exit_status", "processes"),
        **fields_of(timed, "runtime_s"),
        "bops_per_s": rate_bop_per_s(counts, timed),
        "cautions": (*counts.cautions, *(() if timed is None else timed.cautions)),
    }
    return report("bops", fields)


def _done(operations: BasicOperations) -> dict[str, Any]:
    return {"bops": operations.total, "classes": operations}


def tables(
    command: Sequence[str], counts: SourceCounts, timed: Timed | None, *, most: int
) -> RenderableType:
    """Return the report as tables.

    Parameters
    ----------
    command : sequence of str
    counts : SourceCounts
    timed : Timed or None
        None: the program without counters was not timed.
    most : int
        Functions and lines to show.
    """
    whole = counts.operations.total
    classes = [
        (title, _cells(getattr(counts.operations, name), whole)) for name, title in _CLASSES.items()
    ]
    functions = [
        (shown_symbol(function.name), _cells(function.operations.total, whole))
        for function in counts.functions[:most]
    ]
    files = file_names(line.file for line in counts.lines[:most] if line.file is not None)
    lines = [
        (
            _MADE_BY_COMPILER if line.file is None else f"{files[line.file]}:{line.line or '?'}",
            {**_cells(line.operations.total, whole), "made of": _made_of(line.operations)},
        )
        for line in counts.lines[:most]
    ]
    columns = ("BOPs", "share")
    parts: list[RenderableType] = [
        _title(command, counts, timed),
        "",
        parts_table("class", columns, classes),
        "",
        parts_table("function", columns, functions),
        "",
        parts_table("line", (*columns, "made of"), lines, words=["made of"]),
    ]
    cautions = (*counts.cautions, *(() if timed is None else timed.cautions))
    if cautions:
        parts += ["", caution_list(cautions)]
    return Group(*parts)


def _cells(bops: int, whole: int) -> dict[str, str]:
    return {"BOPs": f"{bops:,}", "share": share_cell(bops, whole)}


def _title(command: Sequence[str], counts: SourceCounts, timed: Timed | None) -> Text:
    title = f"{counts.operations.total:,} BOPs in {printable(program_name(command))}"
    if not counts.complete:
        title += " (incomplete)"
    rate = rate_bop_per_s(counts, timed)
    if timed is not None and rate is not None:
        time_s = format_si(timed.runtime_s.median, "s")
        title += f", {time_s} without counters: {format_si(rate, 'BOP/s')}"
    return Text(title, style="bold")


def _made_of(operations: BasicOperations) -> str:
    done = {name: getattr(operations, name) for name in _CLASSES}
    return ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in done.items() if n)
