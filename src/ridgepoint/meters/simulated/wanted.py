"""Which caches of a machine are simulated, and where those that are differ from them."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.core.units import format_size


def data_caches(caches: Sequence[Cache]) -> list[Cache]:
    """Return the data and unified caches of a machine, from L1 outwards.

    Raises
    ------
    CannotMeasure
        If there are none.
    """
    data = sorted((c for c in caches if c.kind != "instruction"), key=lambda cache: cache.level)
    if not data:
        raise CannotMeasure(
            "cannot simulate caches",
            reason="the machine's caches are not known",
            remedy="describe the caches: --cache l1=32k:8,l2=1m:8,l3=32m:16",
        )
    return data


def instruction_cache(caches: Sequence[Cache]) -> Cache | None:
    """Return the first level for instructions, or None if it is not known."""
    return next((c for c in caches if (c.kind, c.level) == ("instruction", 1)), None)


def changes(
    asked: Sequence[Cache], used: Sequence[Cache], *, knows_instructions: bool
) -> list[str]:
    """Return, in words, where the caches that are simulated are not those that were asked for."""
    differences = [
        f"L{one.level} {one.kind} {_shape(one)} as {_shape(other)}"
        for one, other in zip(asked, used, strict=True)
        if _shape(one) != _shape(other)
    ]
    if not knows_instructions:
        differences.append("an L1 instruction cache like the data cache")
    return differences


def _shape(cache: Cache) -> str:
    ways = "? ways" if cache.ways is None else f"{cache.ways} ways"
    return f"{format_size(cache.size_bytes)}, {ways}, {cache.line_bytes} B lines"
