"""A measured cluster for the terminal: its network, its nodes, what stands out, doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.measured_cluster import PATTERNS, Exchange, MeasuredCluster, Standing
from ridgepoint.core.units import format_si, format_size
from ridgepoint.show.tables.layout import caution_list, plain_table, sections
from ridgepoint.show.tables.machine_table import machine
from ridgepoint.show.words import (
    UNKNOWN,
    place_of,
    printable,
    relative_interval,
    shown_amount,
    shown_name,
    shown_pattern,
)

_MOST_NODES = 8
_MOST_LINKS = 4
_COLUMNS = {
    "ping-pong": "ping-pong",
    "stream": "stream",
    "both directions": "both dir.",
    "all pairs": "all pairs",
    "all-reduce": "all-reduce",
    "all-gather": "all-gather",
    "all-to-all": "all-to-all",
}


def cluster(cluster: MeasuredCluster) -> RenderableType:
    """Return a cluster's network pattern by pattern, its nodes beside each other, and doubts.

    Parameters
    ----------
    cluster : MeasuredCluster

    Returns
    -------
    RenderableType
        Of one node its machine too.
    """
    nodes = len(cluster.nodes)
    title = f"{printable(cluster.name)}: {nodes} node{'s' * (nodes != 1)}, {_ranks(cluster.ranks)}"
    parts: list[RenderableType] = [Text(title, style="bold")]
    for place, exchanges in _places(cluster.network):
        parts.append(_summary(place, exchanges))
        parts.append(_by_size(place, exchanges))
    if cluster.links is not None:
        parts.append(_links(cluster))
    if nodes > 1:
        parts.append(_standings(cluster.standings))
    else:
        parts.append(machine(cluster.slowest_node))
    parts.append(_facts(cluster))
    if cluster.cautions:
        parts.append(caution_list(cluster.cautions))
    return sections(*parts)


def _ranks(count: int) -> str:
    return f"{count} rank{'s' * (count != 1)}"


def _places(network: Sequence[Exchange]) -> Iterator[tuple[str, list[Exchange]]]:
    for place in dict.fromkeys(map(place_of, network)):
        yield place, [exchange for exchange in network if place_of(exchange) == place]


def _summary(place: str, exchanges: Sequence[Exchange]) -> Table:
    """Return each pattern's time with the smallest messages, and bandwidth with the largest."""
    table = plain_table(
        "pattern", "ranks", "time", "95 %", "largest", "bus [B/s]", "95 %", "n",
        right=("ranks", "time", "largest", "bus [B/s]"),
    )  # fmt: skip
    table.columns[0].no_wrap = True
    hosts = next((exchange.hosts for exchange in exchanges if exchange.hosts), ())
    pair = f" (pairs: {' and '.join(dict.fromkeys(hosts))})" if hosts else ""
    _entitle(table, f"{place}{pair}")
    for pattern in PATTERNS:
        of_pattern = sorted(
            (e for e in exchanges if e.pattern == pattern), key=lambda e: e.size_bytes
        )
        if of_pattern:
            table.add_row(*map(Text, _pattern_cells(of_pattern[0], of_pattern[-1])))
    return table


def _entitle(table: Table, title: str) -> None:
    table.title = Text(printable(title), style="bold")
    table.title_justify = "left"


def _pattern_cells(smallest: Exchange, largest: Exchange) -> tuple[str, ...]:
    rate = largest.bus_bytes_per_s
    return (
        smallest.pattern,
        str(smallest.ranks),
        format_si(smallest.time_s.median, "s", digits=3),
        relative_interval(smallest.time_s, decimals=0),
        format_size(largest.nominal_bytes),
        shown_amount(rate, digits=3),
        "" if rate is None else relative_interval(rate, decimals=0),
        str(largest.time_s.n),
    )


