"""The network of a measured cluster: bandwidth and time over the size of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measured_cluster import PATTERNS, Exchange, MeasuredCluster
from ridgepoint.core.units import format_si, format_size
from ridgepoint.show.axes import log_ticks, power_ticks, with_prefix
from ridgepoint.show.chart import Axis, Chart, Entry, Ink, Interval, Line, Page
from ridgepoint.show.theme import PALETTE, shape_of
from ridgepoint.show.words import place_of

_HEIGHT = 0.72
_ROOM = 1.6
"""Factor around what is drawn: wide enough that an axis has a tick, whatever the value."""
_MOST_SIZES = 7


def network_page(cluster: MeasuredCluster) -> Page:
    """Return a row of two charts for each pair of places: bandwidth, and time.

    Raises
    ------
    RidgepointError
        If no messages were exchanged.
    """
    if not cluster.network:
        raise RidgepointError(
            f"cannot draw the network of {cluster.name!r}",
            reason="there was only one rank, so no messages were exchanged",
            remedy="measure with two ranks or more: mpirun -n 2 ridgepoint machine",
        )
    # Messages without bytes have no place on the axis of sizes.
    exchanges = [exchange for exchange in cluster.network if exchange.size_bytes]
    places = dict.fromkeys(map(place_of, exchanges))
    sizes = [exchange.size_bytes for exchange in exchanges]
    x_limits = (min(sizes) / _ROOM, max(sizes) * _ROOM) if sizes else (1.0, 2.0)
    charts = [
        chart
        for place in places
        for chart in _row(place, [e for e in exchanges if place_of(e) == place], cluster, x_limits)
    ]
    return Page(
        title=f"{cluster.name}: what {cluster.ranks} ranks on {len(cluster.nodes)} "
        f"node{'s' * (len(cluster.nodes) != 1)} exchange",
        subtitle=cluster.mpi,
        charts=tuple(charts),
        columns=2,
        key=_key(exchanges, charts),
        notes=("medians; bands are 95 % intervals",),
    )


def _row(
    place: str, exchanges: Sequence[Exchange], cluster: MeasuredCluster, x_limits: Interval
) -> tuple[Chart, Chart]:
    link = None if cluster.links is None else cluster.links.usual_bytes_per_s
    return (
        _chart(
            f"{place}: bus bandwidth",
            exchanges,
            lambda exchange: exchange.bus_bytes_per_s,
            x_limits,
            label="Bus bandwidth [B/s]",
            shown=with_prefix,
            link=link if place.startswith("between") else None,
        ),
        _chart(
            f"{place}: time",
            exchanges,
            lambda exchange: exchange.time_s,
            x_limits,
            label="Time",
            shown=lambda seconds: format_si(seconds, "s", digits=3),
        ),
    )


def _chart(
    title: str,
    exchanges: Sequence[Exchange],
    estimate_of: Callable[[Exchange], Estimate | None],
    x_limits: Interval,
    *,
    label: str,
    shown: Callable[[float], str],
    link: float | None = None,
) -> Chart:
    """Return one estimate of every exchange over its size, a line for each pattern."""
    lines = [
        _line(index, [exchange for exchange in exchanges if exchange.pattern == pattern],
              estimate_of)
        for index, pattern in enumerate(PATTERNS)
        if any(exchange.pattern == pattern for exchange in exchanges)
    ]  # fmt: skip
    values = [value for line in lines for value in (*line.low, *line.high)]
    if link is not None:
        places = tuple((x, link) for x in x_limits)
        lines.append(Line(kind="limit", places=places, name="one link, one way"))
        values.append(link)
    y_limits = (min(values) / _ROOM, max(values) * _ROOM)
    return Chart(
        title=title,
        subtitle="",
        x=Axis(
            label="Message size",
            limits=x_limits,
            ticks=power_ticks(x_limits, lambda size: format_size(round(size)), most=_MOST_SIZES),
        ),
        y=Axis(label=label, limits=y_limits, ticks=log_ticks(y_limits, shown)),
        lines=tuple(lines),
        height=_HEIGHT,
    )


def _line(
    index: int,
    exchanges: Sequence[Exchange],
    estimate_of: Callable[[Exchange], Estimate | None],
) -> Line:
    """Return a pattern's line; without an interval, its band is as thin as the line."""
    places, low, high = [], [], []
    for exchange in exchanges:
        estimate = estimate_of(exchange)
        assert estimate is not None  # a message of some bytes has a rate
        places.append((float(exchange.size_bytes), estimate.median))
        low.append(estimate.median if estimate.low is None else estimate.low)
        high.append(estimate.median if estimate.high is None else estimate.high)
    return Line(
        kind="path",
        places=tuple(places),
        ink=_ink(index),
        low=tuple(low),
        high=tuple(high),
        shape=shape_of(index),
        name=exchanges[0].pattern,
    )


def _ink(index: int) -> Ink:
    """Return the colour of a pattern: there is one more than the palette has."""
    return index if index < len(PALETTE) else "note"


def _key(exchanges: Sequence[Exchange], charts: Sequence[Chart]) -> tuple[Entry, ...]:
    entries = [
        Entry(text=pattern, line="path", ink=_ink(index), shape=shape_of(index), is_abreast=True)
        for index, pattern in enumerate(PATTERNS)
        if any(exchange.pattern == pattern for exchange in exchanges)
    ]
    if any(line.kind == "limit" for chart in charts for line in chart.lines):
        entries.append(Entry(text="one link, one way", line="limit", is_abreast=True))
    return tuple(entries)
