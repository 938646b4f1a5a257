"""Measured training steps over the batch of each node, against the model: a figure as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ridgepoint.core.bound import bound
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.demands.training import TrainingStep
from ridgepoint.suites.distributed import NodeRates

_POINTS = 200
_MARGIN = 1.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Medians that were measured.

    Parameters
    ----------
    label : str
    batches : tuple of float
    times_s, low_s, high_s : tuple of float
        Medians and quartiles.
    """

    label: str
    batches: tuple[float, ...]
    times_s: tuple[float, ...]
    low_s: tuple[float, ...]
    high_s: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What the model says.

    Parameters
    ----------
    label : str
    role : {"none", "full", "compute", "network"}
    batches, times_s : tuple of float
    """

    label: str
    role: str
    batches: tuple[float, ...]
    times_s: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsFigure:
    """Step times over batch sizes.

    Parameters
    ----------
    title, subtitle : str
    dots : tuple of Dots
        Whole steps first, then their parts.
    curves : tuple of Curve
    crossing : float
        The batch at which computing and network take equally long, by the model.
    """

    title: str
    subtitle: str
    dots: tuple[Dots, ...]
    curves: tuple[Curve, ...]
    crossing: float


def steps_figure(
    step: TrainingStep,
    rates: NodeRates,
    *,
    nodes: int,
    measured: dict[str, dict[int, Sequence[float]]],
) -> StepsFigure:
    """Return the figure of a sweep over batches.

    Parameters
    ----------
    step : TrainingStep
    rates : NodeRates
        Of which the curves are made; with a link.
    nodes : int
    measured : dict of str to dict of int to sequence of float
        By what was timed (``step``, ``compute``, ``network``) and batch of each node: seconds.
    """
    batches = sorted(measured["step"])
    spread = np.geomspace(batches[0] / _MARGIN, batches[-1] * _MARGIN, _POINTS)
    dense = np.unique(np.round(spread).clip(1))
    node = rates.node
    demand = step.demand(batch=dense, nodes=nodes)
    none, full = (bound(demand, node, overlap=overlap) for overlap in ("none", "full"))
    lines = {
        "none": ("model: one after the other", none.time_s),
        "full": ("model: all at once", full.time_s),
        "compute": ("model: computing", none.times_s["compute"]),
        "network": ("model: network", none.times_s["network"]),
    }
    compute, network = (np.broadcast_to(none.times_s[one], dense.shape) for one in _PARTS)
    return StepsFigure(
        title="Training step over the batch of each node",
        subtitle=f"{nodes} nodes, layers {', '.join(map(str, step.layers))}, {step.precision}, "
        f"{step.algorithm}; a node's ceilings, measured: "
        f"{format_si(rates.flop_per_s, 'flop/s', digits=3)}, "
        f"{format_si(float(node.rate('network')), 'B/s', digits=3)} each way",
        dots=tuple(_dots(name, measured[name]) for name in ("step", *_PARTS)),
        curves=tuple(
            Curve(
                label=label, role=role, batches=tuple(dense.tolist()),
                times_s=tuple(np.broadcast_to(times, dense.shape).tolist()),
            )
            for role, (label, times) in lines.items()
        ),
        crossing=float(np.interp(0.0, np.log(compute / network), dense)),
    )  # fmt: skip


_PARTS = ("compute", "network")


def _dots(name: str, samples: dict[int, Sequence[float]]) -> Dots:
    found = {batch: Estimate(samples[batch]) for batch in sorted(samples)}
    return Dots(
        label={"step": "measured step", "compute": "its computing", "network": "its network"}[name],
        batches=tuple(map(float, found)),
        times_s=tuple(one.median for one in found.values()),
        low_s=tuple(one.q1 for one in found.values()),
        high_s=tuple(one.q3 for one in found.values()),
    )
