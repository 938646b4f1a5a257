"""A machine's capacities as a model changes them: more nodes, another link, faster paths."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, positive
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Host, Machine
from ridgepoint.core.resources import resource_named
from ridgepoint.core.whole_numbers import require_whole

Network = Literal["shared", "parallel"]
"""``shared``: one link carries what all nodes exchange. ``parallel``: each node has a link of its
own, and all carry their shares at once."""

IDEAL = "ideal"
"""Name of the machine of the textbooks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """The capacities of a machine, but with the changes that a model asks about.

    `ridgepoint.core.bound.bound` accepts it in place of a machine, so that a changed machine
    is bounded by the same equation. The machine itself does not change.

    Parameters
    ----------
    machine : Machine
        One node.
    cores : array_like or None
        Busy cores of each node; None: all.
    patterns : mapping of str to collection of str
        Names of the ceilings to use, for resources where others must not count.
    faster : mapping of str to array_like
        How many times faster a path is than it was measured: ``compute``, ``dram``, ...; > 0.
    nodes : array_like
        How many such nodes share the work and the traffic evenly, > 0; an array stands for many
        clusters at once.
    network : {"shared", "parallel"}
        How the links carry the traffic of all nodes.
    link_bytes_per_s : float or None
        Bandwidth of one link; None: the machine's own network ceiling.

    Raises
    ------
    ValueError
        If a number is not finite and positive, or `network` is neither.

    Examples
    --------
    >>> node = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, cores=8)
    >>> cluster = Rates(machine=node, nodes=[1, 4], link_bytes_per_s=2e9, cores=2)
    >>> cluster.rate("fp64"), cluster.rate("network")
    (array([1.6e+10, 6.4e+10]), 2000000000.0)
    """

    machine: Machine
    cores: npt.ArrayLike | None = None
    patterns: Mapping[str, Collection[str]] = field(default_factory=dict)
    faster: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    nodes: npt.ArrayLike = 1
    network: Network = "shared"
    link_bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        positive("nodes", self.nodes)
        if self.network not in ("shared", "parallel"):
            raise ValueError(f"network must be 'shared' or 'parallel', got {self.network!r}")
        if self.link_bytes_per_s is not None:
            positive("link_bytes_per_s", self.link_bytes_per_s)
        for path, factor in self.faster.items():
            positive(f"faster[{path!r}]", factor)

    def knows(self, resource: str) -> bool:
        """Return whether a ceiling says how fast a resource is served."""
        if resource_named(resource).path == "network" and self.link_bytes_per_s is not None:
            return True
        return self.machine.knows(resource, patterns=self.patterns.get(resource))

    def rate(self, resource: str, *, cores: npt.ArrayLike | None = None) -> Amount:
        """Return the capacity of all nodes together for a resource, in its unit per second.

        Parameters
        ----------
        resource : str
        cores : array_like or None
            Busy cores of each node; None: `Rates.cores`.

        Raises
        ------
        UnknownCeiling
            If there is no ceiling for the resource.
        ValueError
            If `cores` exceeds the cores of a node.
        """
        path = resource_named(resource).path
        if path == "network":
            rate: Amount = self._link()
        else:
            busy = self.cores if cores is None else cores
            named = self.patterns.get(resource)
            rate = self.machine.rate(resource, cores=busy, patterns=named)
        if path != "network" or self.network == "parallel":
            rate = rate * np.asarray(self.nodes, dtype=np.float64)
        return plain(rate * np.asarray(self.faster.get(path, 1.0), dtype=np.float64))

    def _link(self) -> float:
        """Return the bandwidth of one link: it is no faster for more cores behind it."""
        if self.link_bytes_per_s is not None:
            return self.link_bytes_per_s
        if not self.machine.knows("network"):
            raise UnknownCeiling(
                f"cannot bound the data that the nodes of {self.machine.name} exchange",
                reason="the machine has no ceiling of its network",
                remedy="give the rate of a link (--link, or link_bytes_per_s), or add a ceiling "
                "'network' to the machine's file",
            )
        return float(self.machine.rate("network"))


def ideal_machine(
    *,
    core_rate: float,
    cores: int,
    memory_bytes_per_s: float | None = None,
    link_bytes_per_s: float | None = None,
    work: str = "fp64",
) -> Machine:
    """Return the machine of the textbooks: cores that compute alike and share one memory.

    Parameters
    ----------
    core_rate : float
        l_c, the rate of one core, flop/s (or the unit of `work` per second).
    cores : int
        Number of cores of a node.
    memory_bytes_per_s : float or None
        b_m, the bandwidth of a node's memory, which one core alone can use up, byte/s.
    link_bytes_per_s : float or None
        b_cl, the bandwidth between two nodes, byte/s.
    work : str
        The resource that `core_rate` measures: ``fp64``, ``fp32``, ``bop``, ...

    Raises
    ------
    ValueError
        If a rate is not finite and positive.

    Examples
    --------
    >>> ideal_machine(core_rate=5e8, cores=128).rate("fp64", cores=20)
    10000000000.0
    """
    require_whole(cores=cores)
    wanted = [(work, threads, core_rate * threads) for threads in sorted({1, int(cores)})]
    for resource, rate in (("dram", memory_bytes_per_s), ("network", link_bytes_per_s)):
        if rate is not None:
            wanted += [(resource, threads, rate) for threads in sorted({1, int(cores)})]
    for name, value in (
        ("core_rate", core_rate),
        ("memory_bytes_per_s", memory_bytes_per_s),
        ("link_bytes_per_s", link_bytes_per_s),
    ):
        if value is not None:
            positive(name, value)
    return Machine(
        name=IDEAL,
        host=Host(
            cpu="ideal cores",
            microarchitecture=None,
            cores=int(cores),
            frequency_hz=None,
            virtualized=None,
        ),
        caches=(),
        ceilings=tuple(
            Ceiling(
                resource=resource,
                name="given",
                threads=threads,
                unit=f"{resource_named(resource).unit}/s",
                rate=Estimate([rate]),
                source="given",
            )
            for resource, threads, rate in wanted
        ),
    )
