"""Comparison of what was measured before and after a change: machines, and programs."""

from __future__ import annotations

from typing import overload

from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.comparing import machines
from ridgepoint.models.comparing.machines import MachineComparison
from ridgepoint.models.comparing.programs import (
    USUAL,
    Program,
    ProgramComparison,
    Tolerances,
    compare_programs,
    program,
)
from ridgepoint.models.placement import Placement

Comparable = Measurement | Timing | Placement | Analysis
"""A measured program, alone or on the machine that bounds it."""


@overload
def compare(
    before: Machine, after: Machine, *, tolerance: float | None = None
) -> MachineComparison: ...


@overload
def compare(
    before: Comparable,
    after: Comparable,
    *,
    tolerance: float | None = None,
    count_tolerance: float | None = None,
) -> ProgramComparison: ...


def compare(
    before: Machine | Comparable,
    after: Machine | Comparable,
    *,
    tolerance: float | None = None,
    count_tolerance: float | None = None,
) -> MachineComparison | ProgramComparison:
    """Return what changed between two measurements of a machine, or of a program.

    Parameters
    ----------
    before, after : Machine, or Measurement, Timing, Placement or Analysis
        Both machines, or both programs.
    tolerance : float or None
        Relative difference of rates, or of times, that is none, >= 0; None: 5 % for machines, 2 %
        for programs.
    count_tolerance : float or None
        Relative difference of a program's counts that is none, >= 0; None: 0.1 %.

    Raises
    ------
    TypeError
        If one is a machine and the other a program.
    ValueError
        If a tolerance is out of range.
    """
    if isinstance(before, Machine) and isinstance(after, Machine):
        share = machines.TOLERANCE if tolerance is None else tolerance
        return machines.compare(before, after, tolerance=share)
    if isinstance(before, Machine) or isinstance(after, Machine):
        kinds = " and ".join(type(each).__name__ for each in (before, after))
        raise TypeError(f"compare takes two machines or two programs, got {kinds}")
    tolerances = Tolerances(
        time=USUAL.time if tolerance is None else tolerance,
        count=USUAL.count if count_tolerance is None else count_tolerance,
    )
    sides = (_program("before", before), _program("after", after))
    return compare_programs(*sides, tolerances=tolerances)


def _program(title: str, value: Comparable) -> Program:
    if isinstance(value, Analysis):
        return Program(title=title, measured=value.measurement, analysis=value)
    if isinstance(value, Placement):
        return program(title, (value.measurement, value.machine), metric=value.metric)
    return program(title, value)
