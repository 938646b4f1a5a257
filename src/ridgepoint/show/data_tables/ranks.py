"""The ranks of a distributed program as a table."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.columns import count, number, text
from ridgepoint.core.documents import fields_of
from ridgepoint.core.ranks import CALL_KINDS, Rank
from ridgepoint.core.table import Table

_IN = {kind: f"in_{kind.replace('-', '_')}_s" for kind in CALL_KINDS}
RANKS = (
    count("rank", "Rank in MPI_COMM_WORLD."),
    text("host", "Node on which it ran."),
    count("cpus", "CPUs that it may use."),
    *number("runtime_s", "From the end of MPI_Init to MPI_Finalize, median.", "T", unit="s").ends(),
    *number("cpu_s", "User and system time, median.", "CPU time", unit="s").ends(),
    *number("in_mpi_s", "Part of the runtime inside MPI, median.", "in MPI", unit="s").ends(),
    number("outside_mpi_s", "Runtime outside MPI, median.", "outside MPI", unit="s"),
    *(number(key, f"Time in {kind} calls of one run.", unit="s") for kind, key in _IN.items()),
    count("threads", "Threads that called MPI."),
    count("calls", "Calls of MPI in one run."),
    count("work_flop", "Floating-point operations.", "W", unit="flop"),
    count("instructions", "Executed instructions."),
    count("dram_bytes", "Bytes moved both ways at DRAM.", unit="byte"),
    count("sent_bytes", "Bytes sent by point-to-point calls in one run.", unit="byte"),
    count("received_bytes", "Bytes received by point-to-point calls in one run.", unit="byte"),
    count("collective_bytes", "Bytes that collectives would send from here.", unit="byte"),
)


def ranks_table(ranks: Iterable[Rank]) -> Table:
    """Return a row for each rank."""
    return Table.of(
        "ranks",
        RANKS,
        (
            {
                **fields_of(rank, "rank", "host", "cpus", "runtime_s", "cpu_s", "in_mpi_s"),
                **fields_of(rank, "outside_mpi_s", "threads", "sent_bytes", "received_bytes"),
                **fields_of(rank.counts, "work_flop", "instructions"),
                # Without a profile of MPI there are no calls, which is not that there were none.
                **(
                    {}
                    if rank.in_mpi_s is None
                    else {
                        "calls": rank.call_count,
                        "collective_bytes": rank.collective_bytes,
                        **{key: rank.time_in_s(kind) for kind, key in _IN.items()},
                    }
                ),
                "dram_bytes": rank.memory_bytes,
            }
            for rank in ranks
        ),
    )
