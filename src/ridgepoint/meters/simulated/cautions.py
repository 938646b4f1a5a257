"""What to doubt in the traffic of simulated caches, whichever engine simulates them."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Traffic
from ridgepoint.core.units import format_si
from ridgepoint.meters import Selection

_SHARE_THAT_MATTERS = 0.01


def apart(n_processes: int) -> Iterable[Caution]:
    """Doubt the traffic of many processes, each of which has caches of its own."""
    if n_processes > 1:
        yield Caution(
            "simulated-apart",
            f"{n_processes} processes were counted, each with simulated caches of its own that "
            "were empty at its start",
            "expect different memory traffic where processes share a cache",
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
                f"at the end {format_si(pending, 'B')} were still dirty in the simulated "
                f"caches, compared with {format_si(part.write_bytes or 0, 'B')} written back: "
                "the traffic does not include them",
                "let the program move much more than its last-level cache holds",
                effect=pending / total if total else None,
                on="dram",
            )


def selected(what: Selection) -> Iterable[Caution]:
    """Say that what was counted alone leaves its dirty lines to others."""
    yield Caution(
        "pending-unknown",
        f"data that {what} wrote and left in the caches is not counted, because whatever needs "
        "the space writes it back later; data of others that it wrote back is counted",
        "let the counted part move much more than the last-level cache holds, or take its "
        "writes with caution",
    )
