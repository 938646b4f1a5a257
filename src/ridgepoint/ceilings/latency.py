"""Measure latency over size: the time of a random access, from half of L1 to past every cache."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ridgepoint.ceilings.places import Place
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.samples import MOST_WAITED
from ridgepoint.ceilings.worker import Job
from ridgepoint.core.cache_capacity import LatencyCurve
from ridgepoint.core.machine import Cache
from ridgepoint.kernels.jit import Function
from ridgepoint.kernels.latency import NO_MASK, PAGE_BYTES, UNROLL

PER_OCTAVE = 4
"""Sizes, evenly in the logarithm."""

LONGEST_BYTES = 1 << 30
"""Longer sets take more time to read once than all else."""

_SHORTEST_REACH = 256 << 20
_BEYOND_STATED = 2
"""The longest set over all that the system says of the last cache: its end is to be seen."""

_LEAST_EACH = 16 << 20
_FIRST_WITHOUT_L1 = 16 << 10

_MEMORY_SHARE = 0.25
"""Of the memory that can be had."""

_ACCESSES = 2048
_ACCESSES_NEAR = 16384
_NEAR_BYTES = 4 << 20
"""Below it an access is so short that more of them fit into the same time."""

_WHOLE_BYTES = 4 << 20
"""Up to here all of a set is read before it is visited; beyond, what the set before lacks."""

_TAKEN = 2


def sizes_to_visit(
    stated: dict[int, Cache], place: Place, *, available_bytes: int | None, longest_bytes: int
) -> tuple[int, ...]:
    """Return the working sets of each thread of a place, ascending multiples of a page.

    Parameters
    ----------
    stated : dict of int to Cache
        Data caches by level, as the system describes them; empty: unknown.
    place : Place
    available_bytes : int or None
        Memory that is available; None: unknown.
    longest_bytes : int
        Longest set of one core alone. Several cores share it, but each gets enough to see past
        its own caches.

    Notes
    -----
    From half of L1 to twice the stated size of the last cache, at least 256 MiB, as far as
    `longest_bytes` and a quarter of the memory allow.
    """
    first = stated[1].size_bytes // 2 if 1 in stated else _FIRST_WITHOUT_L1
    last, sharers = _SHORTEST_REACH, len(place.cpus)
    if stated:
        outermost = stated[max(stated)]
        last = max(last, _BEYOND_STATED * outermost.size_bytes)
        sharers = place.sharers(outermost)
    each_bytes = max(min(last, longest_bytes) // sharers, _LEAST_EACH)
    if available_bytes is not None:
        each_bytes = min(each_bytes, int(available_bytes * _MEMORY_SHARE) // len(place.cpus))
    first = max(first // PAGE_BYTES, 1) * PAGE_BYTES
    n = max(0, int(np.floor(PER_OCTAVE * np.log2(each_bytes / first)))) if each_bytes > first else 0
    sizes = first * 2.0 ** (np.arange(n + 1) / PER_OCTAVE)
    return tuple(dict.fromkeys(int(size) // PAGE_BYTES * PAGE_BYTES for size in sizes))


@dataclass(slots=True, kw_only=True)
class Sweep:
    """A latency curve during its measurement.

    Parameters
    ----------
    pool : Pool
    visit : Function
        `ridgepoint.kernels.latency.visit`.
    reader : Function
        Kernel that reads a stream, which brings it into the caches.
    place : Place
    sizes_bytes : tuple of int
    rounds_s : list of tuple of float
        Time per access of each size [s], one tuple for each round so far.
    """

    pool: Pool
    visit: Function
    reader: Function
    place: Place
    sizes_bytes: tuple[int, ...]
    rounds_s: list[tuple[float, ...]] = field(default_factory=list)
    _seeds: np.random.Generator = field(default_factory=np.random.default_rng)

    def take(self, *, goes_on: Callable[[], bool]) -> None:
        """Measure all sizes once; drop the round if time runs out.

        The first round of one core alone goes to its end: it takes little, and all sizes of data
        follow from it.

        Raises
        ------
        CannotMeasure
            If a thread cannot be pinned, or there is no memory for its buffer.
        """
        times = []
        for before, size in itertools.pairwise((0, *self.sizes_bytes)):
            is_needed = not self.rounds_s and len(self.place.cpus) == 1
            if not is_needed and not goes_on():
                return
            self._read(0 if size <= _WHOLE_BYTES else before, size)
            times.append(self._visited(size))
        self.rounds_s.append(tuple(times))

    @property
    def curve(self) -> LatencyCurve | None:
        """The measured curve; None: there is none."""
        if not self.rounds_s:
            return None
        return LatencyCurve(
            threads=len(self.place.cpus),
            sizes_bytes=self.sizes_bytes,
            rounds_s=tuple(self.rounds_s),
            huge_share=self.pool.huge_share(self._job(PAGE_BYTES, 1), cpus=self.place.cpus),
        )

    def _read(self, begin: int, end: int) -> None:
        """Bring what lies between two offsets into the caches, as far as it fits."""
        job = Job(
            function=self.reader,
            size_bytes=end - begin,
            extent_bytes=self.sizes_bytes[-1],
            offset_bytes=begin,
            repeats=1,
        )
        self.pool.run(job, cpus=self.place.cpus)

    def _visited(self, size: int) -> float:
        """Return the time per access of a set: the better of two that were not interrupted."""
        repeats = (_ACCESSES if size > _NEAR_BYTES else _ACCESSES_NEAR) // UNROLL
        timings = [
            self.pool.run(self._job(size, repeats), cpus=self.place.cpus) for _ in range(_TAKEN)
        ]
        running = [timing for timing in timings if timing.waited <= MOST_WAITED] or timings
        return min(timing.seconds for timing in running) / (repeats * UNROLL)

    def _job(self, size: int, repeats: int) -> Job:
        return Job(
            function=self.visit,
            size_bytes=size,
            extent_bytes=self.sizes_bytes[-1],
            repeats=repeats,
            warm_repeats=max(1, repeats // 8),
            # Never the same lines again.
            operands=(1.0 + float(self._seeds.random()), NO_MASK),
        )


def sharers(stated: dict[int, Cache], place: Place) -> dict[int, int]:
    """Return how many threads of a place share one cache of each level."""
    return {level: place.sharers(cache) for level, cache in stated.items()}


def chosen_places(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return one core alone, and all cores together where there are several."""
    whole = [place for place in places if place.part is None and not place.shares_cores]
    return tuple(dict.fromkeys((whole[0], whole[-1])))
