"""All ranks of this MPI job: who they are, on which nodes, and how they wait and tell."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ridgepoint.cluster.detect import Launched
from ridgepoint.cluster.watchdog import GRACE_S, Watchdog
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host import hostname

if TYPE_CHECKING:
    from mpi4py import MPI

_TELL, _ALIVE = 1, 2  # tags

_SHORTEST_NAP_S, _LONGEST_NAP_S = 0.0002, 0.005


class World:
    """One rank among all.

    Parameters
    ----------
    comm : MPI.Intracomm
        Communicator of all ranks; it is duplicated.
    launched : Launched

    Attributes
    ----------
    rank, size : int
    host : str
        Host of this rank; nodes with the same name are distinguished by a number.
    node, nodes : int
        Number of this rank's node, in the order of first ranks, and number of nodes.
    local_rank, local_size : int
        Rank and number of ranks on this node.
    hosts : tuple of str
    ranks_of_nodes : tuple of int
        Number of ranks on each node.
    local : MPI.Intracomm
        Ranks of this node.
    leaders : MPI.Intracomm or None
        First ranks of all nodes; None: this is not one of them.
    even : MPI.Intracomm or None
        Equally many ranks of each node, numbered node by node; None: this is one too many.
    """

    def __init__(self, comm: MPI.Intracomm, launched: Launched) -> None:
        from mpi4py import MPI

        self._mpi, self.launched = MPI, launched
        self.comm = comm.Dup()
        self._alive = comm.Dup()
        self.rank, self.size = comm.rank, comm.size
        # Ranks that can share memory are on one node, whatever its name is.
        self.local = comm.Split_type(MPI.COMM_TYPE_SHARED, key=comm.rank)
        self.local_rank, self.local_size = self.local.rank, self.local.size
        leaders = comm.Split(0 if self.is_leader else 1, key=comm.rank)
        mine: tuple[int, tuple[str, ...], tuple[int, ...]] | None = None
        if self.is_leader:
            hosts = _told_apart(leaders.allgather(hostname()))
            mine = leaders.rank, hosts, tuple(leaders.allgather(self.local_size))
        self.leaders = leaders if self.is_leader else None
        shared: tuple[int, tuple[str, ...], tuple[int, ...]] = self.local.bcast(mine)
        self.node, self.hosts, self.ranks_of_nodes = shared
        self.host: str = self.hosts[self.node]
        self.nodes = len(self.hosts)
        # Node by node, whatever order the launcher numbered them in.
        taken = self.local_rank < self.fewest_local
        key = self.node * self.fewest_local + self.local_rank
        even = comm.Split(0 if taken else 1, key=key if taken else comm.rank)
        self.even = even if taken else None
        self._nodes_of_ranks: list[int] = comm.gather(self.node) or []
        self._watchdog = Watchdog(self._overdue, self._end)
        self._watchdog.start()

    @property
    def is_leader(self) -> bool:
        """Whether this rank is the first of its node."""
        return self.local_rank == 0

    @property
    def fewest_local(self) -> int:
        """Ranks of the node that has fewest."""
        return min(self.ranks_of_nodes)

    @property
    def most_local(self) -> int:
        """Ranks of the node that has most."""
        return max(self.ranks_of_nodes)

    @property
    def crowded(self) -> int | None:
        """The first node that has more than one rank; None: none has."""
        return next((node for node, n in enumerate(self.ranks_of_nodes) if n > 1), None)

    @property
    def is_root(self) -> bool:
        """Whether this rank is the one that writes."""
        return self.rank == 0

    @cached_property
    def library(self) -> str:
        """Name and version of the MPI library."""
        return self._mpi.Get_library_version().replace(",", "\n").splitlines()[0].strip("\0 ")

    def host_of(self, rank: int) -> str:
        """Return a rank's host; rank 0 alone knows."""
        return self.hosts[self._nodes_of_ranks[rank]]

    def step(self, name: str, *, limit_s: float) -> AbstractContextManager[None]:
        """Limit the time that a step may take; then a line names the ranks that are missing."""
        return self._watchdog.step(name, limit_s=limit_s)

    def pause(self, *, of_leaders: bool = False) -> None:
        """Wait, asleep, until all ranks are here, or all leaders, of which this is one then."""
        comm = self.leaders if of_leaders and self.leaders is not None else self.comm
        self._sleep_until(comm.Ibarrier().Test)

    def told(self, payload: bytes | None, *, tellers: int) -> Iterator[tuple[int, bytes]]:
        """Tell rank 0 something, and on rank 0 yield what others tell, one after the other.

        Every rank calls it and goes through what it yields. Rank 0 holds one message at a time;
        those that have not been heard wait asleep.

        Parameters
        ----------
        payload : bytes or None
            None: this rank has nothing to tell.
        tellers : int
            How many ranks tell something.

        Yields
        ------
        rank, payload : int, bytes
            On rank 0 alone, its own first.
        """
        if not self.is_root:
            if payload is not None:
                sent = self.comm.Isend([payload, len(payload), self._mpi.BYTE], 0, tag=_TELL)
                self._sleep_until(sent.Test)
            return
        if payload is not None:
            yield 0, payload
        for _ in range(tellers - (payload is not None)):
            status = self._mpi.Status()
            message = self._sleep_until(
                lambda status=status: self.comm.Improbe(tag=_TELL, status=status)  # type: ignore[misc]
            )
            buffer = bytearray(status.Get_count(self._mpi.BYTE))
            message.Recv([buffer, len(buffer), self._mpi.BYTE])
            yield status.Get_source(), bytes(buffer)

    def agree(self, value: Any) -> Any:
        """Return what rank 0 has, everywhere; the others wait asleep."""
        self.pause()
        return self.comm.bcast(value)

    def close(self) -> None:
        """End what watches the time."""
        self._watchdog.close()

    def abort(self, line: str) -> NoReturn:
        """Say why, and end all ranks."""
        print(f"ridgepoint: {' '.join(line.split())}", file=sys.stderr, flush=True)
        self._end(2)
        raise AssertionError("unreachable")

    def leave(self, line: str) -> NoReturn:
        """End this rank, as whoever ends the job told every rank to; rank 0 says why."""
        if self.is_root:
            print(f"ridgepoint: {' '.join(line.split())}", file=sys.stderr, flush=True)
        os._exit(2)

    def _sleep_until(self, ready: Callable[[], Any]) -> Any:
        # A rank that spins takes a core, and the memory and the links behind it, from those that
        # measure; MPI's own waiting does.
        nap_s = _SHORTEST_NAP_S
        while not (found := ready()):
            time.sleep(nap_s)
            nap_s = min(nap_s * 1.5, _LONGEST_NAP_S)
        return found

    def _end(self, status: int) -> None:
        sys.stderr.flush()
        self._mpi.COMM_WORLD.Abort(status)
        os._exit(status)

    def _overdue(self, step: str) -> str | None:
        """Return what to say of a step that is overdue: on rank 0, which ranks are gone."""
        if not self.is_root:
            self._alive.Isend([b"\1", 1, self._mpi.BYTE], 0, tag=_ALIVE)
            # Rank 0 ends all; if it is gone itself, its neighbour says so.
            time.sleep(2 * GRACE_S)
            reason = f"cannot go on with {step}: rank 0 on {self.hosts[0]} does not answer"
            return f"{reason}; find out what ended it, and run again" if self.rank == 1 else None
        missing = set(range(1, self.size))
        begin_s = time.monotonic()
        while missing and time.monotonic() - begin_s < GRACE_S:
            status = self._mpi.Status()
            if self._alive.Iprobe(tag=_ALIVE, status=status):
                self._alive.Recv(bytearray(1), status.Get_source(), tag=_ALIVE)
                missing.discard(status.Get_source())
            else:
                time.sleep(_LONGEST_NAP_S)
        if not missing:
            return (
                f"cannot finish {step}: it took too long, though all ranks are there; check "
                "whether the nodes or the network are busy, and run again"
            )
        shown = ", ".join(f"rank {rank} on {self.host_of(rank)}" for rank in sorted(missing)[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        return (
            f"cannot finish {step}: {shown}{more} did not answer; find out what ended it, "
            "check whether its link is up, and run again"
        )


def join(launched: Launched) -> World:
    """Return this rank among all that were launched.

    Parameters
    ----------
    launched : Launched
        What the launcher says.

    Raises
    ------
    CannotMeasure
        On rank 0, if mpi4py is missing, finds no library, or is not the launcher's: then every
        process would think that it is alone. The other ranks end.
    """
    try:
        import mpi4py

        mpi4py.rc(thread_level="multiple")  # the watchdog is a thread of its own
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        fault = str(error).strip().splitlines()[0]
        raise _refusal(
            launched,
            f"mpi4py does not work here ({fault})",
            "install it on every node: pip install 'ridgepoint[mpi]', or, for the cluster's own "
            "MPI, pip install --no-binary mpi4py mpi4py",
        ) from None
    if MPI.COMM_WORLD.size != launched.size:
        library = MPI.Get_library_version().replace(",", "\n").splitlines()[0].strip("\0 ")
        beside = Path(sys.executable).with_name("mpirun")
        own = f"use {beside}, or " if beside.exists() else ""
        raise _refusal(
            launched,
            f"{launched.launcher} started {launched.size} processes, and each finds "
            f"{MPI.COMM_WORLD.size} in its world: mpi4py uses {library}, which is not the "
            "launcher's MPI",
            f"{own}build mpi4py with the launcher's MPI (pip install --no-binary mpi4py mpi4py); "
            "with srun, choose its --mpi plugin for that library",
        )
    return World(MPI.COMM_WORLD, launched)


def _refusal(launched: Launched, reason: str, remedy: str) -> CannotMeasure:
    if launched.rank:
        raise SystemExit(2)  # rank 0 speaks for all
    return CannotMeasure("cannot use MPI", reason=reason, remedy=remedy)


def _told_apart(names: list[str]) -> tuple[str, ...]:
    """Return names of which no two are alike.

    Examples
    --------
    >>> _told_apart(["a", "b", "a"])
    ('a', 'b', 'a (2)')
    """
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(result)
