"""What patterns of communication are made of: messages between ranks, and a clock."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mpi4py import MPI

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

_CALLS = 2000


class Messages(Protocol):
    """Some ranks that exchange messages; each holds one end."""

    @property
    def rank(self) -> int:
        """The number of this end."""

    @property
    def size(self) -> int:
        """How many ends there are."""

    def now(self) -> float:
        """Return a time, s."""

    def interruptions(self) -> int:
        """Return how often another process took this end's core until now."""

    def send(self, out: Bytes, to: int) -> None:
        """Send one message; it may return before the message has arrived."""

    def receive(self, into: Bytes, source: int) -> None:
        """Wait for one message."""

    def swap(self, out: Sequence[Bytes], into: Sequence[Bytes], *, to: int, source: int) -> None:
        """Send some messages and wait for some, all under way at once."""

    def barrier(self) -> None:
        """Wait until every end is here."""

    def most(self, values: Floats) -> Floats:
        """Return the largest of all ends' values, one by one, on each."""


class Channel(Messages, Protocol):
    """Some ranks that have collective operations too."""

    def all_reduce(self, out: Floats, into: Floats) -> None:
        """Add up all ends' numbers, on each."""

    def all_gather(self, out: Bytes, into: Bytes) -> None:
        """Bring all ends' bytes together, on each."""

    def all_to_all(self, out: Bytes, into: Bytes) -> None:
        """Send a part of the bytes to each end."""


class MpiChannel:
    """All ranks of a communicator."""

    def __init__(self, comm: MPI.Comm) -> None:
        from mpi4py import MPI

        self._mpi, self._comm = MPI, comm
        self.rank, self.size = comm.rank, comm.size
        self.now = time.perf_counter

    def interruptions(self) -> int:
        """Return how often another process took this thread's core until now."""
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw

    def send(self, out: Bytes, to: int) -> None:
        """Send one message."""
        self._comm.Send([out, self._mpi.BYTE], to)

    def receive(self, into: Bytes, source: int) -> None:
        """Wait for one message."""
        self._comm.Recv([into, self._mpi.BYTE], source)

    def swap(self, out: Sequence[Bytes], into: Sequence[Bytes], *, to: int, source: int) -> None:
        """Send some messages and wait for some, all under way at once."""
        comm, byte = self._comm, self._mpi.BYTE
        requests = [comm.Irecv([part, byte], source) for part in into]
        requests += [comm.Isend([part, byte], to) for part in out]
        self._mpi.Request.Waitall(requests)

    def barrier(self) -> None:
        """Wait until every end is here."""
        self._comm.Barrier()

    def most(self, values: Floats) -> Floats:
        """Return the largest of all ends' values, one by one, on each."""
        result = np.empty_like(values)
        self._comm.Allreduce(values, result, op=self._mpi.MAX)
        return result

    def all_reduce(self, out: Floats, into: Floats) -> None:
        """Add up all ends' numbers, on each."""
        self._comm.Allreduce(out, into)

    def all_gather(self, out: Bytes, into: Bytes) -> None:
        """Bring all ends' bytes together, on each."""
        self._comm.Allgather([out, self._mpi.BYTE], [into, self._mpi.BYTE])

    def all_to_all(self, out: Bytes, into: Bytes) -> None:
        """Send a part of the bytes to each end."""
        self._comm.Alltoall([out, self._mpi.BYTE], [into, self._mpi.BYTE])

    def call_s(self) -> float:
        """Return the time of a send and a receive that go nowhere: what the calls add, s."""
        nobody, nothing = self._mpi.PROC_NULL, np.empty(0, dtype=np.uint8)
        begin_s = self.now()
        for _ in range(_CALLS):
            self.send(nothing, nobody)
            self.receive(nothing, nobody)
        return (self.now() - begin_s) / _CALLS


class Pair:
    """Two ends of a channel, as a channel of their own.

    Parameters
    ----------
    channel : Messages
        That this end belongs to.
    first, second : int
        Its ends that make the pair; this is one of them.
    """

    def __init__(self, channel: Messages, first: int, second: int) -> None:
        self._channel = channel
        self.rank = 0 if channel.rank == first else 1
        self.size = 2
        self._ends = (first, second)
        self._partner = self._ends[1 - self.rank]
        self._token = np.ones(1, dtype=np.uint8)
        self._other_token = np.ones(1, dtype=np.uint8)

    def now(self) -> float:
        """Return a time, s."""
        return self._channel.now()

    def interruptions(self) -> int:
        """Return how often another process took this end's core until now."""
        return self._channel.interruptions()

    def send(self, out: Bytes, to: int) -> None:
        """Send one message."""
        self._channel.send(out, self._ends[to])

    def receive(self, into: Bytes, source: int) -> None:
        """Wait for one message."""
        self._channel.receive(into, self._ends[source])

    def swap(self, out: Sequence[Bytes], into: Sequence[Bytes], *, to: int, source: int) -> None:
        """Send some messages and wait for some, all under way at once."""
        self._channel.swap(out, into, to=self._ends[to], source=self._ends[source])

    def barrier(self) -> None:
        """Wait until the other is here."""
        partner = self._partner
        self._channel.swap([self._token], [self._other_token], to=partner, source=partner)

    def most(self, values: Floats) -> Floats:
        """Return the larger of both ends' values, one by one, on each."""
        mine, others = np.ascontiguousarray(values), np.empty_like(values)
        self._channel.swap(
            [mine.reshape(-1).view(np.uint8)],
            [others.reshape(-1).view(np.uint8)],
            to=self._partner,
            source=self._partner,
        )
        return np.maximum(mine, others)
