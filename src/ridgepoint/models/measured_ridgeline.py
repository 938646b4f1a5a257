"""Measured programs on the Ridgeline of any machine, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ridgepoint.core.bound import Overlap, bound_known
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.distributed import node_demand, stacked
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.models.work import Metric, demand_of

_NEEDED = {
    "compute": "it has no work of this kind, or not all of it is known",
    "dram": "its traffic is not known",
    "network": "the bytes over the network are not known",
}
"""Paths of which every node's amount must be known, and what is said where it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredNode:
    """A node of a measured program, as a unit of work.

    Parameters
    ----------
    name : str
        Name of the program, and of the host where it ran on several.
    demand : Demand
        Work, traffic at DRAM and bytes over the network of this node.
    runtime_s : float or None
        Time of the program: that of its slowest rank; None: not timed.
    """

    name: str
    demand: Demand
    runtime_s: float | None


def measured_nodes(
    programs: Mapping[str, Measurement], *, metric: Metric = "flop"
) -> tuple[MeasuredNode, ...]:
    """Return every node of several measured programs, in order.

    Parameters
    ----------
    programs : mapping of str to Measurement
        By name. A program of a single process exchanges nothing over the network.
    metric : {"flop", "bop"}

    Raises
    ------
    ValueError
        If an amount of a node is not known; the message names the program.
    """
    nodes = []
    for name, measurement in programs.items():
        timed, whole = measurement.timed, measurement.distributed
        runtime_s = None if timed is None else timed.runtime_s.median
        demands = (
            {name: _of_one(measurement, metric)}
            if whole is None
            else {
                f"{name} {node.host}" if len(whole.nodes) > 1 else name: node_demand(
                    measurement, node, metric
                )
                for node in whole.nodes
            }
        )
        for label, demand in demands.items():
            paths = {RESOURCES[resource].path for resource in demand.amounts}
            for path, why in _NEEDED.items():
                if path not in paths:
                    raise ValueError(f"{label} has no place on the Ridgeline: {why}")
            nodes.append(MeasuredNode(name=label, demand=demand, runtime_s=runtime_s))
    return tuple(nodes)


def measured_on_ridgeline(
    nodes: Sequence[MeasuredNode], machines: tuple[Machine, ...], *, overlap: Overlap = "full"
) -> tuple[Ridgeline, Trajectory, dict[str, float]]:
    """Return measured nodes on the Ridgeline of machines, with all cores of each node.

    Parameters
    ----------
    nodes : sequence of MeasuredNode
    machines : tuple of Machine
        At least one; nodes that differ, as for `Ridgeline`.
    overlap : {"full", "none"} or float

    Returns
    -------
    Ridgeline
        Its work is what the nodes do most of, among what the machines have a ceiling of.
    Trajectory
        Separate points, one for each node.
    dict of str to float
        Amounts of all nodes together for which a machine has no ceiling, by resource: they are
        left out, as of the bound.

    Raises
    ------
    ValueError
        If a machine has no ceiling for most work of the nodes, or for most of their traffic.
    """
    whole = stacked([node.demand for node in nodes])
    left_out = {
        name: float(np.sum(whole.amounts[name]))
        for machine in machines
        for name in _left_out(whole, machine)
    }
    kept = {name: amount for name, amount in whole.amounts.items() if name not in left_out}

    def whole_of(path: str) -> float:
        return float(sum(np.sum(kept[name]) for name in kept if RESOURCES[name].path == path))

    done = {
        name: float(np.sum(amount))
        for name, amount in kept.items()
        if RESOURCES[name].path == "compute"
    }
    for path in ("compute", "dram"):
        lacking = [name for name in left_out if RESOURCES[name].path == path]
        if sum(left_out[name] for name in lacking) > whole_of(path):
            raise ValueError(f"a machine has no ceiling of {', '.join(lacking)}")
    ridgeline = Ridgeline(
        machines=machines, work=max(done, key=lambda name: done[name]), overlap=overlap
    )
    return (
        ridgeline,
        Trajectory(
            name="",
            variable="point",
            labels=tuple(node.name for node in nodes),
            placed=ridgeline.place_demand(Demand(kept)),
            runtimes_s=tuple(node.runtime_s for node in nodes),
        ),
        left_out,
    )


def _of_one(measurement: Measurement, metric: Metric) -> Demand:
    """Return what a program of one machine asks for at the resources of the plane."""
    asked = demand_of(measurement, metric).amounts
    own = {
        name: amount
        for name, amount in asked.items()
        if RESOURCES[name].path in ("compute", "dram")
    }
    return Demand({**own, "network": 0.0})


def _left_out(demand: Demand, machine: Machine) -> tuple[str, ...]:
    least = bound_known(demand, machine)
    return tuple(demand.amounts) if least is None else least.left_out
