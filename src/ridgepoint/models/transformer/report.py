"""All that is asked of a transformer on one or several kinds of devices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ridgepoint.core.caution import Caution
from ridgepoint.core.units import format_si
from ridgepoint.demands.training import ELEMENT_BYTES
from ridgepoint.demands.transformer import Transformer
from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.designs import Curve, Design, curves, for_target
from ridgepoint.models.transformer.study import ServingStudy, serving_study

_HELD_BY_GPUS = 256e6
"""Bytes that the last caches of today's GPUs hold at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What devices have to reach together.

    Parameters
    ----------
    rate_per_s : float
        Generated tokens per second, over whole answers.
    within_s, first_within_s : float or None
        Longest time from one token of an answer to the next, and to the first.

    Raises
    ------
    ValueError
        If one is not finite and > 0.
    """

    rate_per_s: float
    within_s: float | None = None
    first_within_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("rate_per_s", "within_s", "first_within_s"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be finite and > 0, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDevices:
    """A transformer on devices of one kind.

    Parameters
    ----------
    study : ServingStudy
        Of the first division of the model that fits; if none does, of the first.
    curves : tuple of Curve
        Of every division that was asked for.
    designs : tuple of Design or None
        Those that reach the target, fewest devices first; empty: none does. None: no target.
    """

    study: ServingStudy
    curves: tuple[Curve, ...]
    designs: tuple[Design, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerReport:
    """A transformer on one or several kinds of devices.

    Parameters
    ----------
    name : str
        Name of the model.
    source : str or None
        Where its dimensions are published; None: they were given.
    machines : tuple of OnDevices
        In the order in which they were given; at least one.
    target : Target or None
    """

    name: str
    source: str | None
    machines: tuple[OnDevices, ...]
    target: Target | None

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Doubts about the result, each once."""
        return tuple(dict.fromkeys(doubt for on in self.machines for doubt in _doubts(on)))

    @property
    def model(self) -> Transformer:
        """The transformer."""
        return self.machines[0].study.serving.inference.model


def report_on(
    servings: Sequence[Serving],
    *,
    name: str,
    source: str | None = None,
    batches: Sequence[int] = (),
    tensors: Sequence[int] = (1,),
    pipelines: Sequence[int] = (1,),
    target: Target | None = None,
) -> TransformerReport:
    """Return what follows for each kind of device.

    Parameters
    ----------
    servings : sequence of Serving
        One for each kind of device, all of one model; at least one.
    name : str
    source : str or None
    batches : sequence of int
        Sequences of a copy of the model; empty: powers of two that the memory holds.
    tensors, pipelines : sequence of int
        Divisions of the model that are compared, and from which `target` may choose.
    target : Target or None

    Raises
    ------
    UnknownCeiling
        If a division needs a network, and a machine has no ceiling of it.
    """
    return TransformerReport(
        name=name,
        source=source,
        machines=tuple(_on(one, batches, tensors, pipelines, target) for one in servings),
        target=target,
    )


def _on(
    serving: Serving,
    batches: Sequence[int],
    tensors: Sequence[int],
    pipelines: Sequence[int],
    target: Target | None,
) -> OnDevices:
    divided = curves(serving, tensors=tensors, pipelines=pipelines)
    designs = None
    if target is not None:
        designs = for_target(
            divided,
            rate_per_s=target.rate_per_s,
            within_s=target.within_s,
            first_within_s=target.first_within_s,
        )
    first = next((curve.serving for curve in divided if curve.designs), serving)
    return OnDevices(study=serving_study(first, batches), curves=divided, designs=designs)


def _doubts(on: OnDevices) -> Iterator[Caution]:
    """Yield what may make the result too good, or too bad."""
    serving = on.study.serving
    inference, machine = serving.inference, serving.machine
    positions, longest = inference.model.positions, serving.prompt + serving.generated
    if positions and longest > positions:
        yield Caution(
            code="too-long",
            seen=f"the model has positions for {positions:,} tokens, and prompt and answer have "
            f"{longest:,}",
            remedy="give fewer with --prompt and --generate",
        )
    stored = inference.weights or inference.precision
    if stored not in ELEMENT_BYTES:
        yield Caution(
            code="stored-type",
            seen=f"weights in {stored} are multiplied in {inference.precision}, at its rate",
            remedy=f"if the device multiplies {stored} itself, work takes less time than here",
        )
    moved = float(np.max(inference.decode(context=serving.mean_context).amount("dram")))
    if not machine.caches and moved < _HELD_BY_GPUS:
        yield Caution(
            code="unknown-caches",
            seen=f"a token needs {format_si(moved, 'B')}, which caches of {machine.name} may hold "
            "in part; their size is not known here",
            remedy="take the times from token to token for what they are without such caches",
        )
    yield from machine.cautions
