"""Measured training steps over the batch of each node, against the model: a chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ridgepoint.core.bound import bound
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.demands.training import TrainingStep
from ridgepoint.show.axes import log_ticks
from ridgepoint.show.chart import Axis, Chart, Entry, Ink, Label, Line, LineKind, Mark, Shape
from ridgepoint.suites.distributed import NodeRates

_POINTS = 200
_MARGIN = 1.4
_PARTS = ("compute", "network")
_MEASURED: dict[str, tuple[str, Shape, Ink]] = {
    "step": ("measured step", "circle", "ink"),
    "compute": ("its computing", "square", "compute"),
    "network": ("its network", "triangle", "network"),
}
_MODELLED: dict[str, tuple[str, LineKind, Ink]] = {
    "compute": ("model: computing", "curve", "compute"),
    "network": ("model: network", "curve", "network"),
    "none": ("model: one after the other", "curve", "ink"),
    # Upon one of the first two, wherever it is.
    "full": ("model: all at once", "second", "ink"),
}


def steps_chart(
    step: TrainingStep,
    rates: NodeRates,
    *,
    nodes: int,
    measured: dict[str, dict[int, Sequence[float]]],
) -> Chart:
    """Return the chart of a sweep over batches.

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
    demand = step.demand(batch=dense, nodes=nodes)
    none, full = (bound(demand, rates.node, overlap=overlap) for overlap in ("none", "full"))
    parts = {name: np.broadcast_to(none.times_s[name], dense.shape) for name in _PARTS}
    times = {**parts, "none": none.time_s, "full": full.time_s}
    curves = [_curve(name, dense, times[name]) for name in _MODELLED]
    marks = [mark for name in _MEASURED for mark in _marks(name, measured[name])]
    heights = [height for curve in curves for _, height in curve.places]
    heights += [mark.at[1] for mark in marks]
    y_limits = (min(heights) / _MARGIN, max(heights) * _MARGIN)
    crossing = float(np.interp(0.0, np.log(parts["compute"] / parts["network"]), dense))
    link = format_si(float(rates.node.rate("network")), "B/s", digits=3)
    return Chart(
        title="Training step over the batch of each node",
        subtitle=f"{nodes} nodes, layers {', '.join(map(str, step.layers))}, {step.precision}, "
        f"{step.algorithm}; a node's ceilings, measured: "
        f"{format_si(rates.flop_per_s, 'flop/s', digits=3)}, {link} each way",
        x=Axis(
            label="Batch of each node [samples]",
            limits=(dense[0], dense[-1]),
            ticks=tuple((float(batch), f"{batch:,}") for batch in batches),
        ),
        y=Axis(
            label="Time of one step",
            limits=y_limits,
            ticks=log_ticks(y_limits, lambda seconds: format_si(seconds, "s")),
        ),
        lines=(_crossing(crossing, y_limits), *curves),
        marks=tuple(marks),
        key=tuple(_key()),
        height=0.62,
    )


def _curve(name: str, batches: npt.NDArray[np.float64], times_s: npt.ArrayLike) -> Line:
    label, kind, ink = _MODELLED[name]
    times = np.broadcast_to(times_s, batches.shape)
    places = tuple(zip(batches.tolist(), times.tolist(), strict=True))
    return Line(kind=kind, places=places, ink=ink, name=label)


def _marks(name: str, samples: dict[int, Sequence[float]]) -> list[Mark]:
    """Return the medians of what was timed, with their quartiles."""
    label, shape, ink = _MEASURED[name]
    estimates = {batch: Estimate(samples[batch]) for batch in sorted(samples)}
    return [
        Mark(
            at=(float(batch), estimate.median),
            shape=shape,
            ink=ink,
            face="hollow",
            y_interval=(estimate.q1, estimate.q3),
            name=f"{label}, batch {batch:,}",
            summary=format_si(estimate.median, "s", digits=3),
        )
        for batch, estimate in estimates.items()
    ]


def _crossing(batch: float, y_limits: tuple[float, float]) -> Line:
    """Return the batch at which computing and network take equally long, by the model."""
    name = f"equal at {batch:,.0f}"
    places = tuple((batch, height) for height in y_limits)
    return Line(kind="size", places=places, label=Label(text=name), name=name)


def _key() -> list[Entry]:
    return [
        *(
            Entry(text=label, line=kind, ink=ink, is_abreast=True)
            for label, kind, ink in _MODELLED.values()
        ),
        *(
            Entry(text=label, shape=shape, ink=ink, face="hollow", is_abreast=True)
            for label, shape, ink in _MEASURED.values()
        ),
    ]
