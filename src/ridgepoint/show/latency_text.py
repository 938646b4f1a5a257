"""Latency over the size of a working set, and the caches in it, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.units import format_si, format_size, format_size_roughly
from ridgepoint.models.caches.capacity import in_words
from ridgepoint.show.words import machine_title, printable, shown_place


def require_latency(machine: Machine) -> None:
    """Refuse a machine whose latency over size was not measured.

    Raises
    ------
    RidgepointError
        If it was not.
    """
    if not machine.latency_curves:
        raise RidgepointError(
            f"cannot draw the latency over size of {printable(machine.name)!r}",
            reason=(
                "it was not measured: the machine is published, or was kept by an earlier version"
            ),
            remedy="measure the machine with 'ridgepoint machine', then give its number",
        )


def latency_title(machine: Machine) -> str:
    """Return what is shown, and of which machine, in two lines."""
    return f"Time per access over the working set\n{machine_title(machine)}"


def curve_name(curve: LatencyCurve) -> str:
    """Return on how many cores a curve was measured."""
    own = "" if curve.threads == 1 else ", each in memory of its own"
    return f"{shown_place(curve.threads, None)}{own}"


def cache_name(cache: Cache, stated: Cache | None) -> str:
    """Return the level of a cache and the size that counts."""
    is_stated = stated is None or stated.size_bytes == cache.size_bytes
    shown = format_size if is_stated else format_size_roughly
    return f"L{cache.level} {shown(cache.size_bytes)}"


def latency_notes(machine: Machine) -> Iterator[str]:
    """Yield what is doubtful about the sizes of caches, and where the memory lay."""
    for caution in machine.cautions:
        if caution.code in {"cache-capacity", "cache-contradicted", "caches-measured"}:
            yield f"{caution.seen[:1].upper()}{caution.seen[1:]}."
    for curve in machine.latency_curves:
        if curve.huge_share is not None and curve.huge_share < 1:
            yield f"{curve.huge_share:.0%} of the memory lay on huge pages."
            break


def shown_capacity(capacity: Capacity | None) -> str:
    """Return a measured capacity, its interval below; blank where it was not told."""
    return "" if capacity is None else in_words(capacity).replace(" (", "\n(")


def latency_rows(machine: Machine) -> list[tuple[Cache, Cache | None, list[Capacity]]]:
    """Return each data cache, what the system says of it, and its measured capacities."""
    stated = {c.level: c for c in machine.stated_caches or () if c.kind != "instruction"}
    return [
        (
            cache,
            stated.get(cache.level),
            [c for c in machine.capacities if c.level == cache.level],
        )
        for cache in machine.caches
        if cache.kind != "instruction"
    ]


def shown_latency(latency_s: float) -> str:
    """Return a time per access."""
    return format_si(latency_s, "s", digits=3)
