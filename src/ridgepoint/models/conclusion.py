"""Conclusion about a placed program: what explains its time, and what would bound it next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.counts import Counts
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.models.explanations import Explained
from ridgepoint.models.own_roofs import COMPUTE
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import ABOVE_MIX, ABOVE_ROOF, NEAR, SAME
from ridgepoint.models.work import hardly_any

Kind = Literal[
    "no-ceiling",
    "nothing-asked",
    "not-timed",
    "above-mix",
    "mix",
    "issue",
    "above-roof",
    "at-roof",
    "roof",
    "cause",
    "traffic-alone",
    "unexplained",
]
"""What was found of a program.

There is no roof for what it asked for, or it asked for nothing that was counted; it was not timed;
its own mix of instructions, the rate at which cores start them, or the machine's roof explains its
time, or is exceeded; something else is the cause; its work is not worth a roof, and its traffic
does not explain its time; nothing does.
"""

# A function with this share of a program has the same place.
_ALL = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What bounds a program, and the gain that remains.

    Parameters
    ----------
    kind : str
        One of `Kind`.
    placement : Placement
    counts : Counts
        Counts of the placed program.
    explained : Explained or None
        What explains its time; None: nothing but the roofs is known.
    hottest : tuple of str and float, or None
        The function to place alone, and its share of the instructions; None: it would not help.
    """

    kind: Kind
    placement: Placement
    counts: Counts
    explained: Explained | None
    hottest: tuple[str, float] | None

    @property
    def is_worth_a_roof(self) -> bool:
        """Whether there is enough work for a roofline to be meaningful."""
        return not hardly_any(self.counts, self.placement.metric)

    @property
    def following(self) -> tuple[str, float] | None:
        """The path that needs most time after those that bind, and the runtime over that time.

        That is the gain if what binds vanished. None: no further path is known, or not timed.
        """
        bound, runtime = self.placement.bound, self.placement.runtime_s
        if bound is None or runtime is None:
            return None
        times = {name: float(time) for name, time in bound.times_s.items()}
        binding = {RESOURCES[n].path if n in RESOURCES else n for n in self.placement.bindings}
        rest = {name: time for name, time in times.items() if name not in binding and time > 0}
        if not rest:
            return None
        name = max(rest, key=lambda path: rest[path])
        return name, runtime.median / rest[name]

    @property
    def reads_only(self) -> tuple[str, ...]:
        """The levels for which the bound only includes reads."""
        amounts = self.placement.demand.amounts
        return tuple(
            level
            for level in LEVELS
            if f"{level}_read" in amounts and f"{level}_write" not in amounts
        )


def conclude(
    placement: Placement,
    counts: Counts,
    *,
    explained: Explained | None = None,
    hottest: tuple[str, float] | None = None,
) -> Conclusion:
    """Return what bounds a program.

    Parameters
    ----------
    placement : Placement
    counts : Counts
        Counts of the placed program.
    explained : Explained or None
        What explains its time; None: nothing but the roofs is known.
    hottest : tuple of str and float, or None
        The function with most instructions, and its share, if it can be placed alone.
    """
    if explained is None or explained.cause is not None or (hottest and hottest[1] > _ALL):
        hottest = None
    return Conclusion(
        kind=_kind(placement, counts, explained),
        placement=placement,
        counts=counts,
        explained=explained,
        hottest=hottest,
    )


def is_apart(placement: Placement) -> bool:
    """Return whether a program's own mix allows less than the machine's roof does."""
    own, machines = placement.mix, placement.bound
    if own is None or own.time_s is None or machines is None:
        return False
    return own.time_s > SAME * float(machines.time_s)


def _kind(placement: Placement, counts: Counts, explained: Explained | None) -> Kind:
    if placement.bound is None:
        return "no-ceiling"
    if not float(placement.bound.time_s) > 0:
        return "nothing-asked"
    efficiency = placement.efficiency
    if efficiency is None:
        return "not-timed"
    return _own_kind(placement, efficiency) or _roof_kind(placement, efficiency, counts, explained)


def _roof_kind(
    placement: Placement, efficiency: float, counts: Counts, explained: Explained | None
) -> Kind:
    """Return the kind that the machine's roof, or else anything known, gives."""
    if efficiency > ABOVE_ROOF:
        return "above-roof"
    if efficiency > 1 / ABOVE_ROOF:
        return "at-roof"
    if efficiency >= NEAR:
        return "roof"
    if explained is not None and explained.cause is not None:
        return "cause"
    return "traffic-alone" if hardly_any(counts, placement.metric) else "unexplained"


def _own_kind(placement: Placement, efficiency: float) -> Kind | None:
    """Return which of its own limits explains the time better than the machine's roof does."""
    mix = 0.0 if placement.mix is None else placement.mix.efficiency or 0.0
    issue = placement.issue.efficiency or 0.0
    best = max(mix, issue)
    if best < NEAR or best < SAME * efficiency or efficiency > SAME:
        return None
    if mix < issue:
        return "issue"
    if placement.mix is None or placement.mix.limiter != COMPUTE:
        return None
    return "above-mix" if mix > ABOVE_MIX else "mix"
