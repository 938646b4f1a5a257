"""Operators under a machine's roofs: the least time of each, and what holds it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ridgepoint.core.bound import Bound, bound_known, series
from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate, quotient
from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import Asked, Operator, OperatorProfile
from ridgepoint.core.presenting import Presentable
from ridgepoint.core.resources import LEVELS


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedOperator:
    """An operator under a machine's roofs.

    Parameters
    ----------
    operator : Operator
    bound : Bound or None
        Of all its calls; None: its demand is unknown, or the machine has no ceiling for any of it.
    share : float or None
        Share of the time of all operators, 0 to 1; None: not timed.
    efficiency : Estimate or None
        The bound's time over the time taken: 1 is the roof. None: one of them is unknown.
    """

    operator: Operator
    bound: Bound | None
    share: float | None
    efficiency: Estimate | None

    @property
    def intensity(self) -> float | None:
        """Work over the least bytes, flop/byte; None: unknown, or it moves none."""
        asked = self.operator.asked
        if asked.work is None or not asked.moved_bytes:
            return None
        return sum(asked.work.values()) / asked.moved_bytes


@dataclass(frozen=True, kw_only=True, eq=False)
class OperatorGroup:
    """Operators of one module, phase or kind, together.

    Parameters
    ----------
    name : str
    operators : tuple of PlacedOperator
    """

    name: str
    operators: tuple[PlacedOperator, ...]

    @cached_property
    def time_s(self) -> Estimate | None:
        """Seconds of all operators that were timed, run by run; None: none was."""
        times = [o.operator.time_s for o in self.operators if o.operator.time_s is not None]
        if not times:
            return None
        return Estimate([sum(run) for run in zip(*(t.samples for t in times), strict=True)])

    @cached_property
    def share(self) -> float | None:
        """Share of the time of all operators of the profile; None: not timed."""
        shares = [placed.share for placed in self.operators if placed.share is not None]
        return sum(shares) if shares else None

    @cached_property
    def unknown_share(self) -> float | None:
        """Share of the profile's time that is in operators of unknown demand; None: not timed."""
        if self.share is None:
            return None
        return sum(
            placed.share or 0.0 for placed in self.operators if placed.operator.demand is None
        )

    @cached_property
    def bound(self) -> Bound | None:
        """The bound of the operators whose demand is known, one after the other."""
        bounds = [placed.bound for placed in self.operators if placed.bound is not None]
        return series(bounds) if bounds else None

    @cached_property
    def efficiency(self) -> float | None:
        """Least time over time taken, of the operators that have both; None: none has."""
        both = [
            (placed.bound.time_s, placed.operator.time_s.median)
            for placed in self.operators
            if placed.bound is not None and placed.operator.time_s is not None
        ]
        taken = sum(time_s for _, time_s in both)
        return float(sum(least for least, _ in both)) / taken if taken else None


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
            for path in _paths(placed.operator.module):
                order.setdefault(path, []).append(placed)
        return _groups(order)

    @cached_property
    def phases(self) -> tuple[OperatorGroup, ...]:
        """Forward, backward and optimizer, those that there are."""
        return self._by(lambda one: one.operator.phase)

    @cached_property
    def kinds(self) -> tuple[OperatorGroup, ...]:
        """Families of operators, longest first."""
        return self._by(lambda one: one.operator.asked.kind)

    @cached_property
    def outside_s(self) -> float | None:
        """Seconds of a run outside of all operators: Python, and calling them; None: unknown."""
        profile, inside = self.profile, self.whole.time_s
        if profile.attached_s is None or inside is None:
            return None
        return max(profile.attached_s.median - inside.median, 0.0)

    def _by(self, key: Callable[[PlacedOperator], str]) -> tuple[OperatorGroup, ...]:
        found: dict[str, list[PlacedOperator]] = {}
        for placed in self.operators:
            found.setdefault(key(placed), []).append(placed)
        return _groups(found)

    def _placed(self, operator: Operator, total_s: float) -> PlacedOperator:
        bound, time_s = self._bound(operator), operator.time_s
        efficiency = None
        if bound is not None and time_s is not None and time_s.median > 0:
            efficiency = quotient(Estimate([float(bound.time_s)]), time_s)
        return PlacedOperator(
            operator=operator,
            bound=bound,
            share=None if time_s is None or total_s <= 0 else time_s.median / total_s,
            efficiency=efficiency,
        )

    def _bound(self, operator: Operator) -> Bound | None:
        if self.machine is None:
            return None
        demand = least_demand(operator.asked, self.machine)
        cores = self.profile.threads if self.profile.device == "cpu" else None
        busy = None if cores is None else min(cores, self.machine.cores)
        return (
            None
            if demand is None
            else bound_known(demand * operator.calls, self.machine, cores=busy)
        )


def least_demand(asked: Asked, machine: Machine) -> Demand | None:
    """Return what one call asks of each level of a machine's memory at least.

    Parameters
    ----------
    asked : Asked
    machine : Machine

    Returns
    -------
    Demand or None
        None: the work or the bytes are unknown.

    Notes
    -----
    All bytes pass between core and L1. What came before may have left a cache full of them, so
    that only the bytes beyond its capacity must cross the level behind it: with S bytes and a
    cache of C, at least S - C, divided over the directions as S is. Without known caches all S
    bytes cross DRAM, as in the usual roofline of an operator.
    """
    moved = asked.moved_bytes
    if asked.work is None or asked.read_bytes is None or moved is None:
        return None
    amounts: dict[str, float] = dict(asked.work)
    for level, capacity in _before(machine).items():
        share = max(moved - capacity, 0.0) / moved if moved else 0.0
        if share > 0:
            amounts[f"{level}_read"] = asked.read_bytes * share
            amounts[f"{level}_write"] = (moved - asked.read_bytes) * share
    return Demand(amounts)


def _before(machine: Machine) -> Mapping[str, float]:
    """Return for every level that there is the bytes that all caches before it hold together."""
    held, before = 0.0, {}
    for cache in sorted(machine.caches, key=lambda cache: cache.level):
        if cache.kind != "instruction" and f"l{cache.level}" in LEVELS:
            before[f"l{cache.level}"] = held
            held += cache.size_bytes * max(machine.cores / cache.cores, 1.0)
    return {**before, "dram": held}


def _paths(module: str) -> Iterable[str]:
    """Return a module's path and those of all modules around it, outermost first."""
    parts = module.split(".") if module else []
    return ["", *(".".join(parts[: at + 1]) for at in range(len(parts)))]


def _groups(found: Mapping[str, list[PlacedOperator]]) -> tuple[OperatorGroup, ...]:
    return tuple(
        OperatorGroup(name=name, operators=tuple(operators)) for name, operators in found.items()
    )


def analyse_operators(profile: OperatorProfile, machine: Machine | None = None) -> OperatorAnalysis:
    """Return a profile on a machine, with all that follows, each computed when first used.

    Parameters
    ----------
    profile : OperatorProfile
    machine : Machine or None
        Need not be the one on which it was measured.
    """
    return OperatorAnalysis(profile=profile, machine=machine)
