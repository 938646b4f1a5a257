"""Comparison of two measurements of programs: times, counts, limits, functions and regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.presenting import Presentable, quoted
from ridgepoint.core.resources import PRECISIONS
from ridgepoint.models.analysis import Analysis, analyse
from ridgepoint.models.comparing.changes import (
    COUNT_TOLERANCE,
    TIME_TOLERANCE,
    Change,
    count_change,
    time_change,
)
from ridgepoint.models.comparing.differences import (
    OTHER_WORK,
    count_bops_alike,
    differences,
    have_other_caches,
)
from ridgepoint.models.comparing.parts import (
    Kind,
    PartChange,
    PartChanges,
    matched_parts,
    parts_of,
    weight_of,
)
from ridgepoint.models.comparing.quantities import (
    BOPS,
    CPU_TIME,
    RUNTIME,
    TIMES,
    TRAFFIC,
    WORK,
    Amounts,
    amounts_of,
)
from ridgepoint.models.distributed import machine_for
from ridgepoint.models.thresholds import USED
from ridgepoint.models.work import Metric

_SIMULATED = tuple(quantity for quantity in TRAFFIC if not quantity.startswith("l1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """Relative differences that are no differences.

    Parameters
    ----------
    time, count : float
        In [0, 1).
    """

    time: float = TIME_TOLERANCE
    count: float = COUNT_TOLERANCE

    def __post_init__(self) -> None:
        for name in ("time", "count"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"tolerance of {name} must be a share in [0, 1), got {getattr(self, name)!r}"
                )

    @classmethod
    def of(cls, time: float | None, count: float | None) -> Tolerances:
        """Return tolerances; None: the usual one."""
        return cls(
            time=TIME_TOLERANCE if time is None else time,
            count=COUNT_TOLERANCE if count is None else count,
        )


USUAL = Tolerances()


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One of the measurements that are compared.

    Parameters
    ----------
    title : str
        What a reader knows it by: the name of its record, or of its file.
    measured : Measurement or Timing
    analysis : Analysis or None
        None: it was not counted.
    """

    title: str
    measured: Measurement | Timing
    analysis: Analysis | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProgramComparison(Presentable):
    """Two measurements, and all that tells them apart.

    It shows itself as `ridgepoint compare` prints it (`summary`).

    Parameters
    ----------
    before, after : Program
    metric : {"flop", "bop"}
        Unit of the work of both.
    tolerances : Tolerances
    """

    before: Program
    after: Program
    metric: Metric
    tolerances: Tolerances = USUAL

    @property
    def headline(self) -> str:
        """The verdict on the runtime, and whether the work is the same."""
        change = self.changes[RUNTIME]
        runtime = f"runtime {change.verdict}"
        if change.ratio is not None:
            runtime += f" ({change.ratio:.3g}x)"
        work = "the same work" if self.is_same_work else "other work"
        return f"of {quoted(self.before.title)} and {quoted(self.after.title)}: {runtime}, {work}"

    @cached_property
    def amounts(self) -> tuple[Amounts, Amounts]:
        """All amounts of both."""
        return (
            amounts_of(self.before.measured, self.metric),
            amounts_of(self.after.measured, self.metric),
        )

    @cached_property
    def changes(self) -> Mapping[str, Change]:
        """The change of every one of `ridgepoint.models.comparing.quantities.QUANTITIES`."""
        return self._changes(*self.amounts, confirms=self._is_disturbed)

    @cached_property
    def differences(self) -> tuple[Caution, ...]:
        """What the two do not have in common, the weightiest first."""
        first, last = self.before.analysis, self.after.analysis
        return differences(
            self.before.measured,
            self.after.measured,
            self.changes,
            (None if first is None else first.machine, None if last is None else last.machine),
            metric=self.metric,
        )

    @property
    def is_same_work(self) -> bool:
        """Whether nothing shows that they did different work."""
        return all(caution.code != OTHER_WORK for caution in self.differences)

    @cached_property
    def functions(self) -> PartChanges:
        """The functions of both, matched by name and object."""
        return self._parts("function")

    @cached_property
    def regions(self) -> PartChanges:
        """The regions of both, matched by name."""
        return self._parts("region")

    @property
    def limits(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What binds each of them; empty: it has no bound."""
        return tuple(  # type: ignore[return-value]  # of two programs
            () if place is None else place.bindings
            for place in (
                None if program.analysis is None else program.analysis.placement
                for program in (self.before, self.after)
            )
        )

    def is_worth_a_row(self, quantity: str) -> bool:
        """Return whether an amount is known on one side, and of a precision whether it is used."""
        values = [amounts[quantity].value for amounts in self.amounts]
        if quantity not in PRECISIONS:
            return any(value is not None for value in values)
        works = [amounts[WORK].value for amounts in self.amounts]
        return any(
            value is not None and work is not None and value.median > USED * work.median
            for value, work in zip(values, works, strict=True)
        )

    @property
    def _is_disturbed(self) -> bool:
        return any(program.measured.disturbances for program in (self.before, self.after))

    def _changes(self, before: Amounts, after: Amounts, *, confirms: bool) -> dict[str, Change]:
        changes: dict[str, Change] = {}
        cpu = time_change(
            CPU_TIME,
            before[CPU_TIME].value,
            after[CPU_TIME].value,
            tolerance=self.tolerances.time,
        )
        for quantity, amount in before.items():
            if quantity in TIMES:
                changes[quantity] = cpu if quantity == CPU_TIME else time_change(
                    quantity,
                    amount.value,
                    after[quantity].value,
                    tolerance=self.tolerances.time,
                    confirmed_by=cpu if confirms else None,
                )  # fmt: skip
            else:
                change = count_change(
                    quantity,
                    amount.unit,
                    amount.value,
                    after[quantity].value,
                    tolerance=self.tolerances.count,
                )
                changes[quantity] = self._if_comparable(change)
        return changes

    def _if_comparable(self, change: Change) -> Change:
        """Return the change of a count, or that both were not counted in one way."""
        why = ""
        measured = self.before.measured, self.after.measured
        if not change.is_known:
            return change
        if change.quantity in _SIMULATED and have_other_caches(*measured):
            why = "the traffic is of different caches"
        is_bop = change.quantity == BOPS or (change.quantity == WORK and self.metric == "bop")
        if is_bop and not count_bops_alike(*measured):
            why = "basic operations were counted in two ways"
        return replace(change, verdict="unknown", why=why) if why else change

    def _parts(self, kind: Kind) -> PartChanges:
        before, after = (
            parts_of(program.measured, kind, self.metric) for program in (self.before, self.after)
        )
        if not before and not after:
            return PartChanges(kind=kind)
        pairs, rest = matched_parts(before, after)
        matched = []
        for first, last in pairs:
            # CPU time of a function is what its time is made of: nothing else confirms it.
            changes = self._changes(first.amounts, last.amounts, confirms=False)
            weight = weight_of(changes, self.amounts)
            matched.append(PartChange(part=first, changes=changes, weight=weight))
        matched.sort(key=lambda change: (-change.weight, change.part.name))
        return replace(rest, matched=tuple(matched))


def program(
    title: str,
    value: Measurement | Timing | tuple[Measurement, Machine | None],
    *,
    machine: Machine | None = None,
    metric: Metric | None = None,
) -> Program:
    """Return a measurement as one side of a comparison.

    Parameters
    ----------
    title : str
    value : Measurement, Timing, or tuple of Measurement and Machine or None
        With the machine that it was kept with.
    machine : Machine or None
        Machine that bounds it; None: the one that it was kept with, if any.
    metric : {"flop", "bop"} or None
        Unit of its work; None: as it was measured.
    """
    if isinstance(value, Timing):
        return Program(title=title, measured=value, analysis=None)
    measurement, own = (value, None) if isinstance(value, Measurement) else value
    chosen = own if machine is None else machine_for(measurement, machine)
    analysis = analyse(measurement, chosen, metric=metric)
    return Program(title=title, measured=measurement, analysis=analysis)


def compare_programs(
    before: Program,
    after: Program,
    *,
    tolerances: Tolerances = USUAL,
) -> ProgramComparison:
    """Return all that tells two measurements apart.

    Parameters
    ----------
    before, after : Program
    tolerances : Tolerances

    Notes
    -----
    Their work is counted in flop, unless both were measured to be counted in basic operations.
    """
    metrics = {
        "flop" if program.analysis is None else program.analysis.metric
        for program in (before, after)
    }
    metric: Metric = "bop" if metrics == {"bop"} else "flop"
    return ProgramComparison(before=before, after=after, metric=metric, tolerances=tolerances)


def shown_quantities(comparisons: Sequence[ProgramComparison]) -> tuple[str, ...]:
    """Return the amounts that are worth a row: known in one of the measurements at least.

    A precision stands beside the work only where there are several, and a direction of traffic
    only where the total is unknown.
    """
    known = [
        quantity
        for quantity in comparisons[0].changes
        if any(comparison.is_worth_a_row(quantity) for comparison in comparisons)
    ]
    precisions = [quantity for quantity in known if quantity in PRECISIONS]
    left_out = set(precisions) if len(precisions) < 2 else set()
    if comparisons[0].metric == "bop":
        left_out.add(BOPS)
    for quantity in known:
        level, _, way = quantity.partition(" ")
        if way and quantity != CPU_TIME and level in known:
            left_out.add(quantity)
    return tuple(quantity for quantity in known if quantity not in left_out)
