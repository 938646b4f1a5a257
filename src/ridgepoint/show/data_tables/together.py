"""Tables of several records as one."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.columns import text
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.table import Table

_RECORD = text("record", "Number, name or file of the record, as given.")


def of_name(tables: Sequence[Table], name: str) -> Table:
    """Return the table of a name, which must be there."""
    return next(table for table in tables if table.name == name)


def together(records: Sequence[tuple[str, Sequence[Table]]]) -> tuple[Table, ...]:
    """Return each table with the rows of all records, and a first column that names the record.

    Parameters
    ----------
    records : sequence of (str, sequence of Table)
        Name and tables of each; tables of one name have the same columns.

    Raises
    ------
    RidgepointError
        If the records have no table in common: one of them would be missing in whatever is
        written.
    """
    by_name: dict[str, list[tuple[str, Table]]] = {}
    for record, tables in records:
        for table in tables:
            by_name.setdefault(table.name, []).append((record, table))
    common = [parts for parts in by_name.values() if len(parts) == len(records)]
    if not common:
        raise RidgepointError(
            "cannot write these records as one table",
            reason="they are of different kinds",
            remedy="give machines, clusters and programs to commands of their own",
        )
    return tuple(_rows_of_all(parts) for parts in common)


def _rows_of_all(parts: Sequence[tuple[str, Table]]) -> Table:
    table = parts[0][1]
    return Table(
        name=table.name,
        title=table.title,
        columns=(_RECORD, *table.columns),
        rows=tuple((record, *row) for record, part in parts for row in part.rows),
    )
