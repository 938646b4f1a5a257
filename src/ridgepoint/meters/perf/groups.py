"""Counters in groups that fit the hardware, so that none has to take turns.

perf_event_open(2): with more events than counters the kernel time-shares them, and what it
reads is an estimate. A roofline needs counts, so a program is rather run once per group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ridgepoint.meters.perf.sysfs import Encoding, Pmu


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """One event on one PMU.

    Parameters
    ----------
    pmu : Pmu
    encoding : Encoding
    name : str
        The vendor's name of the event.
    cost : int
        General-purpose counters that it takes: 2 for the flop events of AMD, whose increments are
        too large for one; 0 where it has a counter of its own.
    """

    pmu: Pmu
    encoding: Encoding
    name: str
    cost: int = 1

    @property
    def key(self) -> tuple[str, Encoding]:
        """What tells it from others: two metrics may share an event."""
        return self.pmu.name, self.encoding


Group = tuple[Counter, ...]
"""Counters of one PMU that are counted together or not at all."""


def packed(sets: Sequence[Group], *, counters: int) -> list[Group]:
    """Return groups that hold all sets, each set whole wherever one group can hold it.

    Parameters
    ----------
    sets : sequence of Group
        What each metric needs; they may overlap.
    counters : int
        General-purpose counters of the PMU.
    """
    groups: list[Group] = []
    for wanted in sets:
        for part in _parts(wanted, counters):
            for index, group in enumerate(groups):
                if _cost(joined := _united(group, part)) <= counters:
                    groups[index] = joined
                    break
            else:
                groups.append(part)
    return groups


def halves(group: Group) -> tuple[Group, Group]:
    """Return a group in two, for a PMU that has fewer counters than its CPU is said to have."""
    middle = len(group) // 2
    return group[:middle], group[middle:]


def _parts(wanted: Group, counters: int) -> Iterable[Group]:
    """Yield a set whole, or in parts where even a group of its own is too small."""
    part: Group = ()
    for one in wanted:
        if part and _cost((*part, one)) > counters:
            yield part
            part = ()
        part = (*part, one)
    yield part


def _united(group: Group, part: Group) -> Group:
    known = {counter.key for counter in group}
    return (*group, *(one for one in part if one.key not in known))


def _cost(group: Group) -> int:
    return sum(counter.cost for counter in group)
