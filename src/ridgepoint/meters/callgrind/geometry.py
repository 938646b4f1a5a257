"""The caches that callgrind can simulate, as near as possible to those of a machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Cache
from ridgepoint.meters.simulated.wanted import changes, data_caches, instruction_cache

_MOST_WAYS = 256  # callgrind searches the ways of a set one after the other
_USUAL_WAYS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Two levels of cache, which is all that callgrind simulates.

    Parameters
    ----------
    instruction, data : Cache
        The first level.
    last : Cache
        The last level.
    levels : int
        Cache levels of the machine.
    cautions : tuple of Caution
        Where this is not what the machine has.
    """

    instruction: Cache
    data: Cache
    last: Cache
    levels: int
    cautions: tuple[Caution, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """Options of callgrind."""
        return tuple(
            f"--{name}={cache.size_bytes},{cache.ways},{cache.line_bytes}"
            for name, cache in (("I1", self.instruction), ("D1", self.data), ("LL", self.last))
        )


def simulated(caches: Sequence[Cache]) -> Geometry:
    """Return the caches to simulate for those of a machine.

    Parameters
    ----------
    caches : sequence of Cache
        In any order.

    Raises
    ------
    CannotMeasure
        If no data or unified cache is among them.

    Notes
    -----
    callgrind wants 2**k sets. A cache that has not is given other ways and keeps its size; one
    whose size allows that with absurdly many ways alone has its size rounded to the nearest way.
    """
    data = data_caches(caches)
    first, last = data[0], data[-1]
    instruction = instruction_cache(caches)
    wanted = (instruction or replace(first, kind="instruction"), first, last)
    line_bytes = 1 << (first.line_bytes.bit_length() - 1)
    given = tuple(_allowed(cache, line_bytes=line_bytes) for cache in wanted)
    differences = changes(wanted, given, knows_instructions=instruction is not None)
    cautions: tuple[Caution, ...] = ()
    if differences:
        cautions = (
            Caution(
                "cache-geometry",
                f"callgrind needs a power of two of sets and simulated {'; '.join(differences)}",
                "do not rely on misses that depend on conflicts within a set",
            ),
        )
    return Geometry(
        instruction=given[0],
        data=given[1],
        last=given[2],
        levels=last.level,
        cautions=cautions,
    )


def _allowed(cache: Cache, *, line_bytes: int) -> Cache:
    """Return the nearest cache with 2**k sets."""
    lines = max(cache.size_bytes // line_bytes, 1)
    ways = min(cache.ways or _USUAL_WAYS, lines)
    odd = lines
    while odd % 2 == 0:
        odd //= 2
    if odd <= _MOST_WAYS:
        allowed = [odd << k for k in range(lines.bit_length()) if lines % (odd << k) == 0]
        ways = min(allowed, key=lambda n: (abs(math.log2(n / ways)), n))
        sets = lines // ways
    else:
        sets = 1 << max(0, round(math.log2(lines / ways)))
        ways = max(1, round(lines / sets))
    return replace(
        cache, size_bytes=sets * ways * line_bytes, line_bytes=line_bytes, ways=ways, cores=1
    )
