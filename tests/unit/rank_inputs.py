"""Literal reports of ranks, and a runner that hands them out in place of a launcher."""

import msgspec

from ridgepoint import __version__
from ridgepoint.cluster.interfaces import Passed
from ridgepoint.cluster.launcher import Launcher
from ridgepoint.cluster.profiling import Profile
from ridgepoint.cluster.task import Report
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, RegionCounts, Traffic
from ridgepoint.core.ranks import Call, Peer

HOSTS = ("a", "a", "b")
"""Of three ranks."""


def counts_of(flop):
    """Return counts of so many flop in double precision."""
    return Counts(
        instructions=10 * flop,
        branches=0,
        loads=0,
        stores=0,
        load_bytes=0,
        store_bytes=0,
        flop=(FlopCount(precision="fp64", width_bits=0, fma=False, flop=flop, instructions=flop),),
    )


def counted_of(flop, moved):
    """Return what an engine counted on one rank: `flop`, and `moved` byte read from memory."""
    counts = counts_of(flop)
    return Counted(
        meter="by hand",
        counts=counts,
        traffic=(Traffic(level="dram", read_bytes=moved, write_bytes=0),),
        functions=(FunctionCounts(name="f", object="/bin/f", counts=counts),),
        regions=(
            RegionCounts(name="MPI", counts=counts),
            RegionCounts(name="solve", inside=("MPI",), counts=counts),
        ),
        selected="region 'MPI' (all threads)",
        most_threads=3,
    )


def profile_of(rank, *, wall_s, in_mpi_s, peers, size=3):
    """Return a profile with one collective and one wait beside the messages."""
    return Profile(
        rank=rank,
        size=size,
        wall_s=wall_s,
        cpu_s=wall_s,
        threads=1,
        calls=(
            Call(
                name="MPI_Allreduce",
                kind="collective",
                calls=4,
                time_s=in_mpi_s * 0.75,
                sent_bytes=800,
                received_bytes=800,
                algorithm="ring",
                moved_bytes=1066,
            ),
            Call(
                name="MPI_Wait",
                kind="wait",
                calls=2,
                time_s=in_mpi_s * 0.25,
                sent_bytes=0,
                received_bytes=0,
            ),
        ),
        peers=tuple(Peer(rank=to, messages=1, sent_bytes=sent) for to, sent in peers.items()),
        is_finalized=True,
    )


def report_of(rank, **fields):
    """Return a report of one of three ranks; two are on host a."""
    local_rank = (0, 1, 0)[rank]
    known = {
        "version": __version__,
        "rank": rank,
        "ranks": 3,
        "local_rank": local_rank,
        "host": HOSTS[rank],
        "cpu": "none",
        "cpus": (rank,),
    }
    return Report(**{**known, **fields})


def timed_run(wall_s=(2.0, 2.0, 2.0), in_mpi_s=(0.5, 1.0, 1.5), net=(4000, 3000), mpi=True):
    """Return one native run; `net` is what host a sends and receives, b the other way round."""
    sent = ({1: 100, 2: 1000}, {2: 10}, {0: 5, None: 7})
    reports = []
    for rank in range(3):
        first = (0, 1, 0)[rank] == 0
        ways = net if rank == 0 else net[::-1]
        passed = Passed(sent_bytes=ways[0], received_bytes=ways[1], interfaces=("eth0",))
        profile = profile_of(rank, wall_s=wall_s[rank], in_mpi_s=in_mpi_s[rank], peers=sent[rank])
        reports.append(
            report_of(
                rank,
                wall_s=wall_s[rank] + 1.0,
                cpu_s=wall_s[rank] + 0.5,
                profiles=(profile,) if mpi else (),
                passed=passed if first else None,
            )
        )
    return tuple(reports)


class ScriptedRunner:
    """Hands out reports: one prepared run, then native ones in turn, then a counted one.

    Parameters
    ----------
    native : sequence of tuple of Report
        The last is handed out again when there are no more.
    """

    launcher = Launcher(
        command=("/usr/bin/mpirun", "-n", "3"),
        shown=("mpirun", "-n", "3"),
        name="mpirun (scripted) 1.0",
        ranks=3,
    )

    def __init__(self, *native, prepared=None, counted=None):
        self._native = list(native)
        self._prepared = prepared or tuple(
            report_of(rank, library=None if rank == 1 else f"/cache/{HOSTS[rank]}/lib.so")
            for rank in range(3)
        )
        self._counted = counted
        self.tasks = []

    def run(self, task, *, stdin, output, limit_s):
        """Return what each rank reports."""
        self.tasks.append(task)
        if task.mode == "prepare":
            return self._prepared
        if task.mode == "count":
            return self._counted or counted_run(self._native[0])
        return self._native.pop(0) if len(self._native) > 1 else self._native[0]


def counted_run(native):
    """Return the counted run of three ranks, with 1, 2 and 3 Gflop; they exchange the same."""
    return tuple(
        msgspec.structs.replace(
            one, counted=counted_of((rank + 1) * 1_000_000_000, 500_000_000), passed=None
        )
        for rank, one in enumerate(native)
    )
