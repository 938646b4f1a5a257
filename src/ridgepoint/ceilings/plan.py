"""The kernels with which a machine is measured, and the size of the data for each level."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ridgepoint.ceilings.computing import computing, is_essential
from ridgepoint.ceilings.places import Place
from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import CHAIN, Cache
from ridgepoint.core.units import format_size
from ridgepoint.kernels import bandwidth as streams
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.isa import Isa
from ridgepoint.kernels.kernel import Kernel
from ridgepoint.kernels.random_access import (
    chase,
    chase_shares,
    gather,
    gather_shares,
    gather_widths,
)

DRAM_OVER_CACHES = 4
"""DRAM is measured with this many times the last cache, so that next to nothing stays in it."""

_LEAST_OVER_CACHES = 2
"""With less than that DRAM is not measured: of what comes back after so many other bytes, a cache
that replaces at random still has a seventh."""

_LEAST_DRAM = 64 << 20
_BEYOND_ANY_CACHE = 2 << 30
"""Bytes that main memory is measured with where the caches are not known."""

_BEYOND_BEFORE = 1.25
"""Data of a level over what the one before holds: with less, that one answers."""

_MOST_ARRANGED = 128 << 20
"""Of main memory that is arranged for random accesses, which takes long."""

_STREAMED_OVER_L2 = 8
"""L3 is streamed over in at most this many times what L2 holds: beyond, all is L3's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One ceiling to measure.

    Parameters
    ----------
    resource : str
    name : str
    place : Place
    candidates : tuple of Kernel
        The same work in several vector widths or ratios; the fastest candidate counts.
    extent_bytes : int
        Size of each thread's buffer.
    shares : tuple of float, or None
        Bytes read and written per byte counted, for memory levels.
    essential : bool
        Whether a quick measurement includes it.
    refusal : Caution or None
        Why it cannot be measured; None: it can be.
    """

    resource: str
    name: str
    place: Place
    candidates: tuple[Kernel, ...]
    extent_bytes: int
    shares: tuple[float, float] | None = None
    essential: bool = False
    refusal: Caution | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Resource and name."""
        return self.resource, self.name

    def size_bytes(self, kernel: Kernel) -> int:
        """Return the length of one of the kernel's streams in this task's buffer.

        A kernel that arranges its data works on all of it.
        """
        if kernel.fill is not None:
            return self.extent_bytes
        if not kernel.streams:
            return 0
        room = self.extent_bytes - (kernel.streams - 1) * kernel.padding_bytes
        return room // kernel.streams // kernel.quantum_bytes * kernel.quantum_bytes

    def work(self, kernel: Kernel, *, size_bytes: int | None = None) -> float:
        """Return the work of one repeat on one thread: flop, or bytes as a program counts.

        Parameters
        ----------
        kernel : Kernel
        size_bytes : int or None
            Length of each stream; None: all that fits the buffer.
        """
        size = self.size_bytes(kernel) if size_bytes is None else size_bytes
        return kernel.work_per_repeat + kernel.streams * size

    def is_windowed(self, kernel: Kernel) -> bool:
        """Return whether each sample streams over another part of the buffer.

        This applies to main memory: the whole buffer would take as long as many samples.
        """
        return self.resource == "dram" and kernel.streams > 0


