"""Measure a cluster from within an MPI job: every node's ceilings at once, then the network."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from ridgepoint import __version__
from ridgepoint.ceilings import characterize
from ridgepoint.cluster.network import QUICK, THOROUGH, Report, measure_network
from ridgepoint.cluster.network_cautions import network_cautions
from ridgepoint.cluster.nodes import Roster, whole_node
from ridgepoint.cluster.world import World
from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster

_CEILINGS_LIMIT_S = 240.0
_MEETING_LIMIT_S = 60.0


def measure_cluster(
    world: World,
    *,
    quick: bool = False,
    caches: Sequence[Cache] | None = None,
    report: Report | None = None,
) -> MeasuredCluster | None:
    """Measure the nodes of a job and the network between them.

    All ranks call it at once. The first rank of each node measures its ceilings while the others
    sleep; then the ranks exchange messages.

    Parameters
    ----------
    world : World
    quick : bool
        Whether to use few ceilings and few sizes of messages: about 10 s in all.
    caches : sequence of Cache or None
        Caches of every node, for hosts that describe theirs wrongly; None: as the hosts do.
    report : callable or None
        Called with the progress, on rank 0.

    Returns
    -------
    MeasuredCluster or None
        On rank 0; None elsewhere.

    Raises
    ------
    CannotMeasure
        On rank 0: if versions differ, or a node's ceilings cannot be measured. The others return
        None then.
    """
    started_s = time.perf_counter()
    if not _same_version(world):
        return None
    roster = _roster(world, quick=quick, caches=caches, report=report)
    if roster is None:
        return None
    plan = QUICK if quick else THOROUGH
    found = measure_network(world, plan, report) if world.size > 1 else ((), None, None)
    if found is None:
        return None
    exchanges, links, call_s = found
    return MeasuredCluster(
        name=_name(world.hosts),
        nodes=roster.nodes(),
        slowest_node=roster.slowest(),
        standings=roster.standings(),
        network=exchanges,
        links=links,
        mpi=f"{world.library}, started by {world.launched.launcher}",
        call_s=call_s,
        cautions=(
            *_of_extent(world, quick=quick),
            *roster.cautions(),
            *network_cautions(exchanges, links),
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=time.perf_counter() - started_s,
    )


def _name(hosts: Sequence[str]) -> str:
    if len(hosts) == 1:
        return hosts[0]
    return f"{hosts[0]} and {len(hosts) - 1} more" if len(hosts) > 2 else " and ".join(hosts)


def _same_version(world: World) -> bool:
    """Return whether all nodes run this version; raise on rank 0 if they do not."""
    own = __version__.encode() if world.is_leader else None
    hosts: dict[str, str] = {}
    with world.step("comparing versions", limit_s=_MEETING_LIMIT_S):
        for rank, version in world.told(own, tellers=world.nodes):
            hosts.setdefault(version.decode(errors="replace"), world.host_of(rank))
        alike = bool(world.agree(len(hosts) < 2))
    if not alike and world.is_root:
        seen = " and ".join(f"{version} on {host}" for version, host in hosts.items())
        raise CannotMeasure(
            "cannot measure these nodes together",
            reason=f"they run different versions of Ridgepoint: {seen}",
            remedy="install the same version on all of them",
        )
    return alike


class _Told(msgspec.Struct):
    """What a node tells of its ceilings: a machine's document, or why there is none."""

    machine: bytes | None = None
    fault: str | None = None


def _roster(
    world: World, *, quick: bool, caches: Sequence[Cache] | None, report: Report | None
) -> Roster | None:
    """Measure every node's ceilings at once; return them on rank 0, which raises if one failed."""
    roster = Roster(_name(world.hosts), world.hosts, world.ranks_of_nodes)
    faults = []
    with world.step("measuring the nodes' ceilings", limit_s=_CEILINGS_LIMIT_S):
        payload = None
        if world.is_leader:
            told = _measured_node(quick=quick, caches=caches, report=report)
            payload = msgspec.msgpack.encode(told)
        for rank, answer in world.told(payload, tellers=world.nodes):
            told, host = msgspec.msgpack.decode(answer, type=_Told), world.host_of(rank)
            if told.machine is None:
                faults.append(f"{host}: {told.fault}")
            else:
                roster.add(host, decode(told.machine, Machine, origin=f"what {host} told"))
        failed = bool(world.agree(bool(faults)))
    if failed and world.is_root:
        raise CannotMeasure(
            "cannot measure the ceilings of every node",
            reason="; ".join(faults[:4]),
            remedy="fix that, or measure without this node",
        )
    return None if failed else roster


def _measured_node(*, quick: bool, caches: Sequence[Cache] | None, report: Report | None) -> _Told:
    with whole_node():
        try:
            machine = characterize(progress=report, caches=caches, quick=quick)
        except RidgepointError as error:
            return _Told(fault=str(error))
    return _Told(machine=encode(machine))


def _of_extent(world: World, *, quick: bool) -> Iterator[Caution]:
    if world.size == 1:
        yield Caution(
            "no-network",
            "there is only one rank: no messages were exchanged",
            "start two or more ranks: mpirun -n 2 ridgepoint machine",
        )
    elif world.nodes == 1:
        yield Caution(
            "no-network",
            f"all {world.size} ranks are on {world.hosts[0]}: the messages went through its "
            "memory and not over a network",
            "start ranks on two hosts or more: mpirun --host A,B -n 2 ridgepoint machine",
        )
    if quick:
        yield Caution(
            "quick",
            "few ceilings and sizes of messages were measured, each with few samples",
            "measure without --quick before you rely on these numbers",
        )
