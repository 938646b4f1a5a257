"""Ways to divide a transformer over devices, and how many devices a target needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.crossing import batches_up_to
from ridgepoint.models.transformer.memory import memory_need

_MOST_BATCH, _UNKNOWN_BATCH = 1 << 20, 4096
"""Sequences of a copy that are tried at most: where the memory is known, and where it is not."""

_SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One way to divide a model over devices, with one batch.

    Parameters
    ----------
    tensor, pipeline : int
        Devices over which matrices, and layers, are divided.
    copies : int
        Copies of the model (data parallelism).
    batch : int
        Sequences of each copy.
    first_s, token_s : float
        Least time to the first token, and from each token to the next.
    rate_per_s : float
        Most generated tokens per second of all copies, over whole answers.
    limiter : str
        What needs most of `token_s`.
    """

    tensor: int
    pipeline: int
    copies: int
    batch: int
    first_s: float
    token_s: float
    rate_per_s: float
    limiter: str

    @property
    def devices(self) -> int:
        """Devices of all copies."""
        return self.tensor * self.pipeline * self.copies

    @property
    def rate_of_device_per_s(self) -> float:
        """Generated tokens per second of one device."""
        return self.rate_per_s / self.devices


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One division of a model over devices, for batches that the memory holds.

    Parameters
    ----------
    serving : Serving
    designs : tuple of Design
        One copy, smallest batch first; empty: not even one sequence fits.
    """

    serving: Serving
    designs: tuple[Design, ...]


def curves(
    serving: Serving, *, tensors: Sequence[int], pipelines: Sequence[int]
) -> tuple[Curve, ...]:
    """Return every division of a model that its heads and layers allow."""
    model = serving.inference.model
    return tuple(
        _curve(replace(serving, inference=replace(serving.inference, tensor=t, pipeline=p)))
        for t in tensors
        for p in pipelines
        if t <= model.heads and p <= model.layers
    )


def _curve(serving: Serving) -> Curve:
    most = memory_need(serving).largest_batch
    if most == 0:
        return Curve(serving=serving, designs=())
    batches = batches_up_to(_UNKNOWN_BATCH if most is None else min(most, _MOST_BATCH))
    reading, generating = serving.prefill(batches), serving.decode(batches)
    rates = batches * serving.generated / serving.whole_s(reading, generating)
    return Curve(
        serving=serving,
        designs=tuple(
            Design(
                tensor=serving.inference.tensor,
                pipeline=serving.inference.pipeline,
                copies=1,
                batch=int(batch),
                first_s=float(reading.time_s[at]),
                token_s=float(generating.time_s[at]),
                rate_per_s=float(rates[at]),
                limiter=generating.limiters[at],
            )
            for at, batch in enumerate(batches)
        ),
    )


def for_target(
    found: Sequence[Curve],
    *,
    rate_per_s: float,
    within_s: float | None = None,
    first_within_s: float | None = None,
) -> tuple[Design, ...]:
    """Return the fewest devices that reach a rate, and what more devices gain.

    Parameters
    ----------
    found : sequence of Curve
    rate_per_s : float
        Generated tokens per second of all copies together, over whole answers; > 0.
    within_s, first_within_s : float or None
        Longest time from token to token, and to the first token.

    Returns
    -------
    tuple of Design
        Fewest devices first; each further one has less time between tokens than all before it.
        Empty: no design meets the limits of time.

    Raises
    ------
    ValueError
        If the rate is not finite and > 0.

    Notes
    -----
    These are least devices: no program reaches the rate with fewer.
    """
    if not (np.isfinite(rate_per_s) and rate_per_s > 0):
        raise ValueError(f"rate_per_s must be finite and > 0, got {rate_per_s!r}")
    enough = [
        replace(design, copies=copies, rate_per_s=design.rate_per_s * copies)
        for curve in found
        for design in curve.designs
        if within_s is None or design.token_s <= within_s
        if first_within_s is None or design.first_s <= first_within_s
        for copies in [max(math.ceil(rate_per_s / design.rate_per_s - _SAME), 1)]
    ]
    return tuple(_front(sorted(enough, key=lambda one: (one.devices, one.token_s, one.first_s))))


def _front(designs: Sequence[Design]) -> Iterator[Design]:
    best_s = math.inf
    for design in designs:
        if design.token_s < best_s * (1 - _SAME):
            best_s = design.token_s
            yield design
