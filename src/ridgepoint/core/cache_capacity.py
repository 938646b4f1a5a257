"""How large each cache is for a program here: measured by time per access over working set."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCurve:
    """Time per dependent access to random lines of a working set, over the size of the set.

    Parameters
    ----------
    threads : int
        CPUs that did this at the same time, one thread on each, each in memory of its own.
    sizes_bytes : tuple of int
        Each thread's working set, ascending.
    rounds_s : tuple of tuple of float
        Time per access of each size [s], of every time that all sizes were gone through.
    huge_share : float or None
        Share of the memory that lay on huge pages; None: the kernel does not tell.
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
        """Median time per access over the rounds, of each size [s]."""
        return tuple(map(statistics.median, zip(*self.rounds_s, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What one level of caches holds of a program's data, together with the levels within it.

    Parameters
    ----------
    level : int
    threads : int
        CPUs that were busy at the same time; 1: one core alone.
    size_bytes : int or None
        Of one cache of this level, for all the threads that share it together; None: no end of it
        was seen, so that it holds `high_bytes` or more.
    low_bytes, high_bytes : int
        Interval: of the fit, and of how it varied over the rounds.
    sharers : int
        How many of the threads share one cache of this level.
    latency_s : float
        Time per access to what this level holds and the levels within it do not [s].
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
        """What one thread's data gets of it; None: no end of it was seen."""
        return None if self.size_bytes is None else self.size_bytes / self.sharers

    def __post_init__(self) -> None:
        if self.level <= 0 or self.threads <= 0 or self.latency_s <= 0:
            raise ValueError("level, threads and latency_s must be > 0")
        if not 0 < self.low_bytes <= (self.size_bytes or self.high_bytes) <= self.high_bytes:
            raise ValueError("low_bytes, size_bytes and high_bytes must be > 0 and ascend")
