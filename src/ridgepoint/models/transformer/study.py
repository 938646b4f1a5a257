"""What follows for a transformer on one kind of device: batches, memory, assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.crossing import Crossing, leaves_memory
from ridgepoint.models.transformer.memory import MemoryNeed, memory_need

USUAL_BATCHES = tuple(1 << power for power in range(11))
"""Batches that are shown where none are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one batch can reach at most.

    Parameters
    ----------
    batch : int
        Sequences of one copy of the model.
    first_s, token_s : float
        Least time to the first token of all answers, and from each token to the next.
    first_limiter, token_limiter : str
        What needs most of them: compute, dram or network.
    first_times_s, token_times_s : dict of str to float
        Seconds of each path, over all stages.
    tokens_per_s : float
        Most tokens per second while tokens are generated, of one copy of the model.
    rate_per_s : float
        The same over whole answers, with the time in which their prompts are read.
    needed_bytes : float
        What the device that holds most must hold.
    fits : bool or None
        Whether it does; None: its memory is not known.
    """

    batch: int
    first_s: float
    token_s: float
    first_limiter: str
    token_limiter: str
    first_times_s: dict[str, float]
    token_times_s: dict[str, float]
    tokens_per_s: float
    rate_per_s: float
    needed_bytes: float
    fits: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """What would follow if one assumption were another.

    Parameters
    ----------
    name : str
    is_own : bool
        Whether it is what was asked for.
    point : Point
    """

    name: str
    is_own: bool
    point: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingStudy:
    """A transformer on one kind of device.

    Parameters
    ----------
    serving : Serving
    points : tuple of Point
        Of each batch.
    memory : MemoryNeed
    crossing : Crossing or None
        The batch at which generating leaves the memory's roof; None: it never does.
    assumptions : tuple of Assumption
        Of the first batch, as it was asked for first.
    """

    serving: Serving
    points: tuple[Point, ...]
    memory: MemoryNeed
    crossing: Crossing | None
    assumptions: tuple[Assumption, ...]

    @property
    def fullest(self) -> Point | None:
        """The largest batch that the memory holds; None: not known, or none fits."""
        most = self.memory.largest_batch
        return points_of(self.serving, [most])[0] if most else None


def serving_study(serving: Serving, batches: Sequence[int] = ()) -> ServingStudy:
    """Return what follows for some batches; none given: powers of two that the memory holds."""
    memory = memory_need(serving)
    chosen = list(batches)
    if not chosen:
        most = memory.largest_batch
        chosen = [batch for batch in USUAL_BATCHES if most is None or batch <= most] or [1]
    return ServingStudy(
        serving=serving,
        points=points_of(serving, chosen),
        memory=memory,
        crossing=leaves_memory(serving),
        assumptions=_assumptions(serving, chosen[0]),
    )


def points_of(serving: Serving, batches: Sequence[int]) -> tuple[Point, ...]:
    """Return what each batch can reach at most."""
    memory = memory_need(serving)
    reading, generating = serving.prefill(batches), serving.decode(batches)
    needed = memory.needed_bytes(batches)
    rates = generating.tokens * serving.generated / serving.whole_s(reading, generating)
    return tuple(
        Point(
            batch=int(batch),
            first_s=float(reading.time_s[at]),
            token_s=float(generating.time_s[at]),
            first_limiter=reading.limiters[at],
            token_limiter=generating.limiters[at],
            first_times_s=reading.times_at(at),
            token_times_s=generating.times_at(at),
            tokens_per_s=float(generating.tokens_per_s[at]),
            rate_per_s=float(rates[at]),
            needed_bytes=float(needed[at]),
            fits=None if memory.memory_bytes is None else bool(needed[at] <= memory.memory_bytes),
        )
        for at, batch in enumerate(np.asarray(batches))
    )


def _assumptions(serving: Serving, batch: int) -> tuple[Assumption, ...]:
    """Return what would follow of one batch if assumptions were others."""
    inference = serving.inference
    others = {
        "as asked": serving,
        "parts one after the other": replace(serving, in_series=True),
        "and no overlap of work, memory and network": replace(
            serving, in_series=True, overlap="none"
        ),
        "each operator reads and writes its activations": replace(
            serving, inference=replace(inference, activations="operators")
        ),
        "the masked half of attention is computed": replace(
            serving,
            inference=replace(inference, model=replace(inference.model, attention="full")),
        ),
        "all sequences choose the same experts": replace(
            serving, inference=replace(inference, routing="least")
        ),
    }
    return tuple(
        Assumption(name=name, is_own=other == serving, point=points_of(other, [batch])[0])
        for name, other in others.items()
        if name == "as asked" or other != serving
        if inference.model.experts > 1 or not name.endswith("experts")
    )