def buffer_bytes(
    level: str, caches: dict[int, Cache], place: Place, *, at_random: bool = False
) -> int:
    """Return the bytes that each thread of a place uses to measure a level.

    Parameters
    ----------
    level : str
    caches : dict of int to Cache
        Data caches by level; empty: unknown.
    place : Place
    at_random : bool
        Whether it is accessed in random order, rather than streamed over.

    Notes
    -----
    Three quarters of L1, so that what else a core touches fits beside it. Half of L2 and a
    quarter of L3 of each thread's part: far more than the level before, far less than the level
    itself, and eight times L2 at most: a long pass takes long. An L3 that is small beside L2
    (exclusive ones are) takes three L2 or three quarters. Random accesses take no more than three
    L2, which is beyond L2 too: a neighbour on a shared L3 drives out what is not touched for long.
    Main memory takes four times all the last caches in reach.
    """

    def part(cache: Cache) -> int:
        return cache.size_bytes // place.sharers(cache)

    if level == "dram":
        if not caches:
            return max(_BEYOND_ANY_CACHE // len(place.cpus), _LEAST_DRAM)
        last = caches[max(caches)]
        instances = -(-len(place.cpus) // place.sharers(last))
        total = DRAM_OVER_CACHES * last.size_bytes * instances
        return max(total // len(place.cpus), _LEAST_DRAM)
    number = int(level[1:])
    if number == 1:
        return part(caches[1]) * 3 // 4
    if number < max(caches):
        return part(caches[number]) // 2
    before, last_part = part(caches[number - 1]), part(caches[number])
    least = min(3 * before, last_part * 3 // 4)
    return least if at_random else max(min(last_part // 4, _STREAMED_OVER_L2 * before), least)


def plan(
    caches: dict[int, Cache],
    places: Sequence[Place],
    *,
    isa: Isa,
    together: dict[int, Cache] | None = None,
    most: dict[int, Cache] | None = None,
    dram_bytes: int | None = None,
    touched_bytes: int | None = None,
) -> tuple[Task, ...]:
    """Return every ceiling of a machine, place by place.

    Parameters
    ----------
    caches : dict of int to Cache
        Data caches by level; empty: unknown, and main memory alone is measured.
    places : sequence of Place
    isa : Isa
        Instruction set of the CPU.
    together : dict of int to Cache or None
        Caches with all cores busy. None: no different.
    most : dict of int to Cache or None
        Caches at their largest: main memory must lie beyond them. None: they do not vary.
    dram_bytes : int or None
        Limit of main memory for all threads of one pattern; None: as much as they need.
    touched_bytes : int or None
        Limit of memory that each thread can touch in time; None: as much as it needs. If one
        limit is less than twice the last caches, main memory cannot be measured.
    """
    beyond = caches if most is None else most
    tasks = []
    for place in places:
        if not place.memory_only:
            tasks += [
                Task(
                    resource=resource,
                    name=name,
                    place=place,
                    candidates=candidates,
                    extent_bytes=WORKING_BYTES,
                    essential=is_essential(resource, candidates[0], isa),
                )
                for resource, name, candidates in computing(isa)
                # What waits for itself does so on each core alone.
                if len(place.cpus) == 1 or not name.endswith(f" {CHAIN}")
            ]
        levels = () if place.memory_only else tuple(f"l{n}" for n in caches if n <= 3)
        sizes = together if together is not None and len(place.cpus) > 1 else caches
        for level in levels:
            refusal = _why_no_room(level, sizes, place)
            for access in _accesses(level, isa, place):
                at_random = access[1][0].fill is not None
                size = buffer_bytes(level, sizes, place, at_random=at_random)
                tasks.append(_of_memory(level, access, place, extent_bytes=size, refusal=refusal))
        allowed = [size // len(place.cpus) for size in (dram_bytes,) if size is not None]
        allowed += [] if touched_bytes is None else [touched_bytes]
        dram = _dram_bytes(beyond, place, allowed=min(allowed, default=None))
        far = None if dram is not None else _out_of_reach(beyond, place, min(allowed))
        for access in _accesses("dram", isa, place):
            at_random = access[1][0].fill is not None
            size = _arranged_bytes(beyond, place, dram or 0) if at_random else dram or 0
            tasks.append(_of_memory("dram", access, place, extent_bytes=size, refusal=far))
    return tuple(tasks)


def _of_memory(
    level: str,
    access: _Access,
    place: Place,
    *,
    extent_bytes: int,
    refusal: Caution | None = None,
) -> Task:
    name, candidates, shares = access
    return Task(
        resource=level,
        name=name,
        place=place,
        candidates=candidates,
        extent_bytes=extent_bytes,
        shares=shares,
        essential=_moves_most(level, name, place),
        refusal=refusal,
    )


def _why_no_room(level: str, caches: dict[int, Cache], place: Place) -> Caution | None:
    """Return why there is no data that lies in a level and not in the one before, or None."""
    number = int(level[1:])
    if number == 1 or number < max(caches):
        return None
    before, last = caches[number - 1], caches[number]
    part = last.size_bytes // place.sharers(last)
    if buffer_bytes(level, caches, place) >= _BEYOND_BEFORE * before.size_bytes:
        return None
    return Caution(
        "no-room",
        f"a core's share of L{number} is {format_size(part)} with {len(place.cpus)} cores "
        f"busy, and its L{number - 1} holds {format_size(before.size_bytes)}",
        "data that leaves the inner cache does not fit into the outer one: treat this ceiling "
        "as unknown here",
    )


def _least_beyond(caches: dict[int, Cache], place: Place) -> int:
    """Return how much of main memory each thread has to work on at least."""
    wanted = buffer_bytes("dram", caches, place)
    return max(wanted * _LEAST_OVER_CACHES // DRAM_OVER_CACHES, _LEAST_DRAM)


def _dram_bytes(caches: dict[int, Cache], place: Place, *, allowed: int | None) -> int | None:
    """Return what each thread streams over in main memory; None: it is not allowed enough."""
    wanted = buffer_bytes("dram", caches, place)
    if allowed is None:
        return wanted
    return None if allowed < _least_beyond(caches, place) else min(wanted, allowed)


def _out_of_reach(caches: dict[int, Cache], place: Place, allowed: int) -> Caution:
    """Return why main memory cannot be measured."""
    return Caution(
        "dram-out-of-reach",
        "to reach main memory beyond the caches, each thread needs "
        f"{_least_beyond(caches, place) / 1e6:.0f} MB, but in the time of this measurement it "
        f"can allocate and touch only {allowed / 1e6:.0f} MB",
        "measure without --quick, allow more memory, or, if the caches are smaller, describe "
        "them with --cache",
    )


def _arranged_bytes(caches: dict[int, Cache], place: Place, streamed_bytes: int) -> int:
    """Return what each thread accesses at random in main memory: as little as is beyond caches."""
    return max(min(streamed_bytes, _MOST_ARRANGED), _least_beyond(caches, place))


def _moves_most(level: str, name: str, place: Place) -> bool:
    """Return whether a way to access memory bounds most programs, and is quickly measured.

    Streams of main memory, load and copy of the caches, and the latency of one core: arranging
    data for random accesses takes as long as all samples.
    """
    if name.startswith(("chase", "gather")):
        return (level, name) == ("dram", "chase") and len(place.cpus) == 1
    return level == "dram" or name in {"load", "copy"}


_Access = tuple[str, tuple[Kernel, ...], tuple[float, float]]
"""Name, candidates and shares of a way to access a memory level."""


def _accesses(level: str, isa: Isa, place: Place) -> Iterator[_Access]:
    """Yield every way to access a memory level; on small pages main memory, from one core."""
    at_random = tuple(_at_random(level, isa))
    yield from _streams(level, isa)
    yield from at_random
    if level == "dram" and len(place.cpus) == 1 and not place.memory_only:
        pages = f"{mmap.PAGESIZE >> 10} KiB pages"
        for name, candidates, shares in at_random:
            yield f"{name} {pages}", tuple(replace(k, small_pages=True) for k in candidates), shares


def _streams(level: str, isa: Isa) -> Iterator[_Access]:
    widths = isa.vector_widths
    patterns = streams.DRAM_PATTERNS if level == "dram" else streams.CACHE_PATTERNS
    for pattern in patterns:
        kernels = tuple(streams.bandwidth(pattern, width_bits=width) for width in widths)
        yield pattern.name, kernels, pattern.shares(level)


def _at_random(level: str, isa: Isa) -> Iterator[_Access]:
    if isa.architecture == "x86_64":
        gathers = (0, *gather_widths(isa.vector_widths, isa.has))
        kernels = tuple(gather(width_bits=width) for width in gathers)
        yield "gather", kernels, gather_shares(level)
    if (architecture := isa.known_architecture) is not None:
        yield "chase", (chase(architecture=architecture),), chase_shares(level)
