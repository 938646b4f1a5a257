"""Which jobs should share which nodes: all placements compared, or the best of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ridgepoint.core.errors import RidgepointError
from ridgepoint.models.scaling.sharing import (
    Alone,
    Job,
    Shared,
    alone,
    capacities_of,
    fair_division,
)

_MOST_STATES = 2000
"""Placements that are compared all; of more, the best are carried on."""
_CARRIED = 100

_Seat = tuple[int, int, int]
"""Which job, which of several alike (0 where that does not matter), and its cores."""
_Node = tuple[_Seat, ...]
_State = tuple[_Node, ...]


class CannotPlace(RidgepointError):
    """The jobs do not fit on the nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobShare:
    """A job at its place beside others.

    Parameters
    ----------
    name : str
    cores : int
        Cores of each of its nodes.
    nodes : tuple of int
        Its nodes, from 1.
    alone_s : float
        Its time with these nodes to itself, and the best of the cores it may have, in seconds.
    shared_s : float
        Its time beside the others, in seconds.
    wanted_bytes_per_s, memory_bytes_per_s : float
        Bandwidth of each of its nodes' memory that it would use with its cores alone, and uses.
    limiter : str
        ``compute``, ``dram`` or ``network``, as alone; ``shared memory`` or ``shared link``, if
        the others hold it up.
    """

    name: str
    cores: int
    nodes: tuple[int, ...]
    alone_s: float
    shared_s: float
    wanted_bytes_per_s: float
    memory_bytes_per_s: float
    limiter: str

    @property
    def slowdown(self) -> float:
        """Time beside the others over the time alone, >= 1."""
        return self.shared_s / self.alone_s


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLoad:
    """What is used of a node.

    Parameters
    ----------
    node : int
        Its number, from 1.
    cores : int
        Busy cores.
    memory_bytes_per_s : float
        Bandwidth of its memory that its jobs use.
    memory_limit : float or None
        Bandwidth that there is for so many cores; None: not known.
    """

    node: int
    cores: int
    memory_bytes_per_s: float
    memory_limit: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Jobs on nodes.

    Parameters
    ----------
    shares : tuple of JobShare
        By job.
    loads : tuple of NodeLoad
        The nodes that are used.

    Notes
    -----
    `throughput` and `mean_slowdown` are STP and ANTT of Eyerman and Eeckhout, "System-Level
    Performance Metrics for Multiprogram Workloads", IEEE Micro 28(3), 2008,
    :doi:`10.1109/MM.2008.44`.
    """

    shares: tuple[JobShare, ...]
    loads: tuple[NodeLoad, ...]

    @property
    def throughput(self) -> float:
        """Work done per time, in jobs that run alone: the sum of 1/slowdown."""
        return sum(1 / share.slowdown for share in self.shares)

    @property
    def mean_slowdown(self) -> float:
        """Mean of the jobs' slowdowns."""
        return sum(share.slowdown for share in self.shares) / len(self.shares)

    @property
    def largest_slowdown(self) -> float:
        """Slowdown of the job that suffers most."""
        return max(share.slowdown for share in self.shares)

    @property
    def rank(self) -> tuple[float, float, int]:
        """Sorts placements, the best first: of equal ones, the fairest, then that of fewest cores.

        Rounded, so that equal placements are not told apart by rounding.
        """
        return (
            -round(self.throughput, 9),
            round(self.largest_slowdown, 9),
            sum(load.cores for load in self.loads),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharingStudy:
    """Jobs on nodes in every way that differs.

    Parameters
    ----------
    jobs : tuple of Job
    nodes : int
        Number of nodes.
    placements : tuple of Placement
        The best first.
    is_complete : bool
        Whether all placements were compared; False: the best of them may be missing.
    """

    jobs: tuple[Job, ...]
    nodes: int
    placements: tuple[Placement, ...]
    is_complete: bool

    @property
    def best(self) -> Placement:
        """The placement of the highest throughput."""
        return self.placements[0]

    @property
    def worst(self) -> Placement:
        """The compared placement of the lowest throughput."""
        return self.placements[-1]


def sharing_study(jobs: Sequence[Job], *, nodes: int) -> SharingStudy:
    """Place jobs on nodes in every way that differs, and rank the ways.

    Parameters
    ----------
    jobs : sequence of Job
        All on one machine and one network.
    nodes : int
        Number of nodes, all alike.

    Raises
    ------
    CannotPlace
        If the jobs need more cores or nodes than there are.
    ValueError
        If there are no jobs or no nodes.
    UnknownCeiling
        If the machine lacks a ceiling.

    Notes
    -----
    Jobs are placed one after the other. Nodes with the same jobs on them are alike, as are jobs of
    a kind that has one node each, so only placements that differ are kept. While there are at most
    2000 of them, all are carried on; else the 100 best, measured by the jobs placed so far.
    """
    if not jobs or nodes < 1:
        raise ValueError(f"there must be jobs, and nodes > 0, got {len(jobs)} and {nodes!r}")
    search = _Search(jobs=tuple(jobs), nodes=nodes)
    states, is_complete = search.run()
    placements = sorted((search.placement(state) for state in states), key=lambda p: p.rank)
    return SharingStudy(
        jobs=tuple(jobs), nodes=nodes, placements=tuple(placements), is_complete=is_complete
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    """Places jobs on nodes, one after the other."""

    jobs: tuple[Job, ...]
    nodes: int
    known: dict[_Node, float] = field(default_factory=dict)

    @cached_property
    def alone(self) -> Mapping[tuple[int, int], Alone]:
        """Every job alone, by its number and its cores."""
        return {
            (number, cores): alone(job, cores)
            for number, job in enumerate(self.jobs)
            for cores in job.cores
        }

    @cached_property
    def cores(self) -> int:
        """Cores of a node."""
        return self.jobs[0].scaling.machine.cores

    def run(self) -> tuple[list[_State], bool]:
        """Return the placements that differ, and whether none was dropped on the way."""
        states: set[_State] = {((),) * self.nodes}
        is_complete = True
        for number, job in enumerate(self.jobs):
            for copy in range(job.count):
                states = {
                    after
                    for before in states
                    for after in self._next(before, number, copy if job.nodes > 1 else 0)
                }
                if not states:
                    raise self._full(job)
                if len(states) > _MOST_STATES:
                    is_complete = False
                    states = set(sorted(states, key=self._rank)[:_CARRIED])
        return sorted(states), is_complete

    def _rank(self, state: _State) -> tuple[float, _State]:
        """Return what sorts the placements of some of the jobs, the best first."""
        if any(job.nodes > 1 for job in self.jobs):
            return -self.placement(state).throughput, state
        return -sum(map(self._throughput, state)), state

    def _throughput(self, node: _Node) -> float:
        """Return the throughput of a node whose jobs need no other."""
        if node not in self.known:
            self.known[node] = self.placement((node,)).throughput
        return self.known[node]

    def _next(self, state: _State, number: int, copy: int) -> Iterator[_State]:
        """Yield what a placement becomes with one job more."""
        job = self.jobs[number]
        for cores in job.cores:
            kinds = Counter(
                node for node in state if sum(seat[2] for seat in node) + cores <= self.cores
            )
            for chosen in _chosen(sorted(kinds.items()), job.nodes):
                left = Counter(state)
                left.subtract(chosen)
                seated = [tuple(sorted((*node, (number, copy, cores)))) for node in chosen]
                yield tuple(sorted((*left.elements(), *seated), reverse=True))

    def _full(self, job: Job) -> CannotPlace:
        asked = sum(min(each.cores) * each.nodes * each.count for each in self.jobs)
        there = self.cores * self.nodes
        return CannotPlace(
            f"cannot place job {job.name!r}",
            reason=f"{asked:,} cores are asked for in all, and there are {there:,} on "
            f"{self.nodes:,} nodes of {self.cores:,}, of which a job takes whole numbers on "
            f"{job.nodes:,} at once",
            remedy="give more --nodes, or fewer jobs or cores",
        )

    def placement(self, state: _State) -> Placement:
        """Return how fast the jobs of a placement are."""
        seats = _seats(state, self.jobs)
        uses = [self._uses(number, cores, places) for number, cores, places in seats]
        busy = [sum(seat[2] for seat in node) for node in state]
        linked = Counter(
            node
            for number, cores, places in seats
            if self.alone[number, cores].link_bytes_per_s
            for node in places
        )
        capacities = capacities_of(self.jobs[0].scaling, busy, linked)
        division = fair_division(uses, capacities)
        shares = tuple(
            self._share(number, cores, places, pace, held)
            for (number, cores, places), pace, held in zip(
                seats, division.paces, division.held_by, strict=True
            )
        )
        loads = tuple(
            NodeLoad(
                node=node + 1,
                cores=cores,
                memory_bytes_per_s=sum(
                    share.memory_bytes_per_s for share in shares if node + 1 in share.nodes
                ),
                memory_limit=capacities.get(("memory", node)),
            )
            for node, cores in enumerate(busy)
            if cores
        )
        return Placement(shares=shares, loads=loads)

    def _uses(self, number: int, cores: int, places: Sequence[int]) -> dict[Shared, float]:
        job, by_itself = self.jobs[number], self.alone[number, cores]
        uses: dict[Shared, float] = {}
        if by_itself.memory_bytes_per_s:
            uses |= {("memory", node): by_itself.memory_bytes_per_s for node in places}
        if by_itself.link_bytes_per_s:
            is_own = job.scaling.network == "parallel"
            names: list[Shared] = [("link", node) for node in places] if is_own else ["link"]
            uses |= dict.fromkeys(names, by_itself.link_bytes_per_s)
        return uses

    def _share(
        self, number: int, cores: int, places: Sequence[int], pace: float, held: Shared | None
    ) -> JobShare:
        job, by_itself = self.jobs[number], self.alone[number, cores]
        is_memory = isinstance(held, tuple) and held[0] == "memory"
        return JobShare(
            name=job.name,
            cores=cores,
            nodes=tuple(node + 1 for node in places),
            alone_s=min(self.alone[number, other].time_s for other in job.cores),
            shared_s=by_itself.time_s / pace,
            wanted_bytes_per_s=by_itself.memory_bytes_per_s,
            memory_bytes_per_s=by_itself.memory_bytes_per_s * pace,
            limiter=by_itself.limiter
            if held is None
            else f"shared {'memory' if is_memory else 'link'}",
        )


def _chosen(kinds: Sequence[tuple[_Node, int]], count: int) -> Iterator[tuple[_Node, ...]]:
    """Yield every choice of so many nodes of these kinds; nodes of a kind are alike."""
    if count == 0:
        yield ()
    elif kinds:
        (kind, there), *others = kinds
        for taken in range(min(there, count), -1, -1):
            for rest in _chosen(others, count - taken):
                yield (*((kind,) * taken), *rest)


def _seats(state: _State, jobs: Sequence[Job]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return every job's number, its cores, and its nodes from 0."""
    wide: dict[_Seat, list[int]] = {}
    seats: list[tuple[int, int, tuple[int, ...]]] = []
    for node, there in enumerate(state):
        for seat in there:
            number, _, cores = seat
            if jobs[number].nodes > 1:
                wide.setdefault(seat, []).append(node)
            else:
                seats.append((number, cores, (node,)))
    seats += [(number, cores, tuple(nodes)) for (number, _, cores), nodes in wide.items()]
    return sorted(seats)
