"""Speed-up and efficiency over cores and nodes: the one equation as a function of their number.

The hierarchical model of Kredel, Kruse and Richling: cores of a node share its memory, nodes share
or own their links.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, positive
from ridgepoint.core.bound import Bound, Overlap, bound, combined
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.rates import Network, Rates
from ridgepoint.core.resources import resource_named

OverNodes = Callable[[npt.NDArray[np.float64]], npt.ArrayLike]
"""From a number of nodes to an amount: the bytes that all of them together exchange, or the number
of messages that follow one another."""

_ALIKE = 0.999
"""Share of what all cores would compute at one core's rate, from which on they compute alike."""


def nothing(nodes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return 0 for each number of nodes: a problem without exchange."""
    return np.zeros_like(nodes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Amounts that a problem asks for, however many nodes solve it.

    Parameters
    ----------
    name : str
    operations : array_like
        #op, in the unit of `work`; > 0. Arrays are many problems, and broadcast against nodes.
    dram_bytes : array_like
        #b, total bytes moved between memory and caches.
    exchanged_bytes : callable
        #x: maps an array of numbers of nodes to the bytes that all of them exchange.
    messages : callable
        #m: maps an array of numbers of nodes to the messages that follow one another, each after
        the latency of the network: those of the longest chain, not of all nodes together.
    work : str
        The resource that `operations` counts: ``fp64``, ``fp32``, ``bop``, ...

    Raises
    ------
    ValueError
        If an amount is negative or not finite, or `operations` is 0.
    """

    name: str
    operations: npt.ArrayLike
    dram_bytes: npt.ArrayLike = 0.0
    exchanged_bytes: OverNodes = nothing
    messages: OverNodes = nothing
    work: str = "fp64"

    def __post_init__(self) -> None:
        if resource_named(self.work).path != "compute":
            raise ValueError(f"work must be a resource of computing, got {self.work!r}")
        for name in ("operations", "dram_bytes"):
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if not (np.isfinite(array) & (array >= 0)).all():
                raise ValueError(f"{name} must be finite and >= 0, got {getattr(self, name)!r}")
        if not np.all(np.asarray(self.operations) > 0):
            raise ValueError(f"operations must be > 0, got {self.operations!r}")

    def demand(self, nodes: npt.ArrayLike) -> Demand:
        """Return the total demand of this many nodes; resources without demand are left out."""
        count = np.asarray(nodes, dtype=np.float64)
        amounts = {
            self.work: self.operations,
            "dram": self.dram_bytes,
            "network": self.exchanged_bytes(count),
        }
        return Demand(
            {name: amount for name, amount in amounts.items() if np.any(np.asarray(amount) != 0)}
        )

    @property
    def on_one_node(self) -> Problem:
        """The same problem without exchange between nodes."""
        return replace(self, exchanged_bytes=nothing, messages=nothing)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaled:
    """The best performance of a problem on some cores and nodes; arrays share one shape.

    Parameters
    ----------
    cores, nodes : float or ndarray
        Cores of each node, and nodes.
    bound : Bound
        The least time, and what limits it.
    performance : float or ndarray
        l = #op / t, operations per second.
    speed_up : float or ndarray
        S = l / l_c, the performance over the rate of one core.
    peak_efficiency : float or ndarray
        l / (q p l_c): the performance as a share of the peak of all cores.
    parallel_efficiency : float or ndarray
        l / (q p l(1, 1)): the performance as a share of all cores at the rate of one core alone.
    """

    cores: Amount
    nodes: Amount
    bound: Bound
    performance: Amount
    speed_up: Amount
    peak_efficiency: Amount
    parallel_efficiency: Amount

    @property
    def time_s(self) -> Amount:
        """The least time, in seconds."""
        return self.bound.time_s

    @property
    def relative_speed_up(self) -> Amount:
        """Speed-up over one core alone, l / l(1, 1)."""
        return self.parallel_efficiency * self.cores * self.nodes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaling:
    """A problem on increasing numbers of cores and nodes.

    Parameters
    ----------
    problem : Problem
    machine : Machine
        Machine that describes one node.
    network : {"shared", "parallel"}
        Whether all nodes share one link, or each has its own.
    link_bytes_per_s : float or None
        b_cl, byte/s; None: the machine's own ceiling.
    overlap : {"none", "full"} or float
        How computing, memory and network combine: as in `ridgepoint.core.bound.bound`. ``none``
        is Hockney's sum, a number k >= 1 lies between.
    latency_s : float or None
        alpha, the time of a message without bytes, in seconds; None: not counted.
    share : float
        Share of the bandwidth of each node's memory, and of each link, that is left to the problem
        while other jobs use the nodes too, in (0, 1].

    Notes
    -----
    With one link for all (kappa = 1) or one for each node (kappa = 1/p), and no overlap,
    ``t = #op/(p q l_c) + #b/(p b_m) + alpha #m(p) + kappa #x(p)/b_cl``. It assumes that work and
    traffic are spread evenly. The talk defines b_cl as the bandwidth between two nodes and leaves
    open who shares it: kappa is our reading. It has no latency: alpha is Hockney's start-up time
    [2]_. Latency and bytes add up on the path of the network, also where it overlaps others.

    References
    ----------
    .. [1] H. Kredel, H.-G. Kruse, S. Richling, "A Hierarchical Model for the Analysis of
       Efficiency and Speed-Up of Multi-core Cluster-Computers", 3PGCIC 2015,
       :doi:`10.1109/3PGCIC.2015.49`.
    .. [2] R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2",
       Parallel Computing 20(3), 1994, :doi:`10.1016/S0167-8191(06)80021-9`.

    Examples
    --------
    The slides' cores: 0.5 GFLOP/s each, and x = 20.

    >>> from ridgepoint.core.rates import ideal_machine
    >>> node = ideal_machine(core_rate=5e8, memory_bytes_per_s=5e8, cores=128)
    >>> slides = Scaling(problem=Problem(name="x = 20", operations=20e9, dram_bytes=1e9),
    ...                  machine=node)
    >>> slides.at(cores=[1, 20, 64], nodes=1).parallel_efficiency
    array([1.   , 0.525, 0.25 ])
    """

    problem: Problem
    machine: Machine
    network: Network = "shared"
    link_bytes_per_s: float | None = None
    overlap: Overlap = "none"
    latency_s: float | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be in (0, 1], got {self.share!r}")
        if self.latency_s is not None:
            positive("latency_s", self.latency_s)

    def at(self, *, cores: npt.ArrayLike, nodes: npt.ArrayLike) -> Scaled:
        """Return the best performance on some cores and nodes.

        Parameters
        ----------
        cores, nodes : array_like
            Cores of each node, and nodes; shapes broadcast.

        Raises
        ------
        UnknownCeiling
            If the machine lacks a ceiling for a resource that the problem asks for.
        ValueError
            If `cores` exceeds a node's cores, or a number is not finite and positive.
        """
        least = self.bound_at(cores, nodes)
        # Against one core of a node that nobody shares: sharing costs efficiency.
        performance, alone = least.attainable, self.unshared.bound_at(1, 1).attainable
        busy = np.multiply(cores, nodes, dtype=np.float64)
        q, p, performance, busy = np.broadcast_arrays(
            np.asarray(cores, dtype=np.float64), np.asarray(nodes, dtype=np.float64),
            performance, busy,
        )  # fmt: skip
        return Scaled(
            cores=plain(q),
            nodes=plain(p),
            bound=least,
            performance=plain(performance),
            speed_up=plain(performance / self.core_rate),
            peak_efficiency=plain(performance / (busy * self.core_rate)),
            parallel_efficiency=plain(performance / (busy * alone)),
        )

    def bound_at(self, cores: npt.ArrayLike, nodes: npt.ArrayLike) -> Bound:
        """Return the least time and its parts, in seconds."""
        cluster = Rates(
            machine=self.machine,
            cores=cores,
            nodes=nodes,
            network=self.network,
            link_bytes_per_s=self.link_bytes_per_s,
            faster={"dram": self.share, "network": self.share},
        )
        least = bound(self.problem.demand(nodes), cluster, overlap=self.overlap)
        return self._with_latency(least, nodes)

    def _with_latency(self, least: Bound, nodes: npt.ArrayLike) -> Bound:
        """Return a bound in which messages wait for the network's latency."""
        if self.latency_s is None or not self.counts_latency:
            return least
        waits = self.latency_s * np.asarray(
            self.problem.messages(np.asarray(nodes, dtype=np.float64)), dtype=np.float64
        )
        times = {**least.times_s, "network": plain(least.times_s.get("network", 0.0) + waits)}
        return replace(
            least,
            constraints_s={**least.constraints_s, "latency": plain(waits)},
            times_s=times,
            time_s=combined(times.values(), self.overlap),
        )

    @property
    def unshared(self) -> Scaling:
        """The same problem with its nodes to itself."""
        return self if self.share == 1 else replace(self, share=1.0)

    @property
    def counts_latency(self) -> bool:
        """Whether the latency is known, and how many messages of the problem follow one another."""
        return self.latency_s is not None and self.problem.messages is not nothing

    @property
    def knows_link(self) -> bool:
        """Whether the rate of a link is given or a ceiling of the machine; one node needs none."""
        return self.link_bytes_per_s is not None or self.machine.knows("network")

    @property
    def knows_network(self) -> bool:
        """Whether anything is known of the network: the rate of a link, or the latency."""
        return self.knows_link or self.counts_latency

    def performance_in(self, time_s: npt.ArrayLike) -> Amount:
        """Return the operations per second of a run with this runtime."""
        return plain(np.divide(self.problem.operations, time_s))

    def speed_up_in(self, time_s: npt.ArrayLike) -> Amount:
        """Return the speed-up, over the rate of one core, of a run with this runtime."""
        return plain(self.performance_in(time_s) / self.core_rate)

    @property
    def core_rate(self) -> float:
        """l_c, operations per second: the rate of one core that waits for nothing."""
        return float(self.machine.rate(self.problem.work, cores=1))

    @property
    def intensity(self) -> Amount | None:
        """The problem's operational intensity over the machine's; None: it has no memory traffic.

        ``x = (#op / #b) / (l_c / b_m)``: x cores use up the bandwidth of a node's memory, or the
        problem's share of it.
        """
        if not np.all(np.asarray(self.problem.dram_bytes) > 0):
            return None
        per_byte = np.divide(self.problem.operations, self.problem.dram_bytes)
        return plain(per_byte * self.share * self.machine.rate("dram") / self.core_rate)

    @property
    def memory_limit(self) -> Amount | None:
        """Operations per second that the memory of one node can feed; None: no memory traffic."""
        return None if self.intensity is None else plain(self.intensity * self.core_rate)

    @property
    def cores_compute_alike(self) -> bool:
        """Whether all cores of a node compute as fast as one alone, as the meaning of x assumes.

        Cores of a measured machine may not: busy cores share power.
        """
        together = float(self.machine.rate(self.problem.work))
        return together >= _ALIKE * self.core_rate * self.machine.cores
