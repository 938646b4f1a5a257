"""Files of points: figures of programs, as users and other tools write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.given import KEYS, GivenPoint
from ridgepoint.core.quantities import ByteAmount, WorkAmount
from ridgepoint.core.toml import open_table
from ridgepoint.kept.point_table import column_of, read_rows
from ridgepoint.models.ridgeline.trajectories import Amounts

_REMEDY = "give a table [NAME] with work, memory_bytes, network_bytes for each point"
_FORM = 'give a table [NAME] with W, Q and T for each point, such as W = "2 Gflop"'
_WHAT = "the points"


class Point(Struct, forbid_unknown_fields=True):
    """Amounts of one node, each a number or a text such as ``1.5G`` or ``1.5 Gflop``."""

    work: WorkAmount
    memory_bytes: ByteAmount
    network_bytes: ByteAmount
    remote_bytes: ByteAmount | None = None
    storage_bytes: ByteAmount | None = None


def read_points(path: Path, *, precision: str = "fp32") -> dict[str, Amounts | GivenPoint]:
    """Return what the points in a file ask of a node, by name.

    Parameters
    ----------
    path : Path
        A ``.toml`` file with the amounts of `Point`, which may be 0, or as for `read_given`.
    precision : str
        As for `read_given`.

    Raises
    ------
    InvalidDocument
        If it holds no points, or anything else.
    """
    if path.suffix.lower() == ".csv":
        return {point.name: point for point in read_given(path, precision=precision)}
    file = open_table(path, what=_WHAT, remedy=_REMEDY)
    if any(isinstance(keys, dict) and keys.keys() & set(KEYS) for keys in file.values.values()):
        return {point.name: point for point in _of_toml(path, precision)}
    points = file.take(dict[str, Point])
    if not points:
        raise file.wrong(None, "it holds no point", _REMEDY)
    return {
        name: Amounts(*(float(getattr(point, field) or 0.0) for field in Amounts._fields))
        for name, point in points.items()
    }


def read_given(path: str | Path, *, precision: str = "fp64") -> tuple[GivenPoint, ...]:
    """Return the points of a file, in their order.

    Parameters
    ----------
    path : str or Path
        A ``.toml`` file with a table ``[NAME]`` for each point, whose keys are those of
        `ridgepoint.core.given.KEYS`; or a table as CSV (see `ridgepoint.kept.point_table`).
    precision : str
        That of work for which none is given; ``bop``: basic operations.

    Raises
    ------
    InvalidDocument
        If it cannot be read or holds no points; the message names the line.
    """
    path = Path(path)
    if path.suffix.lower() == ".toml":
        return _of_toml(path, precision)
    points: dict[str, GivenPoint] = {}
    for row in read_rows(path):
        try:
            if row.name in points:
                raise ValueError(f"{row.name!r} is there twice; give each point a name of its own")
            points[row.name] = GivenPoint.of(row.name, row.values, precision=precision)
        except ValueError as error:
            reason, _, remedy = str(error).rpartition("; ")
            raise InvalidDocument(
                f"cannot read {_WHAT} of {path}:{row.line}", reason=reason, remedy=remedy
            ) from error
    return tuple(points.values())


def _of_toml(path: Path, precision: str) -> tuple[GivenPoint, ...]:
    file = open_table(path, what=_WHAT, remedy=_FORM)
    tables = file.take(dict[str, dict[str, str | float]])
    if not tables:
        raise file.wrong(None, "it holds no point", _FORM)
    points = []
    for name, values in tables.items():
        try:
            points.append(GivenPoint.of(name, _by_key(values, precision), precision=precision))
        except ValueError as error:
            reason, _, remedy = str(error).rpartition("; ")
            raise file.wrong(name, reason, remedy) from error
    return tuple(points)


def _by_key(values: Mapping[str, str | float], precision: str) -> dict[str, str | float]:
    """Return figures by their keys; ``work`` is in BOP where these are asked for."""
    figures: dict[str, str | float] = {}
    for name, value in values.items():
        key = column_of(name)[0] or name
        if name == "work" and precision == "bop":
            key = "BOP"
        if key in figures:
            raise ValueError(f"{key} is given twice; give it once")
        figures[key] = value
    return figures
