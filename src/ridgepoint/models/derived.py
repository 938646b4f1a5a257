"""Machines that follow from others: several nodes, another link, one direction, the slowest.

To bound a demand, `ridgepoint.core.rates.Rates` changes what a machine gives. What is drawn, kept
or shown by its name has ceilings of its own: these functions make it, and change no machine.
"""

from __future__ import annotations

from dataclasses import replace

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import RESOURCES, Direction


def nodes_together(machine: Machine, nodes: int) -> Machine:
    """Return a machine of several like nodes: so many times the cores and every ceiling.

    Parameters
    ----------
    machine : Machine
        One node.
    nodes : int
        > 0.

    Notes
    -----
    Of the network's ceilings the fastest stays, for all cores: a link carries no more for more
    cores behind it.
    """
    if nodes < 1:
        raise ValueError(f"nodes must be > 0, got {nodes!r}")
    if nodes == 1:
        return machine
    links = [
        ceiling
        for ceiling in machine.ceilings
        if ceiling.resource == "network" and ceiling.rate is not None
    ]
    link = max(links, key=_median, default=None)
    others = [ceiling for ceiling in machine.ceilings if ceiling.resource != "network"]
    cores = machine.host.cores * nodes
    return replace(
        machine,
        name=f"{nodes} x {machine.name}",
        host=replace(machine.host, cores=cores),
        ceilings=(
            *(_times(ceiling, nodes, threads=ceiling.threads * nodes) for ceiling in others),
            *(() if link is None else (_times(link, nodes, threads=cores),)),
        ),
    )


def _median(ceiling: Ceiling) -> float:
    return 0.0 if ceiling.rate is None else ceiling.rate.median


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
        What a node's link carries each way; > 0.
    """
    given = Ceiling(
        resource="network",
        name="given",
        threads=machine.cores,
        unit="byte/s",
        rate=Estimate([bytes_per_s]),
        source="given",
    )
    others = (ceiling for ceiling in machine.ceilings if ceiling.resource != "network")
    return replace(machine, ceilings=(*others, given))


def machine_along(machine: Machine, work: str, direction: Direction | None) -> Machine:
    """Return a machine as a roofline over the bytes of one direction shows it.

    Parameters
    ----------
    machine : Machine
    work : str
        The work whose peak is kept: ``fp64``, ...
    direction : {"read", "write"} or None
        Bytes at DRAM that the intensity is over; None: both together. How fast they move is the
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
            # A pattern may have been measured, and published of one direction too.
            kept.setdefault(along.key, along)
    return replace(machine, ceilings=tuple(kept.values()))


def slowest_machine(machines: dict[str, Machine], name: str) -> tuple[Machine, tuple[str, ...]]:
    """Return the machine that bounds nodes which work in step, and the hosts whose ceilings it has.

    Parameters
    ----------
    machines : dict of str to Machine
        By host.
    name : str
        Of the result.
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
    # Most resources slowest: its description stands for all.
    counted = list(chosen.values())
    base = machines[max(hosts, key=counted.count)]
    ceilings = tuple(
        ceiling
        for resource, host in chosen.items()
        for ceiling in machines[host].ceilings
        if ceiling.resource == resource
    )
    return replace(base, name=name, ceilings=ceilings, fingerprint=None), hosts
