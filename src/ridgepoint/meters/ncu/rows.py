"""Reads what ``ncu --csv`` prints: one row for each metric of each launch of a kernel."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field

from ridgepoint.errors import InvalidDocument

_WANTED = ("ID", "Process ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value")

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


def parse_launches(lines: Iterable[str]) -> tuple[Launch, ...]:
    """Return the launches, in their order.

    Parameters
    ----------
    lines : iterable of str
        What was printed in the C locale; what precedes the table (messages, a program's output)
        is passed over.

    Raises
    ------
    InvalidDocument
        If there is no table, or one that is not understood.
    """
    wide = iter(lines)
    header = next((row for row in csv.reader(_from_header(wide))), None)
    if header is None or any(name not in header for name in _WANTED):
        raise _not_understood("its table has no columns of kernels, metrics and values")
    columns = [header.index(name) for name in _WANTED]
    launches: dict[tuple[str, str], Launch] = {}
    for row in csv.reader(wide):
        if len(row) < len(header):
            continue  # messages, and empty lines, may follow
        number, process, kernel, metric, unit, text = (row[column] for column in columns)
        launch = launches.setdefault((process, number), Launch(kernel=kernel, process=process))
        value = _value(text, unit)
        if metric and value is not None:
            launch.values[metric] = value
    return tuple(launches.values())


def _from_header(lines: Iterable[str]) -> Iterable[str]:
    """Yield the header's line alone; what follows stays to be read."""
    for line in lines:
        if line.startswith('"ID"'):
            yield line
            return


def _value(text: str, unit: str) -> float | None:
    """Return a number in its base unit; None: the device could not count it."""
    if text in {"", "n/a", "nan", "N/A"}:
        return None
    if unit not in _UNITS:
        raise _not_understood(f"it uses a unit that is not known: {unit!r}")
    try:
        # Thousands are parted by commas in some locales; the point is the decimal one in C.
        return float(text.replace(",", "")) * _UNITS[unit]
    except ValueError:
        raise _not_understood(f"it holds a value that is no number: {text!r}") from None


def _not_understood(reason: str) -> InvalidDocument:
    return InvalidDocument(
        "cannot use what Nsight Compute counted",
        reason=reason,
        remedy="report it with the output of 'ncu --version'",
    )
