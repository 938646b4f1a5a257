"""Basic operations counted from a source, for the terminal: by class, function and line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.meters.source.counts import SourceCounts
from ridgepoint.show.symbols import file_names, shown_symbol
from ridgepoint.show.tables.layout import caution_list, sections
from ridgepoint.show.tables.parts_table import parts_table, share_cell
from ridgepoint.show.words import printable, program_name

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


def bops_tables(
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
    cautions = (*counts.cautions, *(() if timed is None else timed.cautions))
    return sections(
        _title(command, counts, timed),
        parts_table("class", columns, classes),
        parts_table("function", columns, functions),
        parts_table("line", (*columns, "made of"), lines, words=["made of"]),
        caution_list(cautions) if cautions else None,
    )


def _cells(bops: int, whole: int) -> dict[str, str]:
    return {"BOPs": f"{bops:,}", "share": share_cell(bops, whole)}


def _title(command: Sequence[str], counts: SourceCounts, timed: Timed | None) -> Text:
    title = f"{counts.operations.total:,} BOPs in {printable(program_name(command))}"
    if not counts.complete:
        title += " (incomplete)"
    rate = counts.bop_per_s(timed)
    if timed is not None and rate is not None:
        time_s = format_si(timed.runtime_s.median, "s")
        title += f", {time_s} without counters: {format_si(rate, 'BOP/s')}"
    return Text(title, style="bold")


def _made_of(operations: BasicOperations) -> str:
    done = {name: getattr(operations, name) for name in _CLASSES}
    return ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in done.items() if n)
