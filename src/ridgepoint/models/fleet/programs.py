"""Where a program would run best: its demand bounded on every machine of a fleet."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.bound import bound_known
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.analysis import analyse
from ridgepoint.models.caches.elsewhere import Source, curve_over_simulation, traffic_there
from ridgepoint.models.distributed import machine_for
from ridgepoint.models.fleet import Member, ends_of
from ridgepoint.models.fleet.ranks import ranks
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import USED
from ridgepoint.models.work import Metric

_BITS = re.compile(r"\b(\d+)-bit")

_OF_THERE = frozenset(("no-ceiling", "no-bops"))
"""Cautions of a placement that are about the machine and not about the runtime elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class There:
    """A program on one machine of a fleet.

    Parameters
    ----------
    member : Member
    placement : Placement
        With the traffic that it would have there.
    source : {"simulated", "miss curve", "other caches"}
        Where that traffic comes from.
    time_s : Estimate or None
        The least time; its interval is that of the ceilings. None: no ceiling is known for anything
        that the program uses.
    cost : Estimate or None
        Money for one run that takes this time, on all of its nodes; None: no price is given.
    rank : int or None
        1 plus the number of machines that are better; None: what it uses much of has no ceiling
        there, so that its time cannot be compared.
    ties : int
        Number of machines that cannot be told apart from it.
    cautions : tuple of Caution
    """

    member: Member
    placement: Placement
    source: Source
    time_s: Estimate | None
    cost: Estimate | None
    rank: int | None = None
    ties: int = 0
    cautions: tuple[Caution, ...] = ()

    @property
    def limiter(self) -> str | None:
        """What bounds it there, as in `ridgepoint.core.bound.Bound.binding`; None: not known."""
        bound = self.placement.bound
        return None if bound is None else str(bound.binding)

    @property
    def is_comparable(self) -> bool:
        """Whether there is a ceiling for all that the program uses much of."""
        return self.time_s is not None and not self.placement.missing_roofs


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOnFleet:
    """A program on every machine of a fleet, the best one first.

    Parameters
    ----------
    measurement : Measurement
        As it was measured.
    metric : {"flop", "bop"}
    there : tuple of There
    by_cost : bool
        Whether the cheapest run is the best; else the shortest.
    efficiency : float or None
        Least time over runtime on the machine that it was measured on; None: not known.
    curve_over_simulation : float or None
        Traffic at DRAM by its miss curve over that by the simulation of the caches of its own
        machine: how far the curve is to be trusted; None: it has none.
    """

    measurement: Measurement
    metric: Metric
    there: tuple[There, ...]
    by_cost: bool
    efficiency: float | None
    curve_over_simulation: float | None

    def as_here_s(self, one: There) -> float | None:
        """Return the time if it came as near to its limit as where it was measured, in seconds.

        None: it is not known how near that was, or it was above its roof.
        """
        if one.time_s is None or self.efficiency is None or not 0 < self.efficiency <= 1:
            return None
        return one.time_s.median / self.efficiency


def program_on(
    measurement: Measurement,
    members: Sequence[Member],
    *,
    own: Machine | None = None,
    cores: float | None = None,
    metric: Metric | None = None,
    by_cost: bool = False,
) -> ProgramOnFleet:
    """Return a program on every machine of a fleet, the best one first.

    Parameters
    ----------
    measurement : Measurement
    members : sequence of Member
    own : Machine or None
        The machine that it was measured on: for a distributed program all its nodes together.
    cores : float or None
        Cores that it is to use on each machine, at most the machine's; None: as many as it kept
        busy, or was to be bounded by, where it was measured.
    metric : {"flop", "bop"} or None
        Unit of its work; None: as it was measured.
    by_cost : bool
        Whether to order by the money for a run; else by time.
    """
    metric = measurement.metric if metric is None else metric
    found = [_there(measurement, member, cores, metric) for member in members]
    return ProgramOnFleet(
        measurement=measurement,
        metric=metric,
        there=tuple(_ordered(found, by_cost=by_cost)),
        by_cost=by_cost,
        efficiency=_efficiency(measurement, own, metric),
        curve_over_simulation=curve_over_simulation(measurement),
    )


