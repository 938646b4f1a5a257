"""Takes apart what the kernel writes about samples, and about where code was mapped.

The layouts are those of ``linux/perf_event.h``, with IP, TID and TIME in every sample (of a
breakpoint the stack pointer and one word of the stack too), and TID and TIME behind every other
record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ridgepoint.core.errors import CannotMeasure

_HEADER = struct.Struct("<IHH")  # type, misc, size
_SAMPLE = struct.Struct("<QIIQ")  # ip, pid, tid, time
_REGISTERS = struct.Struct("<QQ")  # ABI (0: none follow), stack pointer
_STACK = struct.Struct("<QQ")  # size, the word on top
_MAPPED = struct.Struct("<IIQQQ32x")  # pid, tid, address, length, offset; device, protection
_FORKED = struct.Struct("<IIIIQ")  # pid, parent, tid, parent's thread, time
_PID = struct.Struct("<I")
_LOST = struct.Struct("<QQ")  # id, how many
_TRAILER = struct.Struct("<IIQ")  # pid, tid, time
_TYPE_LOST, _TYPE_COMM, _TYPE_EXIT, _TYPE_FORK, _TYPE_SAMPLE, _TYPE_MMAP2 = 2, 3, 4, 7, 9, 10
_TYPE_LOST_SAMPLES = 13
_WORD_BYTES = 8
_MISC_COMM_EXEC = 1 << 13


class Sample(NamedTuple):
    """An instruction that a thread was about to execute, at some time of CLOCK_MONOTONIC [ns]."""

    time_ns: int
    pid: int
    address: int
    tid: int = 0
    stack: int | None = None
    on_stack: int | None = None


class Mapped(NamedTuple):
    """Code of a file, or of none, came into a process."""

    time_ns: int
    pid: int
    address: int
    size_bytes: int
    offset: int
    path: str


class Forked(NamedTuple):
    """A process began as a copy of another."""

    time_ns: int
    pid: int
    parent: int


class Executed(NamedTuple):
    """A process became another program: nothing of it is mapped any more."""

    time_ns: int
    pid: int


class Ended(NamedTuple):
    """A thread ended."""

    time_ns: int
    pid: int
    tid: int


class Lost(NamedTuple):
    """Records found no room."""

    time_ns: int
    n: int


Record = Sample | Mapped | Forked | Executed | Ended | Lost


def records(data: bytes) -> Iterator[Record]:
    """Yield the records of one buffer that matter, in the order in which they were written.

    Raises
    ------
    CannotMeasure
        If the bytes are no records.
    """
    at = 0
    while at < len(data):
        if at + _HEADER.size > len(data):
            raise _damaged()
        kind, misc, size = _HEADER.unpack_from(data, at)
        if size < _HEADER.size or at + size > len(data):
            raise _damaged()
        record = _record(kind, misc, data[at + _HEADER.size : at + size])
        if record is not None:
            yield record
        at += size


def _damaged() -> CannotMeasure:
    return CannotMeasure(
        "cannot sample a program",
        reason="the kernel's records are damaged",
        remedy="measure without --functions",
    )


def _record(kind: int, misc: int, body: bytes) -> Record | None:
    if kind == _TYPE_SAMPLE:
        address, pid, tid, time_ns = _SAMPLE.unpack_from(body)
        return Sample(time_ns, pid, address, tid, *_frame(body[_SAMPLE.size :]))
    (pid, _, time_ns) = _TRAILER.unpack_from(body, len(body) - _TRAILER.size)
    if kind == _TYPE_MMAP2:
        pid, _, address, size_bytes, offset = _MAPPED.unpack_from(body)
        name = body[_MAPPED.size : len(body) - _TRAILER.size].split(b"\0", 1)[0]
        path = name.decode("utf-8", "surrogateescape")
        return Mapped(time_ns, pid, address, size_bytes, offset, path)
    if kind in {_TYPE_FORK, _TYPE_EXIT}:
        return _of_thread(kind, body)
    if kind == _TYPE_COMM and misc & _MISC_COMM_EXEC:
        (pid,) = _PID.unpack_from(body)
        return Executed(time_ns, pid)
    if kind in {_TYPE_LOST, _TYPE_LOST_SAMPLES}:
        return Lost(time_ns, _LOST.unpack_from(body)[kind == _TYPE_LOST])
    return None


def _of_thread(kind: int, body: bytes) -> Forked | Ended | None:
    """Return that a process began, or that a thread ended; None: a thread began."""
    pid, parent, tid, _, time_ns = _FORKED.unpack_from(body)
    if kind == _TYPE_EXIT:
        return Ended(time_ns, pid, tid)
    return Forked(time_ns, pid, parent) if pid != parent else None


def _frame(body: bytes) -> tuple[int | None, int | None]:
    """Return the stack pointer and the word on top of the stack, as far as they were taken."""
    if len(body) < _REGISTERS.size:
        return None, None
    abi, stack = _REGISTERS.unpack_from(body)
    if not abi or len(body) < _REGISTERS.size + _STACK.size:
        return None, None
    size, word = _STACK.unpack_from(body, _REGISTERS.size)
    return stack, word if size >= _WORD_BYTES else None
