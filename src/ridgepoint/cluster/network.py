"""The network between the nodes of a job, and the paths within a node, pattern by pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from ridgepoint.cluster import patterns
from ridgepoint.cluster.channel import MpiChannel, Pair
from ridgepoint.cluster.links import Ledger, both_ways, rounds
from ridgepoint.cluster.patterns import WORD_BYTES, Memory, Turn, sizes
from ridgepoint.cluster.sampling import Effort, Samples, sweep
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.links import Links
from ridgepoint.core.measured_cluster import Exchange, Pattern

if TYPE_CHECKING:
    from ridgepoint.cluster.world import World

Report = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""

Times = dict[int, Samples]
"""Of one operation, for each size of message, byte."""

_NODE_MEMORY_BYTES = 1 << 30
"""For the messages of all ranks of a node together."""

_BATCHES = 8
"""Moments that samples tell of: see `Estimate`."""

_MOST_ROUNDS = 64
_FEWEST_OF_A_LINK = 3
_ROUNDS_SAMPLES = 5
_SHORTEST_LINK_SAMPLE_S = 0.005

# A slow link takes many times what was planned for it; one that takes longer is as good as down.
_PATIENCE = 20.0
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long the network is measured.

    Parameters
    ----------
    budget_s : float
        Time for all patterns together, of which the links one by one get the share `links_share`.
    sample_s, link_sample_s : float
        Least time of one sample, for patterns and for links.
    fewest, most : int
        Numbers of samples.
    largest : int
        Largest size of messages, bytes.
    step : int
        From one size of message to the next.
    """

    budget_s: float
    sample_s: float
    link_sample_s: float
    fewest: int
    most: int
    largest: int
    step: int
    links_share: float = 0.25


