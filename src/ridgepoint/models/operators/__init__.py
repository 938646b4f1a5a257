"""Operators under a machine's roofs: the least time of each, and what holds it back."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ridgepoint.core.bound import Bound
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate, quotient
from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import Asked, Operator, OperatorProfile
from ridgepoint.core.presenting import Presentable
from ridgepoint.models.operators.doubts import operator_doubts
from ridgepoint.models.operators.least import is_work, least_demand, least_time
from ridgepoint.models.operators.placed import (
    ABOVE,
    CALLS,
    ELSEWHERE,
    NO_CEILING,
    NOT_TIMED,
    NOTHING,
    UNEXPLAINED,
    UNKNOWN,
    OperatorGroup,
    PlacedOperator,
    asks_nothing,
    grouped,
    grouped_alike,
    is_view,
    paths_to,
)
from ridgepoint.models.operators.verdict import operator_verdict
from ridgepoint.models.thresholds import ABOVE_ROOF, NEAR

if TYPE_CHECKING:
    from ridgepoint.models.advice.subject import Advice

__all__ = [
    "OperatorAnalysis",
    "OperatorGroup",
    "PlacedOperator",
    "analyse_operators",
    "least_demand",
]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OperatorAnalysis(Presentable):
    """A profile on a machine: every operator placed, and totals.

    Parameters
    ----------
    profile : OperatorProfile
    machine : Machine or None
        None: nothing bounds it.
    """

    profile: OperatorProfile
    machine: Machine | None

    @property
    def headline(self) -> str:
        """The result in one line."""
        return self.profile.headline

    @property
    def machine_name(self) -> str:
        """Name of the machine; empty: there is none."""
        return "" if self.machine is None else self.machine.name

    @cached_property
    def operators(self) -> tuple[PlacedOperator, ...]:
        """Every operator, longest first; those that were not timed last, by their order."""
        total_s = sum(o.time_s.median for o in self.profile.operators if o.time_s is not None)
        placed = [self._placed(operator, total_s) for operator in self.profile.operators]
        return tuple(sorted(placed, key=lambda one: -(one.share or 0.0)))

    @cached_property
    def whole(self) -> OperatorGroup:
        """All operators together."""
        return OperatorGroup(name=self.profile.program, operators=self.operators)

    @cached_property
    def modules(self) -> tuple[OperatorGroup, ...]:
        """Every module with the modules inside it, in the order of their first calls."""
        order: dict[str, list[PlacedOperator]] = {}
        by_first = {id(operator): at for at, operator in enumerate(self.profile.operators)}
        for placed in sorted(self.operators, key=lambda one: by_first[id(one.operator)]):
            for path in paths_to(placed.operator.module):
                order.setdefault(path, []).append(placed)
        return tuple(
            OperatorGroup(name=name, operators=tuple(inside)) for name, inside in order.items()
        )

    @cached_property
    def phases(self) -> tuple[OperatorGroup, ...]:
        """Forward, backward and optimizer, those that there are."""
        return grouped(self.operators, lambda one: one.operator.phase)

    @cached_property
    def kinds(self) -> tuple[OperatorGroup, ...]:
        """Families of operators, longest first."""
        groups = grouped(self.operators, lambda one: one.operator.asked.kind)
        return tuple(sorted(groups, key=lambda group: -(group.share or 0.0)))

    @cached_property
    def alike(self) -> tuple[OperatorGroup, ...]:
        """Equal calls of all modules together, longest first: the layers of a model are alike."""
        return grouped_alike(self.operators)

    @cached_property
    def is_elsewhere(self) -> bool:
        """Whether it was timed on another device than this machine."""
        if self.machine is None:
            return False
        ran_on, roofs_of = self.profile.device_model, self.machine.host.cpu
        if self.profile.device == "cpu":
            return ran_on != roofs_of
        # One GPU has several names: 'NVIDIA H200', and 'NVIDIA H200 SXM' in its data sheet.
        one, other = re.split(r"[\s-]+", ran_on.lower()), re.split(r"[\s-]+", roofs_of.lower())
        shorter = min(len(one), len(other))
        return one[:shorter] != other[:shorter]

    @cached_property
    def call_s(self) -> float | None:
        """Seconds that calling an operator takes, whatever it does; None: unknown.

        It is the median of views, which ask for nothing, each by one call. Loops of a compiled
        program ask for nothing either, but take as long as they run.
        """
        views = [
            operator.time_s.median / operator.calls
            for operator in self.profile.operators
            if operator.time_s is not None and operator.calls and is_view(operator)
        ]
        return statistics.median(views) if views else None

    @cached_property
    def outside_s(self) -> float | None:
        """Seconds of a run that no operator takes: Python, waiting, and calling; None: unknown.

        Imports, start and end of a script are not among them. Recording operators makes them seem
        longer, so that this is the least. Of runs with nothing attached; of the recorded ones, in
        which start and operators were timed, where these were shorter: their machine was less busy.
        Unknown where equal runs of a script, start included, differ by more than that.
        """
        timed, inside, startup_s = self.profile.timed, self.whole.time_s, self.profile.startup_s
        runs = (self.profile.attached_s, None if timed is None else timed.runtime_s)
        known = [runtime_s for runtime_s in runs if runtime_s is not None]
        if not known or inside is None:
            return None
        least_s = min(runtime_s.median for runtime_s in known)
        outside_s = max(least_s - (startup_s or 0.0) - inside.median, 0.0)
        differ_s = max(runtime_s.q3 - runtime_s.q1 for runtime_s in known)
        return None if startup_s is not None and 0 < outside_s < differ_s else outside_s

    @cached_property
    def runs_s(self) -> tuple[float, ...]:
        """Seconds in all timed operators, run by run; empty: they have different numbers of runs.

        The median of these is not `whole.time_s`, which adds the medians of the operators.
        """
        times = [o.time_s.samples for o in self.profile.operators if o.time_s is not None]
        if len({len(samples) for samples in times}) != 1:
            return ()
        return tuple(map(sum, zip(*times, strict=True)))

    @cached_property
    def fused(self) -> Bound | None:
        """The least time if all operators were one: no array in between reaches memory.

        All their work, and what was there before the run, read once: no way to fuse them, and no
        order, needs less. None: there is no machine, no known work, or those bytes are unknown.
        """
        profile, least = self.profile, self.whole.bound
        if self.machine is None or least is None or profile.outer_bytes is None:
            return None
        work = {n: float(x) for n, x in least.demand.amounts.items() if is_work(n)}
        asked = Asked(kind="fused", work=work, read_bytes=profile.outer_bytes, write_bytes=0.0)
        demand = least_demand(asked, self.machine)
        return None if demand is None else least_time(demand, self.machine, cores=self.cores)

    @property
    def fusion_gain(self) -> float | None:
        """The least time of the operators over that of all as one: at most what fusion gains."""
        apart, fused = self.whole.bound, self.fused
        if apart is None or fused is None or not fused.time_s > 0:
            return None
        return float(apart.time_s) / float(fused.time_s)

    @property
    def explained(self) -> dict[str, float]:
        """Share of the operators' time by what explains it, largest first."""
        return self.whole.explained

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """What holds the program back, in sentences without a full stop."""
        return operator_verdict(self)

    @cached_property
    def doubts(self) -> tuple[Caution, ...]:
        """Every caution, those of the profile and of its runs included."""
        return operator_doubts(self)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What to do next, the largest gain for the program first."""
        # Other advice comes with it, and whoever only lists records needs none.
        from ridgepoint.models.operators.advice import operator_advice

        return operator_advice(self)

    @property
    def cores(self) -> float | None:
        """Cores whose roofs bound an operator; None: all.

        As many as its threads where it was timed. On another machine it would have all.
        """
        profile, machine = self.profile, self.machine
        if machine is None or profile.device != "cpu" or self.is_elsewhere:
            return None
        return None if profile.threads is None else min(profile.threads, machine.cores)

    def _placed(self, operator: Operator, total_s: float) -> PlacedOperator:
        bound, time_s = self._bound(operator), operator.time_s
        efficiency = None
        if bound is not None and bound.time_s > 0 and time_s is not None and time_s.median > 0:
            efficiency = quotient(Estimate([float(bound.time_s)]), time_s)
        return PlacedOperator(
            operator=operator,
            bound=bound,
            share=None if time_s is None or total_s <= 0 else time_s.median / total_s,
            efficiency=None if self.is_elsewhere else efficiency,
            explained_by=self._explained_by(operator, bound, efficiency),
        )

    def _bound(self, operator: Operator) -> Bound | None:
        if self.machine is None:
            return None
        demand = least_demand(operator.asked, self.machine)
        every = operator.of_all(demand)
        return None if every is None else least_time(every, self.machine, cores=self.cores)

    def _explained_by(
        self, operator: Operator, bound: Bound | None, efficiency: Estimate | None
    ) -> str:
        if (why := self._unplaced(operator, bound)) is not None:
            return why
        reached = 0.0 if efficiency is None else efficiency.median
        if reached > ABOVE_ROOF:
            return ABOVE
        if reached >= NEAR and bound is not None:
            return str(bound.limiter)
        time_s = 0.0 if operator.time_s is None else operator.time_s.median
        calling_s = (self.call_s or 0.0) * (operator.calls or 0)
        return CALLS if calling_s >= NEAR * time_s else UNEXPLAINED

    def _unplaced(self, operator: Operator, bound: Bound | None) -> str | None:
        """Return why no roof can explain its time; None: one may."""
        reasons = {
            UNKNOWN: operator.demand is None,
            NOTHING: asks_nothing(operator),
            NO_CEILING: bound is None,
            ELSEWHERE: self.is_elsewhere,
            NOT_TIMED: operator.time_s is None,
        }
        return next((why for why, holds in reasons.items() if holds), None)


def analyse_operators(profile: OperatorProfile, machine: Machine | None = None) -> OperatorAnalysis:
    """Return a profile on a machine, with all that follows, each computed when first used.

    Parameters
    ----------
    profile : OperatorProfile
    machine : Machine or None
        Need not be the one on which it was measured.
    """
    return OperatorAnalysis(profile=profile, machine=machine)