def _there(measurement: Measurement, member: Member, cores: float | None, metric: Metric) -> There:
    moved = traffic_there(measurement, member.machine)
    machine = machine_for(measurement, member.machine)
    used = None if cores is None else min(cores, float(machine.cores))
    placement = analyse(moved.measurement, machine, cores=used, metric=metric).placement
    assert placement is not None  # there is a machine
    time_s = _time(machine, placement)
    nodes = 1 if measurement.distributed is None else len(measurement.distributed.nodes)
    price = member.price
    return There(
        member=member,
        placement=placement,
        source=moved.source,
        time_s=time_s,
        cost=(
            None
            if time_s is None or price is None
            else time_s.map(lambda seconds: seconds * price.per_s * nodes)
        ),
        cautions=(
            *moved.cautions,
            *_other_instructions(measurement, member.machine),
            *(caution for caution in placement.cautions if caution.code in _OF_THERE),
        ),
    )


def _other_instructions(measurement: Measurement, machine: Machine) -> Iterator[Caution]:
    """Yield a caution if the program computes with wider vectors than a machine was measured with.

    The ceilings of a published machine do not say with which.
    """
    work = measurement.counted.counts.flop
    total = sum(one.flop for one in work)
    used = [one.width_bits for one in work if one.flop > USED * total and one.width_bits]
    names = " ".join(ceiling.name for ceiling in machine.ceilings)
    known = [int(bits) for bits in _BITS.findall(names)]
    if used and known and max(used) > max(known):
        yield Caution(
            "other-instructions",
            f"the program was counted with vectors of {max(used)} bit, and {machine.name!r} was "
            f"measured with {max(known)} bit at most",
            "measure a build for that machine, or there: it does other instructions",
        )


def _time(machine: Machine, placement: Placement) -> Estimate | None:
    """Return the least time, between that with all ceilings at the upper and the lower ends."""
    if placement.bound is None:
        return None
    middle = float(placement.bound.time_s)
    ends = []
    for end in (0, 1):
        other = bound_known(placement.bound.demand, _at(machine, end), cores=placement.cores)
        assert other is not None  # there is a ceiling: it has a bound
        ends.append(float(other.time_s))
    if ends[0] == ends[1]:
        return Estimate([middle])
    return Estimate([middle], interval=(min(*ends, middle), max(*ends, middle)))


def _at(machine: Machine, end: int) -> Machine:
    """Return a machine whose every ceiling is at the lower or the upper end of its interval."""
    return replace(
        machine,
        ceilings=tuple(
            ceiling
            if ceiling.rate is None
            else replace(ceiling, rate=Estimate([ends_of(ceiling.rate)[end]]))
            for ceiling in machine.ceilings
        ),
    )


def _ordered(found: Sequence[There], *, by_cost: bool) -> list[There]:
    def number(one: There) -> Estimate | None:
        return one.cost if by_cost else one.time_s

    compared = [(one, value) for one in found if one.is_comparable and (value := number(one))]
    placed = ranks([value for _, value in compared], largest_first=False)
    best = [
        replace(one, rank=rank, ties=ties)
        for (one, _), (rank, ties) in zip(compared, placed, strict=True)
    ]

    def order(one: There) -> tuple[int, float, str]:
        value = number(one)
        return one.rank or 0, math.inf if value is None else value.median, one.member.name

    others = [one for one in found if all(one.member is not each.member for each in best)]
    return [*sorted(best, key=order), *sorted(others, key=order)]


def _efficiency(measurement: Measurement, own: Machine | None, metric: Metric) -> float | None:
    if own is None or measurement.timed is None or measurement.context.cpu != own.host.cpu:
        return None
    placement = analyse(measurement, own, metric=metric).placement
    return None if placement is None else placement.efficiency
