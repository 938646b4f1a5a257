"""The ranks and nodes of a distributed program, for the terminal."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.ranks import CALL_KINDS, Call, Distributed, Rank, RankNode, imbalance
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.distributed import Division, Verdict, without_ceiling
from ridgepoint.models.work import WORK_UNITS, Metric, work_total
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.show.words import (
    UNKNOWN,
    percent,
    printable,
    shown_amount,
    shown_command,
    shown_name,
)

_MOST_NODES = 16
_MOST_CALLS = 10
_SLOWEST = 3
_LEAST_CALLS_S = 1e-9

_SAYS = {
    "compute": "compute bounds it",
    "memory": "memory bounds it",
    "network": "the network bounds it: its bytes take half of the time in MPI or more",
    "load imbalance": "load imbalance bounds it: ranks wait for ranks that have more to do",
    "waiting": "waiting bounds it: messages take far longer than the network needs for their bytes",
    "MPI": (
        "messages bound it; whether the network bounds them, or ranks wait for each other, is "
        "not known: bound it by a machine with the network's rate ('mpirun -n 2 ridgepoint "
        "machine' measures it)"
    ),
    "ranks": "the work of the ranks bounds it, and no measured roof explains its time",
}

Amount = Callable[[Rank], float | None]


def ranks(analysis: Analysis) -> RenderableType:
    """Return what the ranks and nodes of a distributed program did, and what bounds the whole."""
    measurement = analysis.measurement
    whole = measurement.distributed
    assert whole is not None  # it is of several ranks
    parts: list[RenderableType] = [
        Text(_title(whole), style="bold"),
        _spread(whole, analysis.metric),
    ]
    if whole.ranks[0].runtime_s is not None:
        parts.append(Text(_slowest(whole)))
    parts.append(_nodes(whole))
    calls = _calls(whole)
    if calls is not None:
        parts.append(calls)
    if analysis.of_ranks is not None:
        parts.append(Text(sentence(analysis.of_ranks), style="bold"))
    return sections(*parts)


def sentence(verdict: Verdict) -> str:
    """Return what bounds a distributed program, and where its time goes, in a line."""
    if verdict.division is None or verdict.limit is None:
        return "What bounds it is not known, because the time in MPI is not known."
    limit = _SAYS[verdict.limit]
    return f"{limit[:1].upper()}{limit[1:]}. {_shares(verdict.division)}."


def ridgeline_notes(analysis: Analysis) -> list[str]:
    """Return what a reader of the Ridgeline must know: what was measured beside the bounds."""
    measurement = analysis.measurement
    notes = [f"measured: {printable(shown_command(measurement.command))}"]
    if measurement.timed is not None:
        runtime = format_si(measurement.timed.runtime_s.median, "s")
        notes.append(f"the slowest rank took {runtime}; the times here are lower bounds")
    if analysis.of_ranks is not None:
        notes.append(sentence(analysis.of_ranks))
    machine = analysis.machine
    missing = (
        {} if machine is None else without_ceiling(measurement, machine, metric=analysis.metric)
    )
    notes += [
        f"left out: {format_si(amount, RESOURCES[name].unit)} of {shown_name(name)}, "
        "for which the machine has no ceiling"
        for name, amount in missing.items()
        if amount
    ]
    return notes


def _shares(split: Division) -> str:
    total = split.runtime_s
    return (
        f"Of the time, {percent(split.outside_s / total)} are outside MPI (mean of the ranks), "
        f"{percent(split.imbalance_s / total)} lost to load imbalance, "
        f"{percent(split.inside_s / total)} inside MPI beyond that"
    )


def _title(whole: Distributed) -> str:
    count, nodes = len(whole.ranks), len(whole.nodes)
    where = f"{count} rank{'s' * (count > 1)} on {nodes} node{'s' * (nodes > 1)}"
    since = (
        "from the end of MPI_Init to the beginning of MPI_Finalize"
        if whole.uses_mpi
        else "from start to exit"
    )
    return f"{where}, {since}; {printable(whole.launcher)}"


def _spread(whole: Distributed, metric: Metric) -> RenderableType:
    """Return least, median and most over ranks, and how far the most is from the mean."""
    right = ("min", "median", "max", "max/mean")
    table = plain_table("per rank", *right, "most on", right=right)
    for name, unit, amount in _rows(whole, metric):
        values = [amount(rank) for rank in whole.ranks]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            table.add_row(name, UNKNOWN, "", "", "", "")
            continue
        ratio = imbalance(known)
        most = max(whole.ranks, key=lambda rank, amount=amount: amount(rank) or 0.0)  # type: ignore[misc]
        table.add_row(
            name,
            *(
                format_si(value, unit)
                for value in (min(known), statistics.median(known), max(known))
            ),
            "" if ratio is None else f"{ratio:.2f}",
            "" if ratio is None or ratio < 1.005 else _named(most),
        )
    return table


def _rows(whole: Distributed, metric: Metric) -> Iterator[tuple[str, str, Amount]]:
    if whole.ranks[0].runtime_s is not None:
        yield "T  runtime", "s", lambda rank: _median(rank.runtime_s)
        if whole.uses_mpi:
            yield "   outside MPI", "s", lambda rank: rank.outside_mpi_s
            yield "   in MPI", "s", lambda rank: _median(rank.in_mpi_s)
            for kind in CALL_KINDS:
                if any(rank.time_in_s(kind) > _LEAST_CALLS_S for rank in whole.ranks):
                    yield f"     {kind}", "s", lambda rank, kind=kind: rank.time_in_s(kind)  # type: ignore[misc]
    yield (
        "W  work",
        WORK_UNITS[metric],
        lambda rank: None if rank.counts is None else work_total(rank.counts, metric),
    )
    yield "Q  traffic", "B", lambda rank: rank.memory_bytes
    if whole.uses_mpi:
        yield "   MPI calls", "", lambda rank: rank.call_count
        yield "   sent", "B", lambda rank: rank.sent_bytes
        yield "   received", "B", lambda rank: rank.received_bytes
        if any(rank.collective_bytes for rank in whole.ranks):
            yield "   collectives*", "B", lambda rank: rank.collective_bytes


def _median(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.median


def _named(rank: Rank) -> str:
    return f"rank {rank.rank}, {printable(rank.host)}"


def _slowest(whole: Distributed) -> str:
    """Return which ranks had most to do, by name."""

    def busy_s(rank: Rank) -> float:
        outside = rank.outside_mpi_s
        return outside if outside is not None else _median(rank.runtime_s) or 0.0

    slowest = sorted(whole.ranks, key=busy_s, reverse=True)[:_SLOWEST]
    listed = ", ".join(f"{_named(rank)} ({format_si(busy_s(rank), 's')})" for rank in slowest)
    return f"busiest {'outside MPI' if whole.uses_mpi else 'of all'}: {listed}"


def _nodes(whole: Distributed) -> RenderableType:
    """Return what passed each node's interfaces."""
    right = ("ranks", "CPUs", "net sent", "net received", "idle rate", "MPI to others")
    table = plain_table("node", *right, "interfaces", right=right)
    shown = sorted(whole.nodes, key=lambda node: -(node.network_bytes or 0.0))[:_MOST_NODES]
    for node in sorted(shown, key=lambda node: node.ranks[0]):
        table.add_row(
            Text(printable(node.host)),
            str(len(node.ranks)),
            str(node.cpus),
            *_passed(node),
            shown_amount(node.sent_to_others_bytes, "B"),
            Text(printable(", ".join(node.interfaces))),
        )
    more = len(whole.nodes) - len(shown)
    notes = []
    if more:
        notes.append(f"and {more} nodes whose links carried less (all: --json)")
    if not whole.crosses_network:
        notes.append("one node: messages went through its memory, not over a network")
    return Group(table, *map(Text, notes))


