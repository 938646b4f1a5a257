"""What each rank of a distributed program did, and what its nodes exchanged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.counts import Counts, Traffic, traffic_at
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.unknown import sum_if_known

CallKind = Literal["point-to-point", "collective", "wait", "other"]

CALL_KINDS: tuple[CallKind, ...] = ("point-to-point", "collective", "wait", "other")
"""``wait`` is waiting for what does not block, and looking whether it is there; ``other`` is
one-sided, files, and making communicators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Calls of one function of MPI in one native run of one rank.

    Parameters
    ----------
    name : str
        Name such as ``MPI_Allreduce``.
    kind : {"point-to-point", "collective", "wait", "other"}
    calls : int
    time_s : float
        Time inside these calls, of the thread that was in MPI longest.
    sent_bytes, received_bytes : int
        As the arguments say; for collectives, the buffers that this rank gives and gets. Bytes
        received by point-to-point calls are known from the senders, and are 0 here.
    algorithm : str or None
        Algorithm of a collective; None: not a collective, or one that moves no data.
    moved_bytes : int or None
        Derived: bytes that this rank would send if the collective used that algorithm.
    """

    name: str
    kind: CallKind
    calls: int
    time_s: float
    sent_bytes: int
    received_bytes: int
    algorithm: str | None = None
    moved_bytes: int | None = None

    def __post_init__(self) -> None:
        amounts = (self.calls, self.time_s, self.sent_bytes, self.received_bytes)
        if min(*amounts, self.moved_bytes or 0) < 0:
            raise ValueError(f"calls, times and bytes must be >= 0, got {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Point-to-point messages from a rank to another one.

    Parameters
    ----------
    rank : int or None
        Rank in MPI_COMM_WORLD; None: in another world, as for spawned processes.
    messages, sent_bytes : int
    """

    rank: int | None
    messages: int
    sent_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One rank.

    Parameters
    ----------
    rank : int
    host : str
    cpus : int
        Number of CPUs that it may use.
    runtime_s, cpu_s : Estimate or None
        From the end of MPI_Init to the beginning of MPI_Finalize, one sample per run; for a
        program without MPI, from start to exit. None: not timed.
    in_mpi_s : Estimate or None
        Part of the runtime inside MPI, of the thread that was there longest; None: not known.
    threads : int or None
        Number of threads that called MPI.
    counts : Counts or None
        None: not counted.
    traffic : tuple of Traffic
    calls : tuple of Call
        Calls in one native run.
    sent_bytes, received_bytes : int or None
        Bytes of point-to-point calls in one native run; None: not known.
    peers : tuple of Peer
        The ranks that it sent most to, in descending order.
    """

    rank: int
    host: str
    cpus: int
    runtime_s: Estimate | None = None
    cpu_s: Estimate | None = None
    in_mpi_s: Estimate | None = None
    threads: int | None = None
    counts: Counts | None = None
    traffic: tuple[Traffic, ...] = ()
    calls: tuple[Call, ...] = ()
    sent_bytes: int | None = None
    received_bytes: int | None = None
    peers: tuple[Peer, ...] = ()

    @property
    def memory_bytes(self) -> int | None:
        """Bytes between the last cache and memory, both directions; None: not known."""
        dram = traffic_at(self.traffic, "dram")
        return None if dram is None else dram.total_bytes

    @property
    def outside_mpi_s(self) -> float | None:
        """Median runtime outside MPI; None: not known."""
        if self.runtime_s is None or self.in_mpi_s is None:
            return None
        return max(0.0, self.runtime_s.median - self.in_mpi_s.median)

    @property
    def call_count(self) -> int:
        """Number of MPI calls."""
        return sum(call.calls for call in self.calls)

    def time_in_s(self, kind: CallKind) -> float:
        """Return the time in calls of one kind, in the run that recorded the calls."""
        return sum(call.time_s for call in self.calls if call.kind == kind)

    @property
    def collective_bytes(self) -> int:
        """Derived: bytes that collectives would send from here by the algorithms that they name."""
        return sum(call.moved_bytes or 0 for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankNode:
    """A node and the traffic of its network interfaces while the program ran.

    Parameters
    ----------
    host : str
    ranks : tuple of int
    cpus : int
        Number of CPUs that at least one of its ranks may use.
    sent_bytes, received_bytes : Estimate or None
        Bytes of all programs on the node, headers included, one sample per run; None: not known.
    idle_bytes_per_s : float or None
        Rate sent and received while no rank ran, the larger of before and after; None: not known.
    interfaces : tuple of str
        Interfaces whose counters were read.
    unknown : str or None
        Why the bytes are not known; None: they are known.
    sent_to_others_bytes : int or None
        Point-to-point bytes to ranks on other nodes, in one native run; None: not known.
    """

    host: str
    ranks: tuple[int, ...]
    cpus: int
    sent_bytes: Estimate | None = None
    received_bytes: Estimate | None = None
    idle_bytes_per_s: float | None = None
    interfaces: tuple[str, ...] = ()
    unknown: str | None = None
    sent_to_others_bytes: int | None = None

    @property
    def network_bytes(self) -> float | None:
        """Median bytes that the busier direction of its links carried; None: not known."""
        if self.sent_bytes is None or self.received_bytes is None:
            return None
        return max(self.sent_bytes.median, self.received_bytes.median)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distributed:
    """A program of several ranks, as measured.

    Parameters
    ----------
    launcher : str
        The program that started the ranks, with its version.
    uses_mpi : bool or None
        False: the ranks never initialised MPI and ran independently. None: not known.
    ranks : tuple of Rank
        In order.
    nodes : tuple of RankNode
        In the order of their first ranks.
    """

    launcher: str
    uses_mpi: bool | None
    ranks: tuple[Rank, ...]
    nodes: tuple[RankNode, ...]

    def __post_init__(self) -> None:
        if [rank.rank for rank in self.ranks] != list(range(len(self.ranks))) or not self.ranks:
            raise ValueError("ranks must be numbered from 0, without a gap")
        on_nodes = sorted(rank for node in self.nodes for rank in node.ranks)
        if on_nodes != list(range(len(self.ranks))):
            raise ValueError("every rank must be on one node")

    @property
    def crosses_network(self) -> bool:
        """Whether there is a network between the ranks."""
        return len(self.nodes) > 1

    @property
    def network_bytes(self) -> float | None:
        """Bytes that nodes exchanged: all that left them; 0 on one node, None: not known."""
        if not self.crosses_network:
            return 0.0
        sent = (node.sent_bytes for node in self.nodes)
        return sum_if_known(None if amount is None else amount.median for amount in sent)

    def on(self, node: RankNode) -> tuple[Rank, ...]:
        """Return the ranks of a node."""
        return tuple(self.ranks[rank] for rank in node.ranks)


def imbalance(amounts: Iterable[float]) -> float | None:
    """Return the largest over the mean: 1 is balanced; None: no amounts, or all are 0.

    Examples
    --------
    >>> imbalance([1.0, 1.0, 4.0])
    2.0
    """
    values = list(amounts)
    total = sum(values)
    return max(values) * len(values) / total if total > 0 else None
