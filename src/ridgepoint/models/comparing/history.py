"""A program over many measurements: where an amount changed for good, and where only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import Presentable, amount
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.programs import (
    USUAL,
    Program,
    Tolerances,
    compare_programs,
)
from ridgepoint.models.comparing.quantities import TIMES, Amount, amounts_of

Event = Literal["", "change", "once", "last"]
"""``change``: the amount differs from here on; ``once``: it differs here, and no longer in the
record after; ``last``: it differs in the last record, so that nothing confirms it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One measurement of a history.

    Parameters
    ----------
    program : Program
    value : Estimate or None
        The amount; None: not measured.
    change : Change or None
        From the level before to here; None: there is none, since this is the first known value.
    event : {"", "change", "once", "last"}
    level : int
        Number of the level that it belongs to, from 0; a new one begins with every change.
    """

    program: Program
    value: Estimate | None
    change: Change | None
    event: Event
    level: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class History(Presentable):
    """One amount over many measurements of a program.

    Parameters
    ----------
    quantity, unit : str
        As in `Change`.
    moments : tuple of Moment
        In the order given.
    """

    quantity: str
    unit: str
    moments: tuple[Moment, ...]

    @property
    def headline(self) -> str:
        """How many measurements and changes there are."""
        changes = sum(moment.event == "change" for moment in self.moments)
        measured = amount(len(self.moments), "measurement")
        return f"of the {self.quantity}: {measured}, {amount(changes, 'change')}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The titles of the measurements."""
        return tuple(moment.program.title for moment in self.moments)

    @property
    def events(self) -> tuple[Moment, ...]:
        """The moments at which something happened."""
        return tuple(moment for moment in self.moments if moment.event)

    def level_of(self, number: int) -> float | None:
        """Return the median of the values of a level; None: none is known."""
        values = [
            moment.value
            for moment in self.moments
            if moment.level == number and moment.event != "once" and moment.value is not None
        ]
        return _middle(values).median if values else None


def history(
    programs: Sequence[Program], quantity: str, *, tolerances: Tolerances = USUAL
) -> History:
    """Return how one amount of a program changed over its measurements.

    Parameters
    ----------
    programs : sequence of Program
        At least one, oldest first.
    quantity : str
        One of `ridgepoint.models.comparing.quantities.QUANTITIES`.
    tolerances : Tolerances

    Notes
    -----
    Each measurement is compared with the middle one (by its median) of the level so far, by the
    test of `compare`. If it differs, it begins a new level, provided that the next measurement
    differs from that level in the same direction, too: what happens once is not a change. Counts
    have no noise, so they need no such confirmation. A false alarm needs two measurements in a row
    that are off in the same direction.
    """
    moments: list[Moment] = []
    level: list[Program] = []
    number = 0
    unit = ""
    for index, program in enumerate(programs):
        if not level:
            first = _value(program, quantity)
            value, unit = first.value, first.unit
            moments.append(
                Moment(program=program, value=value, change=None, event="", level=number)
            )
            level += [program] if value is not None else []
            continue
        reference = _reference(level, quantity)
        change = _change(reference, program, quantity, tolerances)
        following = _next_change(reference, programs[index + 1 :], quantity, tolerances)
        event = _event(change, following)
        if event in {"change", "last"}:
            number += 1
            level = []
        if event != "once" and change.after is not None:
            level.append(program)
        moments.append(
            Moment(program=program, value=change.after, change=change, event=event, level=number)
        )
    return History(quantity=quantity, unit=unit, moments=tuple(moments))


def _event(change: Change, following: Change | None) -> Event:
    if not change.is_change:
        return ""
    if change.quantity not in TIMES:
        return "change"
    if following is None:
        return "last"
    return "change" if following.verdict == change.verdict else "once"


def _next_change(
    reference: Program, later: Sequence[Program], quantity: str, tolerances: Tolerances
) -> Change | None:
    """Return the change to the next measurement whose amount is known; None: there is none."""
    for program in later:
        change = _change(reference, program, quantity, tolerances)
        if change.after is not None:
            return change
    return None


def _change(before: Program, after: Program, quantity: str, tolerances: Tolerances) -> Change:
    return compare_programs(before, after, tolerances=tolerances).changes[quantity]


def _value(program: Program, quantity: str) -> Amount:
    metric = "flop" if program.analysis is None else program.analysis.metric
    return amounts_of(program.measured, metric)[quantity]


def _reference(level: Sequence[Program], quantity: str) -> Program:
    """Return the program whose amount is in the middle of a level."""

    def median(program: Program) -> float:
        value = _value(program, quantity).value
        return 0.0 if value is None else value.median

    return sorted(level, key=median)[(len(level) - 1) // 2]


def _middle(values: Sequence[Estimate]) -> Estimate:
    return sorted(values, key=lambda value: value.median)[(len(values) - 1) // 2]
