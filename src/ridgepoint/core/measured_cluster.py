"""A measured cluster: its nodes' machines, its network, and slow parts by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.links import Links
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.presenting import Presentable, amount, quoted

Pattern = Literal[
    "ping-pong",
    "stream",
    "both directions",
    "all pairs",
    "all-reduce",
    "all-gather",
    "all-to-all",
]
"""``ping-pong``: one message there, one back. ``stream``: many one way, one after the other.
``both directions``: two streams against each other. ``all pairs``: every rank to one on another
node, and from one, all at once, the partners in turn. The others are MPI's."""

PATTERNS: tuple[Pattern, ...] = get_args(Pattern)

_LARGE = 1 << 16
"""Byte: with smaller messages all pairs do not say what a link carries."""

_SLOWER = 0.95
"""A node's ceiling is named if its interval ends below this share of the nodes' median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of a cluster.

    Parameters
    ----------
    host : str
        Unique name of the node in the cluster.
    ranks : int
        Number of MPI ranks on this node.
    machine : Machine or None
        Its ceilings; None: not kept, because there are many nodes and this one bounds nothing.
    """

    host: str
    ranks: int
    machine: Machine | None

    def __post_init__(self) -> None:
        if self.ranks < 1:
            raise ValueError(f"ranks must be > 0, got {self.ranks!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One ceiling compared over all nodes.

    Parameters
    ----------
    resource, name, unit : str
    threads : int
        Number of busy CPUs of each node, as in `Ceiling`.
    nodes : int
        Number of nodes that have this ceiling.
    median : float
        Median of the nodes' medians, in `unit`.
    slowest, fastest : str
        Host names.
    slowest_rate, fastest_rate : Estimate
        Rates of these hosts, in `unit`.
    """

    resource: str
    name: str
    unit: str
    threads: int
    nodes: int
    median: float
    slowest: str
    slowest_rate: Estimate
    fastest: str
    fastest_rate: Estimate

    @property
    def stands_out(self) -> bool:
        """Whether the slowest node is slower than the others by more than its interval.

        With too few samples for an interval it is False.
        """
        end = self.slowest_rate.high
        return self.nodes > 1 and end is not None and end < _SLOWER * self.median


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One pattern of communication with messages of one size.

    Parameters
    ----------
    pattern : str
        One of `PATTERNS`.
    ranks, nodes : int
        Number of participants; one node: no network was crossed.
    size_bytes : int
        Size of one message; for an all-reduce the buffer of each rank, for an all-gather the
        result on each rank, for an all-to-all the total that each rank sends.
    time_s : Estimate
        Time of one message one way, or of one operation, on the slowest rank.
    hosts : tuple of str
        The two ranks of a pair, sender first; empty: all ranks took part.
    disturbed_s : tuple of float
        Samples left out of `time_s`, because another process took a rank's core meanwhile.

    Notes
    -----
    Algorithm and bus bandwidth as NCCL's tests define them [1]_: size over time, and that times
    2(n - 1)/n for an all-reduce, (n - 1)/n for an all-gather and an all-to-all of n ranks, so that
    it can be compared with what a link carries.

    References
    ----------
    .. [1] NVIDIA/nccl-tests, doc/PERFORMANCE.md.

    Examples
    --------
    >>> e = Exchange(pattern="all-reduce", ranks=4, nodes=4, size_bytes=8000,
    ...              time_s=Estimate([1e-3]))
    >>> e.algorithm_bytes_per_s.median, e.bus_bytes_per_s.median
    (8000000.0, 12000000.0)
    """

    pattern: Pattern
    ranks: int
    nodes: int
    size_bytes: int
    time_s: Estimate
    hosts: tuple[str, ...] = ()
    disturbed_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise ValueError(f"ranks must be at least 2, got {self.ranks!r}")
        if not 1 <= self.nodes <= self.ranks:
            raise ValueError(f"nodes must be in [1, {self.ranks}], got {self.nodes!r}")
        if self.size_bytes < 0:
            raise ValueError(f"size_bytes must be >= 0, got {self.size_bytes!r}")
        if min(self.time_s.samples) <= 0:
            raise ValueError(f"time_s must be > 0, got {min(self.time_s.samples)!r}")

    @property
    def nominal_bytes(self) -> int:
        """The size rounded to a power of two: a message is divided into whole parts."""
        return 1 << (self.size_bytes.bit_length() - 1) if self.size_bytes else 0

    @property
    def algorithm_bytes_per_s(self) -> Estimate | None:
        """Size over time, byte/s; None for messages without bytes."""
        if not self.size_bytes:
            return None
        return self.time_s.map(lambda time_s: self.size_bytes / time_s)

    @property
    def bus_bytes_per_s(self) -> Estimate | None:
        """Algorithm bandwidth times the pattern's share on a link, byte/s."""
        n = self.ranks
        shares = {"all-reduce": 2 * (n - 1) / n, "all-gather": (n - 1) / n}
        share = shares.get(self.pattern, shares["all-gather"] if self.is_collective else 1.0)
        rate = self.algorithm_bytes_per_s
        return None if rate is None else rate.map(lambda value: value * share)

    @property
    def node_bytes_per_s(self) -> Estimate | None:
        """Bytes that each node sends to others, byte/s; None if this pattern does not tell.

        With all pairs, all ranks of a node send at once.
        """
        rate = self.algorithm_bytes_per_s
        if rate is None or self.is_collective or self.pattern == "ping-pong" or self.nodes < 2:
            return None
        return rate.map(lambda value: value * self.ranks / self.nodes)

    @property
    def is_collective(self) -> bool:
        """Whether all ranks take part in one operation."""
        return self.pattern in ("all-reduce", "all-gather", "all-to-all")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MeasuredCluster(Presentable):
    """The ceilings of a cluster, as they were measured.

    Parameters
    ----------
    name : str
    nodes : tuple of Node
        In the order of their first ranks.
    slowest_node : Machine
        The machine that bounds what all nodes do together: see `slowest`.
    standings : tuple of Standing
        One for every ceiling of the nodes.
    network : tuple of Exchange
    links : Links or None
        None: there is only one node.
    mpi : str
        The MPI library and the launcher of the ranks.
    call_s : float or None
        Time of a send and a receive to MPI_PROC_NULL: our calls add it to every message.
    cautions : tuple of Caution
    created : str or None
        ISO 8601, UTC.
    elapsed_s : float or None
    """

    name: str
    nodes: tuple[Node, ...]
    slowest_node: Machine
    standings: tuple[Standing, ...]
    network: tuple[Exchange, ...]
    links: Links | None
    mpi: str
    call_s: float | None = None
    cautions: tuple[Caution, ...] = ()
    created: str | None = None
    elapsed_s: float | None = None

    def __post_init__(self) -> None:
        hosts = [node.host for node in self.nodes]
        if not hosts or len(set(hosts)) != len(hosts):
            raise ValueError(f"nodes must have names of their own, got {hosts!r}")

    @property
    def headline(self) -> str:
        """Description in one line."""
        return (
            f"{quoted(self.name)}: {amount(len(self.nodes), 'node')}, "
            f"{amount(self.ranks, 'rank')}, {self.mpi}"
        )

    @property
    def ranks(self) -> int:
        """Number of ranks on all nodes."""
        return sum(node.ranks for node in self.nodes)

    def latency(self, pattern: Literal["ping-pong", "stream"] = "ping-pong") -> Estimate | None:
        """Return the time of the smallest message between two nodes, in seconds; None: unknown.

        Parameters
        ----------
        pattern : {"ping-pong", "stream"}
            ``ping-pong``: a message that waits for the one before it, Hockney's alpha, which is
            LogGP's L + 2 o. ``stream``: one of many that are under way at once, LogGP's gap g [1]_.

        References
        ----------
        .. [1] A. Alexandrov, M. F. Ionescu, K. E. Schauser, C. Scheiman, "LogGP: incorporating
           long messages into the LogP model", SPAA 1995, :doi:`10.1145/215399.215427`.
        """
        sizes = {
            exchange.size_bytes: exchange.time_s
            for exchange in self.network
            if exchange.pattern == pattern and exchange.nodes > 1
        }
        return sizes[min(sizes)] if sizes else None

    def slowest(self) -> Machine:
        """Return the machine that bounds nodes which work in step, with the network's ceilings.

        Notes
        -----
        For each resource it has the ceilings of the node with the lowest rate: nodes that wait
        for each other take as long as the slowest one, whichever the resource is. The ceiling
        ``network`` is the rate at which one node sends, byte/s.
        """
        known = self.slowest_node
        return replace(known, ceilings=(*known.ceilings, *network_ceilings(self)))


def network_ceilings(cluster: MeasuredCluster) -> tuple[Ceiling, ...]:
    """Return the ceilings of a node's link, each from the largest messages.

    Smaller messages may exceed the link's sustained rate: traffic shaping lets bursts pass.
    """
    ceilings = []
    links = cluster.links
    if links is not None and links.slowest:
        slowest = links.slowest[0]
        where = f"{slowest.sender} to {slowest.receiver}"
        ceilings.append(_network("slowest link", slowest.rate, threads=1, detail=where))
    for threads in sorted({e.ranks // e.nodes for e in cluster.network if e.nodes > 1}):
        rates = [
            (rate, exchange.size_bytes)
            for exchange in cluster.network
            if exchange.pattern == "all pairs" and exchange.ranks // exchange.nodes == threads
            if exchange.size_bytes >= _LARGE
            if (rate := exchange.node_bytes_per_s) is not None
        ]
        if rates:
            rate, size = max(rates, key=lambda pair: pair[1])
            ceilings.append(
                _network("all pairs", rate, threads=threads, detail=f"messages of {size} byte")
            )
    return tuple(ceilings)


def _network(name: str, rate: Estimate, *, threads: int, detail: str) -> Ceiling:
    return Ceiling(
        resource="network", name=name, threads=threads, unit="byte/s", rate=rate, detail=detail
    )
