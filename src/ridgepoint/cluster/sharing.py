"""What is left of a node's caches for each of the ranks that share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ridgepoint.core.machine import Cache


def shared_caches(caches: Sequence[Cache], *, ranks: int, cpus: int) -> tuple[Cache, ...]:
    """Return the caches to simulate for one rank of several on a node.

    Each rank is simulated by itself. A cache that several CPUs share is divided evenly among the
    ranks on them: it keeps its ways and has fewer sets.

    Parameters
    ----------
    caches : sequence of Cache
    ranks : int
        On the node, spread evenly over its CPUs.
    cpus : int
        Of the node.

    Examples
    --------
    >>> l3 = Cache(level=3, kind="unified", size_bytes=1 << 25, line_bytes=64, ways=16, cores=8)
    >>> shared_caches([l3], ranks=4, cpus=16)[0].size_bytes == 1 << 24
    True
    """
    return tuple(_share(cache, ranks=ranks, cpus=cpus) for cache in caches)


def _share(cache: Cache, *, ranks: int, cpus: int) -> Cache:
    sharers = min(cache.cores, ranks * cache.cores // max(cpus, cache.cores))
    if sharers < 2:
        return cache
    set_bytes = cache.line_bytes * (cache.ways or 1)
    sets = max(1, cache.size_bytes // set_bytes // sharers)
    return replace(cache, size_bytes=sets * set_bytes, cores=max(1, cache.cores // sharers))
