"""What `ridgepoint bops` prints: a table, or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import SCHEMA, plain
from ridgepoint.core.measurement import Timed
from ridgepoint.core.units import format_si
from ridgepoint.meters.source import LineOperations, SourceCounts
from ridgepoint.show.tables.layout import caution_list, plain_table
from ridgepoint.show.words import percent, printable, program_name, shown_symbol

_CLASSES = {
    "arithmetic": "integer arithmetic",
    "fp_arithmetic": "floating-point arithmetic",
    "logic": "logic and bitwise",
    "compare": "comparisons of integers",
    "fp_compare": "comparisons of floating-point numbers",
    "addressing": "addressing of arrays",
}


def rate_bop_per_s(counts: SourceCounts, timed: Timed | None) -> float | None:
    """Return basic operations per second of the native program; None: its time is unknown."""
    if timed is None or not counts.complete or not timed.runtime_s.median:
        return None
    return counts.operations.total / timed.runtime_s.median


def document(command: Sequence[str], counts: SourceCounts, timed: Timed | None) -> dict[str, Any]:
    """Return the report as fields of a JSON object; rates in BOP/s, times in s."""
    return {
        "schema": SCHEMA,
        "kind": "bops",
        "command": list(command),
        "bops": counts.operations.total,
        "classes": plain(counts.operations),
        "functions": [
            {
                "name": one.name,
                "symbol": one.symbol,
                "file": one.file,
                "line": one.line,
                "bops": one.operations.total,
                "classes": plain(one.operations),
            }
            for one in counts.functions
        ],
        "lines": [
            {
                "file": one.file,
                "line": one.line,
                "bops": one.operations.total,
                "classes": plain(one.operations),
            }
            for one in counts.lines
        ],
        "complete": counts.complete,
        "exit_status": counts.exit_status,
        "processes": counts.processes,
        "runtime_s": None if timed is None else plain(timed.runtime_s),
        "bops_per_s": rate_bop_per_s(counts, timed),
        "cautions": plain((*counts.cautions, *(() if timed is None else timed.cautions))),
    }


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
    all_bops = counts.operations.total
    classes = plain_table("class", "BOPs", "share", right=("BOPs", "share"))
    for name, title in _CLASSES.items():
        _add(classes, Text(title), getattr(counts.operations, name), all_bops)
    functions = plain_table("function", "BOPs", "share", right=("BOPs", "share"))
    for function in counts.functions[:most]:
        _add(functions, Text(shown_symbol(function.name)), function.operations.total, all_bops)
    lines = plain_table("line", "BOPs", "share", "made of", right=("BOPs", "share"))
    for line, place in zip(counts.lines, _places(counts.lines[:most]), strict=False):
        made_of = Text(_made_of(line.operations))
        _add(lines, Text(place), line.operations.total, all_bops, made_of)
    parts: list[RenderableType] = [_title(command, counts, timed), "", classes, "", functions]
    parts += ["", lines]
    cautions = (*counts.cautions, *(() if timed is None else timed.cautions))
    if cautions:
        parts += ["", caution_list(cautions)]
    return Group(*parts)


def _add(table: Any, name: Text, bops: int, all_bops: int, *rest: Text) -> None:
    share = percent(bops / all_bops) if all_bops else "-"
    table.add_row(name, f"{bops:,}", share, *rest)


def _title(command: Sequence[str], counts: SourceCounts, timed: Timed | None) -> Text:
    said = f"{counts.operations.total:,} BOPs in {printable(program_name(command))}"
    if not counts.complete:
        said += " (incomplete)"
    rate = rate_bop_per_s(counts, timed)
    if timed is not None and rate is not None:
        time_s = format_si(timed.runtime_s.median, "s")
        said += f", {time_s} without counters: {format_si(rate, 'BOP/s')}"
    return Text(said, style="bold")


def _places(lines: Sequence[LineOperations]) -> list[str]:
    """Return where lines stand in short, with a folder where two files are called the same."""
    paths = [None if line.file is None else PurePath(line.file) for line in lines]
    names = [path.name for path in set(paths) if path is not None]
    shown = []
    for path, line in zip(paths, lines, strict=True):
        if path is None:
            shown.append("the compiler's own")
            continue
        parts = path.parts[-2:] if names.count(path.name) > 1 else path.parts[-1:]
        shown.append(printable(f"{'/'.join(parts)}:{line.line or '?'}"))
    return shown


def _made_of(operations: BasicOperations) -> str:
    done = {name: getattr(operations, name) for name in _CLASSES}
    return ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in done.items() if n)
