"""What to doubt in counts made by callgrind alone."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.units import format_si
from ridgepoint.meters.callgrind.geometry import Geometry

_SHARE_THAT_MATTERS = 0.01


def non_temporal(counts: Counts) -> Iterable[Caution]:
    """Doubt the reads if stores went past the caches."""
    if counts.non_temporal_store_bytes:
        stored = format_si(counts.non_temporal_store_bytes, "B")
        yield Caution(
            "non-temporal-stores",
            f"{stored} were stored non-temporally; callgrind simulates these stores as "
            "ordinary ones, which read their cache line first",
            "subtract up to that many bytes from the memory reads",
        )


def threads(n_threads: int) -> Iterable[Caution]:
    """Doubt the traffic of many threads."""
    if n_threads > 1:
        yield Caution(
            "threads-serialized",
            f"at least {n_threads} threads ran at the same time; Valgrind runs one at a time, and "
            "all of them on one simulated first-level cache",
            "trust work and instructions; expect the misses and the spinning to differ from a "
            "native run",
        )


def pending_writes(
    traffic: Iterable[Traffic], *, geometry: Geometry, n_processes: int
) -> Iterable[Caution]:
    """Doubt the writes if much may still have been in the caches at the end."""
    for part in traffic:
        if part.level != "dram" or part.total_bytes is None:
            continue
        written = part.write_bytes or 0
        most = min(geometry.last.size_bytes * n_processes, max(0, part.read_bytes - written))
        if most > _SHARE_THAT_MATTERS * part.total_bytes:
            yield Caution(
                "pending-writes",
                "callgrind does not report how many lines were still dirty at the end: at most "
                f"{format_si(most, 'B')}, compared with {format_si(written, 'B')} written back",
                "let the program move much more than its last-level cache holds",
                effect=most / part.total_bytes if part.total_bytes else None,
                on="dram",
            )
