"""Every link between nodes by itself: who meets whom, and what is kept of many."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from ridgepoint.cluster.channel import Messages, Pair
from ridgepoint.cluster.patterns import Memory, stream
from ridgepoint.cluster.sampling import Effort, Trial, calibrated, parted, timed
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.links import Link, Links, Reach

_MESSAGES = (4096, 65536, 1 << 20)
"""Byte; the largest that is sent within a sample's time."""

_NEAR, _SHARE_NEAR, _FEWEST_NEAR = 0.05, 0.2, 2
_HELD_UP = 0.8
_FEWEST_KEPT = 6

_KEPT = 4096
_KEPT_PER_NODE = 4


def rounds(count: int, *, most: int) -> list[list[tuple[int, int]]]:
    """Return who meets whom: in each round everyone meets one other, so that no link is shared.

    Parameters
    ----------
    count : int
        Nodes.
    most : int
        Rounds; fewer than all are spread evenly.

    Notes
    -----
    The circle method of tournaments: one stays, the others move on by one place.

    Examples
    --------
    >>> rounds(4, most=9)
    [[(0, 3), (1, 2)], [(0, 2), (1, 3)], [(0, 1), (2, 3)]]
    """
    players = list(range(count)) + [-1] * (count % 2)  # who meets -1 waits
    n = len(players)
    steps = range(n - 1)
    if len(steps) > most:
        steps = [index * len(steps) // most for index in range(most)]  # type: ignore[assignment]
    result = []
    for step in steps:
        moved = [players[0]] + [players[1 + (index - step) % (n - 1)] for index in range(n - 1)]
        met = [tuple(sorted((moved[i], moved[n - 1 - i]))) for i in range(n // 2)]
        result.append([(a, b) for a, b in met if a >= 0])
    return result


def both_ways(
    channel: Messages, first: int, second: int, memory: Memory, effort: Effort
) -> tuple[list[float], list[float]]:
    """Return what first sends to second, and second to first, byte/s: samples.

    Both ends call it at once; the two directions follow each other.
    """
    return (
        one_way(Pair(channel, first, second), memory, effort),
        one_way(Pair(channel, second, first), memory, effort),
    )


def one_way(pair: Pair, memory: Memory, effort: Effort) -> list[float]:
    """Return samples of the rate at which end 0 streams to end 1, byte/s."""
    trial = _largest(pair, memory, effort)
    count = min(max(int(effort.budget_s / trial.took_s), effort.fewest), effort.most)
    # One after the other: what a shaper lets pass at once after a pause is used up.
    own = [timed(pair, trial.operate, trial.count, number) for number in range(count)]
    agreed = parted([(float(time_s), bool(held)) for time_s, held in pair.most(np.array(own))])
    return undisturbed([trial.size * trial.count / time_s for time_s in agreed.times_s])


def undisturbed(rates: Sequence[float]) -> list[float]:
    """Return the rates that a link carried when nothing held it up, in their order.

    Notes
    -----
    A link cannot carry more than it can; it can only be held up, by other traffic or by a busy
    host. So what is below 80 % of what it reached is left out: reached is the highest rate that a
    fifth of the samples (two at least) come within 5 % of, and what is above is left out too. If
    fewer than six are left, it is not clear what it can carry, and all count.

    Examples
    --------
    >>> undisturbed([100, 101, 50, 99, 200, 100, 98, 102])
    [100, 101, 99, 100, 98, 102]
    """
    needed = max(_FEWEST_NEAR, math.ceil(len(rates) * _SHARE_NEAR))
    reached = max(
        (r for r in rates if sum(abs(other / r - 1) <= _NEAR for other in rates) >= needed),
        default=max(rates),
    )
    kept = [r for r in rates if _HELD_UP * reached <= r <= (1 + _NEAR) * reached]
    return kept if len(kept) >= _FEWEST_KEPT else list(rates)


def _largest(pair: Pair, memory: Memory, effort: Effort) -> Trial:
    """Return the stream of the largest messages that a sample has time for."""
    for size in _MESSAGES:
        trial = calibrated(pair, stream(pair, memory, size), size, sample_s=effort.sample_s)
        if trial.count == 1:
            break
    return trial


class Ledger:
    """What is kept of links as they are measured: memory grows with nodes, not with links.

    Parameters
    ----------
    hosts : sequence of str
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self._hosts = hosts
        self._kept = max(_KEPT, _KEPT_PER_NODE * len(hosts))
        self._slowest: list[tuple[float, int, Link]] = []
        self._order = itertools.count()
        self._sends: dict[int, tuple[float, float]] = {}
        self._receives: dict[int, tuple[float, float]] = {}
        self._measured = 0

    def add(self, sender: int, receiver: int, samples: Iterable[float]) -> None:
        """Keep one link, by the numbers of its nodes."""
        link = Link(
            sender=self._hosts[sender], receiver=self._hosts[receiver], rate=Estimate(samples)
        )
        rate = link.rate.median
        self._measured += 1
        for reach, node in ((self._sends, sender), (self._receives, receiver)):
            least, most = reach.get(node, (rate, rate))
            reach[node] = min(least, rate), max(most, rate)
        entry = (-rate, next(self._order), link)  # the heap's first is the fastest, and goes first
        if len(self._slowest) < self._kept:
            heapq.heappush(self._slowest, entry)
        else:
            heapq.heappushpop(self._slowest, entry)

    def links(self) -> Links:
        """Return what is known now."""
        count = len(self._hosts)
        return Links(
            measured=self._measured,
            directed=count * (count - 1),
            slowest=tuple(entry[2] for entry in sorted(self._slowest, reverse=True)),
            reaches=tuple(
                Reach(
                    host=self._hosts[node],
                    sends=self._sends[node],
                    receives=self._receives[node],
                )
                for node in sorted(self._sends)
            ),
        )

    def typical(self) -> tuple[int, int]:
        """Return the numbers of two nodes whose link is the median one of those kept."""
        ordered = sorted(self._slowest, reverse=True)
        link = ordered[len(ordered) // 2][2]
        return self._hosts.index(link.sender), self._hosts.index(link.receiver)
