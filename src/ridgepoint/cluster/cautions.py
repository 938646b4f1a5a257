"""What to doubt in a distributed program's measurement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.cluster.task import Report
from ridgepoint.core.caution import Caution
from ridgepoint.core.ranks import Distributed
from ridgepoint.core.units import format_si

_ALIKE = 0.01
_SHARED = 0.05
_SHORT_S = 0.01

Run = Sequence[Report]


def of_program(
    whole: Distributed, runs: Sequence[Run], counted: Run, *, runtime_s: float | None
) -> Iterator[Caution]:
    """Yield what to doubt.

    Parameters
    ----------
    whole : Distributed
    runs : sequence of sequence of Report
        Native ones.
    counted : sequence of Report
    runtime_s : float or None
        The median of the slowest rank's times; None: it was not timed.
    """
    if whole.uses_mpi is False:
        yield Caution(
            "no-mpi",
            f"no rank called MPI_Init: the {len(whole.ranks)} ranks are independent copies, "
            "measured from start to exit",
            "start a program that uses MPI (MPI is not seen in a program that links it "
            "statically or calls it only from Fortran)",
        )
    elif runtime_s is not None and runtime_s < _SHORT_S:
        yield Caution(
            "short",
            f"the program takes {runtime_s * 1e3:.2g} ms from MPI_Init to MPI_Finalize, and a "
            "part of that is due to ranks starting at different moments",
            "give the program more to do",
        )
    yield from _oversubscribed(whole)
    yield from _unfinalized(runs[0])
    yield from _differing(runs[0], counted)
    yield from _network(whole, runs, runtime_s)


def _oversubscribed(whole: Distributed) -> Iterator[Caution]:
    for node in whole.nodes:
        if len(node.ranks) > node.cpus:
            yield Caution(
                "oversubscribed",
                f"{len(node.ranks)} ranks share {node.cpus} CPU(s) of {node.host}: they take turns",
                "the times say little about scaling: give each rank a CPU of its own",
            )


def _unfinalized(run: Run) -> Iterator[Caution]:
    left = [
        report.rank
        for report in run
        if any(not profile.is_finalized for profile in report.profiles)
    ]
    if left:
        yield Caution(
            "not-finalized",
            f"rank {left[0]} ended without MPI_Finalize: its time is measured until its end",
            "let the program call MPI_Finalize",
        )


def _differing(native: Run, counted: Run) -> Iterator[Caution]:
    """Doubt counts of a run that did not exchange what the native one did."""
    for first, other in zip(native, counted, strict=True):
        if not first.profiles or not other.profiles:
            continue
        for what, amounts in (
            (
                "byte sent",
                [sum(p.sent_bytes for p in report.profiles) for report in (first, other)],
            ),
            ("collective calls", [_collectives(report) for report in (first, other)]),
        ):
            if abs(amounts[0] - amounts[1]) > _ALIKE * max(amounts):
                yield Caution(
                    "work-differs",
                    f"rank {first.rank} did {amounts[0]} {what} in the native run and "
                    f"{amounts[1]} in the counted run",
                    "the result combines the work of one run with the time of others: fix "
                    "random seeds, and do not divide the work by time",
                )
                return


def _collectives(report: Report) -> int:
    return sum(call.calls for p in report.profiles for call in p.calls if call.kind == "collective")


def _network(whole: Distributed, runs: Sequence[Run], runtime_s: float | None) -> Iterator[Caution]:
    wrapped = {
        f"{name} of {report.host}"
        for run in runs
        for report in run
        if report.passed is not None
        for name in report.passed.wrapped
    }
    if wrapped:
        yield Caution(
            "interface-wrapped",
            f"32-bit counters overflowed ({', '.join(sorted(wrapped))}): one overflow is "
            "corrected, further ones are not seen",
            "if the program sends more than 4 GB over that interface, give it less to do",
        )
    if not whole.crosses_network:
        return
    for node in whole.nodes:
        if node.unknown is not None:
            yield Caution(
                "network-unknown",
                f"it is not known what {node.host} sends over the network: {node.unknown}",
                "the bytes of MPI calls are known nevertheless",
            )
        elif runtime_s is not None and node.idle_bytes_per_s and node.network_bytes:
            idle = node.idle_bytes_per_s * runtime_s
            if idle > _SHARED * node.network_bytes:
                yield Caution(
                    "network-shared",
                    f"the interfaces of {node.host} carried "
                    f"{format_si(node.idle_bytes_per_s, 'B/s')} while no rank ran: other traffic "
                    f"may be {idle / node.network_bytes:.0%} of what was counted",
                    "measure when the network is quiet",
                )
