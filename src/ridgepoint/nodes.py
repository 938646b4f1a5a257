"""Nodes of one kind, joined by a network: what a cluster gives. It knows no program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.errors import UnknownCeiling
from ridgepoint.estimate import Estimate
from ridgepoint.machine import Ceiling, Host, Machine
from ridgepoint.resources import RESOURCES, resource_named

Network = Literal["shared", "parallel"]
"""``shared``: one link carries what all nodes exchange. ``parallel``: each node has a link of its
own, and all carry their shares at once."""

IDEAL = "ideal"
"""Name of the machine of the textbooks."""

Rate = float | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """Nodes of one kind of machine, joined by a network.

    Parameters
    ----------
    machine : Machine
        One node.
    nodes : array_like
        How many, > 0; an array stands for many clusters at once.
    network : {"shared", "parallel"}
    link_bytes_per_s : float or None
        What one link carries; None: the machine's own ceiling of its network.

    Raises
    ------
    ValueError
        If `nodes` or `link_bytes_per_s` is not finite and positive, or `network` is neither.

    Notes
    -----
    It offers to `ridgepoint.models.bound.bound` what a machine does, so that a demand of all nodes
    together is bounded by the same equation. It assumes that nodes share work and traffic evenly.

    Examples
    --------
    >>> node = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, cores=8)
    >>> cluster = Cluster(machine=node, nodes=[1, 4], link_bytes_per_s=2e9)
    >>> cluster.rate("fp64", cores=2), cluster.rate("network")
    (array([1.6e+10, 6.4e+10]), 2000000000.0)
    """

    machine: Machine
    nodes: npt.ArrayLike = 1
    network: Network = "shared"
    link_bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        count = np.asarray(self.nodes, dtype=np.float64)
        if not (np.isfinite(count) & (count > 0)).all():
            raise ValueError(f"nodes must be finite and > 0, got {self.nodes!r}")
        if self.network not in ("shared", "parallel"):
            raise ValueError(f"network must be 'shared' or 'parallel', got {self.network!r}")
        if self.link_bytes_per_s is not None:
            _require_positive("link_bytes_per_s", self.link_bytes_per_s)

    def knows(self, resource: str) -> bool:
        """Return whether a ceiling says how fast a resource is served."""
        if resource_named(resource).path == "network" and self.link_bytes_per_s is not None:
            return True
        return self.machine.knows(resource)

    def rate(self, resource: str, *, cores: npt.ArrayLike | None = None) -> Rate:
        """Return the capacity of all nodes together for a resource, in its unit per second.

        Parameters
        ----------
        resource : str
        cores : array_like or None
            Kept busy on each node; None: all.

        Raises
        ------
        UnknownCeiling
            If there is no ceiling for the resource.
        ValueError
            If a node has not so many cores.
        """
        count = np.asarray(self.nodes, dtype=np.float64)
        if resource_named(resource).path != "network":
            return _plain(count * self.machine.rate(resource, cores=cores))
        return _plain(count * self._link() if self.network == "parallel" else self._link())

    def _link(self) -> float:
        """Return what one link carries: it is no faster for more cores behind it."""
        if self.link_bytes_per_s is not None:
            return self.link_bytes_per_s
        network = RESOURCES["network"]
        rates = [ceiling.rate_of(network) for ceiling in self.machine.ceilings]
        known = [rate.median for rate in rates if rate is not None]
        if not known:
            raise UnknownCeiling(
                f"cannot bound what the nodes of {self.machine.name} exchange",
                reason="the machine has no ceiling of its network",
                remedy="give the rate of a link (--link, or link_bytes_per_s), or add a ceiling "
                "'network' to the machine's file",
            )
        return max(known)


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
        l_c, what one core computes, flop/s (or the unit of `work`).
    cores : int
        Of a node.
    memory_bytes_per_s : float or None
        b_m, the bandwidth of a node's memory, which one core alone can use up, byte/s.
    link_bytes_per_s : float or None
        b_cl, the bandwidth between two nodes, byte/s.
    work : str
        The resource of which `core_rate` is: ``fp64``, ``fp32``, ``bop``, ...

    Raises
    ------
    ValueError
        If one is not finite and positive.

    Examples
    --------
    >>> ideal_machine(core_rate=5e8, cores=128).rate("fp64", cores=20)
    10000000000.0
    """
    if cores < 1 or int(cores) != cores:
        raise ValueError(f"cores must be a whole number > 0, got {cores!r}")
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
            _require_positive(name, value)
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


def _require_positive(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be finite and > 0, got {value!r}")


def _plain(value: npt.ArrayLike) -> Rate:
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
