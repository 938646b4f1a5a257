"""Cells of tables as readers see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ridgepoint.core.table import Cell, Column, Table
from ridgepoint.core.units import format_si
from ridgepoint.show.words import percent, printable, shown_intensity

NOTHING = "–"
"""Stands for what is unknown, or for what there is none of."""

_SHOWN_UNITS = {"byte": "B", "byte/s": "B/s", "byte/cycle": "B/cycle"}


def shown_cell(column: Column, cell: Cell, *, unit: str = "") -> str:
    """Return a cell as a reader sees it.

    Parameters
    ----------
    column : Column
    cell : str, int, float, bool or None
    unit : str
        Unit of its row, if the column has none.

    Examples
    --------
    >>> shown_cell(Column(key="runtime_s", title="T", kind="number", unit="s"), 0.0123)
    '12.3 ms'
    >>> shown_cell(Column(key="of_all", title="share", kind="share"), 0.25)
    '25 %'
    """
    if cell is None:
        return NOTHING
    if isinstance(cell, str):
        return printable(cell)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return percent(cell) if column.kind == "share" else _shown_number(cell, column.unit or unit)


def _shown_number(cell: float, unit: str) -> str:
    if unit.endswith(("/byte", "/cycle")):
        return f"{shown_intensity(cell)} {_SHOWN_UNITS.get(unit, unit)}"
    if unit:
        return format_si(cell, _SHOWN_UNITS.get(unit, unit))
    return f"{cell:,}".replace(",", "\u202f") if isinstance(cell, int) else f"{cell:.4g}"


def shown_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns that a reader sees: an interval stands beside the value itself."""
    return tuple(column for column in table.columns if column.end is None)


def shown_rows(table: Table) -> Iterator[tuple[str, ...]]:
    """Yield each row as a reader sees it, a cell for each of `shown_columns`."""
    columns = shown_columns(table)
    for row in table.records():
        yield tuple(_with_interval(column, row) for column in columns)


def _with_interval(column: Column, row: Mapping[str, Cell]) -> str:
    unit = str(row.get(column.unit_key) or "") if column.unit_key else ""
    text = shown_cell(column, row[column.key], unit=unit)
    low, high = (row.get(f"{column.key}_{end}") for end in ("low", "high"))
    if low is None or high is None:
        return text
    ends = (shown_cell(column, end, unit=unit) for end in (low, high))
    return f"{text} ({' to '.join(ends)})"
