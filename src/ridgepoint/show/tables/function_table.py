"""The functions of a program that matter, by what they take of its work, instructions, traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from rich.table import Table
from rich.text import Text

from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.measurement import Counted, Remainder
from ridgepoint.models.work import Metric, hardly_any, work_total
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import UNKNOWN, percent, printable, shown_symbol

# A function below this in every column explains nothing.
_LEAST_SHARE = 0.001

MADE_AT_RUN_TIME = "made at run time"
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
    functions, counts = counted.functions, counted.counts
    remainder = () if counted.remainder is None else (counted.remainder,)
    reads_only = any(
        part.write_bytes is None
        for one in (*functions, *remainder)
        for part in one.traffic
        if part.level == "dram"
    )
    moved = "DRAM reads" if reads_only else "DRAM"
    rows = [_amounts(function, metric, moved, reads_only=reads_only) for function in functions]
    more = [_amounts(one, metric, moved, reads_only=reads_only) for one in remainder]
    total = {
        "work": work_total(counts, metric) or 0,
        "instr.": counts.instructions,
        moved: sum(row[moved] or 0 for row in (*rows, *more)),
    }
    if hardly_any(counts, metric):
        del total["work"]
    largest = [_largest_share(row, total) for row in rows]
    order = sorted(range(len(rows)), key=lambda index: -largest[index])
    first = [index for index in order if largest[index] >= _LEAST_SHARE][:most]
    rest = [*(rows[index] for index in order if index not in first), *more]
    n_rest = len(rows) - len(first) + sum(one.functions for one in remainder)
    table = plain_table("function", "object", *total, right=tuple(total))
    table.columns[0].ratio = 3
    table.columns[1].max_width = len(MADE_AT_RUN_TIME)
    for index in first:
        _add(
            table,
            shown_symbol(functions[index].name, functions[index].object),
            _file(functions[index]),
            rows[index],
            total,
        )
    if rest:
        together = {name: _sum([row[name] for row in rest]) for name in total}
        _add(table, f"{n_rest} more", "", together, total)
    return table


def _amounts(
    function: FunctionCounts | Remainder, metric: Metric, moved: str, *, reads_only: bool
) -> dict[str, int | None]:
    """Return what a function did, by column; None: unknown."""
    dram = next((part for part in function.traffic if part.level == "dram"), None)
    at_dram = None if dram is None else dram.read_bytes if reads_only else dram.total_bytes
    return {
        "work": work_total(function.counts, metric),
        "instr.": function.counts.instructions,
        moved: at_dram,
    }


def _largest_share(row: Amounts, total: Mapping[str, int]) -> float:
    return max((row[name] or 0) / total[name] if total[name] else 0.0 for name in total)


def _sum(amounts: Sequence[int | None]) -> int | None:
    """Return a sum; unknown + anything = unknown."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _file(function: FunctionCounts) -> str:
    """Return the file that holds a function's code.

    Code in none whose bytes a meter saw was made at run time; of others nothing is known.
    """
    if function.object:
        return printable(PurePath(function.object).name)
    return UNKNOWN if function.counts.undecoded else MADE_AT_RUN_TIME


def _add(
    table: Table, name: str, object_name: str, amounts: Amounts, total: Mapping[str, int]
) -> None:
    """Add the row of one function, or of several together."""
    table.add_row(
        Text(name, overflow="ellipsis", no_wrap=True),
        Text(object_name, overflow="ellipsis", no_wrap=True),
        *(_share(amounts[column], total[column]) for column in total),
    )


def _share(amount: int | None, total: int) -> str:
    """Return a share; a dash where there is nothing to have a share of."""
    if amount is None:
        return UNKNOWN
    return percent(amount / total) if total else "-"
