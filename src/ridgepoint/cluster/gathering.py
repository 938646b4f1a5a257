"""Put together what the ranks of one program told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ridgepoint.cluster.profiling import Profile
from ridgepoint.cluster.task import Report
from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FunctionCounts, RegionCounts, Traffic, by_work
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.ranks import Call, Distributed, Peer, Rank, RankNode
from ridgepoint.core.unknown import sum_if_known

_MOST_PEERS = 16
"""Of each rank are kept, those that it sent most to: all of them are as many as ranks squared."""

Run = Sequence[Report]
"""One run: what each rank told, in their order."""


def runtime_s(report: Report) -> float:
    """Return how long a rank ran: within MPI, or from start to exit if it used none."""
    if report.profiles:
        return max(profile.wall_s for profile in report.profiles)
    return report.wall_s or 0.0


def cpu_s(report: Report) -> float:
    """Return the CPU time of that."""
    if report.profiles:
        return sum(profile.cpu_s for profile in report.profiles)
    return report.cpu_s or 0.0


def in_mpi_s(report: Report) -> float:
    """Return how long a rank was inside MPI."""
    return max((profile.in_mpi_s for profile in report.profiles), default=0.0)


def distributed(
    *,
    launcher: str,
    runs: Sequence[Run],
    counted: Run,
    idle: Sequence[Run],
    is_timed: bool,
    is_profiled: bool,
) -> Distributed:
    """Return what each rank and node did.

    Parameters
    ----------
    launcher : str
    runs : sequence of sequence of Report
        Native runs, at least one.
    counted : sequence of Report
    idle : sequence of sequence of Report
        Runs that recorded the traffic of the idle network.
    is_timed : bool
        Whether the native runs count.
    is_profiled : bool
        Whether MPI was profiled.
    """
    hosts = [report.host for report in counted]
    sent = [_sent(report.profiles) for report in runs[0]]
    uses_mpi = any(report.profiles for report in runs[0])
    ranks = tuple(
        _rank(
            rank,
            [run[rank] for run in runs],
            counted[rank],
            received=[part for parts in sent for part in parts if part.rank == rank],
            is_timed=is_timed,
            is_profiled=is_profiled and uses_mpi,
        )
        for rank in range(len(counted))
    )
    nodes = []
    for host in dict.fromkeys(hosts):
        own = tuple(rank for rank, other in enumerate(hosts) if other == host)
        nodes.append(_node(host, own, runs, counted, idle))
        if is_profiled and uses_mpi:
            left = sum(
                part.sent_bytes
                for rank in own
                for part in sent[rank]
                if part.rank is None or part.rank not in own
            )
            nodes[-1] = replace(nodes[-1], sent_to_others_bytes=left)
    return Distributed(
        launcher=launcher,
        uses_mpi=uses_mpi if is_profiled else None,
        ranks=ranks,
        nodes=tuple(nodes),
    )


def _rank(
    rank: int,
    native: Run,
    counted: Report,
    *,
    received: Sequence[Peer],
    is_timed: bool,
    is_profiled: bool,
) -> Rank:
    first = native[0]
    peers = sorted(_sent(first.profiles), key=lambda peer: peer.sent_bytes, reverse=True)
    known = Rank(rank=rank, host=counted.host, cpus=len(counted.cpus))
    if counted.counted is not None:
        known = replace(known, counts=counted.counted.counts, traffic=counted.counted.traffic)
    if is_timed:
        known = replace(
            known,
            runtime_s=Estimate(map(runtime_s, native)),
            cpu_s=Estimate(map(cpu_s, native)),
        )
    if not is_profiled:
        return known
    return replace(
        known,
        in_mpi_s=Estimate(map(in_mpi_s, native)) if is_timed else None,
        threads=max((profile.threads for profile in first.profiles), default=0),
        calls=_calls(first.profiles),
        sent_bytes=sum(peer.sent_bytes for peer in peers),
        received_bytes=sum(peer.sent_bytes for peer in received),
        peers=tuple(peers[:_MOST_PEERS]),
    )


def _sent(profiles: Iterable[Profile]) -> list[Peer]:
    return [peer for profile in profiles for peer in profile.peers]


def _calls(profiles: Iterable[Profile]) -> tuple[Call, ...]:
    """Return the calls of a rank's processes; it is one process unless it spawned others."""
    return tuple(call for profile in profiles for call in profile.calls)


