"""Points of the Ridgeline in a file: the work, memory and network bytes of one node."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ridgepoint.core.quantities import ByteAmount, WorkAmount
from ridgepoint.core.toml import open_table

_REMEDY = "give a table [NAME] with work, memory_bytes, network_bytes for each point"


class Point(Struct, forbid_unknown_fields=True):
    """Amounts of one node, each a number or a text such as ``1.5G`` or ``1.5 Gflop``."""

    work: WorkAmount
    memory_bytes: ByteAmount
    network_bytes: ByteAmount


def read_points(path: Path) -> dict[str, tuple[float, float, float]]:
    """Return the work, memory bytes and network bytes of the points in a file, by name.

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
        name: (float(point.work), float(point.memory_bytes), float(point.network_bytes))
        for name, point in points.items()
    }
