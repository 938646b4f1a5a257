"""Machines derived from others: several nodes, another link, one direction, the slowest.

To bound a demand, `ridgepoint.core.rates.Rates` changes a machine's capacities. A machine that is
drawn, kept or shown by its name has ceilings of its own: these functions return a new one.
"""

from __future__ import annotations

from dataclasses import replace

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import LINKS, RESOURCES, Direction


def nodes_together(machine: Machine, nodes: int) -> Machine:
    """Return several like nodes as one machine, with the sum of their cores and rates.

    Parameters
    ----------
    machine : Machine
        One node.
    nodes : int
        Number of nodes, > 0.

    Notes
    -----
    Of the ceilings of the network, and of each other link, only the fastest stays, for all cores:
    a link is no faster for more cores behind it.
    """
    if nodes < 1:
        raise ValueError(f"nodes must be > 0, got {nodes!r}")
    if nodes == 1:
        return machine
    links: dict[str, tuple[float, Ceiling]] = {}
    for ceiling in machine.ceilings:
        if ceiling.resource in LINKS and ceiling.rate is not None:
            rated = (ceiling.rate.median, ceiling)
            known = links.setdefault(ceiling.resource, rated)
            links[ceiling.resource] = max(known, rated, key=lambda pair: pair[0])
    others = [ceiling for ceiling in machine.ceilings if ceiling.resource not in LINKS]
    cores = machine.host.cores * nodes
    return replace(
        machine,
        name=f"{nodes} x {machine.name}",
        host=replace(machine.host, cores=cores),
        ceilings=(
            *(_times(ceiling, nodes, threads=ceiling.threads * nodes) for ceiling in others),
            *(_times(link, nodes, threads=cores) for _, link in links.values()),
        ),
    )


def _times(ceiling: Ceiling, nodes: int, *, threads: int) -> Ceiling:
    return replace(
        ceiling,
        threads=threads,
        rate=None if ceiling.rate is None else ceiling.rate.map(lambda rate: rate * nodes),
        theoretical=None if ceiling.theoretical is None else ceiling.theoretical * nodes,
    )


def with_network(machine: Machine, bytes_per_s: float) -> Machine:
    """Return a machine with a given network in place of its own.

    Parameters
    ----------
    machine : Machine
    bytes_per_s : float
        Bandwidth of a node's link in each direction; > 0.
    """
    return with_link(machine, "network", bytes_per_s)


def with_link(machine: Machine, resource: str, bytes_per_s: float) -> Machine:
    """Return a machine with a given rate of one of its links in place of its own.

    Parameters
    ----------
    machine : Machine
    resource : str
        One of `ridgepoint.core.resources.LINKS`.
    bytes_per_s : float
        Bandwidth of a node's link in each direction; > 0.
    """
    if resource not in LINKS:
        raise ValueError(f"resource must be one of {', '.join(LINKS)}, got {resource!r}")
    given = Ceiling(
        resource=resource,
        name="given",
        threads=machine.cores,
        unit="byte/s",
        rate=Estimate([bytes_per_s]),
        source="given",
    )
    others = (ceiling for ceiling in machine.ceilings if ceiling.resource != resource)
    return replace(machine, ceilings=(*others, given))


def machine_along(machine: Machine, work: str, direction: Direction | None) -> Machine:
    """Return a machine as a roofline over the bytes of one direction shows it.

    Parameters
    ----------
    machine : Machine
    work : str
        The work whose peak is kept: ``fp64``, ...
    direction : {"read", "write"} or None
        Direction of the bytes at DRAM in the intensity; None: both together. Their rate is the
        machine's ``dram``.
    """
    moved = RESOURCES["dram" if direction is None else f"dram_{direction}"]
    kept: dict[tuple[str, str, int, str | None], Ceiling] = {}
    for ceiling in machine.ceilings:
        rate = ceiling.rate_of(moved)
        if ceiling.resource == work:
            kept[ceiling.key] = ceiling
        elif rate is not None:
            along = replace(ceiling, resource="dram", rate=rate, read_share=None, write_share=None)
            # A pattern may have been measured, and also published for one direction.
            kept.setdefault(along.key, along)
    return replace(machine, ceilings=tuple(kept.values()))


def slowest_machine(machines: dict[str, Machine], name: str) -> tuple[Machine, tuple[str, ...]]:
    """Return the machine that bounds nodes working in step, and the hosts with its ceilings.

    Parameters
    ----------
    machines : dict of str to Machine
        Machines by host name.
    name : str
        Name of the result.
    """
    chosen: dict[str, str] = {}
    for resource in RESOURCES:
        rates = {}
        for host, machine in machines.items():
            if not any(ceiling.resource == resource for ceiling in machine.ceilings):
                continue
            try:
                rates[host] = float(machine.rate(resource))
            except UnknownCeiling:
                continue
        if rates:
            chosen[resource] = min(rates, key=lambda host: rates[host])
    hosts = tuple(dict.fromkeys(chosen.values())) or tuple(machines)[:1]
    # The host that is slowest for most resources: its description stands for all.
    counted = list(chosen.values())
    base = machines[max(hosts, key=counted.count)]
    ceilings = tuple(
        ceiling
        for resource, host in chosen.items()
        for ceiling in machines[host].ceilings
        if ceiling.resource == resource
    )
    return replace(base, name=name, ceilings=ceilings, fingerprint=None), hosts
