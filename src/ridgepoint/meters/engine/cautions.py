"""What to doubt in counts made by the engine."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.caution import Caution
from ridgepoint.counts import Traffic
from ridgepoint.meters import Selection
from ridgepoint.units import format_si

_SHARE_THAT_MATTERS = 0.01


def threads(most: int, *, cpus: int) -> Iterable[Caution]:
    """Doubt the traffic of many threads: one runs at a time."""
    if most < 2:
        return
    shared = f", and shared {cpus} simulated CPUs" if most > cpus else ""
    yield Caution(
        "threads-serialized",
        f"up to {most} threads were alive at the same time{shared}; Valgrind runs one at a time, "
        "in turns that are much longer than those of a real machine",
        "trust work and instructions; expect other misses where threads share data, and "
        "spinning that differs",
    )


def pending_writes(traffic: Iterable[Traffic]) -> Iterable[Caution]:
    """Say that the writes lack what was still in the caches at the end."""
    for part in traffic:
        pending, total = part.pending_write_bytes, part.total_bytes
        if part.level != "dram" or pending is None or total is None:
            continue
        if pending > _SHARE_THAT_MATTERS * total:
            yield Caution(
                "pending-writes",
                f"{format_si(pending, 'B')} were still dirty in the simulated caches at the end, "
                f"beside {format_si(part.write_bytes or 0, 'B')} written back: they are not in "
                "the traffic",
                "let the program move much more than its last-level cache holds",
                effect=pending / total if total else None,
                on="dram",
            )


def selected(what: Selection) -> Iterable[Caution]:
    """Say that what was counted alone leaves its dirty lines to others."""
    yield Caution(
        "pending-unknown",
        f"what {what} wrote and left in the caches is written back later, by whatever needs the "
        "room, and not counted; what it wrote back for others is",
        "let it move much more than the last-level cache holds, or take the writes with care",
    )
