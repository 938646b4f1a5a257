"""What to doubt in counts made by the engine."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.caution import Caution


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
        "spinning that differs from a native run",
    )
