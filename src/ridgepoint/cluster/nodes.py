"""The ceilings of every node, measured at the same time, and compared as they come in."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import median

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import Node, Standing
from ridgepoint.models.derived import slowest_machine

MOST_KEPT = 64
"""Nodes whose machines are kept whole; of more only those that bound the cluster."""

_Key = tuple[str, str, int]


@contextmanager
def whole_node() -> Iterator[bool]:
    """Let this process run on all CPUs that the node lends to the job; yield whether it may.

    Launchers bind each rank to a core or a few. Ceilings are those of the node.
    """
    own = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        allowed = True
    except OSError:
        allowed = False
    try:
        yield allowed
    finally:
        if allowed:
            os.sched_setaffinity(0, own)


@dataclass(slots=True)
class _Over:
    """One ceiling over the nodes that were seen."""

    unit: str
    medians: array[float] = field(default_factory=lambda: array("d"))
    slowest: tuple[str, Estimate] | None = None
    fastest: tuple[str, Estimate] | None = None

    def add(self, host: str, rate: Estimate) -> None:
        self.medians.append(rate.median)
        if self.slowest is None or rate.median < self.slowest[1].median:
            self.slowest = host, rate
        if self.fastest is None or rate.median > self.fastest[1].median:
            self.fastest = host, rate


class Roster:
    """The nodes' machines as they arrive: a few in full, and medians of all.

    Parameters
    ----------
    name : str
        Name of the cluster.
    ranks : sequence of int
        Number of ranks on each node.
    hosts : sequence of str
    """

    def __init__(self, name: str, hosts: Sequence[str], ranks: Sequence[int]) -> None:
        self._name, self._hosts, self._ranks = name, hosts, ranks
        self._machines: dict[str, Machine] = {}
        self._bounding: dict[str, Machine] = {}
        self._over: dict[_Key, _Over] = {}
        self._cautions: dict[str, list[str]] = {}

    def add(self, host: str, machine: Machine) -> None:
        """Take one node's machine in."""
        if len(self._hosts) <= MOST_KEPT:
            self._machines[host] = machine
        rivals = {**self._bounding, host: machine}
        _, hosts = slowest_machine(rivals, self._name)
        self._bounding = {name: rivals[name] for name in hosts}
        for ceiling in machine.ceilings:
            if ceiling.rate is not None and ceiling.part is None:
                key = (ceiling.resource, ceiling.name, ceiling.threads)
                self._over.setdefault(key, _Over(ceiling.unit)).add(host, ceiling.rate)
        for caution in machine.cautions:
            self._cautions.setdefault(caution.code, []).append(host)

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes, each with its machine if it is kept."""
        kept = {**self._bounding, **self._machines}
        return tuple(
            Node(host=host, ranks=ranks, machine=kept.get(host))
            for host, ranks in zip(self._hosts, self._ranks, strict=True)
        )

    def slowest(self) -> Machine:
        """Return the machine that bounds nodes which work in step."""
        machine, hosts = slowest_machine(self._bounding, self._name)
        if len(self._hosts) == 1:
            return machine
        where = Caution(
            "slowest-node",
            "for each resource, the ceilings are those of the node where it is slowest: "
            f"{', '.join(hosts)}",
            "see the comparison of nodes for the rates of the others",
        )
        return replace(machine, cautions=(*machine.cautions, where))

    def standings(self) -> tuple[Standing, ...]:
        """Return every ceiling over the nodes, in the order in which they were measured."""
        return tuple(
            Standing(
                resource=resource,
                name=name,
                unit=over.unit,
                threads=threads,
                nodes=len(over.medians),
                median=median(over.medians),
                slowest=over.slowest[0],
                slowest_rate=over.slowest[1],
                fastest=over.fastest[0],
                fastest_rate=over.fastest[1],
            )
            for (resource, name, threads), over in self._over.items()
            if over.slowest is not None and over.fastest is not None
        )

    def cautions(self) -> Iterator[Caution]:
        """Yield which nodes have doubts, and which are slow, by name."""
        if len(self._hosts) == 1:
            return  # its machine tells them
        for code, hosts in self._cautions.items():
            if code != "quick":
                yield Caution(
                    code,
                    f"the machine of {_listed(hosts)} has this caution",
                    "see 'cautions' of that node in --json",
                )
        slow: dict[str, list[Standing]] = {}
        for standing in self.standings():
            if standing.stands_out:
                slow.setdefault(standing.slowest, []).append(standing)
        for host, standings in slow.items():
            worst = min(standings, key=lambda s: s.slowest_rate.median / s.median)
            share = worst.slowest_rate.median / worst.median
            yield Caution(
                "slow-node",
                f"{host} is slower than the other nodes in {len(standings)} of its ceilings, "
                f"most in {worst.resource} {worst.name}: {share:.0%} of their median",
                f"check what else runs on {host}, its clock and its memory, or measure without "
                "this node",
            )


def _listed(hosts: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(hosts[:most])
    return shown if len(hosts) <= most else f"{shown} and {len(hosts) - most} more"
