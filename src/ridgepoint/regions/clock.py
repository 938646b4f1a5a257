"""Time the regions of this process into a file that outlives it however it ends.

The layout of the file is that of ``native/include/ridgepoint.h``: a head and a table of records,
mapped into memory, little endian. Durations are sums of times, those of beginnings negative:
of a region that is still open, the time of its end is still to be added.
"""

from __future__ import annotations

import atexit
import mmap
import os
import struct
import threading
import time

MAGIC = b"RIDGETI2"  # the digit is the number of the layout
MAX_RECORDS = 1024
# magic, records, updating, last mark, end of the process, its CPU time by then [ns]
HEAD = struct.Struct("<8s5q208x")
# name, entries, busy, wall, threads inside, first, last, CPU time of all threads meanwhile [ns]
RECORD = struct.Struct("<208s7q")
TABLE_BYTES = HEAD.size + MAX_RECORDS * RECORD.size

_COUNT_AT, _UPDATING_AT, _LAST_MARK_AT, _ENDED_AT, _ENDED_CPU_AT = 8, 16, 24, 32, 40
_INT64 = struct.Struct("<q")
_SUMS = struct.Struct("<7q")
_NAME_BYTES = RECORD.size - _SUMS.size


class _Thread(threading.local):
    """The names of this thread's open regions, outermost first."""

    def __init__(self) -> None:
        self.open: list[bytes] = []
        self.busy = False


class _Table:
    """The file of one process."""

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, f"{os.getpid()}.{time.monotonic_ns():x}.times")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            # Written, not only sized: a page that finds no room later would end the program.
            os.write(descriptor, HEAD.pack(MAGIC, 0, 0, 0, 0, 0).ljust(TABLE_BYTES, b"\0"))
            self._map = mmap.mmap(descriptor, TABLE_BYTES)
        finally:
            os.close(descriptor)
        self._offsets: dict[bytes, int] = {}

    def set(self, at: int, value: int) -> None:
        _INT64.pack_into(self._map, at, value)

    def holds(self, name: bytes) -> bool:
        """Return whether there is a record of this name; make one if there is room."""
        if name not in self._offsets:
            if len(self._offsets) == MAX_RECORDS:
                return False
            offset = HEAD.size + len(self._offsets) * RECORD.size
            RECORD.pack_into(self._map, offset, name, 0, 0, 0, 0, 0, 0, 0)
            self._offsets[name] = offset + _NAME_BYTES
            self.set(_COUNT_AT, len(self._offsets))
        return True

    def enter(self, name: bytes, now_ns: int, cpu_ns: int) -> None:
        at = self._offsets[name]
        entries, busy, wall, inside, first, last, cpu = _SUMS.unpack_from(self._map, at)
        if inside == 0:
            wall, cpu = wall - now_ns, cpu - cpu_ns
        sums = (entries + 1, busy - now_ns, wall, inside + 1, first or now_ns, last, cpu)
        _SUMS.pack_into(self._map, at, *sums)

    def leave(self, name: bytes, now_ns: int) -> None:
        at = self._offsets[name]
        entries, busy, wall, inside, first, _, cpu = _SUMS.unpack_from(self._map, at)
        if inside == 1:
            wall, cpu = wall + now_ns, cpu + time.process_time_ns()
        sums = (entries, busy + now_ns, wall, inside - 1, first, now_ns, cpu)
        _SUMS.pack_into(self._map, at, *sums)


class RegionClock:
    """Times the regions of this process and of the processes that it forks.

    Parameters
    ----------
    folder : str
        Where each process writes its file; a process that cannot write one times nothing.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._thread = _Thread()
        self._table: _Table | None = None
        self._failed = False
        self._forked_ns = 0
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self._ended)

    def begin(self, name: bytes) -> None:
        """Begin a region in this thread."""
        self._mark(name, ends=False)

    def end(self, name: bytes) -> None:
        """End this thread's innermost open region of that name, and all inside it."""
        self._mark(name, ends=True)

    def _mark(self, name: bytes, *, ends: bool) -> None:
        # A signal's handler or a finalizer that interrupts a mark of its own thread is not timed.
        if self._thread.busy:
            return
        self._thread.busy = True
        try:
            with self._lock:
                table = self._ready()
                if table is None:
                    return
                table.set(_UPDATING_AT, 1)
                known = ends or table.holds(name)
                # The clock of CPU time is slow, so it is read on the region's other side.
                cpu_ns = 0 if ends else time.process_time_ns()
                # Under the lock, so that the order of marks is that of their times.
                now_ns = time.monotonic_ns()
                table.set(_LAST_MARK_AT, now_ns)
                if ends:
                    self._leave(table, name, now_ns)
                elif known:
                    if name not in self._thread.open:
                        table.enter(name, now_ns, cpu_ns)
                    self._thread.open.append(name)
                table.set(_UPDATING_AT, 0)
        finally:
            self._thread.busy = False

    def _leave(self, table: _Table, name: bytes, now_ns: int) -> None:
        names = self._thread.open
        while name in names:
            last = names.pop()
            if last not in names:
                table.leave(last, now_ns)
            if last == name:
                return

    def _ready(self) -> _Table | None:
        """Return this process's table; regions open at the fork are open here since then."""
        if self._table is None and not self._failed:
            try:
                self._table = _Table(self._folder)
            except (OSError, ValueError):  # ValueError: the file system took a part only
                self._failed = True
                return None
            for name in dict.fromkeys(self._thread.open):
                self._table.holds(name)
                self._table.enter(name, self._forked_ns, 0)  # its CPU time began at the fork
        return self._table

    def _forked(self) -> None:
        """In the child of a fork: a table of its own, made when needed, as most children exec."""
        self._lock = threading.Lock()
        self._table = None
        self._forked_ns = time.monotonic_ns()

    def _ended(self) -> None:
        with self._lock:
            table = self._ready() if self._table or self._thread.open else None
            if table is not None:
                table.set(_ENDED_AT, time.monotonic_ns())
                table.set(_ENDED_CPU_AT, time.process_time_ns())
