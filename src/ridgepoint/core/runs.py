"""Measured runs of one program on various cores and nodes, and the file that they come from."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import InvalidDocument, reason_of
from ridgepoint.core.estimate import Estimate

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "nodes": ("nodes", "p"),
    "cores": ("cores", "q"),
    "time_s": ("time_s", "t", "time"),
    "size": ("size", "n"),
}
_OPTIONAL = ("size",)
_MOST_CORES = 2**53
"""The largest number up to which a float holds every whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One program on some cores of some nodes, run once or several times.

    Parameters
    ----------
    cores, nodes : int
        Cores of each node, and nodes.
    time_s : Estimate
        > 0.
    size : float or None
        Of the problem, where runs differ in it.

    Raises
    ------
    ValueError
        If a number is not positive.
    """

    cores: int
    nodes: int
    time_s: Estimate
    size: float | None = None

    def __post_init__(self) -> None:
        for name in ("cores", "nodes"):
            value = getattr(self, name)
            if value < 1 or value != int(value):
                raise ValueError(f"{name} must be a whole number > 0, got {value!r}")
        if min(self.time_s.samples) <= 0:
            raise ValueError(f"time_s must be > 0, got {min(self.time_s.samples)!r}")
        if self.size is not None and not (math.isfinite(self.size) and self.size > 0):
            raise ValueError(f"size must be finite and > 0, got {self.size!r}")

    @property
    def processors(self) -> int:
        """Cores of all nodes together."""
        return self.cores * self.nodes


def read_runs(path: str | Path) -> tuple[Run, ...]:
    """Return the runs that a CSV file lists.

    Parameters
    ----------
    path : str or Path
        The first row names the columns: ``nodes`` (or ``p``), ``cores`` of each node (``q``),
        ``time_s`` (``t``) in seconds; ``size`` (``n``) where runs differ in it. Other columns are
        ignored, so are empty rows and those that begin with ``#``. Rows alike in all but the time
        are repeats of one run.

    Raises
    ------
    InvalidDocument
        If the file cannot be read, lacks a column or holds anything else; the message names the
        line.
    """
    samples: dict[tuple[int, int, float | None], list[float]] = {}
    for line, row in _rows(path):
        key = (
            _whole(row["cores"], "cores", path, line),
            _whole(row["nodes"], "nodes", path, line),
            _positive(row["size"], "size", path, line) if "size" in row else None,
        )
        samples.setdefault(key, []).append(_positive(row["time_s"], "time_s", path, line))
    if not samples:
        raise _refused(path, None, "it contains no run", "add a row for each run")
    return tuple(
        Run(cores=cores, nodes=nodes, size=size, time_s=Estimate(times))
        for (cores, nodes, size), times in samples.items()
    )


def _rows(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Return line number and known cells of every row."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise _refused(path, None, reason_of(error), "give a CSV file in UTF-8") from error
    reader = csv.reader(text.splitlines(), skipinitialspace=True)
    places: dict[str, int] | None = None
    try:
        for row in reader:
            if not any(cell.strip() for cell in row) or row[0].startswith("#"):
                continue
            if places is None:
                places = _places(row, path, reader.line_num)
                continue
            last = max(places.values())
            if len(row) <= last:
                raise _refused(
                    path, reader.line_num, (
                        f"it has {len(row)} cells, and at least {last + 1} are needed"
                    ),
                    "give a value for every column",
                )  # fmt: skip
            yield reader.line_num, {name: row[place].strip() for name, place in places.items()}
    except csv.Error as error:
        raise _refused(path, reader.line_num, str(error), "correct this line") from error


def _places(header: Sequence[str], path: str | Path, line: int) -> dict[str, int]:
    """Return in which column each known name stands."""
    titles = [title.strip().lower() for title in header]
    places: dict[str, int] = {}
    for name, aliases in _COLUMNS.items():
        columns = [index for index, title in enumerate(titles) if title in aliases]
        if len(columns) > 1:
            raise _refused(path, line, f"two columns hold {name!r}", "leave one")
        if columns:
            places[name] = columns[0]
        elif name not in _OPTIONAL:
            raise _refused(
                path, line, f"there is no column {name!r} among {', '.join(map(repr, titles))}",
                "write 'nodes,cores,time_s' as the first row, with 'size' if it differs "
                "between runs",
            )  # fmt: skip
    return places


def _positive(text: str, name: str, path: str | Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise _refused(
            path, line, f"{name} must be a finite number > 0, got {text!r}", "correct it"
        )
    return value


def _whole(text: str, name: str, path: str | Path, line: int) -> int:
    value = _positive(text, name, path, line)
    if value != int(value) or value > _MOST_CORES:
        raise _refused(path, line, f"{name} must be a whole number, got {text!r}", "correct it")
    return int(value)


def _refused(path: str | Path, line: int | None, reason: str, remedy: str) -> InvalidDocument:
    place = str(path) if line is None else f"{path}:{line}"
    return InvalidDocument(f"cannot read the runs of {place}", reason=reason, remedy=remedy)
