"""What the processes of a run did, instruction by instruction: what every engine of ours hands on.

An engine makes a `Profile` of each process, and of each program that a process was in turn;
all that is shown of a program (functions, lines, regions) is made of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.meters.simulated.geometry import MOST_LEVELS

if TYPE_CHECKING:
    from ridgepoint.kernels.tiles import TileConfiguration


Rows = npt.NDArray[np.void]
"""Rows of one of the types below."""

INSTRUCTION = np.dtype(
    [
        ("address", "<u8"),  # at run time
        ("file_address", "<u8"),  # as its object file states it
        ("object", "<u4"),  # this and the next two are numbers of strings; 0: unknown
        ("function", "<u4"),
        ("source", "<u4"),
        ("line", "<u4"),  # 0: unknown
        ("length", "u1"),
        ("code", "u1", 15),
    ]
)
EXECUTED = np.dtype([("bank", "<u4"), ("instruction", "<u4"), ("passes", "<u8")])
REPEATED = np.dtype(
    [("bank", "<u4"), ("instruction", "<u4"), ("iterations", "<u8"), ("ended_by_flag", "<u8")]
)
MASKED = np.dtype(
    [
        ("bank", "<u4"),
        ("instruction", "<u4"),
        ("executions", "<u8"),
        ("lanes", "<u4"),  # that it has
        ("lanes_on", "<u8"),  # summed over its executions
    ]
)
_MOVED = [("read_lines", "<u8", MOST_LEVELS), ("write_lines", "<u8", MOST_LEVELS)]
MOVED = np.dtype([("bank", "<u4"), ("instruction", "<u4"), *_MOVED, ("nt_bytes", "<u8")])
MOVED_ELSEWHERE = np.dtype([("bank", "<u4"), ("geometry", "<u4"), *_MOVED, ("nt_bytes", "<u8")])


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process, when the counts of a profile were taken.

    Parameters
    ----------
    pid, parent_pid : int
    cause : str
        Why they were taken: it ``ended``, was about to ``exec``, or a ``signal`` ended it.
    status : int
        Exit status, or the number of the signal.
    most_threads : int
        Alive at the same time.
    threads : int
        Ever started.
    continues : bool
        Whether the program goes on whose profile came before: what it wanted to become, it
        could not. Counts began anew, caches did not.
    """

    pid: int
    parent_pid: int
    cause: str
    status: int
    most_threads: int
    threads: int
    continues: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """What one process did, or one of the programs that it was in turn.

    Parameters
    ----------
    process : Process
    levels : int
        Caches between the core and memory that were simulated; 0: none.
    line_bytes : int
        Of these caches.
    strings : tuple of str
        Bytes that are not UTF-8 are escaped as lone surrogates, as Python does for file names.
    instructions : ndarray of INSTRUCTION
        All that were seen, also those that were not executed.
    banks : tuple of tuple of str
        The regions that were active together, outermost first; the first bank has none.
    executed : ndarray of EXECUTED
        How often instructions were passed. One with a REP prefix is passed once per iteration,
        and once more where the count, and not a flag, ends it.
    repeated : ndarray of REPEATED
        How often instructions with a REP prefix iterated.
    masked : ndarray of MASKED
        Instructions under AVX-512 masks whose masks were looked at; none by an engine that
        cannot.
    tiles : tuple of TileConfiguration or None
        How large AMX's tiles were while each bank counted; None: not known, or not configured.
        Empty: not known of any.
    moved : ndarray of MOVED
        Lines that crossed the outer side of each cache, innermost first, the last side being
        that of memory; and bytes that non-temporal stores wrote past all caches.
    pending_lines : int or None
        Dirty lines in the caches at the end; None: not simulated.
    moved_elsewhere : ndarray of MOVED_ELSEWHERE
        The same in caches of other geometries, without the instructions.
    pending_elsewhere : tuple of int
        Dirty lines in these at the end.
    miss_curve : MissCurve or None
        None: not asked for, or nothing was accessed.
    """

    process: Process
    levels: int
    line_bytes: int
    strings: tuple[str, ...]
    instructions: Rows
    banks: tuple[tuple[str, ...], ...]
    executed: Rows
    repeated: Rows
    masked: Rows = field(default_factory=lambda: np.empty(0, MASKED))
    tiles: tuple[TileConfiguration | None, ...] = ()
    moved: Rows
    pending_lines: int | None
    moved_elsewhere: Rows
    pending_elsewhere: tuple[int, ...]
    miss_curve: MissCurve | None
