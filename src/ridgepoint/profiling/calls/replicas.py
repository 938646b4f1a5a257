"""The number of replicas of the data with which every call finds them in no cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.core.units import format_si
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs

MOST_REPLICAS = 1 << 17
"""Python objects for more take longer to make than the measurement."""

_ASSUMED_WAYS = 16
_LEAST_FILLS = 2  # fillings of the last-level cache that suffice if it is LRU
_CHEAP_BYTES = 1 << 29  # of replicas, made in less time than samples take
_SURE_FILLS = 4  # fillings after which less than 2 % of the lines stay, if eviction is random


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan for replicas.

    Parameters
    ----------
    replicas : int
    cautions : tuple of Caution
    """

    replicas: int
    cautions: tuple[Caution, ...] = ()


def least_cold_bytes(caches: Sequence[Cache]) -> float:
    """Return the least size of data of which enough replicas can be made for cold caches, bytes."""
    last = _last(caches)
    return 0 if last is None else _LEAST_FILLS * last.size_bytes / MOST_REPLICAS


def _last(caches: Sequence[Cache]) -> Cache | None:
    return max(
        (cache for cache in caches if cache.kind != "instruction"),
        key=lambda cache: cache.level,
        default=None,
    )


def plan(
    what: str,
    data_bytes: int,
    *,
    caches: Sequence[Cache],
    memory_bytes: int,
    calls_affordable: float,
    knobs: Knobs = IN_PYTHON,
) -> Plan:
    """Return the number of replicas to use in turn.

    Parameters
    ----------
    what : str
        "cannot measure ...", for messages.
    data_bytes : int
        Size of one replica.
    caches : sequence of Cache
        Caches of this host.
    memory_bytes : int
        Memory limit of all replicas together.
    calls_affordable : float
        Number of calls that fit into the time of one sample: it limits the replicas, but not below
        four fillings of the last-level cache. Beyond those there are replicas for half a gigabyte
        at most, since making them takes time too.
    knobs : Knobs
        How messages name what the user can change.

    Raises
    ------
    CannotMeasure
        If there are no data, no known cache, or no memory for replicas that fill the last-level
        cache.

    Notes
    -----
    ``data_bytes * replicas >= size * associativity`` of the last-level cache (Ofenbeck et al.,
    section III.A). A cache that evicts at random keeps a line through one filling of itself with
    a probability of 0.35, and through as many as it has ways with less than 2e-4.
    """
    last = _last(caches)
    if last is None:
        raise CannotMeasure(
            what,
            reason="the caches of this host are unknown, so cold caches cannot be arranged",
            remedy=f"measure it with warm caches: {knobs.warm}",
        )
    if not data_bytes:
        raise CannotMeasure(
            what,
            reason="its arguments contain no arrays, and only arrays are replicated",
            remedy="pass its data as arguments (arrays, tensors), or measure it warm",
        )
    fillings = max(last.ways or _ASSUMED_WAYS, _LEAST_FILLS)
    wanted = -(-last.size_bytes * fillings // data_bytes)
    affordable = memory_bytes // data_bytes
    needed = max(2, -(-_LEAST_FILLS * last.size_bytes // data_bytes))
    if affordable < needed:
        raise CannotMeasure(
            what,
            reason=f"{needed} replicas of {format_si(data_bytes, 'B')} need "
            f"{format_si(needed * data_bytes, 'B')} of memory, and "
            f"{format_si(memory_bytes, 'B')} may be used",
            remedy="use less data"
            + ("" if knobs.memory is None else f", or allow more memory: {knobs.memory}"),
        )
    if needed > MOST_REPLICAS:
        raise CannotMeasure(
            what,
            reason=(
                f"{MOST_REPLICAS} replicas of {format_si(data_bytes, 'B')} are the most that "
                "are made, and they do not fill the last-level cache twice"
            ),
            remedy="pass more data, or measure it warm",
        )
    cheap = min(int(calls_affordable), _CHEAP_BYTES // data_bytes)
    in_time = max(cheap, needed * _SURE_FILLS // _LEAST_FILLS)
    replicas = max(2, min(wanted, affordable, MOST_REPLICAS, in_time))
    fills = replicas * data_bytes / last.size_bytes
    if replicas >= wanted or fills >= _SURE_FILLS:
        return Plan(replicas=replicas)
    return Plan(
        replicas=replicas,
        cautions=(
            Caution(
                "few-replicas",
                f"{replicas} replicas of {format_si(data_bytes, 'B')} fill the last-level "
                f"cache {fills:.2g} times; {fillings} times are needed to make sure that no "
                "line stays in it",
                "if the result is faster than memory allows, allow more memory or use more data",
            ),
        ),
    )
