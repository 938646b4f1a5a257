"""Tables of raw values: what CSV, Parquet, data frames and the page are made from.

A cell holds a value in SI base units, never a text made for readers; what is unknown is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from keyword import iskeyword
from pathlib import Path
from typing import Literal

import numpy as np

from ridgepoint.core.documents import legible
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import Presentable, amount, presenter

Kind = Literal["text", "count", "number", "share", "flag"]
"""Of a column's cells: str, int, float, float from 0 (of 1, which is all), bool."""

Cell = str | int | float | bool | None
"""None: unknown, or there is none."""

_ENDINGS = {
    "s": "_s",
    "byte": "_bytes",
    "flop": "_flop",
    "BOP": "_bop",
    "op": "_op",
    "Hz": "_hz",
    "J": "_j",
    "byte/s": "_bytes_per_s",
    "flop/s": "_flop_per_s",
    "BOP/s": "_bop_per_s",
    "op/s": "_op_per_s",
    "flop/byte": "_flop_per_byte",
    "BOP/byte": "_bop_per_byte",
    "flop/cycle": "_flop_per_cycle",
    "byte/cycle": "_bytes_per_cycle",
    "BOP/cycle": "_bop_per_cycle",
}
_TYPES: dict[Kind, type | tuple[type, ...]] = {
    "text": str,
    "count": int,
    "number": (int, float),
    "share": (int, float),
    "flag": bool,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    key : str
        Name for programs: snake_case, with the unit at its end, as in ``runtime_s``.
    title : str
        Name for readers, without the unit.
    kind : {"text", "count", "number", "share", "flag"}
    unit : str
        SI base unit, such as ``s``, ``byte/s`` or ``flop``. Empty: none, or the table has a
        column of its own for it.
    help : str
        What it is, in a sentence.
    unit_key : str
        Key of the column that holds the unit of each row's cell; empty: `unit` is that of all.
    end : {"low", "high"} or None
        Which end of an interval it is; None: it is no end.
    of : str or None
        Key of the column whose interval this is an end of; None: it is no end.
    """

    key: str
    title: str
    kind: Kind = "text"
    unit: str = ""
    help: str = ""
    unit_key: str = ""
    end: Literal["low", "high"] | None = None
    of: str | None = None

    def __post_init__(self) -> None:
        ending = _ENDINGS.get(self.unit, "")
        stem = self.key if self.end is None else self.key.removesuffix(f"_{self.end}")
        if not f"_{stem}".endswith(ending):
            raise ValueError(f"a column in {self.unit} must end with {ending!r}, got {self.key!r}")
        # No word of Python either, for rows with attributes.
        if not self.key.isidentifier() or iskeyword(self.key) or self.key != self.key.lower():
            raise ValueError(f"key must be in snake_case, got {self.key!r}")

    def ends(self) -> tuple[Column, Column, Column]:
        """Return this column and, after it, those of the ends of its 95 % interval."""
        ends = (
            replace(
                self,
                key=f"{self.key}_{end}",
                title=f"{self.title}, {end}",
                help=f"{place} end of the 95 % interval of {self.key}.",
                end=end,
                of=self.key,
            )
            for end, place in _PLACES
        )
        return (self, *ends)  # type: ignore[return-value]


_PLACES: tuple[tuple[Literal["low", "high"], str], ...] = (("low", "Lower"), ("high", "Upper"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Table(Presentable):
    """Named columns and rows of raw values.

    Parameters
    ----------
    name : str
        Name for programs: snake_case.
    title : str
        Name for readers.
    columns : tuple of Column
        Their keys are unique.
    rows : tuple of tuple
        One cell for each column. Numbers are finite, texts are not empty.

    Raises
    ------
    ValueError
        If a key stands twice, a row has another length, or a cell is not of its column's kind.

    Examples
    --------
    >>> table = Table.of("runs", [Column(key="runtime_s", title="runtime", kind="number",
    ...                  unit="s")], [{"runtime_s": 1.5}, {"runtime_s": None}])
    >>> table.values("runtime_s")
    (1.5, None)
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        keys = self.keys
        if len(set(keys)) < len(keys):
            raise ValueError(f"two columns of table {self.name!r} have one key: {keys!r}")
        for row in self.rows:
            if len(row) != len(keys):
                raise ValueError(f"a row of table {self.name!r} has {len(row)} cells: {row!r}")
            for column, cell in zip(self.columns, row, strict=True):
                if cell is not None and not _fits(column.kind, cell):
                    raise ValueError(f"{self.name}.{column.key} cannot be {cell!r}")

    @classmethod
    def of(
        cls,
        name: str,
        columns: Iterable[Column],
        rows: Iterable[Mapping[str, object]],
        *,
        title: str = "",
    ) -> Table:
        """Return a table of rows by key.

        Parameters
        ----------
        name : str
        columns : iterable of Column
        rows : iterable of mapping
            Values by key; what a row lacks is unknown. An `Estimate` stands for its median, and
            fills the columns of the ends of its interval as well. Infinite values and NaN become
            None, as in JSON, and so do empty texts; bytes that are not UTF-8 are escaped.
        title : str
            Empty: the name.

        Raises
        ------
        ValueError
            If a row has a key that no column has, or as `Table` does.
        """
        columns = tuple(columns)
        keys = {column.key for column in columns}
        made = []
        for row in rows:
            if not row.keys() <= keys:
                raise ValueError(f"table {name!r} has no columns {sorted(row.keys() - keys)}")
            made.append(tuple(_cell(column, row) for column in columns))
        title = title or name.replace("_", " ")
        return cls(name=name, title=title, columns=columns, rows=tuple(made))

    @property
    def headline(self) -> str:
        """Description in one line."""
        rows, columns = amount(len(self.rows), "row"), amount(len(self.columns), "column")
        return f"{self.name!r}: {rows}, {columns}"

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the columns."""
        return tuple(column.key for column in self.columns)

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column that has one, by its key."""
        return {column.key: column.unit for column in self.columns if column.unit}

    def values(self, key: str) -> tuple[Cell, ...]:
        """Return a column's cells.

        Raises
        ------
        KeyError
            If there is no such column.
        """
        if key not in self.keys:
            raise KeyError(key)
        index = self.keys.index(key)
        return tuple(row[index] for row in self.rows)

    def records(self) -> list[dict[str, Cell]]:
        """Return each row as a dict by key."""
        return [dict(zip(self.keys, row, strict=True)) for row in self.rows]

    def save(self, path: str | Path) -> None:
        """Write the table to a file, as CSV or Parquet by its ending.

        Raises
        ------
        RidgepointError
            If the ending is neither ``.csv`` nor ``.parquet``, pyarrow is not installed, or the
            file cannot be written.
        """
        presenter().save_table(self, path)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table to libraries that read Arrow, such as polars and DuckDB."""
        return presenter().arrow_stream(self, requested_schema)

    def without_empty_columns(self) -> Table:
        """Return the table without columns of which nothing is known, for people to look at."""
        kept = [
            index
            for index in range(len(self.columns))
            if any(row[index] is not None for row in self.rows)
        ]
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in self.rows),
        )


def _fits(kind: Kind, cell: Cell) -> bool:
    """Return whether a cell is of a kind; a flag is no number, although Python has it so."""
    if isinstance(cell, bool) or kind == "flag":
        return kind == "flag" and isinstance(cell, bool)
    if isinstance(cell, float) and not math.isfinite(cell):
        return False
    return cell != "" and isinstance(cell, _TYPES[kind])


def _cell(column: Column, row: Mapping[str, object]) -> Cell:
    """Return a column's cell of a row by key, as a plain value."""
    value = row.get(column.key)
    if value is None:
        # Most cells of a large archive: nothing more is asked of them.
        if column.of is None or not isinstance(row.get(column.of), Estimate):
            return None
        value = getattr(row[column.of], column.end or "")
    elif isinstance(value, str):
        return (value if value.isascii() else legible(value)) or None
    elif isinstance(value, Estimate):
        value = value.median
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None  # as JSON has it
    if value is None or isinstance(value, int):
        return value
    raise ValueError(f"{column.key} cannot be {value!r}")
