"""Jobs that share nodes: each has its cores alone, and the bandwidths are divided fairly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ridgepoint.models.scaling import Scaling

Shared = Hashable
"""What jobs share: the memory of a node, or a link."""

_SAME = 1e-12
"""Relative differences of a level below this are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """A kind of job that asks for a place.

    Parameters
    ----------
    name : str
    scaling : Scaling
        Its problem on the nodes, with nothing else on them.
    cores : tuple of int
        Numbers of cores of each of its nodes to choose from; one number: it asks for that.
    nodes : int
        Number of its nodes.
    count : int
        How many such jobs there are.

    Raises
    ------
    ValueError
        If a number is not > 0, or there are no cores.
    """

    name: str
    scaling: Scaling
    cores: tuple[int, ...]
    nodes: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if not self.cores or min(self.cores) < 1:
            raise ValueError(f"cores must be numbers > 0, got {self.cores!r}")
        for name in ("nodes", "count"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be > 0, got {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """A job with its nodes to itself.

    Parameters
    ----------
    time_s : float
    limiter : str
        ``compute``, ``dram`` or ``network``.
    memory_bytes_per_s : float
        Bandwidth of each node's memory that it uses on average.
    link_bytes_per_s : float
        Bandwidth that it uses on average: of the one link of all nodes, or of each node's own.
    """

    time_s: float
    limiter: str
    memory_bytes_per_s: float
    link_bytes_per_s: float


def alone(job: Job, cores: int) -> Alone:
    """Return a job with its nodes to itself, on some cores of each."""
    scaling = job.scaling
    least = scaling.bound_at(cores, job.nodes)
    time_s = float(least.time_s)
    exchanged = float(np.asarray(scaling.problem.exchanged_bytes(np.asarray(float(job.nodes)))))
    links = job.nodes if scaling.network == "parallel" else 1
    return Alone(
        time_s=time_s,
        limiter=str(least.limiter),
        memory_bytes_per_s=float(np.asarray(scaling.problem.dram_bytes)) / job.nodes / time_s,
        link_bytes_per_s=exchanged / links / time_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """How fast jobs are beside each other, and what holds each of them up.

    Parameters
    ----------
    paces : tuple of float
        Speed of each job over its speed alone, in (0, 1].
    held_by : tuple
        What each job shares and waits for; None: nothing, it is as fast as alone.
    """

    paces: tuple[float, ...]
    held_by: tuple[Shared | None, ...]


@dataclass(slots=True)
class _Filling:
    """Water-filling: the level of all jobs rises until each has what it wants or is held up."""

    uses: Sequence[Mapping[Shared, float]]
    capacities: Mapping[Shared, float]
    wanted: list[float] = field(init=False)
    level: list[float | None] = field(init=False)
    held_by: list[Shared | None] = field(init=False)

    def __post_init__(self) -> None:
        self.wanted = [
            max((amount / self.capacities[name] for name, amount in use.items()), default=0.0)
            for use in self.uses
        ]
        self.level = [0.0 if wanted == 0 else None for wanted in self.wanted]
        self.held_by = [None] * len(self.uses)

    def run(self) -> None:
        while rising := [job for job, level in enumerate(self.level) if level is None]:
            full = {name: self._full_at(name, rising) for name in self.capacities}
            held = min(full.values(), default=math.inf)
            content = min(self.wanted[job] for job in rising)
            if content <= held * (1 + _SAME):
                for job in rising:
                    if self.wanted[job] <= content * (1 + _SAME):
                        self.level[job] = self.wanted[job]
                continue
            for job in rising:
                for name, level in full.items():
                    if level <= held * (1 + _SAME) and self.uses[job].get(name, 0.0) > 0:
                        self.level[job], self.held_by[job] = held, name

    def _full_at(self, name: Shared, rising: Sequence[int]) -> float:
        """Return the level of the rising jobs at which something that they share is used up."""
        slope = sum(self.uses[job].get(name, 0.0) / self.wanted[job] for job in rising)
        if slope == 0:
            return math.inf
        taken = sum(
            use.get(name, 0.0) * level / wanted
            for use, level, wanted in zip(self.uses, self.level, self.wanted, strict=True)
            if level
        )
        return max(self.capacities[name] - taken, 0.0) / slope


def fair_division(
    uses: Sequence[Mapping[Shared, float]], capacities: Mapping[Shared, float]
) -> Division:
    """Divide what jobs share by demand: max-min fair.

    Parameters
    ----------
    uses : sequence of mapping
        What each job uses while it is as fast as alone, by what is shared, byte/s.
    capacities : mapping
        How much there is of each, byte/s, > 0.

    Notes
    -----
    A job is as fast as alone, or it is held up by something that is used up, of which no other
    job on it has a larger share unless that one is held up elsewhere, or has all that it wants.
    A share is that of a job's dominant resource [1]_; with the memory of one node alone, that is
    max-min fairness of bandwidth: who wants little gets it, and the others get equal parts [2]_.

    References
    ----------
    .. [1] A. Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource
       Types", NSDI 2011.
    .. [2] D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2.

    Examples
    --------
    10 GB/s for 2, 8 and 8: one has all that it wants, the others 4 each.

    >>> fair_division([{"dram": 2.0}, {"dram": 8.0}, {"dram": 8.0}], {"dram": 10.0}).paces
    (1.0, 0.5, 0.5)
    """
    paces = [1.0] * len(uses)
    held_by: list[Shared | None] = [None] * len(uses)
    for jobs in _apart(uses):
        together = [uses[job] for job in jobs]
        names = {name for use in together for name in use}
        filling = _Filling(together, {name: capacities[name] for name in names})
        filling.run()
        for place, job in enumerate(jobs):
            held_by[job] = filling.held_by[place]
            if held_by[job] is not None:
                paces[job] = (filling.level[place] or 0.0) / filling.wanted[place]
    return Division(paces=tuple(paces), held_by=tuple(held_by))


def _apart(uses: Sequence[Mapping[Shared, float]]) -> list[list[int]]:
    """Return the jobs in groups that share nothing with each other."""
    groups: list[list[int]] = []
    group_of: dict[Shared, list[int]] = {}
    for job, use in enumerate(uses):
        joined = [job]
        for other in {
            id(group_of[name]): group_of[name] for name in use if name in group_of
        }.values():
            joined += other
            groups.remove(other)
        groups.append(joined)
        for member in joined:
            group_of |= dict.fromkeys(uses[member], joined)
    return groups


def capacities_of(
    scaling: Scaling, busy_cores: Sequence[int], linked: Counter[int]
) -> dict[Shared, float]:
    """Return the bandwidths that jobs share.

    Parameters
    ----------
    scaling : Scaling
        Of any of the jobs: they have one machine and one network.
    busy_cores : sequence of int
        Busy cores of each node, with 0 for an idle one.
    linked : Counter
        Nodes whose jobs exchange data.
    """
    machine = scaling.machine
    found: dict[Shared, float] = {}
    if machine.knows("dram"):
        for node, cores in enumerate(busy_cores):
            if cores:
                found["memory", node] = float(machine.rate("dram", cores=cores))
    if linked and scaling.knows_link:
        given = scaling.link_bytes_per_s
        link = float(machine.rate("network")) if given is None else given
        names: list[Shared] = (
            [("link", node) for node in linked] if scaling.network == "parallel" else ["link"]
        )
        found |= dict.fromkeys(names, link)
    return found
