"""Points of the Ridgeline in a file: the work of one node, and its bytes at each resource."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ridgepoint.core.quantities import ByteAmount, WorkAmount
from ridgepoint.core.toml import open_table
from ridgepoint.models.ridgeline.trajectories import Amounts

_REMEDY = "give a table [NAME] with work, memory_bytes, network_bytes for each point"


class Point(Struct, forbid_unknown_fields=True):
    """Amounts of one node, each a number or a text such as ``1.5G`` or ``1.5 Gflop``."""

    work: WorkAmount
    memory_bytes: ByteAmount
    network_bytes: ByteAmount
    remote_bytes: ByteAmount | None = None
    storage_bytes: ByteAmount | None = None


def read_points(path: Path) -> dict[str, Amounts]:
    """Return what the points in a file ask of a node, by name.

    Raises
    ------
    InvalidDocument
        If it holds no points, or anything else.
    """
    file = open_table(path, what="the points", remedy=_REMEDY)
    points = file.take(dict[str, Point])
    if not points:
        raise file.wrong(None, "it holds no point", _REMEDY)
    return {
        name: Amounts(*(float(getattr(point, field) or 0.0) for field in Amounts._fields))
        for name, point in points.items()
    }
