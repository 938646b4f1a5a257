"""Read the files in which instrumented programs leave their counters."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.source.table import Table, decode

# As runtime.c writes them: struct chunk, struct block.
_CHUNK = struct.Struct("=8s5Q16x")
_BLOCK = struct.Struct("=4Q32x")
_MAGIC = b"RPBOPS1\0"
_LINE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What the processes of a run left.

    Parameters
    ----------
    modules : tuple of (Table, array of uint64)
        Each module's counters, added up over threads and processes.
    processes : int
        How many had counters; one that called exec counts again.
    cut_short : int
        Of these, how many did not leave by themselves.
    lost : bool
        Whether a process could not keep its counts.
    """

    modules: tuple[tuple[Table, npt.NDArray[np.uint64]], ...]
    processes: int
    cut_short: int
    lost: bool


def read(folder: Path) -> Left:
    """Return what is in a folder that programs wrote to.

    Raises
    ------
    ValueError
        If a file is damaged.
    OSError
        If one cannot be read.
    """
    counters: dict[int, npt.NDArray[np.uint64]] = {}
    ended: dict[tuple[int, int], bool] = defaultdict(bool)
    for path in sorted(folder.glob("*.counts")):
        _read_chunk(path, counters, ended)
    return Left(
        modules=tuple(_with_tables(folder, counters)),
        processes=len(ended),
        cut_short=sum(not done for done in ended.values()),
        lost=(folder / "lost").exists(),
    )


def _with_tables(
    folder: Path, counters: Mapping[int, npt.NDArray[np.uint64]]
) -> list[tuple[Table, npt.NDArray[np.uint64]]]:
    modules = []
    for digest, counts in sorted(counters.items()):
        table = decode((folder / f"{digest:016x}.table").read_bytes())
        if len(table.sites) != len(counts):
            raise ValueError(f"{table.source!r} has {len(table.sites)} counters, not {len(counts)}")
        modules.append((table, counts))
    return modules


def _read_chunk(
    path: Path,
    counters: dict[int, npt.NDArray[np.uint64]],
    ended: dict[tuple[int, int], bool],
) -> None:
    """Add a file's counters to those of its modules."""
    data = path.read_bytes()
    magic, by_itself, pid, image, used, _ = _CHUNK.unpack_from(data)
    if magic == bytes(len(magic)):
        return  # killed when it had made the file: it counted nothing here
    if magic != _MAGIC or used > len(data):
        raise ValueError(f"{path.name} is damaged")
    ended[pid, image] |= bool(by_itself)
    at = _CHUNK.size
    while at < used:
        digest, n, _, _ = _BLOCK.unpack_from(data, at)
        found = np.frombuffer(data, np.uint64, count=n, offset=at + _BLOCK.size)
        counters[digest] = found + counters.get(digest, np.uint64(0))
        at += -(-(_BLOCK.size + 8 * n) // _LINE) * _LINE
