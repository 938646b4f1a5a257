"""Tables of points as CSV: with a row for each point, or as LIKWID writes them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import InvalidDocument, reason_of

_NAME = "name"
_ALIASES: dict[str, tuple[str, ...]] = {
    _NAME: ("name", "point", "program", "kernel", "function", "region", "benchmark"),
    "W": ("w", "work", "flop", "papi_dp_ops", "papi_fp_ops"),
    "BOP": ("bop", "bops"),
    "Q": ("q", "bytes", "traffic", "memory_bytes", "memory data volume"),
    "Qr": ("qr", "q_r", "read", "read_bytes", "memory read data volume"),
    "Qw": ("qw", "q_w", "written", "write_bytes", "memory write data volume"),
    "network": ("network", "network_bytes"),
    "remote": ("remote", "remote_bytes"),
    "storage": ("storage", "storage_bytes"),
    "T": ("t", "time", "time_s", "runtime", "runtime_s", "runtime (rdtsc)"),
    "P": ("p", "performance", "dp", "sp"),
    "I": ("i", "intensity", "operational intensity", "arithmetic intensity"),
    "precision": ("precision",),
    "cores": ("cores",),
}
"""Titles of columns, in lower case, of each key. Of ours, of PAPI's presets, and of the metrics of
LIKWID's groups MEM_DP and MEM."""

_UNIT = re.compile(r"(.*\S)\s*(?:\[([^\]]*)\]|\(([^)]*)\))")
_LARGEST = 10_000_000
_LIKWID, _REGION = "TABLE", "Region "
_METRICS = re.compile(r"Group \d+ Metric(?: STAT)?")
_FORM = "write 'name,W,Q,T' as the first row, or give the CSV file of likwid-perfctr -o FILE.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One point of a table.

    Parameters
    ----------
    line : int
        Where it is, from 1.
    name : str
    values : dict of str to str
        By the keys of `ridgepoint.core.given.KEYS`, with units.
    """

    line: int
    name: str
    values: dict[str, str]


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return the points of a table.

    Parameters
    ----------
    path : Path
        CSV in UTF-8, separated by commas, semicolons or tabs. The first row names the columns, in
        upper or lower case: ``name`` and the keys of a point, or one of their aliases; a unit may
        stand in brackets after the title (``Q [GB]``, ``T (ms)``), for cells without one. Other
        columns are ignored, and so are empty cells, empty rows, and rows that begin with ``#``.
        Or what likwid-perfctr writes to a CSV file: a point for each region, by the sums, and the
        longest time, of its threads.

        Where figures state a thing twice, W, Q and T are taken.

    Raises
    ------
    InvalidDocument
        If it cannot be read or holds no points.
    """
    rows = _cells(path)
    is_likwid = any(cells and cells[0] == _LIKWID for _, cells in rows)
    points = tuple(_of_likwid(path, rows) if is_likwid else _plain(path, rows))
    if not points:
        raise _refused(path, None, "it contains no point", _FORM)
    return points


def text_of(path: Path) -> str:
    """Return the text of a table.

    Raises
    ------
    InvalidDocument
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise _refused(path, None, reason_of(error), "give a CSV file in UTF-8") from error
    if len(content) > _LARGEST:
        raise _refused(path, None, "it is larger than 10 MB", "give a table of points")
    return text


def _cells(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows with their lines, without empty rows and comments."""
    text = text_of(path)
    lines = text.splitlines()
    reader = csv.reader(lines, skipinitialspace=True, delimiter=_delimiter(lines))
    rows = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise _refused(path, reader.line_num, str(error), "correct this line") from error
    return rows