def _by_size(place: str, exchanges: Sequence[Exchange]) -> Table:
    """Return the bus bandwidth of every pattern over the size of messages."""
    patterns = [p for p in PATTERNS if any(e.pattern == p for e in exchanges)]
    table = plain_table(
        "[B/s]", *(_COLUMNS[p] for p in patterns), right=["[B/s]", *_COLUMNS.values()]
    )
    _entitle(table, f"bus bandwidth {place}, by message size")
    table.padding = (0, 1, 0, 0)
    nominal = {(e.nominal_bytes, e.pattern): e.bus_bytes_per_s for e in exchanges if e.size_bytes}
    for size in sorted({size for size, _ in nominal}):
        rates = [nominal.get((size, pattern)) for pattern in patterns]
        table.add_row(
            format_size(size),
            *("" if rate is None else shown_amount(rate, digits=3) for rate in rates),
        )
    return table


def _links(cluster: MeasuredCluster) -> Table:
    """Return the slowest links, each by itself, and what links here usually carry."""
    links = cluster.links
    assert links is not None
    table = plain_table("link", "rate", "95 %", "n", right=("rate", "n"))
    _entitle(table, "links, one by one, others silent")
    for link in links.slowest[:_MOST_LINKS]:
        table.add_row(
            Text(printable(f"{link.sender} to {link.receiver}")),
            format_si(link.rate.median, "B/s"),
            relative_interval(link.rate, decimals=0),
            str(link.rate.n),
        )
    more = links.measured - min(len(links.slowest), _MOST_LINKS)
    if more > 0:
        table.add_row(f"{more} more are faster")
    table.add_row("usual", format_si(links.usual_bytes_per_s, "B/s"), "", "")
    return table


def _standings(standings: Sequence[Standing]) -> Table:
    """Return each resource's best pattern over the nodes, and those in which one is slow."""
    best: dict[tuple[str, int], Standing] = {}
    for standing in standings:
        key = (standing.resource, standing.threads)
        if key not in best or standing.median > best[key].median:
            best[key] = standing
    shown = [s for s in standings if s.stands_out or best[s.resource, s.threads] is s]
    table = plain_table(
        "ceiling", "cores", "median", "fastest", "slowest", "", "on",
        right=("cores", "median", "fastest", "slowest", ""),
    )  # fmt: skip
    _entitle(table, "nodes: medians of the ceilings of each")
    for standing in shown:
        unit = standing.unit.replace("byte", "B")
        share = f"{standing.slowest_rate.median / standing.median:.0%}"
        style = "bold" if standing.stands_out else ""
        table.add_row(
            f"{shown_name(standing.resource)} {shown_pattern(printable(standing.name))}",
            str(standing.threads),
            format_si(standing.median, unit, digits=3),
            shown_amount(standing.fastest_rate, digits=3),
            shown_amount(standing.slowest_rate, digits=3),
            Text(share, style=style),
            Text(printable(standing.slowest), style=style),
        )
    return table


def _facts(cluster: MeasuredCluster) -> Table:
    """Return how it was measured, and how to read it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("MPI", Text(printable(cluster.mpi)))
    if len(cluster.nodes) <= _MOST_NODES:
        hosts = ", ".join(f"{node.host} ({_ranks(node.ranks)})" for node in cluster.nodes)
        table.add_row("nodes", Text(printable(hosts)))
    took = (
        "" if cluster.elapsed_s is None else f", took {format_si(cluster.elapsed_s, 's', digits=3)}"
    )
    table.add_row("measured", f"{cluster.created or UNKNOWN}{took}")
    if cluster.call_s is not None:
        call = format_si(cluster.call_s, "s", digits=3)
        table.add_row(
            "calls", (f"{call} for a send and a receive to nobody, which is part of every time")
        )
    if cluster.network:
        table.add_row(
            "time", "of the smallest messages: 0 B of ping-pong (one way), 8 B of the others"
        )
        table.add_row("95 %", "of the median; n samples, unknown with fewer than 6")
        table.add_row(
            "bus bandwidth",
            "size over time; of all-reduce x 2(n-1)/n, all-gather, all-to-all x (n-1)/n",
        )
    return table
