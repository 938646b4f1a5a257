"""The caches that a program gets: measured capacities compared with the system's description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ridgepoint.core.cache_capacity import Capacity
from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.units import format_size, format_size_roughly

DISAGREE = 1.5
"""Factor between a stated and a measured capacity of a cache that several cores share, from which
on the measured one counts.

Caches of dedicated machines come out between 0.75 of what is stated (small pages land in sets
unevenly, code and page tables take their part) and all that the levels within add to an exclusive
one, which `_is_alike` allows for. What differs by more is not the cache that the system
describes."""

DISAGREE_ALONE = 3.0
"""The same of a cache that one core has to itself. What runs on its other hardware thread, or has
its turn meanwhile, takes half of it and more from accesses that come one by one, and less from a
stream: only what is far smaller or larger is another cache."""

VARIES = 1.15
"""Ratio of the ends of a capacity's interval from which on traffic is simulated with both."""

_OWN_LEVELS = 2
"""L1 and L2 are a core's own, or of few."""

_USUAL_WAYS = 8
_ROUNDED_BITS = 6
"""Of a measured size: it is rounded by 1.6 % at most."""


def caches_here(
    stated: Sequence[Cache], capacities: Iterable[Capacity]
) -> tuple[tuple[Cache, ...], tuple[Caution, ...]]:
    """Return the caches that a program gets, with cautions where they differ from the stated ones.

    Parameters
    ----------
    stated : sequence of Cache
        Caches as the system describes them; empty: it describes none.
    capacities : iterable of Capacity
        Measured capacities; only those of one core alone are used.

    Returns
    -------
    tuple of Cache
        The stated caches; where the measured capacity differs by more than `DISAGREE`, a cache
        of the measured size with the same ways and lines.
    tuple of Caution
    """
    alone = {capacity.level: capacity for capacity in capacities if capacity.threads == 1}
    if not stated:
        measured_only = tuple(
            _resized(_unstated(capacity.level), capacity.size_bytes)
            for capacity in alone.values()
            if capacity.size_bytes is not None
        )
        return measured_only, tuple(_of_unstated(measured_only))
    caches: list[Cache] = []
    cautions: list[Caution] = []
    inner = last = 0
    for cache in stated:
        measured = alone.get(cache.level) if cache.kind != "instruction" else None
        if measured is not None and not _is_alike(cache, measured, inner):
            cautions.append(_of_difference(cache, measured))
            cautions += _of_variation(measured)
            caches.append(_resized(cache, measured.size_bytes or measured.high_bytes, beyond=last))
        else:
            caches.append(cache)
        if cache.kind != "instruction":
            last = caches[-1].size_bytes
            inner += last
    return tuple(caches), tuple(cautions)


def told_of_caches(machine: Machine) -> Iterator[str]:
    """Yield for each data cache of a machine its stated and its measured capacity, in words."""
    stated = {c.level: c for c in machine.stated_caches or () if c.kind != "instruction"}
    alone = {capacity.level: capacity for capacity in machine.capacities if capacity.threads == 1}
    for level in sorted({*stated, *alone}):
        says = format_size(stated[level].size_bytes) if level in stated else "nothing"
        gets = in_words(alone[level]) if level in alone else "indistinguishable from the next level"
        yield f"L{level}: the system says {says}, measured {gets}"


def contradictions(given: Sequence[Cache], capacities: Iterable[Capacity]) -> tuple[Caution, ...]:
    """Return a caution for each cache that a user gave and measurement contradicts."""
    _, differing = caches_here(given, capacities)
    return tuple(
        Caution(
            "cache-contradicted",
            caution.seen.replace("the system says", "--cache says"),
            "ceilings and traffic are those of the caches given with --cache; without --cache "
            "they are those of the measured caches",
        )
        for caution in differing
        if caution.code == "cache-capacity"
    )


def are_given(
    caches: Sequence[Cache], stated: Sequence[Cache], capacities: Sequence[Capacity]
) -> bool:
    """Return whether a user gave a machine's caches, so that `caches_here` did not return them."""
    return caches_here(stated, capacities)[0] != tuple(caches)


