"""Tables of what a command's JSON document holds, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ridgepoint.core.table import Column, Table


def table_of(name: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return a table of some fields of rows of a document.

    Parameters
    ----------
    name : str
    columns : sequence of Column
        Keys as in the rows; what else a row holds is left out.
    rows : iterable of mapping
        An estimate, an object with ``median`` or ``value``, ``low`` and ``high``, fills its column
        and those of its ends. Texts of a list are joined by ', '.
    """
    return Table.of(
        name, columns, ({column.key: _cell(column, row) for column in columns} for row in rows)
    )


def _cell(column: Column, row: Mapping[str, Any]) -> object:
    value = row.get(column.of or column.key)
    if isinstance(value, Mapping):
        return value.get(column.end) if column.end else value.get("median", value.get("value"))
    if column.end is not None:
        return row.get(column.key)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value
