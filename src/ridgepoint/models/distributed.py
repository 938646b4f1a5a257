"""Limits of a distributed program: its nodes on the Ridgeline, and its ranks' time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ridgepoint.core.bound import Bound, bound_known
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.ranks import Distributed, RankNode
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.derived import nodes_together
from ridgepoint.models.placement import cores_that_apply
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.models.thresholds import FAR_BELOW, NEAR
from ridgepoint.models.work import Metric, work_by_resource

Limit = Literal["compute", "memory", "network", "load imbalance", "waiting", "MPI", "ranks"]
"""``waiting``: for messages that take longer than the network needs for their bytes. ``MPI``: the
network or waiting; its rate is not known. ``ranks``: their work, which no ceiling explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Division of the slowest rank's time; the three parts add up to it.

    Parameters
    ----------
    outside_s : float
        Mean time outside MPI over ranks: the time outside if all ranks had equal work.
    imbalance_s : float
        Excess over that mean of the rank that is outside MPI longest.
    inside_s : float
        The rest: the time inside MPI of a rank for which no other rank waits.
    """

    outside_s: float
    imbalance_s: float
    inside_s: float

    @property
    def runtime_s(self) -> float:
        """Sum of the three parts."""
        return self.outside_s + self.imbalance_s + self.inside_s


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBound:
    """The least time of a node for the demand of its ranks.

    Parameters
    ----------
    host : str
    bound : Bound or None
        Bound if all nodes were like it. None: the machine has no ceiling for its demand.
    """

    host: str
    bound: Bound | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The limit of a distributed program, as far as the numbers show it.

    Parameters
    ----------
    limit : Limit or None
        The limit; None: the numbers do not show it.
    division : Division or None
        None: not timed, or MPI was not profiled.
    nodes : tuple of NodeBound
    network_s : float or None
        Least time of the network for the bytes of the node that moved most; None: not known.
    """

    limit: Limit | None
    division: Division | None
    nodes: tuple[NodeBound, ...]
    network_s: float | None


def machine_for(measurement: Measurement, machine: Machine) -> Machine:
    """Return the machine that bounds a measurement: one node, or all its nodes together."""
    if measurement.distributed is None:
        return machine
    return nodes_together(machine, len(measurement.distributed.nodes))


def division(whole: Distributed) -> Division | None:
    """Return the division of the slowest rank's time; None: it is not known."""
    outside = [rank.outside_mpi_s for rank in whole.ranks]
    known = [seconds for seconds in outside if seconds is not None]
    runtimes = [rank.runtime_s.median for rank in whole.ranks if rank.runtime_s is not None]
    if len(known) < len(outside) or not known:
        return None
    mean, longest = sum(known) / len(known), max(known)
    return Division(
        outside_s=mean, imbalance_s=longest - mean, inside_s=max(0.0, max(runtimes) - longest)
    )


def judge(measurement: Measurement, machine: Machine, *, metric: Metric = "flop") -> Verdict:
    """Return the limit of a distributed program.

    Parameters
    ----------
    measurement : Measurement
        Measurement of several ranks.
    machine : Machine
        All its nodes as one machine (`nodes_together`).
    metric : {"flop", "bop"}

    Raises
    ------
    ValueError
        If the measurement is of one program on one machine.
    """
    whole = _of_ranks(measurement)
    nodes = tuple(_bounded(measurement, machine, metric))
    network = [
        float(node.bound.times_s["network"])
        for node in nodes
        if node.bound is not None and "network" in node.bound.times_s
    ]
    network_s: float | None = None
    if not whole.crosses_network:
        network_s = 0.0
    elif len(network) == len(nodes):
        network_s = max(network)
    split = division(whole)
    return Verdict(
        limit=_limit(split, nodes, network_s), division=split, nodes=nodes, network_s=network_s
    )


