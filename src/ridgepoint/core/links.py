"""The links between the nodes of a cluster, and those that are slow, by name."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate

SLOW = 0.7
"""A link that carries less than this share of what links here carry is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The bandwidth from one node to another while no other node sends.

    Parameters
    ----------
    sender, receiver : str
        Hosts.
    rate : Estimate
        Rate of a stream of large messages, byte/s.
    """

    sender: str
    receiver: str
    rate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The range of bandwidths from and to one node, over all its partners.

    Parameters
    ----------
    host : str
    sends, receives : tuple of float
        Lowest and highest median over its links, byte/s.
    """

    host: str
    sends: tuple[float, float]
    receives: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The links between the nodes, each measured by itself.

    Parameters
    ----------
    measured, directed : int
        Number of links measured, and number of links; each direction of a pair is one link.
    slowest : tuple of Link
        Slowest first; with many nodes, only as many as a report needs.
    reaches : tuple of Reach
        One for every node that was measured.
    """

    measured: int
    directed: int
    slowest: tuple[Link, ...]
    reaches: tuple[Reach, ...]

    @property
    def usual_bytes_per_s(self) -> float:
        """Median over the nodes of the bandwidth to the best-reached partner, byte/s."""
        # The better one of two nodes, not the mean of a good and a bad one.
        return statistics.median_high(reach.sends[1] for reach in self.reaches)

    def slow(self) -> tuple[tuple[str, float], ...]:
        """Return slow nodes and links by name with their rates in byte/s, slowest first.

        A node all of whose links are slow is named once, and its links are not.
        """
        limit = SLOW * self.usual_bytes_per_s
        sends = {r.host: r.sends[1] for r in self.reaches if r.sends[1] < limit}
        receives = {r.host: r.receives[1] for r in self.reaches if r.receives[1] < limit}
        if len(self.reaches) < 3:  # with two nodes, a slow link cannot be attributed to either
            sends, receives = {}, {}
        named = [
            (f"the link of {host}", max(sends[host], receives[host]))
            for host in sends
            if host in receives
        ]
        named += [
            (f"what {host} sends", rate) for host, rate in sends.items() if host not in receives
        ]
        named += [
            (f"what {host} receives", rate) for host, rate in receives.items() if host not in sends
        ]
        named += [
            (f"the link from {link.sender} to {link.receiver}", link.rate.median)
            for link in self.slowest
            if link.sender not in sends and link.receiver not in receives and _is_below(link, limit)
        ]
        return tuple(sorted(named, key=lambda pair: pair[1]))


def _is_below(link: Link, limit: float) -> bool:
    high = link.rate.high
    return (link.rate.median if high is None else high) < limit