def _delimiter(lines: Sequence[str]) -> str:
    """Return what separates the titles: a comma, or else a semicolon or a tab."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return next((mark for mark in (",", ";", "\t") if mark in first), ",")


def _plain(path: Path, rows: Sequence[tuple[int, list[str]]]) -> Iterator[Row]:
    """Yield a point for each row below the first."""
    if not rows:
        return
    (line, titles), *others = rows
    columns = [column_of(title) for title in titles]
    keys = [key for key, _ in columns if key is not None]
    if _NAME not in keys or len(keys) < 2:
        named = ", ".join(map(repr, titles[:10]))
        raise _refused(path, line, f"it names no point and figures among {named}", _FORM)
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise _refused(path, line, f"two columns hold {twice}", "leave one")
    for line, cells in others:
        if len(cells) > len(titles):
            reason = f"it has {len(cells)} cells, and the first row {len(titles)}"
            raise _refused(path, line, reason, "write a decimal point, not a comma")
        name, values = "", {}
        for (key, unit), cell in zip(columns, cells, strict=False):
            if key == _NAME:
                name = cell
            elif key is not None and cell:
                values[key] = _with_unit(cell, unit)
        yield Row(line=line, name=name, values=_determined(values))


def _of_likwid(path: Path, rows: Sequence[tuple[int, list[str]]]) -> Iterator[Row]:
    """Yield a point for each region, by the tables of its metrics; the last one counts.

    A table begins with ``TABLE,Region NAME,Group 1 Metric,...``, without a region if none is
    marked. A second one, ``Group 1 Metric STAT``, has the sums over all threads.
    """
    points: dict[str, Row] = {}
    name, heads = "", list[str]()
    for line, cells in rows:
        if cells[0] == _LIKWID:
            regions = [cell.removeprefix(_REGION) for cell in cells if cell.startswith(_REGION)]
            is_of_metrics = any(_METRICS.fullmatch(cell) for cell in cells)
            name, heads = (regions[0] if regions else path.stem) if is_of_metrics else "", []
        elif not name:
            continue
        elif cells[0] == "Metric":
            heads = cells[1:]
        else:
            key, unit = column_of(cells[0].removesuffix(" STAT"))
            value = key and _over_threads(key, dict(zip(heads, cells[1:], strict=False)))
            if key and value and key != _NAME:
                row = points.setdefault(name, Row(line=line, name=name, values={}))
                row.values[key] = _with_unit(value, unit)
                if cells[0].startswith("SP "):
                    row.values["precision"] = "fp32"
    for row in points.values():
        values = {key: value for key, value in row.values.items() if key != "I"}
        yield Row(line=row.line, name=row.name, values=_determined(values))


def _over_threads(key: str, cells: dict[str, str]) -> str | None:
    """Return the longest time, or the sum over all threads; None: there is no number."""
    if "Sum" in cells and "Max" in cells:
        return cells["Max" if key == "T" else "Sum"] or None
    numbers = []
    for head, cell in cells.items():
        if "Thread" in head or "Core" in head:
            try:
                numbers.append(float(cell))
            except ValueError:
                continue
    if not numbers:
        return None
    return repr(max(numbers) if key == "T" else sum(numbers))


def column_of(title: str) -> tuple[str | None, str]:
    """Return the key of a column, or None, and the unit of its cells."""
    for text, unit in ((title, ""), *_without_unit(title)):
        for key, aliases in _ALIASES.items():
            if text.lower() in aliases:
                return key, unit
    return None, ""


def _without_unit(title: str) -> Iterator[tuple[str, str]]:
    if (match := _UNIT.fullmatch(title)) is not None:
        yield match[1], match[2] or match[3] or ""


def _with_unit(cell: str, unit: str) -> str:
    """Return a number with the unit of its column, unless it has one of its own."""
    return f"{cell} {unit}" if unit and cell[-1:].isdecimal() else cell


def _determined(values: dict[str, str]) -> dict[str, str]:
    """Return figures without those that follow from W, Q and T, or else from P."""
    dropped = set()
    has_traffic = "Q" in values or {"Qr", "Qw"} <= values.keys()
    has_work = "W" in values or "BOP" in values
    if {"Qr", "Qw"} <= values.keys():
        dropped.add("Q")
    elif "Q" in values:
        dropped |= {"Qr", "Qw"}
    if has_work and has_traffic:
        dropped.add("I")
    if "P" in values and "T" in values and has_traffic:
        dropped.add("I")
    if has_work and "T" in values:
        dropped.add("P")
    return {key: value for key, value in values.items() if key not in dropped}


def _refused(path: Path, line: int | None, reason: str, remedy: str) -> InvalidDocument:
    place = str(path) if line is None else f"{path}:{line}"
    return InvalidDocument(f"cannot read the points of {place}", reason=reason, remedy=remedy)
