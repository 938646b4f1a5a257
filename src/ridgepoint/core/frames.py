"""Tables as frames of pandas and tables of Arrow; no other module imports either.

Each is an extra, imported where it is used. A column has the same type whatever its cells hold, so
that files and frames of several records fit together; an unknown is a null of that type.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.table import Column, Kind, Table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_OF_PANDAS: dict[Kind, str] = {
    "text": "string",
    "count": "Int64",
    "number": "float64",
    "share": "float64",
    "flag": "boolean",
}
_OF_ARROW: dict[Kind, str] = {
    "text": "string",
    "count": "int64",
    "number": "float64",
    "share": "float64",
    "flag": "bool_",
}
_LARGEST = 2**63 - 1


def frame(table: Table) -> pd.DataFrame:
    """Return a table as a frame of pandas.

    Parameters
    ----------
    table : Table

    Returns
    -------
    pandas.DataFrame
        A row for each row and a column for each key: ``string``, ``Int64``, ``float64`` and
        ``boolean``. Its `attrs` hold the table's ``name``, and the ``units`` and ``titles`` of its
        columns by key.

    Raises
    ------
    RidgepointError
        If pandas is not installed.
    """
    require("pandas", "pandas", what="a frame of pandas")
    import pandas as pd

    columns = {
        column.key: pd.array(_values(table, column), dtype=_OF_PANDAS[column.kind])
        for column in table.columns
    }
    made = pd.DataFrame(columns, columns=list(table.keys))
    titles = {column.key: column.title for column in table.columns}
    made.attrs.update(name=table.name, units=table.units, titles=titles)
    return made


def arrow(table: Table) -> pa.Table:
    """Return a table as one of Arrow.

    Parameters
    ----------
    table : Table

    Returns
    -------
    pyarrow.Table
        Of ``string``, ``int64``, ``double`` and ``bool``. The metadata of a field is its ``unit``,
        its ``title`` and, of the end of an interval, ``end`` and ``of``; that of the table its
        ``name``.

    Raises
    ------
    RidgepointError
        If pyarrow is not installed.
    """
    require("pyarrow", "parquet", what="a table of Arrow")
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field(column.key, getattr(pa, _OF_ARROW[column.kind])(), metadata=_about(column))
            for column in table.columns
        ],
        metadata={"name": table.name, "title": table.title},
    )
    arrays = [
        pa.array(_values(table, column), type=field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def parquet(table: Table) -> bytes:
    """Return a table as a file of Parquet, the same bytes for the same table.

    Raises
    ------
    RidgepointError
        If pyarrow is not installed.
    """
    made = arrow(table)
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(made, file, compression="zstd")
    return file.getvalue()


def require(module: str, extra: str, *, what: str) -> None:
    """Refuse what needs a package that is not installed.

    Raises
    ------
    RidgepointError
    """
    if find_spec(module) is None:
        raise RidgepointError(
            f"cannot make {what}",
            reason=f"{module} is not installed",
            remedy=f"install it with: pip install 'ridgepoint[{extra}]'",
        )


def _about(column: Column) -> dict[str, str]:
    known = {"unit": column.unit, "title": column.title, "end": column.end, "of": column.of}
    return {name: text for name, text in known.items() if text}


def _values(table: Table, column: Column) -> list[Any]:
    """Return a column's cells for a type with 64 bits.

    Raises
    ------
    RidgepointError
        If a count is larger than that.
    """
    cells = table.values(column.key)
    if column.kind != "count":
        return list(cells)
    for cell in cells:
        if isinstance(cell, int) and abs(cell) > _LARGEST:
            raise RidgepointError(
                f"cannot write {column.key} of table {table.name!r} as a whole number of 64 bits",
                reason=f"it is {cell}",
                remedy="write CSV or JSON, which hold numbers of any size",
            )
    return list(cells)
