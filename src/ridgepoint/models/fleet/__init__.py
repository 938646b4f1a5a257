"""A fleet: many machines, ranked by what they reach and cost, and those out of line found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster, network_ceilings
from ridgepoint.core.names import named_twice
from ridgepoint.core.price import Price
from ridgepoint.core.resources import RESOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One machine of a fleet.

    Parameters
    ----------
    name : str
        Unique in the fleet.
    machine : Machine
        Of a cluster one node, with the cluster's network.
    cluster : str or None
        The cluster that it is a node of.
    price : Price or None
        Of the whole machine; None: not given.
    """

    name: str
    machine: Machine
    cluster: str | None = None
    price: Price | None = None

    @property
    def model(self) -> tuple[str, int]:
        """Processor and number of usable cores: machines that have both alike are of one model."""
        return self.machine.host.cpu, self.machine.cores


def nodes_of(cluster: MeasuredCluster, name: str) -> tuple[Member, ...]:
    """Return the nodes of a cluster whose ceilings are kept, each with the cluster's network."""
    network = network_ceilings(cluster)
    return tuple(
        Member(
            name=f"{name}:{node.host}",
            machine=replace(node.machine, ceilings=(*node.machine.ceilings, *network)),
            cluster=name,
        )
        for node in cluster.nodes
        if node.machine is not None
    )


def with_prices(members: Iterable[Member], prices: dict[str, Price]) -> tuple[Member, ...]:
    """Return machines with their prices.

    Parameters
    ----------
    members : iterable of Member
    prices : dict of str to Price
        By name of a machine, or of a cluster for each of its nodes.

    Raises
    ------
    RidgepointError
        If a name is none of the fleet's, or the prices are in several currencies.
    """
    priced = tuple(
        replace(member, price=prices.get(member.name, prices.get(member.cluster or "")))
        for member in members
    )
    named = {member.name for member in priced} | {member.cluster for member in priced}
    for name in prices:
        if name not in named:
            raise RidgepointError(
                f"cannot use the price of {name!r}",
                reason="no machine of this fleet has this name",
                remedy=f"use one of {', '.join(repr(member.name) for member in priced)}",
            )
    currencies = sorted({price.currency for price in prices.values()})
    if len(currencies) > 1:
        raise RidgepointError(
            "cannot compare the prices",
            reason=f"they are in {' and '.join(each or 'no currency' for each in currencies)}",
            remedy="give all of them in one currency",
        )
    return priced


def require_unique(members: Iterable[Member]) -> None:
    """Refuse two machines of one name.

    Raises
    ------
    RidgepointError
    """
    twice = named_twice(member.name for member in members)
    if twice is not None:
        raise RidgepointError(
            f"cannot compare the machines: two are called {twice!r}",
            reason="each needs a name of its own",
            remedy="name each machine once, or give them names with 'ridgepoint name'",
        )


def best_rate(machine: Machine, resource: str, *, cores: int | None = None) -> Estimate | None:
    """Return the rate at which a machine serves a resource, with its interval where measured.

    Parameters
    ----------
    machine : Machine
    resource : str
    cores : int or None
        Cores kept busy, at most the machine's; None: all.

    Returns
    -------
    Estimate or None
        Of the ceiling that `Machine.rate` goes by; without an interval where that follows from
        ceilings of other numbers of cores. None: there is no such ceiling.
    """
    if not machine.knows(resource):
        return None
    used = None if cores is None else min(cores, machine.cores)
    rate = float(machine.rate(resource, cores=used))
    wanted = RESOURCES[resource]
    for ceiling in machine.ceilings:
        estimate = ceiling.rate_of(wanted)
        if estimate is not None and estimate.median == rate:
            return estimate
    return Estimate([rate])


def ends_of(value: Estimate) -> tuple[float, float]:
    """Return the ends of the 95 % interval; of fewer than six samples, the least and the largest.

    Of a single number, such as a published one, both are that number.
    """
    if value.low is None or value.high is None:
        return min(value.samples), max(value.samples)
    return value.low, value.high


def ranked_resources(members: Iterable[Member]) -> tuple[str, ...]:
    """Return the resources that some machine has a ceiling of, both directions of memory as one."""
    machines = [member.machine for member in members]
    return tuple(
        name
        for name, resource in RESOURCES.items()
        if resource.direction is None and any(machine.knows(name) for machine in machines)
    )
