"""The network of a measured cluster as a figure: bandwidth and time over the size of messages."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.measured_cluster import PATTERNS, Exchange, MeasuredCluster
from ridgepoint.show.words import place_of

Band = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One pattern over the size of messages.

    Parameters
    ----------
    pattern : str
    sizes_bytes : tuple of int
    times_s, rates_bytes_per_s : tuple of (float, float, float)
        Lower end of the 95 % interval, median, upper end; without an interval, three medians.
        Rates are bus bandwidths.
    """

    pattern: str
    sizes_bytes: tuple[int, ...]
    times_s: tuple[Band, ...]
    rates_bytes_per_s: tuple[Band, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """What went between the same ranks.

    Parameters
    ----------
    title : str
    curves : tuple of Curve
    """

    title: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFigure:
    """A row of two plots for each panel: bandwidth, and time.

    Parameters
    ----------
    title, subtitle : str
    panels : tuple of Panel
    link_bytes_per_s : float or None
        What a link carries, to be drawn across; None: not known.
    """

    title: str
    subtitle: str
    panels: tuple[Panel, ...]
    link_bytes_per_s: float | None


def network_figure(cluster: MeasuredCluster) -> NetworkFigure:
    """Return the figure of a cluster's network.

    Raises
    ------
    RidgepointError
        If nothing was exchanged.
    """
    if not cluster.network:
        raise RidgepointError(
            f"cannot draw the network of {cluster.name!r}",
            reason="there was one rank, and nothing was exchanged",
            remedy="measure with two ranks or more: mpirun -n 2 ridgepoint machine",
        )
    places = dict.fromkeys(map(place_of, cluster.network))
    return NetworkFigure(
        title=f"{cluster.name}: what {cluster.ranks} ranks on {len(cluster.nodes)} "
        f"node{'s' * (len(cluster.nodes) != 1)} exchange",
        subtitle=f"{cluster.mpi}; medians, bands are 95 % intervals",
        panels=tuple(panel for place in places if (panel := _panel(place, cluster)).curves),
        link_bytes_per_s=None if cluster.links is None else cluster.links.usual_bytes_per_s,
    )


def _panel(place: str, cluster: MeasuredCluster) -> Panel:
    """Return the curves of one place; messages without bytes have no size to be drawn over."""
    here = [e for e in cluster.network if place_of(e) == place and e.size_bytes]
    patterns = [pattern for pattern in PATTERNS if any(e.pattern == pattern for e in here)]
    return Panel(
        title=place,
        curves=tuple(_curve(p, [e for e in here if e.pattern == p]) for p in patterns),
    )


def _curve(pattern: str, exchanges: list[Exchange]) -> Curve:
    times: list[Band] = []
    rates: list[Band] = []
    for exchange in exchanges:
        time, rate = exchange.time_s, exchange.bus_bytes_per_s
        assert rate is not None
        for found, estimate in ((times, time), (rates, rate)):
            low = estimate.median if estimate.low is None else estimate.low
            high = estimate.median if estimate.high is None else estimate.high
            found.append((low, estimate.median, high))
    return Curve(
        pattern=pattern,
        sizes_bytes=tuple(exchange.size_bytes for exchange in exchanges),
        times_s=tuple(times),
        rates_bytes_per_s=tuple(rates),
    )
