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
        The fewest sequences of one copy of the model.
    limiter : str
        What limits from there on.
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
    Work grows with every sequence, but weights are read once for all. Their share of the time
    falls as the batch grows, so that there is one crossing at most.
    """
    batches = [1 << power for power in range(_MOST.bit_length())]
    limiters = serving.decode(batches).limiters
    beyond = next((at for at, limiter in enumerate(limiters) if limiter != "dram"), None)
    if beyond is None:
        return None
    low, high = (batches[beyond - 1], batches[beyond]) if beyond else (0, 1)
    while high - low > 1:
        middle = (low + high) // 2
        is_beyond = serving.decode(middle).limiters[0] != "dram"
        low, high = (low, middle) if is_beyond else (middle, high)
    return Crossing(batch=high, limiter=serving.decode(high).limiters[0])


def batches_up_to(most: int) -> np.ndarray:
    """Return powers of two up to a number, and that number."""
    powers = [1 << power for power in range(most.bit_length()) if 1 << power <= most]
    return np.array(sorted({*powers, most}))
