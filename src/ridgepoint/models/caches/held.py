"""What the caches of a machine hold together."""

from __future__ import annotations

from ridgepoint.core.machine import Machine


def bytes_held(machine: Machine) -> float:
    """Return the bytes that all caches before memory hold together; 0 where none is known.

    Notes
    -----
    Of caches that several cores share there are as many as the machine's cores need; what one
    level holds counts beside what others hold, so that no machine holds more.
    """
    return sum(
        cache.size_bytes * max(machine.cores / cache.cores, 1.0)
        for cache in machine.caches
        if cache.kind != "instruction"
    )
