"""Which jobs should share which nodes: all placements compared, or the best of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ridgepoint.models.scaling.placements import (
    CannotPlace,
    JobShare,
    NodeLoad,
    Placement,
    SharingStudy,
)
from ridgepoint.models.scaling.sharing import (
    Alone,
    Job,
    Shared,
    alone,
    capacities_of,
    fair_division,
)

_MOST_STATES = 1000
"""Placements that are compared all; of more, the best are carried on."""
_CARRIED = 40
_MOST_JOBS = 200

_Seat = tuple[int, int, int]
"""Which job, which of several alike (0 where that does not matter), and its cores."""
_Node = tuple[_Seat, ...]
_State = tuple[tuple[_Node, int], ...]
"""Nodes by what is on them, and how many of each."""


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
    Jobs are placed one after the other, the largest first. Nodes with the same jobs on them are
    alike, as are jobs of a kind that has one node each, so only placements that differ are kept.
    While there are at most 1000 of them, all are carried on; else the 40 best, measured by the
    jobs placed so far.
    """
    if not jobs or nodes < 1:
        raise ValueError(f"there must be jobs, and nodes > 0, got {len(jobs)} and {nodes!r}")
    if (count := sum(job.count for job in jobs)) > _MOST_JOBS:
        raise CannotPlace(
            "cannot compare the placements",
            reason=f"there are {count:,} jobs, and more than {_MOST_JOBS} take too long",
            remedy="give a part of the jobs, and as large a part of the nodes",
        )
    search = _Search(jobs=tuple(jobs), nodes=nodes)
    states, is_complete = search.run()
    shown = states if len(states) <= _CARRIED else [*states[: _CARRIED - 1], states[-1]]
    return SharingStudy(
        jobs=tuple(jobs),
        nodes=nodes,
        placements=tuple(sorted(map(search.placement, shown), key=lambda each: each.rank)),
        compared=len(states),
        is_complete=is_complete,
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
        """Return the placements that differ by throughput, and whether none was dropped before."""
        states: set[_State] = {(((), self.nodes),)}
        is_complete = True
        # The largest first: what is small fits in later.
        order = sorted(enumerate(self.jobs), key=lambda pair: _size(pair[1]), reverse=True)
        for number, job in order:
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
        return sorted(states, key=self._rank), is_complete

    def _rank(self, state: _State) -> tuple[float, _State]:
        """Return what sorts the placements of some of the jobs, the best first."""
        if any(job.nodes > 1 for job in self.jobs):
            return -self.placement(state).throughput, state
        return -sum(count * self._throughput(node) for node, count in state), state

    def _throughput(self, node: _Node) -> float:
        """Return the throughput of a node whose jobs need no other."""
        if node not in self.known:
            self.known[node] = self.placement(((node, 1),)).throughput
        return self.known[node]

    def _next(self, state: _State, number: int, copy: int) -> Iterator[_State]:
        """Yield what a placement becomes with one job more."""
        job = self.jobs[number]
        for cores in job.cores:
            kinds = [
                (node, count)
                for node, count in state
                if sum(seat[2] for seat in node) + cores <= self.cores
            ]
            for chosen in _chosen(kinds, job.nodes):
                after = Counter(dict(state))
                after.subtract(chosen)
                after.update(tuple(sorted((*node, (number, copy, cores)))) for node in chosen)
                yield tuple(sorted(((node, n) for node, n in after.items() if n), reverse=True))

    def _full(self, job: Job) -> CannotPlace:
        asked = sum(min(each.cores) * each.nodes * each.count for each in self.jobs)
        there = self.cores * self.nodes
        return CannotPlace(
            f"cannot place job {job.name!r}",
            reason=f"{asked:,} cores are asked for in all, and no placement that was tried on "
            f"{self.nodes:,} nodes of {self.cores:,} cores, {there:,} in all, has room for each "
            "job on as many nodes at once as it needs",
            remedy="give more --nodes, or fewer jobs or cores",
        )

    def placement(self, state: _State) -> Placement:
        """Return how fast the jobs of a placement are."""
        nodes = [node for node, count in state for _ in range(count)]
        seats = _seats(nodes, self.jobs)
        uses = [self._uses(number, cores, places) for number, cores, places in seats]
        busy = [sum(seat[2] for seat in node) for node in nodes]
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


def _size(job: Job) -> tuple[int, int]:
    return job.nodes, min(job.cores)


def _chosen(kinds: Sequence[tuple[_Node, int]], count: int) -> Iterator[tuple[_Node, ...]]:
    """Yield every choice of so many nodes of these kinds; nodes of a kind are alike."""
    if count == 0:
        yield ()
    elif kinds:
        (kind, there), *others = kinds
        for taken in range(min(there, count), -1, -1):
            for rest in _chosen(others, count - taken):
                yield (*((kind,) * taken), *rest)


def _seats(nodes: Sequence[_Node], jobs: Sequence[Job]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return every job's number, its cores, and its nodes from 0."""
    wide: dict[_Seat, list[int]] = {}
    seats: list[tuple[int, int, tuple[int, ...]]] = []
    for node, there in enumerate(nodes):
        for seat in there:
            number, _, cores = seat
            if jobs[number].nodes > 1:
                wide.setdefault(seat, []).append(node)
            else:
                seats.append((number, cores, (node,)))
    seats += [(number, cores, tuple(places)) for (number, _, cores), places in wide.items()]
    return sorted(seats)