def _node(
    host: str, own: tuple[int, ...], runs: Sequence[Run], counted: Run, idle: Sequence[Run]
) -> RankNode:
    cpus = len({cpu for rank in own for cpu in counted[rank].cpus})
    known = RankNode(host=host, ranks=own, cpus=cpus)
    passed = [
        report.passed
        for run in runs
        for report in run
        if report.host == host and report.passed is not None
    ]
    if len(passed) < len(runs):
        return replace(known, unknown="the launcher does not say which rank is first on its node")
    lack = next((amounts.unknown for amounts in passed if amounts.unknown is not None), None)
    if lack is not None:
        return replace(known, unknown=lack)
    rates = [
        (passing.sent_bytes + passing.received_bytes) / seconds
        for run in idle
        for report in run
        if report.host == host and report.idle is not None
        for passing, seconds in (report.idle,)
        if passing.sent_bytes is not None and passing.received_bytes is not None
    ]
    return replace(
        known,
        sent_bytes=Estimate(amounts.sent_bytes or 0 for amounts in passed),
        received_bytes=Estimate(amounts.received_bytes or 0 for amounts in passed),
        idle_bytes_per_s=max(rates, default=None),
        interfaces=passed[0].interfaces,
    )


def summed(reports: Run, *, region: str | None) -> Counted:
    """Return the counts of all ranks together.

    Parameters
    ----------
    reports : sequence of Report
        Of a counted run.
    region : str or None
        The region that is all that was counted; None: there is none.
    """
    parts = [report.counted for report in reports if report.counted is not None]
    partial = next(
        (
            f"rank {report.rank} on {report.host}: {report.counted.partial}"
            for report in reports
            if report.counted is not None and report.counted.partial is not None
        ),
        None,
    )
    return Counted(
        meter=parts[0].meter,
        counts=Counts.total(part.counts for part in parts),
        traffic=Traffic.total(moved for part in parts for moved in part.traffic),
        functions=_functions(parts),
        caches=parts[0].caches,
        processes=sum_if_known(part.processes for part in parts),
        cautions=_cautions(parts),
        regions=_regions(parts, region),
        partial=partial,
        selected=None if region is not None else parts[0].selected,
        most_threads=max((part.most_threads or 0 for part in parts), default=0) or None,
    )


def _functions(parts: Sequence[Counted]) -> tuple[FunctionCounts, ...]:
    """Return functions of one name in one file as one, by work, then by instructions."""
    by_name: dict[tuple[str, str | None], list[FunctionCounts]] = {}
    for part in parts:
        for function in part.functions:
            by_name.setdefault((function.name, function.object), []).append(function)
    merged = [
        FunctionCounts(
            name=name,
            object=path,
            counts=Counts.total(function.counts for function in alike),
            traffic=Traffic.total(
                each_part for function in alike for each_part in function.traffic
            ),
        )
        for (name, path), alike in by_name.items()
    ]
    return by_work(merged)


def _regions(parts: Sequence[Counted], left_out: str | None) -> tuple[RegionCounts, ...]:
    by_name: dict[str, list[RegionCounts]] = {}
    for part in parts:
        for region in part.regions:
            if region.name != left_out:
                by_name.setdefault(region.name, []).append(region)
    return tuple(
        RegionCounts(
            name=name,
            inside=tuple(
                dict.fromkeys(
                    outer for region in alike for outer in region.inside if outer != left_out
                )
            ),
            counts=Counts.total(region.counts for region in alike),
            traffic=Traffic.total(each_part for region in alike for each_part in region.traffic),
        )
        for name, alike in by_name.items()
    )


def _cautions(parts: Sequence[Counted]) -> tuple[Caution, ...]:
    """Return one caution of each kind, with the number of ranks that have it."""
    kinds: dict[str, list[Caution]] = {}
    for part in parts:
        for caution in {caution.code: caution for caution in part.cautions}.values():
            kinds.setdefault(caution.code, []).append(caution)
    return tuple(
        alike[0]
        if len(alike) == 1 == len(parts)
        else replace(alike[0], seen=f"{alike[0].seen} (so on {len(alike)} of {len(parts)} ranks)")
        for alike in kinds.values()
    )
