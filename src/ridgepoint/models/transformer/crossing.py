"""The batch at which generating tokens leaves the roof of the memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.models.transformer import Serving

_MOST = 1 << 22
"""Sequences beyond which nothing is asked: more than any device holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where generating tokens is no longer limited by the memory.

    Parameters
    ----------
    batch : int
        The fewest sequences of one copy of the model; 1: the memory limits no batch.
    limiter : str
        What limits there.
    """

    batch: int
    limiter: str


def leaves_memory(serving: Serving) -> Crossing | None:
    """Return where generating leaves the memory's roof.

    Returns
    -------
    Crossing or None
        None: it never does, since keys and values, which no sequences share, take longer to read
        than to multiply.

    Notes
    -----
    Work grows with every sequence, but weights are read once for all, so that the memory's share
    of the time falls as the batch grows: beyond the last batch that the memory limits, it limits
    none. Where messages between devices have a latency, the network may limit the smallest
    batches, too, before the memory does.
    """
    batches = [1 << power for power in range(_MOST.bit_length())]
    limited = [limiter == "dram" for limiter in serving.decode(batches).limiters]
    if limited[-1]:
        return None
    last = max((at for at, is_limited in enumerate(limited) if is_limited), default=None)
    low, high = (0, 1) if last is None else (batches[last], batches[last + 1])
    while high - low > 1:
        middle = (low + high) // 2
        is_limited = serving.decode(middle).limiters[0] == "dram"
        low, high = (middle, high) if is_limited else (low, middle)
    return Crossing(batch=high, limiter=serving.decode(high).limiters[0])


def batches_up_to(most: int) -> np.ndarray:
    """Return powers of two up to a number, and that number."""
    powers = [1 << power for power in range(most.bit_length()) if 1 << power <= most]
    return np.array(sorted({*powers, most}))
