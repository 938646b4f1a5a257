"""Reads the tables of ``ncu --csv``.

The page ``raw`` has a row for each launch of a kernel and a column for each metric, with the units
in a row of their own; the page ``details`` has a row for each metric of each launch. Versions
differ in what they print where, so both are understood.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ridgepoint.core.errors import InvalidDocument

_LAUNCH = ("Process ID", "ID", "Kernel Name")
_METRIC = ("Metric Name", "Metric Unit", "Metric Value")

# Nsight Compute's prefixes are decimal: 1 Kbyte is 1000 byte.
_UNITS = {
    "": 1.0,
    "inst": 1.0,
    "sector": 1.0,
    "byte": 1.0,
    "Kbyte": 1e3,
    "Mbyte": 1e6,
    "Gbyte": 1e9,
    "Tbyte": 1e12,
    "s": 1.0,
    "second": 1.0,
    "ms": 1e-3,
    "msecond": 1e-3,
    "us": 1e-6,
    "usecond": 1e-6,
    "ns": 1e-9,
    "nsecond": 1e-9,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch of a kernel.

    Parameters
    ----------
    kernel : str
    process : str
    values : dict of str to float
        By metric, in bytes, seconds or counts; only those that the device could count.
    """

    kernel: str
    process: str
    values: dict[str, float] = field(default_factory=dict)


Cell = tuple[tuple[str, ...], str, str, str]
"""A launch (process, number, kernel), a metric, its unit and its value, as they are printed."""


def parse_launches(lines: Iterable[str], *, metrics: Collection[str]) -> tuple[Launch, ...]:
    """Return the launches, in their order.

    Parameters
    ----------
    lines : iterable of str
        What was printed in the C locale; what precedes the table (messages, a program's output)
        is passed over.
    metrics : collection of str
        Those that are wanted.

    Raises
    ------
    InvalidDocument
        If there is no table, or one that is not understood.
    """
    rows = csv.reader(_from_header(lines))
    header = next(rows, [])
    if any(name not in header for name in _LAUNCH):
        raise _not_understood("it printed no table of kernels")
    # Messages, and empty lines, may follow.
    whole = (row for row in rows if len(row) == len(header))
    cells = _by_metric(header, whole) if _METRIC[0] in header else _by_launch(header, whole)
    launches: dict[tuple[str, ...], Launch] = {}
    for place, metric, unit, text in cells:
        process, _, kernel = place
        launch = launches.setdefault(place, Launch(kernel=kernel, process=process))
        value = _value(text, unit) if metric in metrics else None
        if value is not None:
            launch.values[metric] = value
    return tuple(launches.values())


def _from_header(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    found = False
    for line in lines:
        found = found or line.startswith('"ID"')
        if found:
            yield line


def _by_metric(header: list[str], rows: Iterable[list[str]]) -> Iterator[Cell]:
    """Yield the cells of the page ``details``."""
    place = [header.index(name) for name in _LAUNCH]
    metric, unit, value = (header.index(name) for name in _METRIC)
    for row in rows:
        yield tuple(row[column] for column in place), row[metric], row[unit], row[value]


def _by_launch(header: list[str], rows: Iterable[list[str]]) -> Iterator[Cell]:
    """Yield the cells of the page ``raw``."""
    place = [header.index(name) for name in _LAUNCH]
    units = [""] * len(header)
    for row in rows:
        if not row[header.index("ID")]:
            units = row
            continue
        for metric, unit, value in zip(header, units, row, strict=True):
            yield tuple(row[column] for column in place), metric, unit, value


def _value(text: str, unit: str) -> float | None:
    """Return a number in its base unit; None: the device could not count it."""
    if text in {"", "n/a", "nan", "N/A"}:
        return None
    if unit not in _UNITS:
        raise _not_understood(f"it uses an unknown unit: {unit!r}")
    try:
        # Thousands are parted by commas in some locales; the point is the decimal one in C.
        return float(text.replace(",", "")) * _UNITS[unit]
    except ValueError:
        raise _not_understood(f"it contains a value that is not a number: {text!r}") from None


def _not_understood(reason: str) -> InvalidDocument:
    return InvalidDocument(
        "cannot use what Nsight Compute counted",
        reason=reason,
        remedy="report this with the output of 'ncu --version'",
    )