def _limit(
    split: Division | None, nodes: tuple[NodeBound, ...], network_s: float | None
) -> Limit | None:
    if split is None or split.runtime_s <= 0:
        return None
    lost_s = split.imbalance_s + split.inside_s
    if lost_s < NEAR * split.runtime_s:
        return _limit_outside(split, nodes)
    if split.imbalance_s >= split.inside_s:
        return "load imbalance"
    if network_s is None:
        return "MPI"
    return "network" if network_s >= NEAR * split.inside_s else "waiting"


def _limit_outside(split: Division, nodes: tuple[NodeBound, ...]) -> Limit:
    """Return the limit of ranks that spend most of the time outside MPI."""
    times: dict[str, float] = {}
    for node in nodes:
        for path, seconds in ({} if node.bound is None else node.bound.times_s).items():
            if path != "network":
                times[path] = max(times.get(path, 0.0), float(seconds))
    longest = max(times, key=lambda path: times[path], default="")
    if not longest or times[longest] < FAR_BELOW * split.outside_s:
        return "ranks"
    return "compute" if longest == "compute" else "memory"


def why_no_ridgeline(
    measurement: Measurement, machine: Machine, *, metric: Metric = "flop"
) -> str | None:
    """Return why a distributed program cannot be placed on the Ridgeline; None: it can.

    Parameters
    ----------
    measurement : Measurement
        Measurement of several ranks.
    machine : Machine
        All its nodes as one machine (`nodes_together`).
    metric : {"flop", "bop"}
    """
    ranks = _of_ranks(measurement).ranks
    for what, unknown in (
        ("work", [rank.rank for rank in ranks if rank.counts is None]),
        ("traffic", [r.rank for r in ranks if all(part.level != "dram" for part in r.traffic)]),
    ):
        if 0 < len(unknown) < len(ranks):
            return f"the {what} of rank {', '.join(map(str, unknown))} is not known"
    needed = _needed(measurement, metric)
    missing = without_ceiling(measurement, machine, metric=metric)
    by_path: dict[str, list[str]] = {}
    for name in sorted(needed):
        by_path.setdefault(RESOURCES[name].path, []).append(name)
    served = {RESOURCES[name].path for name in needed if name not in missing}

    def amount_of(path: str) -> float:
        nodes = _of_ranks(measurement).nodes
        return float(
            sum(float(node_demand(measurement, node, metric).amount(path)) for node in nodes)
        )

    for path, what in (
        ("network", "the bytes over the network are not known"),
        ("dram", "the traffic is not known"),
        ("compute", "there is no work of this kind"),
    ):
        if path not in by_path:
            return what
        lacking = sum(missing.get(name, 0.0) for name in by_path[path])
        if path not in served or lacking > amount_of(path) - lacking:
            named = ", ".join(name for name in by_path[path] if name in missing)
            return f"{machine.name!r} has no {path} ceiling ({named})"
    return None


def without_ceiling(
    measurement: Measurement, machine: Machine, *, metric: Metric = "flop"
) -> dict[str, float]:
    """Return what a distributed program asks for and the machine has no ceiling of, by resource.

    Parameters
    ----------
    measurement : Measurement
        Measurement of several ranks.
    machine : Machine
        All its nodes as one machine (`nodes_together`).
    metric : {"flop", "bop"}

    Returns
    -------
    dict of str to float
        Amounts of all nodes together, in the resources' units. The Ridgeline leaves them out, as
        the bound does: a program of fp32 does a few flop in fp64 when it starts.
    """
    whole = stacked(
        [node_demand(measurement, node, metric) for node in _of_ranks(measurement).nodes]
    )
    known = {name: whole.amounts[name] for name in _needed(measurement, metric)}
    least = bound_known(Demand(known), machine) if known else None
    missing = known if least is None else least.left_out
    return {name: float(np.sum(known[name])) for name in missing}


