"""The buffer that the kernel writes records of one event into, read while it goes on writing."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from typing import Self

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.sampling.event import open_event

# 256 KiB of every CPU: at one sample in a millisecond, of 32 byte, eight seconds of them; beside
# the page of the head half of what kernel.perf_event_mlock_kb allows an unprivileged user.
DATA_PAGES = 64
FEW_PAGES = 16
"""Of a breakpoint: four such buffers fit beside a smaller one of the clock."""

BESIDE_PAGES = 32
"""Of a clock beside breakpoints."""

_POSITION = struct.Struct("<Q")
_IOC_DISABLE = 0x2401  # PERF_EVENT_IOC_DISABLE
_HEAD_AT, _TAIL_AT = 1024, 1032  # data_head and data_tail of perf_event_mmap_page


class Ring:
    """The event of one CPU, and its buffer.

    Parameters
    ----------
    cpu : int
    asked : bytes
        The event's ``perf_event_attr``.
    pages : int
        Of the buffer; a power of 2.
    """

    def __init__(self, cpu: int, *, asked: bytes, pages: int = DATA_PAGES) -> None:
        self._descriptor = open_event(cpu, asked=asked)
        page_bytes = mmap.PAGESIZE
        try:
            # Writable: the kernel then overwrites nothing that was not read, and counts what it
            # had to drop.
            self._map = mmap.mmap(self._descriptor, (1 + pages) * page_bytes)
        except OSError as error:
            os.close(self._descriptor)
            raise MeterUnavailable(
                "cannot sample a program",
                reason=f"its buffers cannot be locked in memory ({os.strerror(error.errno or 0)})",
                remedy="raise kernel.perf_event_mlock_kb, or end other programs that sample now",
            ) from error
        self._begin, self._size = page_bytes, pages * page_bytes

    def read(self) -> bytes:
        """Return what was written since the last call: whole records."""
        (head,) = _POSITION.unpack_from(self._map, _HEAD_AT)
        (tail,) = _POSITION.unpack_from(self._map, _TAIL_AT)
        first, last = tail % self._size, head % self._size
        begin = self._begin
        if head == tail:
            return b""
        if first < last:
            data = self._map[begin + first : begin + last]
        else:
            data = self._map[begin + first : begin + self._size] + self._map[begin : begin + last]
        _POSITION.pack_into(self._map, _TAIL_AT, head)
        return data

    @property
    def n_events(self) -> int:
        """How often the event happened; of a clock: the time that it saw pass, ns."""
        (count,) = _POSITION.unpack(os.read(self._descriptor, _POSITION.size))
        return int(count)

    def stop(self) -> None:
        """Let the event happen no more, in every process that inherited it."""
        fcntl.ioctl(self._descriptor, _IOC_DISABLE, 0)

    def close(self) -> None:
        """End the event, in every process that inherited it."""
        self._map.close()
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