def _passed(node: RankNode) -> tuple[str, str, str]:
    if node.sent_bytes is None or node.received_bytes is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    idle = shown_amount(node.idle_bytes_per_s, "B/s")
    return shown_amount(node.sent_bytes, "B"), shown_amount(node.received_bytes, "B"), idle


def _calls(whole: Distributed) -> RenderableType | None:
    """Return the functions of MPI that took most time, summed over ranks."""
    by_name: dict[str, list[Call]] = {}
    for rank in whole.ranks:
        for call in rank.calls:
            by_name.setdefault(call.name, []).append(call)
    if not by_name:
        return None
    right = ("calls", "time per rank", "sent", "received", "would send*")
    table = plain_table("MPI function", *right, "algorithm*", right=right)
    ordered = sorted(by_name.items(), key=lambda item: -sum(call.time_s for call in item[1]))
    for name, alike in ordered[:_MOST_CALLS]:
        table.add_row(
            name,
            str(sum(call.calls for call in alike)),
            format_si(sum(call.time_s for call in alike) / len(whole.ranks), "s"),
            *_asked(alike),
        )
    notes: list[RenderableType] = []
    if len(ordered) > _MOST_CALLS:
        notes.append(Text(f"and {len(ordered) - _MOST_CALLS} others (all: --json)"))
    if any(call.algorithm for alike in by_name.values() for call in alike):
        notes.append(
            Text(
                "* derived: the bytes that the ranks would send with that algorithm, which MPI "
                "need not use"
            )
        )
    return Group(table, *notes)


def _asked(alike: Sequence[Call]) -> tuple[str, str, str, str]:
    algorithm = alike[0].algorithm
    collective = alike[0].kind == "collective"
    received = sum(call.received_bytes for call in alike)
    return (
        format_si(sum(call.sent_bytes for call in alike), "B"),
        format_si(received, "B") if collective or received else "",
        "" if algorithm is None else format_si(sum(call.moved_bytes or 0 for call in alike), "B"),
        algorithm or "",
    )
