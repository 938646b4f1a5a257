"""Read what the processes of a sampled run left behind: samples by line."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure

_MAGIC = b"RPLINES1"
_HEAD = struct.Struct("<8s6Q72x")  # version, refusal, pid, files, without room, without line
_ROW = struct.Struct("<6Q")  # key, samples, and the time by kind [ns]
_FILES, _FILE_BYTES, _ROWS = 256, 512, 8192
_FILES_AT = _HEAD.size + 2 * _ROW.size
_ROWS_AT = _FILES_AT + _FILES * _FILE_BYTES
_TABLE_BYTES = _ROWS_AT + _ROWS * _ROW.size

_REFUSALS = {
    1: "other-version",
    2: "free-threaded",
    3: "no-timer",
    4: "not-counted",
    5: "too-many",
}


@dataclass(slots=True)
class LineShare:
    """Samples in one line, or outside of all.

    Parameters
    ----------
    samples : int
    interpreter_s, native_s, system_s, other_threads_s : float
        CPU time that the samples stand for.
    """

    samples: int = 0
    interpreter_s: float = 0.0
    native_s: float = 0.0
    system_s: float = 0.0
    other_threads_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """CPU time of all threads."""
        return self.interpreter_s + self.native_s + self.system_s + self.other_threads_s

    def add(self, samples: int, *times_ns: int) -> None:
        """Add samples and the times that they stand for, in the order of the fields."""
        interpreter, native, system, others = (time_ns * 1e-9 for time_ns in times_ns)
        self.samples += samples
        self.interpreter_s += interpreter
        self.native_s += native
        self.system_s += system
        self.other_threads_s += others


@dataclass(slots=True)
class LineSamples:
    """The samples of all Python processes of one run or of several.

    Parameters
    ----------
    processes : int
        Python processes that were sampled.
    versions : set of int
        Their versions, as ``sys.hexversion`` has them.
    refused : Counter of str
        Python processes that were not, by reason: ``other-version``, ``free-threaded``,
        ``no-timer``; of those that were traced also ``not-counted`` and ``too-many``.
    of : dict of (str, int) to LineShare
        By file and line.
    outside, unlocated : LineShare
        In no line of a user's file; of threads of which no line is known.
    without_room : int
        Samples in lines that found no room in the table.
    """

    processes: int = 0
    versions: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    of: dict[tuple[str, int], LineShare] = field(default_factory=dict)
    outside: LineShare = field(default_factory=LineShare)
    unlocated: LineShare = field(default_factory=LineShare)
    without_room: int = 0

    @property
    def samples(self) -> int:
        """Number of all samples."""
        shares = (self.outside, self.unlocated, *self.of.values())
        return sum(share.samples for share in shares)

    @property
    def cpu_s(self) -> float:
        """CPU time that all samples stand for."""
        return sum(share.cpu_s for share in (self.outside, self.unlocated, *self.of.values()))

    def read(self, folder: Path) -> None:
        """Add what the processes of one run wrote into a folder.

        Raises
        ------
        CannotMeasure
            If a file is damaged.
        """
        for path in sorted(folder.glob("*.lines")):
            content = path.read_bytes()
            if content[: len(_MAGIC)] == b"\0" * len(_MAGIC):
                continue  # its process ended before it had begun
            if len(content) != _TABLE_BYTES or content[: len(_MAGIC)] != _MAGIC:
                raise CannotMeasure(
                    "cannot read the samples of Python lines",
                    reason=f"{path.name} is not what the sampler writes",
                    remedy="do not let the program write to files in RIDGEPOINT_LINES",
                )
            self._add(content)

    def _add(self, content: bytes) -> None:
        _, version, refusal, _, _, without_room, _ = _HEAD.unpack_from(content)
        self.versions.add(version)
        if refusal:
            self.refused[_REFUSALS.get(refusal, "no-timer")] += 1
            return
        self.processes += 1
        self.without_room += without_room
        _, *outside = _ROW.unpack_from(content, _HEAD.size)
        self.outside.add(*outside)
        _, *unlocated = _ROW.unpack_from(content, _HEAD.size + _ROW.size)
        self.unlocated.add(*unlocated)
        for key, row in _rows(content):
            self.of.setdefault(key, LineShare()).add(*row)


def _rows(content: bytes) -> Iterator[tuple[tuple[str, int], list[int]]]:
    """Yield file and line, and the numbers of each row in use."""
    for at in range(_ROWS_AT, _TABLE_BYTES, _ROW.size):
        key, *row = _ROW.unpack_from(content, at)
        if key and row[0]:
            name_at = _FILES_AT + ((key >> 32) - 1) * _FILE_BYTES
            name = content[name_at : name_at + _FILE_BYTES].partition(b"\0")[0]
            yield (name.decode("utf-8", "surrogateescape"), key & 0xFFFFFFFF), row