def nodes_on_ridgeline(
    measurement: Measurement, machine: Machine, *, metric: Metric = "flop"
) -> tuple[Ridgeline, Trajectory]:
    """Return every node on the Ridgeline of its machine.

    Parameters
    ----------
    measurement : Measurement
        Measurement of several ranks.
    machine : Machine
        All its nodes as one machine (`nodes_together`): the plane's intensities are the same, and
        each node's amounts are multiplied as if all nodes were like it.
    metric : {"flop", "bop"}

    Raises
    ------
    ValueError
        If it cannot be placed there (`why_no_ridgeline`).
    """
    reason = why_no_ridgeline(measurement, machine, metric=metric)
    if reason is not None:
        raise ValueError(f"measurement must have a place on the Ridgeline: {reason}")
    whole = _of_ranks(measurement)
    missing = without_ceiling(measurement, machine, metric=metric)
    demands = [
        Demand({name: amount for name, amount in asked.amounts.items() if name not in missing})
        for asked in (node_demand(measurement, node, metric) for node in whole.nodes)
    ]
    work: dict[str, float] = {}
    for demand in demands:
        for name, amount in demand.amounts.items():
            if RESOURCES[name].path == "compute":
                work[name] = work.get(name, 0.0) + float(amount)
    ridgeline = Ridgeline(
        machines=(machine,),
        work=max(work, key=lambda name: work[name]),
        cores=_cores(measurement, machine),
    )
    return ridgeline, Trajectory(
        name="",
        variable="point",
        labels=tuple(node.host for node in whole.nodes),
        placed=ridgeline.place_demand(stacked(demands) * len(whole.nodes)),
    )


def _needed(measurement: Measurement, metric: Metric) -> set[str]:
    """Return the resources that the nodes together ask for, with a known amount on every node."""
    demands = [node_demand(measurement, node, metric) for node in _of_ranks(measurement).nodes]
    names = {name for demand in demands for name in demand.amounts}
    if any("network" not in demand.amounts for demand in demands):
        names.discard("network")
    return names


def stacked(demands: list[Demand]) -> Demand:
    """Return several demands as one of arrays; what one does not name is 0 there."""
    names = dict.fromkeys(name for demand in demands for name in demand.amounts)
    return Demand(
        {name: np.array([demand.amounts.get(name, 0.0) for demand in demands]) for name in names}
    )


def _of_ranks(measurement: Measurement) -> Distributed:
    if measurement.distributed is None:
        raise ValueError("the measurement must be of several ranks")
    return measurement.distributed


def _cores(measurement: Measurement, machine: Machine) -> float:
    """Return the number of busy cores of all nodes together."""
    if measurement.timed is None:
        ranks = len(_of_ranks(measurement).ranks)
        return float(min(ranks, machine.cores))
    return cores_that_apply(measurement.timed.cores_busy, machine.cores)


def _bounded(measurement: Measurement, machine: Machine, metric: Metric) -> Iterator[NodeBound]:
    whole = _of_ranks(measurement)
    cores = _cores(measurement, machine)
    for node in whole.nodes:
        demand = node_demand(measurement, node, metric) * len(whole.nodes)
        yield NodeBound(host=node.host, bound=bound_known(demand, machine, cores=cores))


def node_demand(measurement: Measurement, node: RankNode, metric: Metric) -> Demand:
    """Return the known demand of a node's ranks, without resources of which a part is unknown."""
    whole = _of_ranks(measurement)
    ranks = whole.on(node)
    counts = [rank.counts for rank in ranks if rank.counts is not None]
    amounts: dict[str, float] = {}
    if len(counts) == len(ranks):
        amounts |= {k: float(v) for k, v in work_by_resource(Counts.total(counts), metric).items()}
    dram = [part for rank in ranks for part in rank.traffic if part.level == "dram"]
    for part in Traffic.total(dram) if len(dram) == len(ranks) else ():
        amounts["dram_read"] = float(part.read_bytes)
        if part.write_bytes is not None:
            amounts["dram_write"] = float(part.write_bytes)
    if not whole.crosses_network:
        amounts["network"] = 0.0
    elif node.network_bytes is not None:
        amounts["network"] = node.network_bytes
    return Demand(amounts)
