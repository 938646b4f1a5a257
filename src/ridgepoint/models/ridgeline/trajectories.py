"""Units of work in a row on the Ridgeline's plane: over the batch, over the nodes, or as named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from ridgepoint.core.amounts import ratio
from ridgepoint.demands.recommendation import RecommendationStep
from ridgepoint.demands.training import Step
from ridgepoint.demands.transformer.training import TransformerStep
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import Placed, Region


class Amounts(NamedTuple):
    """What a unit of work asks of one node.

    Parameters
    ----------
    work : float
        F, flop or BOP.
    memory_bytes, network_bytes, remote_bytes, storage_bytes : float
        B_M, B_N, B_R and B_S.
    """

    work: float
    memory_bytes: float
    network_bytes: float
    remote_bytes: float = 0.0
    storage_bytes: float = 0.0


Variable = Literal["batch", "nodes", "point"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRidge:
    """The unit of work that uses two resources most evenly.

    Parameters
    ----------
    index : int
        Index of the unit of work.
    longest, second : str
        Regions of the two resources, the one that takes longest first.
    ratio : float
        The longest time over the second: 1 is the ridge itself.
    """

    index: int
    longest: Region
    second: Region
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Points of the plane that belong together, in order.

    Parameters
    ----------
    name : str
        Name of what the points have in common; empty if there is only one trajectory.
    variable : {"batch", "nodes", "point"}
        What varies from point to point; ``point``: the points are separate and only have names.
    labels : tuple of str
        Value of that variable, or name, of each point.
    placed : Placed
        Arrays of shape (n,).
    batch, nodes : tuple of (int or None), or None
        Number of nodes of each point; None: no training steps, or the limit of many nodes.
    parts : mapping of str to Placed
        Parts of which each unit of work consists, arrays of shape (n,); empty: it has none.
    runtimes_s : tuple of (float or None), or None
        Time that each unit of work took, measured or given, in seconds; None: not known.
    """

    name: str
    variable: Variable
    labels: tuple[str, ...]
    placed: Placed
    batch: tuple[int, ...] | None = None
    nodes: tuple[int, ...] | None = None
    parts: Mapping[str, Placed] = field(default_factory=dict)
    runtimes_s: tuple[float | None, ...] | None = None

    @property
    def efficiencies(self) -> tuple[float | None, ...]:
        """Share of each runtime that the bound explains; None: the runtime is not known."""
        took = self.runtimes_s or (None,) * len(self.labels)
        least = np.atleast_1d(self.placed.time_s).tolist()
        return tuple(
            None if runtime_s is None else bound / runtime_s
            for runtime_s, bound in zip(took, least, strict=True)
        )

    @property
    def nearest_ridge(self) -> NearestRidge | None:
        """The unit of work nearest to a ridge; None: each demands only one resource."""
        names = list(self.placed.regions)
        times = np.array([np.atleast_1d(self.placed.times_s[name]) for name in names])
        order = np.argsort(-times, axis=0, kind="stable")  # of equals the first, as for the limiter
        longest, second = np.take_along_axis(times, order, axis=0)[:2]
        ratios = np.asarray(ratio(longest, second))
        index = int(np.argmin(ratios))
        if second[index] == 0:
            return None
        return NearestRidge(
            index=index,
            longest=names[order[0, index]],
            second=names[order[1, index]],
            ratio=float(ratios[index]),
        )


def training_trajectories(
    ridgeline: Ridgeline,
    step: Step,
    *,
    batch: Sequence[int],
    nodes: Sequence[int] | None = None,
    strong: bool = False,
) -> tuple[Trajectory, ...]:
    """Return training steps on the plane: over the batch, for every number of nodes.

    Parameters
    ----------
    ridgeline : Ridgeline
    step : Step
    batch : sequence of int
        Batch sizes, at least one. With a single one there is one trajectory, over the nodes.
    nodes : sequence of int or None
        Numbers of nodes; None: the limit of many nodes.
    strong : bool
        Whether the batch is divided over the nodes.

    Raises
    ------
    UnknownCeiling
        If a machine lacks a ceiling.
    ValueError
        If a number is not whole and > 0.
    """
    if len(batch) == 1 and nodes is not None:
        sizes = tuple(batch) * len(nodes)
        return (_over(ridgeline, step, "nodes", batch=sizes, nodes=tuple(nodes), strong=strong),)
    several = nodes is not None and len(nodes) > 1
    return tuple(
        _over(
            ridgeline,
            step,
            "batch",
            batch=tuple(batch),
            nodes=None if count is None else (count,) * len(batch),
            strong=strong,
            name=f"{count} node{'s' * (count != 1)}" if several else "",
        )
        for count in ([None] if nodes is None else nodes)
    )


def _over(
    ridgeline: Ridgeline,
    step: Step,
    variable: Variable,
    *,
    batch: tuple[int, ...],
    nodes: tuple[int, ...] | None,
    strong: bool,
    name: str = "",
) -> Trajectory:
    """Return steps of these batches on as many nodes."""
    sizes, counts = np.array(batch), None if nodes is None else np.array(nodes)
    parts = (
        step.parts(batch=sizes, nodes=counts, strong=strong)
        if isinstance(step, RecommendationStep | TransformerStep)
        else {}
    )
    return Trajectory(
        name=name,
        variable=variable,
        labels=tuple(map(str, nodes if variable == "nodes" and nodes is not None else batch)),
        placed=ridgeline.place_demand(step.demand(batch=sizes, nodes=counts, strong=strong)),
        batch=batch,
        nodes=nodes,
        parts={part: ridgeline.place_demand(demand) for part, demand in parts.items()},
    )


def point_trajectory(
    ridgeline: Ridgeline,
    points: Mapping[str, Amounts | tuple[float, float, float]],
    *,
    runtimes_s: tuple[float | None, ...] | None = None,
) -> Trajectory:
    """Return single units of work on the plane.

    Parameters
    ----------
    ridgeline : Ridgeline
    points : mapping of str to Amounts
        By name; also plain tuples of work [flop or BOP], memory bytes and network bytes of a node.
    runtimes_s : tuple of (float or None), or None
        As in `Trajectory`.

    Raises
    ------
    UnknownCeiling
        If a machine lacks a ceiling.
    ValueError
        If there is no point, or an amount is negative or not finite.
    """
    if not points:
        raise ValueError("points must name at least one")
    columns = np.array([Amounts(*point) for point in points.values()], dtype=np.float64).T
    amounts = dict(zip(Amounts._fields, columns, strict=True))
    # Where no point asks for it, a machine needs no ceiling of it either.
    for name in ("remote_bytes", "storage_bytes"):
        if not amounts[name].any():
            del amounts[name]
    return Trajectory(
        name="",
        variable="point",
        labels=tuple(points),
        placed=ridgeline.place(**amounts),
        runtimes_s=runtimes_s,
    )
