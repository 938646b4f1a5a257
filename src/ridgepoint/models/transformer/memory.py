"""What devices must hold to generate tokens: weights, keys and values, activations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Array
from ridgepoint.models.transformer import Serving


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNeed:
    """What the device that holds most must hold.

    Parameters
    ----------
    weights_bytes : float
    cache_bytes : float
        Keys and values of one sequence at its longest.
    activations_bytes : float
        While it reads one prompt, which needs most.
    memory_bytes : float or None
        What the device has; None: not known.
    """

    weights_bytes: float
    cache_bytes: float
    activations_bytes: float
    memory_bytes: float | None

    def needed_bytes(self, batch: npt.ArrayLike) -> Array:
        """Return what some sequences need together."""
        fixed = self.weights_bytes + self.activations_bytes
        return np.asarray(fixed + np.multiply(batch, self.cache_bytes))

    @property
    def largest_batch(self) -> int | None:
        """Sequences of one copy of the model that fit; 0: not even its weights. None: unknown."""
        if self.memory_bytes is None:
            return None
        left = self.memory_bytes - self.weights_bytes - self.activations_bytes
        return max(math.floor(left / self.cache_bytes), 0)


def memory_need(serving: Serving) -> MemoryNeed:
    """Return what the device of a serving that holds most must hold.

    Notes
    -----
    Programs need more: copies, buffers of communication, memory that their allocator cannot use.
    """
    inference = serving.inference
    longest = serving.prompt + serving.generated
    if serving.context is not None:
        longest = max(longest, serving.context + 1)
    needs = [
        (inference.held_weights(stage), float(inference.held_cache(stage, tokens=longest)))
        for stage in dict.fromkeys(inference.stages)
    ]
    weights_bytes, cache_bytes = max(needs, key=sum)
    memory_bytes = serving.memory_bytes
    if memory_bytes is None and serving.machine.host.memory_bytes is not None:
        memory_bytes = float(serving.machine.host.memory_bytes)
    return MemoryNeed(
        weights_bytes=weights_bytes,
        cache_bytes=cache_bytes,
        activations_bytes=float(inference.held_activations(tokens=serving.prompt)),
        memory_bytes=memory_bytes,
    )