THOROUGH = Plan(
    budget_s=8.0,
    sample_s=0.003,
    link_sample_s=0.04,
    fewest=7,
    most=15,
    largest=32 << 20,
    step=4,
)
QUICK = Plan(
    budget_s=2.5,
    sample_s=0.002,
    link_sample_s=0.02,
    fewest=7,
    most=9,
    largest=8 << 20,
    step=16,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ranks that measure some patterns together, while all others sleep.

    Parameters
    ----------
    channel : MpiChannel or None
        None: this rank is not one of them.
    ranks, nodes : int
        Numbers of ranks and nodes that take part.
    hosts : tuple of str
        Hosts of a pair; empty: no pair.
    ends : tuple of int or None
        Ranks of the channel that form the measured pair; None: all ranks take part.
    """

    channel: MpiChannel | None
    ranks: int
    nodes: int
    hosts: tuple[str, ...] = ()
    ends: tuple[int, int] | None = None

    @property
    def takes_part(self) -> bool:
        """Whether this rank does."""
        return self.channel is not None and (self.ends is None or self.channel.rank in self.ends)


def measure_network(
    world: World, plan: Plan, report: Report | None
) -> tuple[tuple[Exchange, ...], Links | None, float] | None:
    """Measure how fast the ranks of a job exchange messages.

    All ranks call it at once. Where several ranks are on each node, what the nodes exchange is
    measured with one rank of each, and with as many of each as the node with fewest has.

    Parameters
    ----------
    world : World
        Of at least two ranks.
    plan : Plan
    report : callable or None

    Returns
    -------
    exchanges, links, call_s : tuple of Exchange, Links or None, float; or None
        On rank 0; None elsewhere. Without a second node there are no links.
    """
    survey = _Survey(world, plan, report)
    links = survey.links() if world.nodes > 1 else None
    exchanges = tuple(survey.exchanges())
    call_s = MpiChannel(world.comm).call_s() if world.is_root else 0.0
    return (exchanges, links, call_s) if world.is_root else None


class _Survey:
    """One survey under way, as this rank sees it."""

    def __init__(self, world: World, plan: Plan, report: Report | None) -> None:
        self.world, self.plan, self._report = world, plan, report
        per_rank = _NODE_MEMORY_BYTES // (2 * world.most_local)
        self.memory = Memory(min(plan.largest, max(per_rank, 4096)))
        self.largest = len(self.memory.out) // WORD_BYTES * WORD_BYTES
        self._leaders = None if world.leaders is None else MpiChannel(world.leaders)
        self._typical = (0, 1)
        self._done = 0
        self._steps = 1

    def _say(self, what: str) -> None:
        if self._report is not None and self.world.is_root:
            self._report(what, self._done, self._steps)

    def _limit_s(self, budget_s: float) -> float:
        return _PATIENCE * budget_s + _PATIENCE_S

    def links(self) -> Links | None:
        """Measure every link by itself, or of many nodes a part of them; return them on rank 0."""
        world, plan = self.world, self.plan
        schedule = rounds(world.nodes, most=_MOST_ROUNDS)
        budget_s = plan.links_share * plan.budget_s / (2 * len(schedule))
        effort = Effort(
            sample_s=min(
                max(budget_s / _ROUNDS_SAMPLES, _SHORTEST_LINK_SAMPLE_S), plan.link_sample_s
            ),
            fewest=min(max(_MOST_ROUNDS // len(schedule), _FEWEST_OF_A_LINK), plan.fewest),
            most=plan.most,
            budget_s=budget_s,
        )
        ledger = Ledger(world.hosts)
        for number, pairs in enumerate(schedule):
            self._done, self._steps = number, len(schedule)
            self._say("the links between the nodes")
            with world.step("measuring the links", limit_s=self._limit_s(2 * budget_s)):
                if self._leaders is not None:
                    payload = self._meet(pairs, effort)
                    for _, told in world.told(payload, tellers=len(pairs)):
                        a, b, there, back = msgspec.msgpack.decode(
                            told, type=tuple[int, int, list[float], list[float]]
                        )
                        ledger.add(a, b, there)
                        ledger.add(b, a, back)
                    world.pause(of_leaders=True)
        self._typical = world.agree(ledger.typical() if world.is_root else None)
        return ledger.links() if world.is_root else None

    def _meet(self, pairs: list[tuple[int, int]], effort: Effort) -> bytes | None:
        """Measure this node's link of one round; return what its first node tells of it."""
        channel = self._leaders
        for a, b in pairs:
            if channel is not None and channel.rank in (a, b):
                there, back = both_ways(channel, a, b, self.memory, effort)
                return msgspec.msgpack.encode((a, b, there, back)) if channel.rank == a else None
        return None

    def exchanges(self) -> Iterator[Exchange]:
        """Measure pattern by pattern; yield what was found, on rank 0."""
        world, plan = self.world, self.plan
        todo = [
            *((group, name) for group in self._pairs() for name in _OF_PAIRS),
            *((group, name) for group in self._all() for name in _OF_ALL),
        ]
        todo = [(group, name) for group, name in todo if name != "all pairs" or group.nodes > 1]
        budget_s = (1 - plan.links_share) * plan.budget_s / max(len(todo), 1)
        effort = Effort(
            sample_s=plan.sample_s, fewest=plan.fewest, most=plan.most, budget_s=budget_s
        )
        self._steps = len(todo)
        for self._done, (group, name) in enumerate(todo):
            self._say(f"{name} {'between nodes' if group.nodes > 1 else 'within a node'}")
            with world.step(f"measuring {name}", limit_s=self._limit_s(budget_s)):
                yield from self._measured(group, name, effort)

    def _pairs(self) -> Iterator[Group]:
        """Yield a pair of nodes, the typical one, and a pair of ranks of one node."""
        world = self.world
        if world.nodes > 1:
            a, b = self._typical
            yield Group(
                channel=self._leaders,
                ranks=2,
                nodes=2,
                hosts=(world.hosts[a], world.hosts[b]),
                ends=(a, b),
            )
        if world.crowded is not None:
            own = world.node == world.crowded
            yield Group(
                channel=MpiChannel(world.local) if own else None,
                ranks=2,
                nodes=1,
                hosts=(world.hosts[world.crowded],) * 2,
                ends=(0, 1),
            )

    def _all(self) -> Iterator[Group]:
        """Yield one rank of each node, and as many of each as every node has."""
        world = self.world
        if world.nodes > 1:
            yield Group(channel=self._leaders, ranks=world.nodes, nodes=world.nodes)
        if world.fewest_local > 1:
            comm = world.even
            yield Group(
                channel=None if comm is None else MpiChannel(comm),
                ranks=world.fewest_local * world.nodes,
                nodes=world.nodes,
            )

    def _measured(self, group: Group, name: Pattern, effort: Effort) -> Iterator[Exchange]:
        """Measure one pattern of a group; yield it on rank 0. The others sleep."""
        world = self.world
        payload = None
        if group.takes_part and group.channel is not None:
            times = self._swept(group, name, effort)
            if group.channel.rank == (0 if group.ends is None else group.ends[0]):
                payload = msgspec.msgpack.encode(times)
        for _, told in world.told(payload, tellers=1):
            for size, samples in msgspec.msgpack.decode(told, type=Times).items():
                yield Exchange(
                    pattern=name,
                    ranks=group.ranks,
                    nodes=group.nodes,
                    size_bytes=size,
                    time_s=Estimate(samples.times_s, batches=_BATCHES),
                    disturbed_s=samples.disturbed_s,
                    hosts=group.hosts,
                )
        world.pause()

    def _swept(self, group: Group, name: Pattern, effort: Effort) -> Times:
        channel, plan, memory = group.channel, self.plan, self.memory
        assert channel is not None
        if group.ends is not None:
            pair = Pair(channel, *group.ends)
            make = partial(_OF_PAIRS[name], pair, memory)
            wanted = sizes(self.largest, step=plan.step)
            if name != "ping-pong":
                return sweep(pair, make, wanted, effort)
            there_and_back = sweep(pair, make, (0, *wanted), effort)
            return {
                size: Samples(
                    times_s=tuple(time_s / 2 for time_s in samples.times_s),
                    disturbed_s=tuple(time_s / 2 for time_s in samples.disturbed_s),
                )
                for size, samples in there_and_back.items()
            }
        if name == "all pairs":
            turn = Turn(ranks_per_node=group.ranks // group.nodes)
            make = partial(patterns.all_pairs, channel, memory, turn=turn)
            return sweep(channel, make, sizes(self.largest, step=plan.step), effort)
        parts, word = (1, WORD_BYTES) if name == "all-reduce" else (channel.size, 1)
        wanted = sizes(self.largest, step=plan.step, parts=parts, word=word)
        return sweep(channel, partial(_OF_ALL[name], channel, memory), wanted, effort)


_OF_PAIRS: dict[Pattern, Callable[..., patterns.Operation]] = {
    "ping-pong": patterns.ping_pong,
    "stream": patterns.stream,
    "both directions": patterns.both_directions,
}
_OF_ALL: dict[Pattern, Callable[..., patterns.Operation]] = {
    "all pairs": patterns.all_pairs,
    "all-reduce": patterns.all_reduce,
    "all-gather": patterns.all_gather,
    "all-to-all": patterns.all_to_all,
}
