"""Keeps an arena small while thousands of processes fill it: takes what those left that are gone.

A process of a compiler leaves a few megabytes, and a build starts thousands of them. While they
run, a thread here reads the banks of processes that have ended, adds them up, and gives their
memory back.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ridgepoint.meters.native.arena import Arena
from ridgepoint.meters.native.contents import Bank, Numbers

_ENOUGH_BYTES = 1 << 30
_PERIOD_S = 0.5
_KEEP_SIZE, _PUNCH_HOLE = 1, 2  # linux/falloc.h
_Key = tuple[tuple[str, ...], bytes]
"""Regions and tiles of a bank."""

_ADDED = (
    "in_copy",
    "in_original",
    "in_loader",
    "in_kernel",
    "elsewhere",
    "dropped",
    "not_simulated",
)


@dataclass(slots=True)
class Collector:
    """What was taken from an arena so far.

    Parameters
    ----------
    arena : Arena
    enough_bytes : int
        Memory of the arena from which on banks are taken.
    is_gone : callable
        Whether the process of a number has ended; None: the system is asked.
    """

    arena: Arena
    enough_bytes: int = _ENOUGH_BYTES
    is_gone: Callable[[int], bool] | None = None
    _taken: set[int] = field(default_factory=set)
    _sums: dict[_Key, Bank] = field(default_factory=dict)

    def collect(self) -> None:
        """Take the banks of processes that are gone, if the arena is large."""
        if os.fstat(self.arena.descriptor).st_blocks * 512 < self.enough_bytes:
            return
        pids: dict[int, bool] = {}
        is_gone = self.is_gone or _is_gone
        for number, bank in self.arena.banks(without=self._taken, counts=False):
            if bank.pid not in pids:
                pids[bank.pid] = is_gone(bank.pid)
            if pids[bank.pid]:
                self._take(number)

    def _take(self, number: int) -> None:
        self._add(self.arena.bank(number))
        self._taken.add(number)
        # Its head stays: one that has the number in another space of processes may be alive.
        begin, n_bytes = self.arena.extent_of_counters(number)
        _give_back(self.arena.descriptor, begin, n_bytes)

    def _add(self, bank: Bank) -> None:
        key = (bank.regions, bank.tiles)
        before = self._sums.get(key)
        self._sums[key] = bank if before is None else _added(before, bank)

    def banks(self) -> tuple[Bank, ...]:
        """Return what all banks hold: those that were taken are summed by their regions."""
        for number in self._taken:
            if (late := self.arena.bank(number)).counters.size:
                none: dict[str, Any] = dict.fromkeys(_ADDED, 0)  # its samples were taken
                self._add(replace(late, **none))
        others = (bank for _, bank in self.arena.banks(without=self._taken))
        return (*self._sums.values(), *others)


@contextmanager
def collecting(arena: Arena) -> Iterator[Collector]:
    """Collect every now and then, in a thread of its own, while something runs."""
    collector = Collector(arena)
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(_PERIOD_S):
            collector.collect()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        ended.set()
        thread.join()


def _added(bank: Bank, other: Bank) -> Bank:
    """Return two banks as one, of the process of the first."""
    counters, counts = _sum(
        np.concatenate([bank.counters, other.counters]), np.concatenate([bank.counts, other.counts])
    )
    amounts = {name: getattr(bank, name) + getattr(other, name) for name in _ADDED}
    return replace(bank, counters=counters, counts=counts, **amounts)


def _sum(counters: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    used, place = np.unique(counters, return_inverse=True)
    sums = np.zeros(len(used), np.uint64)
    np.add.at(sums, place, counts)
    return used, sums


def _is_gone(pid: int) -> bool:
    """Return whether no process has a number, or one that has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in {b"Z", b"X"}
    except OSError:
        return True


def _give_back(descriptor: int, begin: int, n_bytes: int) -> None:
    """Give the memory of a part of the arena back; where that fails it is kept."""
    offset = ctypes.c_int64
    ctypes.CDLL(None).fallocate(
        descriptor, _PUNCH_HOLE | _KEEP_SIZE, offset(begin), offset(n_bytes)
    )
