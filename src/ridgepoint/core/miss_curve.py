"""Memory traffic over the size of a cache."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ridgepoint.core.counts import Traffic


@dataclass(frozen=True, slots=True, kw_only=True)
class MissCurve:
    """Memory traffic over the size of one cache: fully associative, LRU, write-back.

    Parameters
    ----------
    line_bytes : int
    capacities_bytes : tuple of int
        Sizes of the cache, ascending.
    read_bytes, write_bytes, pending_bytes : tuple of int
        Traffic at each capacity: read from memory (write-allocate reads included), written
        back, and still dirty at the end.
    sampling : int
        One line in `sampling` was followed, and the amounts are scaled up; 1: they are exact.
    """

    line_bytes: int
    capacities_bytes: tuple[int, ...]
    read_bytes: tuple[int, ...]
    write_bytes: tuple[int, ...]
    pending_bytes: tuple[int, ...]
    sampling: int = 1

    def __post_init__(self) -> None:
        if min(self.line_bytes, self.sampling) < 1:
            raise ValueError(
                f"line_bytes and sampling must be >= 1, got {self.line_bytes!r}, {self.sampling!r}"
            )
        columns = (self.read_bytes, self.write_bytes, self.pending_bytes)
        if not self.capacities_bytes or any(len(c) != len(self.capacities_bytes) for c in columns):
            raise ValueError("a miss curve needs an amount of each kind at one capacity or more")
        if any(a >= b for a, b in pairwise((-1, *self.capacities_bytes))):
            raise ValueError("capacities_bytes must be >= 0 and ascend")
        if min(map(min, columns)) < 0:
            raise ValueError("bytes of a miss curve must be >= 0")

    @classmethod
    def total(cls, curves: Sequence[MissCurve]) -> MissCurve | None:
        """Return the curve of several processes, each with a cache of its own; None: no curve.

        A curve without a row at some capacity counts with its next smaller one, whose misses are
        at least as many; capacities below the first row of any curve are left out.
        """
        if len(curves) < 2:
            return curves[0] if curves else None
        least = max(curve.capacities_bytes[0] for curve in curves)
        capacities = sorted({c for curve in curves for c in curve.capacities_bytes if c >= least})

        def summed(name: str) -> tuple[int, ...]:
            return tuple(
                sum(
                    getattr(curve, name)[bisect_right(curve.capacities_bytes, capacity) - 1]
                    for curve in curves
                )
                for capacity in capacities
            )

        return cls(
            line_bytes=curves[0].line_bytes,
            capacities_bytes=tuple(capacities),
            read_bytes=summed("read_bytes"),
            write_bytes=summed("write_bytes"),
            pending_bytes=summed("pending_bytes"),
            sampling=max(curve.sampling for curve in curves),
        )

    def traffic_at(self, size_bytes: int) -> Traffic:
        """Return the memory traffic with a cache of some size.

        Parameters
        ----------
        size_bytes : int
            Between two capacities the smaller one counts, whose traffic is at least as high.

        Raises
        ------
        ValueError
            If it is smaller than the smallest capacity: nothing is known there.
        """
        row = bisect_right(self.capacities_bytes, size_bytes) - 1
        if row < 0:
            raise ValueError(
                f"size_bytes must be >= {self.capacities_bytes[0]}, got {size_bytes!r}"
            )
        return Traffic(
            level="dram",
            read_bytes=self.read_bytes[row],
            write_bytes=self.write_bytes[row],
            pending_write_bytes=self.pending_bytes[row],
        )
