"""The caches of a machine as engines of our own simulate them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.meters.simulated.wanted import changes, data_caches, instruction_cache

MOST_GEOMETRIES = 8
"""Caches that can be simulated in one run, the machine's own included."""

MOST_LEVELS = 4
MOST_CPUS = 4096
_USUAL_WAYS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Caches to simulate.

    Parameters
    ----------
    instruction : Cache
        The first level for instructions.
    data : tuple of Cache
        The others, from L1 outwards; `Cache.cores` says how many simulated CPUs share one.
    cpus : int
        Simulated CPUs, over which threads are spread.
    cautions : tuple of Caution
        Where this is not what the machine has.
    """

    instruction: Cache
    data: tuple[Cache, ...]
    cpus: int
    cautions: tuple[Caution, ...] = ()

    @property
    def caches(self) -> tuple[Cache, ...]:
        """All of them."""
        return (self.instruction, *self.data)

    @property
    def option(self) -> str:
        """Valgrind's engine is told: line, CPUs, then size, ways and CPUs of L1I, L1D, L2, ..."""
        shapes = (f"{c.size_bytes},{c.ways},{c.cores}" for c in self.caches)
        return f"--caches={self.data[0].line_bytes},{self.cpus},{','.join(shapes)}"


def simulated(caches: Sequence[Cache], *, cpus: int) -> Geometry:
    """Return the caches to simulate for those of a machine.

    Parameters
    ----------
    caches : sequence of Cache
        In any order.
    cpus : int
        CPUs that a program may use.

    Raises
    ------
    CannotMeasure
        If no data or unified cache is among them, or they have lines of several lengths.

    Notes
    -----
    A level whose sharing does not fit the one within it (an L2 of 3 CPUs around L1s of 2) is
    taken to be shared by the next multiple. Where the number of ways is unknown or does not
    divide the cache into whole sets, the nearest one that does is taken.
    """
    data = data_caches(caches)
    if len({cache.line_bytes for cache in data}) > 1:
        raise CannotMeasure(
            "cannot simulate caches",
            reason=f"their lines have different lengths: {[c.line_bytes for c in data]} byte",
            remedy=(
                "give cache levels with lines of the same length: --cache "
                "l1=32k:8,l2=1m:8,l3=32m:16"
            ),
        )
    cpus = min(cpus, MOST_CPUS)
    instruction = instruction_cache(caches)
    wanted = (instruction or replace(data[0], kind="instruction"), *data[:MOST_LEVELS])
    line_bytes = data[0].line_bytes
    given = [_whole_sets(cache, line_bytes) for cache in wanted]
    differences = changes(wanted, given, knows_instructions=instruction is not None)
    cautions: tuple[Caution, ...] = ()
    if differences:
        cautions = (
            Caution(
                "cache-geometry",
                "the description of the caches is incomplete or impossible; "
                f"{'; '.join(differences)} were simulated",
                "describe the caches: --cache l1=32k:8,l2=1m:8,l3=32m:16",
            ),
        )
    return Geometry(
        instruction=_shared(given[0], 1, cpus),
        data=_nested(given[1:], cpus),
        cpus=cpus,
        cautions=cautions,
    )


def _whole_sets(cache: Cache, line_bytes: int) -> Cache:
    lines = max(cache.size_bytes // line_bytes, 1)
    wanted = min(cache.ways or _USUAL_WAYS, lines)
    ways = next(
        n
        for distance in range(lines)
        for n in (wanted - distance, wanted + distance)
        if n >= 1 and lines % n == 0
    )
    return replace(cache, size_bytes=lines * line_bytes, line_bytes=line_bytes, ways=ways)


def _nested(caches: Sequence[Cache], cpus: int) -> tuple[Cache, ...]:
    nested: list[Cache] = []
    inner = 1
    for cache in caches:
        nested.append(_shared(cache, inner, cpus))
        inner = nested[-1].cores
    return tuple(nested)


def _shared(cache: Cache, inner: int, cpus: int) -> Cache:
    """Return the cache, shared by a multiple of what shares the level within it."""
    sharers = min(cache.cores, cpus)
    return replace(cache, cores=max(1, -(-sharers // inner)) * inner)
