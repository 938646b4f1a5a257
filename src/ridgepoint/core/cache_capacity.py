"""The capacity of each cache for a program here, from access times over working-set sizes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCurve:
    """Time per dependent access to random lines of a working set, over the size of the set.

    Parameters
    ----------
    threads : int
        Number of CPUs measured at the same time, one thread on each with memory of its own.
    sizes_bytes : tuple of int
        Each thread's working set, ascending.
    rounds_s : tuple of tuple of float
        Time per access in seconds, one tuple for each pass through all sizes.
    huge_share : float or None
        Share of the memory that lay on huge pages; None: the kernel does not report it.
    """

    threads: int
    sizes_bytes: tuple[int, ...]
    rounds_s: tuple[tuple[float, ...], ...]
    huge_share: float | None = None

    def __post_init__(self) -> None:
        if not self.rounds_s or not self.sizes_bytes:
            raise ValueError("a latency curve needs at least one round of at least one size")
        if any(len(times) != len(self.sizes_bytes) for times in self.rounds_s):
            raise ValueError("each round needs one time for each size")
        if list(self.sizes_bytes) != sorted(set(self.sizes_bytes)) or self.sizes_bytes[0] <= 0:
            raise ValueError("sizes_bytes must be positive and ascend")
        if min(min(times) for times in self.rounds_s) <= 0:
            raise ValueError("a time per access must be > 0")

    @property
    def latency_s(self) -> tuple[float, ...]:
        """Median time per access over the rounds, one value for each size [s]."""
        return tuple(map(statistics.median, zip(*self.rounds_s, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """How much of a program's data one level of caches holds, together with the levels within it.

    Parameters
    ----------
    level : int
    threads : int
        CPUs that were busy at the same time; 1: one core alone.
    size_bytes : int or None
        Capacity of one cache of this level, shared by all `sharers`; None: the sizes measured did
        not exceed it, so it holds `high_bytes` or more.
    low_bytes, high_bytes : int
        Interval from the uncertainty of the fit and its variation over the rounds.
    sharers : int
        How many of the threads share one cache of this level.
    latency_s : float
        Time per access to data that this level holds and the levels within it do not [s].
    """

    level: int
    threads: int
    size_bytes: int | None
    low_bytes: int
    high_bytes: int
    sharers: int = 1
    latency_s: float

    @property
    def each_bytes(self) -> float | None:
        """Capacity for one thread's data; None: the sizes measured did not exceed it."""
        return None if self.size_bytes is None else self.size_bytes / self.sharers

    def __post_init__(self) -> None:
        if self.level <= 0 or self.threads <= 0 or self.latency_s <= 0:
            raise ValueError("level, threads and latency_s must be > 0")
        if not 0 < self.low_bytes <= (self.size_bytes or self.high_bytes) <= self.high_bytes:
            raise ValueError("low_bytes, size_bytes and high_bytes must be > 0 and ascend")