def capacity_ends(
    caches: Sequence[Cache], stated: Sequence[Cache] | None, capacities: Sequence[Capacity]
) -> tuple[tuple[Cache, ...], tuple[Cache, ...]] | None:
    """Return the smallest and the largest caches that a program may get, if they vary.

    Parameters
    ----------
    caches : sequence of Cache
        Caches of a machine.
    stated : sequence of Cache or None
        Caches as the system describes them; None: not known apart.
    capacities : sequence of Capacity
        Capacities for one core alone and for all together, with their intervals.

    Returns
    -------
    tuple of two tuples of Cache, or None
        None: all caches are as the system or a user describes them, or vary by no more than
        `VARIES`.
    """
    if stated is None or not capacities or are_given(caches, stated, capacities):
        return None
    least, most = list(caches), list(caches)
    for index, cache in enumerate(caches):
        measured = [capacity for capacity in capacities if capacity.level == cache.level]
        if cache in stated or cache.kind == "instruction" or not measured:
            continue
        low = min(cache.size_bytes, *(capacity.low_bytes for capacity in measured))
        high = max(cache.size_bytes, *(capacity.high_bytes for capacity in measured))
        inner = max((c.size_bytes for c in least[:index] if c.kind != "instruction"), default=0)
        if high > VARIES * low:
            least[index] = _resized(cache, low, beyond=inner)
            most[index] = _resized(cache, high, beyond=inner)
    if most == list(caches) and least == most:
        return None
    return tuple(least), tuple(most)


def ends_of(machine: Machine) -> tuple[tuple[Cache, ...], ...]:
    """Return the smallest and the largest caches that a program may get on a machine.

    Empty if they do not vary; see `capacity_ends`.
    """
    return capacity_ends(machine.caches, machine.stated_caches, machine.capacities) or ()


def _is_alike(cache: Cache, measured: Capacity, inner_bytes: int) -> bool:
    """Return whether a measured capacity agrees with a stated cache."""
    is_own = cache.level <= _OWN_LEVELS
    factor = DISAGREE_ALONE if is_own else DISAGREE
    largest = factor * (cache.size_bytes + inner_bytes)
    if measured.size_bytes is None:
        return measured.high_bytes <= largest
    # A core's own cache is as large as its best measurement: others can only have taken part.
    most = measured.high_bytes if is_own else measured.size_bytes
    return cache.size_bytes / factor <= most and measured.size_bytes <= largest


def _of_difference(cache: Cache, measured: Capacity) -> Caution:
    return Caution(
        "cache-capacity",
        f"the system says {format_size(cache.size_bytes)} of L{cache.level}; a program here "
        f"gets {in_words(measured)}",
        "ceilings and traffic are those of the measured capacity; --cache overrides it",
    )


def _of_variation(measured: Capacity) -> Iterator[Caution]:
    """Yield a caution if a capacity varied while it was measured."""
    if measured.high_bytes > DISAGREE * measured.low_bytes:
        yield Caution(
            "cache-varied",
            f"the capacity of L{measured.level} that a program gets varied from "
            f"{format_size_roughly(measured.low_bytes)} to "
            f"{format_size_roughly(measured.high_bytes)} while it was measured",
            "traffic is simulated with both capacities; measure again when neighbours are "
            "quiet, or on dedicated CPUs",
        )


def in_words(capacity: Capacity) -> str:
    """Return a measured capacity with its interval."""
    low, high = (
        format_size_roughly(size_bytes) for size_bytes in (capacity.low_bytes, capacity.high_bytes)
    )
    if capacity.size_bytes is None:
        return f"{high} or more"
    return f"{format_size_roughly(capacity.size_bytes)} ({low} to {high})"


def _of_unstated(caches: Sequence[Cache]) -> Iterable[Caution]:
    if caches:
        sizes = ", ".join(
            f"L{cache.level} {format_size_roughly(cache.size_bytes)}" for cache in caches
        )
        yield Caution(
            "caches-measured",
            f"the system does not describe the caches; by latency over size they are {sizes}; "
            f"{_USUAL_WAYS} ways and lines of {caches[0].line_bytes} bytes are assumed",
            "if you know better, give the caches: --cache l1=32k:8,l2=1m:8,l3=32m:16",
        )


def _unstated(level: int) -> Cache:
    return Cache(
        level=level,
        kind="data" if level == 1 else "unified",
        size_bytes=1,
        line_bytes=64,
        ways=_USUAL_WAYS,
    )


def _resized(cache: Cache, size_bytes: int, *, beyond: int = 0) -> Cache:
    """Return a cache of about this size with the same ways and lines, and a whole number of sets.

    Capacities are known to a few per cent, so rounding does no harm. The result is larger than the
    caches within it, `beyond`: otherwise the hierarchy could not be simulated.
    """
    a_set = (cache.ways or _USUAL_WAYS) * cache.line_bytes
    step = max(1 << max(size_bytes.bit_length() - _ROUNDED_BITS, 0), a_set)
    n_sets = max(1, round(size_bytes / step) * step // a_set, beyond // a_set + 1 if beyond else 1)
    return replace(cache, size_bytes=n_sets * a_set)
