"""Files of measured runs: CSV, as spreadsheets and scripts write it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from ridgepoint.core.errors import InvalidDocument, reason_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.faults import decode_own, fault, shown
from ridgepoint.core.quantities import Duration
from ridgepoint.core.runs import Run

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "nodes": ("nodes", "p"),
    "cores": ("cores", "q"),
    "time_s": ("time_s", "t", "time"),
    "size": ("size", "n"),
}
_OPTIONAL = ("size",)

# Up to 2^53 a float holds every whole number.
_Count = Annotated[int, Meta(ge=1, le=2**53)]
_Positive = Annotated[float, Meta(gt=0, le=1e300)]


class _Row(msgspec.Struct):
    nodes: _Count
    cores: _Count
    time_s: Duration
    size: _Positive | None = None


def read_runs(path: str | Path) -> tuple[Run, ...]:
    """Return the runs that a CSV file lists.

    Parameters
    ----------
    path : str or Path
        The first row names the columns: ``nodes`` (or ``p``), ``cores`` of each node (``q``),
        ``time_s`` (``t``) in seconds, or with a unit such as ``20 ms``; ``size`` (``n``) where runs
        differ in it. Other columns are ignored, and so are empty rows and rows that begin with
        ``#``. Rows that differ only in the time are repeats of one run.

    Raises
    ------
    InvalidDocument
        If the file cannot be read, lacks a column or holds anything else; the message names the
        line.
    """
    samples: dict[tuple[int, int, float | None], list[float]] = {}
    for line, cells in _rows(path):
        try:
            row = msgspec.convert(cells, _Row, strict=False, dec_hook=decode_own)
        except msgspec.ValidationError as error:
            wrong = fault(error, cells, _Row)
            place = f"{line}, {shown(wrong.path)}"
            raise _refused(path, place, wrong.reason, wrong.remedy or "correct it") from error
        samples.setdefault((row.cores, row.nodes, row.size), []).append(float(row.time_s))
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
    """Return the column of each known name."""
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


def _refused(
    path: str | Path, place: int | str | None, reason: str, remedy: str
) -> InvalidDocument:
    where = str(path) if place is None else f"{path}:{place}"
    return InvalidDocument(f"cannot read the runs of {where}", reason=reason, remedy=remedy)
