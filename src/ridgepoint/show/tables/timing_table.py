"""The report of a program that was timed and not counted, for the terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.measurement import Timing
from ridgepoint.show.tables.function_table import times_alone
from ridgepoint.show.tables.layout import caution_list, grid, sections
from ridgepoint.show.tables.parts_table import parts_table
from ridgepoint.show.tables.python_line_table import python_lines
from ridgepoint.show.words import UNKNOWN, printable, shown_command, with_quartiles

_MOST_FUNCTIONS = 10


def timing(measured: Timing, *, most_functions: int = _MOST_FUNCTIONS) -> RenderableType:
    """Return what is known of a program without its counts: its time, and where that went."""
    timed, why = measured.timed, measured.uncounted
    not_counted = "" if why is None else f": {printable(f'{why.seen}; {why.remedy}')}"
    rows = [
        (
            "T  runtime",
            f"{with_quartiles(timed.runtime_s, 's')}, {timed.cores_busy:.2f} cores busy",
        ),
        *([("   exit status", str(timed.exit_status))] if timed.exit_status else []),
        ("W  work", f"{UNKNOWN}{not_counted}"),
        ("Q  traffic", UNKNOWN),
        ("   bound", f"{UNKNOWN}: without work and traffic there is no bound"),
    ]
    parts: list[RenderableType] = [
        Text(printable(shown_command(measured.command)), style="bold", overflow="fold"),
        grid(rows),
    ]
    if measured.timed_regions:
        parts.append(_regions(measured))
    if measured.sampled is not None:
        table = times_alone(measured.sampled, timed.runtime_s.median, most=most_functions)
        parts.append(table)
    if measured.lines is not None:
        parts.append(python_lines(measured.lines, timed, most=most_functions))
    if doubts := [caution for caution in measured.all_cautions if caution != why]:
        parts.append(caution_list(doubts))
    return sections(*parts)


def _regions(measured: Timing) -> Table:
    """Return a row per region that the program marks."""
    rows = []
    for region in measured.timed_regions:
        runtime = region.runtime_s
        time = UNKNOWN if runtime is None else with_quartiles(runtime, "s")
        rows.append((printable(region.name), {"entries": str(region.entries), "time": time}))
    return parts_table("region", ["entries", "time"], rows)
