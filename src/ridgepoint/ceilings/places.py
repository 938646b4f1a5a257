"""Places where ceilings are measured: sets of a host's CPUs, one thread on each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ridgepoint.core.machine import Cache
from ridgepoint.host import Topology

_MOST_INSTEAD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """CPUs that work together.

    Parameters
    ----------
    part : str or None
        The part of the machine that they are: a NUMA node, a kind of core; None: the machine.
    cpus : tuple of int
        One thread is pinned to each.
    cores : int
        Number of physical cores whose hardware threads these CPUs are.
    siblings : int
        Number of hardware threads of these cores, busy or not.
    memory_only : bool
        Whether only main memory is measured here.
    instead : tuple of int
        CPUs that may replace the single one: the quietest is used.
    """

    part: str | None = None
    cpus: tuple[int, ...]
    cores: int
    siblings: int
    memory_only: bool = False
    instead: tuple[int, ...] = ()

    @property
    def shares_cores(self) -> bool:
        """Whether several of the threads share a core."""
        return len(self.cpus) > self.cores

    def sharers(self, cache: Cache) -> int:
        """Return how many of the threads share one such cache."""
        busy = -(-cache.cores * len(self.cpus) // self.siblings)
        return max(1, min(len(self.cpus), busy))


def places(topology: Topology, *, limit: float | None) -> tuple[Place, ...]:
    """Return where to measure: one core, all cores, all hardware threads, and each part.

    Parameters
    ----------
    topology : Topology
    limit : float or None
        Limit of CPU time per wall-clock time, in CPUs; None: no limit.

    Notes
    -----
    The last CPU comes first: interrupts prefer the first. With several kinds of cores, the single
    core is of the fastest kind; which of its CPUs may be chosen later. If there are several nodes
    or kinds, each is also measured by itself.
    """
    usable = sum(len(core) for core in topology.cores)
    most = usable if limit is None else min(usable, max(1, int(limit)))

    def on(cpus: tuple[int, ...], part: str | None = None, *, memory_only: bool = False) -> Place:
        chosen = cpus[::-1][:most]
        busy = [core for core in topology.cores if set(core) & set(chosen)]
        return Place(
            part=part,
            cpus=chosen,
            cores=len(busy),
            siblings=sum(len(core) for core in busy),
            memory_only=memory_only,
        )

    every = tuple(sorted(cpu for core in topology.cores for cpu in core))
    fastest = next(iter(topology.kinds.values()))
    candidates = topology.one_per_core(fastest)[::-1]
    on_one = replace(on(candidates[:1]), instead=candidates[1:_MOST_INSTEAD])
    places = [on_one, on(topology.one_per_core(every)), on(every)]
    if len(topology.kinds) > 1:
        for kind, cpus in topology.kinds.items():
            cores = topology.one_per_core(cpus)
            places += [on(cores[-1:], kind), on(cores, kind)]
    if len(topology.nodes) > 1:
        for node, cpus in topology.nodes.items():
            places.append(on(topology.one_per_core(cpus), node, memory_only=True))
    # One core may be all there is, or all that a part has.
    unique: dict[tuple[frozenset[int], bool], Place] = {}
    for place in places:
        unique.setdefault((frozenset(place.cpus), place.memory_only), place)
    return tuple(unique.values())
