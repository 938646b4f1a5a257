"""What bounds a distributed program: its nodes on the Ridgeline, and where its ranks' time goes."""

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
    """Where the time of the slowest rank goes; the three add up to it.

    Parameters
    ----------
    outside_s : float
        Outside MPI, the mean over ranks: what it would take if all ranks had as much to do.
    imbalance_s : float
        By how much the rank that is outside MPI longest exceeds that mean.
    inside_s : float
        What is left: the time inside MPI of a rank that nobody has to wait for.
    """

    outside_s: float
    imbalance_s: float
    inside_s: float

    @property
    def runtime_s(self) -> float:
        """All of it."""
        return self.outside_s + self.imbalance_s + self.inside_s


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBound:
    """The least time that a node needs for what its ranks asked of it.

    Parameters
    ----------
    host : str
    bound : Bound or None
        If all nodes were like it. None: the machine has no ceiling for anything of it.
    """

    host: str
    bound: Bound | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What bounds a distributed program, as far as the numbers say.

    Parameters
    ----------
    limit : Limit or None
        None: they do not say.
    division : Division or None
        None: not timed, or MPI was not profiled.
    nodes : tuple of NodeBound
    network_s : float or None
        What the network needs at least for the bytes of the node that moved most; None: not known.
    """

    limit: Limit | None
    division: Division | None
    nodes: tuple[NodeBound, ...]
    network_s: float | None


def machine_for(measurement: Measurement, machine: Machine) -> Machine:
    """Return what bounds a measurement: a machine, or as many of them as it had nodes."""
    if measurement.distributed is None:
        return machine
    return nodes_together(machine, len(measurement.distributed.nodes))


def division(whole: Distributed) -> Division | None:
    """Return where the time goes; None: it is not known."""
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
    """Return what bounds a distributed program.

    Parameters
    ----------
    measurement : Measurement
        Of several ranks.
    machine : Machine
        All its nodes together (`nodes_together`).
    metric : {"flop", "bop"}

    Raises
    ------
    ValueError
        If it is of one program on one machine.
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
    """Return what bounds the ranks where most of the time is outside MPI."""
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
    """Return why a distributed program has no place on the Ridgeline; None: it has.

    Parameters
    ----------
    measurement : Measurement
        Of several ranks.
    machine : Machine
        All its nodes together (`nodes_together`).
    metric : {"flop", "bop"}
    """
    needed = _needed(measurement, metric)
    by_path = {RESOURCES[name].path: name for name in needed}
    for path, what in (
        ("network", "the bytes over the network are not known"),
        ("dram", "the traffic is not known"),
        ("compute", "there is no work of this kind"),
    ):
        if path not in by_path:
            return what
    least = bound_known(Demand(dict.fromkeys(needed, 0.0)), machine)
    for name in needed if least is None else least.left_out:
        return f"{machine.name!r} has no {RESOURCES[name].path} ceiling ({name})"
    return None


def nodes_on_ridgeline(
    measurement: Measurement, machine: Machine, *, metric: Metric = "flop"
) -> tuple[Ridgeline, Trajectory]:
    """Return every node on the Ridgeline of its machine.

    Parameters
    ----------
    measurement : Measurement
        Of several ranks.
    machine : Machine
        All its nodes together (`nodes_together`): the plane's intensities are the same, and the
        amounts of each node are those that all would have if they were like it.
    metric : {"flop", "bop"}

    Raises
    ------
    ValueError
        If it has no place there (`why_no_ridgeline`).
    """
    reason = why_no_ridgeline(measurement, machine, metric=metric)
    if reason is not None:
        raise ValueError(f"measurement must have a place on the Ridgeline: {reason}")
    whole = _of_ranks(measurement)
    demands = [_demand(measurement, node, metric) for node in whole.nodes]
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
        placed=ridgeline.place_demand(_stacked(demands) * len(whole.nodes)),
    )


def _needed(measurement: Measurement, metric: Metric) -> set[str]:
    """Return the resources that all nodes together ask for, and of which each one's is known."""
    demands = [_demand(measurement, node, metric) for node in _of_ranks(measurement).nodes]
    names = {name for demand in demands for name in demand.amounts}
    if any("network" not in demand.amounts for demand in demands):
        names.discard("network")
    return names


def _stacked(demands: list[Demand]) -> Demand:
    names = dict.fromkeys(name for demand in demands for name in demand.amounts)
    return Demand(
        {name: np.array([demand.amounts.get(name, 0.0) for demand in demands]) for name in names}
    )


def _of_ranks(measurement: Measurement) -> Distributed:
    if measurement.distributed is None:
        raise ValueError("the measurement must be of several ranks")
    return measurement.distributed


def _cores(measurement: Measurement, machine: Machine) -> float:
    """Return the cores of all nodes together that were kept busy."""
    if measurement.timed is None:
        ranks = len(_of_ranks(measurement).ranks)
        return float(min(ranks, machine.cores))
    return cores_that_apply(measurement.timed.cores_busy, machine.cores)


def _bounded(measurement: Measurement, machine: Machine, metric: Metric) -> Iterator[NodeBound]:
    whole = _of_ranks(measurement)
    cores = _cores(measurement, machine)
    for node in whole.nodes:
        demand = _demand(measurement, node, metric) * len(whole.nodes)
        yield NodeBound(host=node.host, bound=bound_known(demand, machine, cores=cores))


def _demand(measurement: Measurement, node: RankNode, metric: Metric) -> Demand:
    """Return what the ranks of a node asked of it, as far as it is known."""
    whole = _of_ranks(measurement)
    ranks = whole.on(node)
    counts = [rank.counts for rank in ranks if rank.counts is not None]
    amounts: dict[str, float] = {}
    if len(counts) == len(ranks):
        amounts |= {k: float(v) for k, v in work_by_resource(Counts.total(counts), metric).items()}
    dram = [part for rank in ranks for part in rank.traffic if part.level == "dram"]
    for part in Traffic.total(dram):
        amounts["dram_read"] = float(part.read_bytes)
        if part.write_bytes is not None:
            amounts["dram_write"] = float(part.write_bytes)
    if not whole.crosses_network:
        amounts["network"] = 0.0
    elif node.network_bytes is not None:
        amounts["network"] = node.network_bytes
    return Demand(amounts)
