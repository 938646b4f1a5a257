"""Comparison of what was measured before and after a change: machines, and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.comparing import machines
from ridgepoint.models.comparing.gates import Judgement, judge, quantity_of, read_gate
from ridgepoint.models.comparing.history import History, history
from ridgepoint.models.comparing.machines import MachineComparison
from ridgepoint.models.comparing.programs import (
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
        Relative difference of rates, or of times, that is none, in [0, 1); None: 5 % for
        machines, 2 % for programs.
    count_tolerance : float or None
        Relative difference of a program's counts that is none, in [0, 1); None: 0.1 %.

    Raises
    ------
    TypeError
        If one is a machine and the other a program, or one is neither.
    ValueError
        If a tolerance is out of range.
    """
    if isinstance(before, Machine) and isinstance(after, Machine):
        share = machines.TOLERANCE if tolerance is None else tolerance
        return machines.compare(before, after, tolerance=share)
    if not (isinstance(before, Comparable) and isinstance(after, Comparable)):
        kinds = " and ".join(type(each).__name__ for each in (before, after))
        raise TypeError(f"compare takes two machines or two programs, got {kinds}")
    tolerances = Tolerances.of(tolerance, count_tolerance)
    sides = (_program("before", before), _program("after", after))
    return compare_programs(*sides, tolerances=tolerances)


def history_of(
    results: Sequence[Comparable],
    quantity: str = "runtime",
    *,
    tolerance: float | None = None,
    count_tolerance: float | None = None,
) -> History:
    """Return how an amount of a program changed over its measurements.

    Parameters
    ----------
    results : sequence of Measurement, Timing, Placement or Analysis
        At least one, oldest first.
    quantity : str
        As in a gate: ``runtime``, ``work``, ``instructions``, ``dram``, ...
    tolerance, count_tolerance : float or None
        As for `compare`.

    Raises
    ------
    ValueError
        If there is no result, no such quantity, or a tolerance is out of range.
    """
    if not results:
        raise ValueError("results must hold at least one measurement")
    programs = [_program(str(number), each) for number, each in enumerate(results, start=1)]
    tolerances = Tolerances.of(tolerance, count_tolerance)
    return history(programs, quantity_of(quantity), tolerances=tolerances)


def check_gate(comparison: ProgramComparison, gate: str) -> Judgement:
    """Return what becomes of a gate: whether it passed, failed, or cannot be judged, and why.

    Parameters
    ----------
    comparison : ProgramComparison
    gate : str
        As after ``--fail-if``: ``runtime > 1.05x``, ``function main: dram > 2 GB``.

    Raises
    ------
    ValueError
        If it states no gate; in the message, the text after the semicolon says what to write.
    """
    return judge(read_gate(gate), comparison)


def _program(title: str, value: Comparable) -> Program:
    if isinstance(value, Analysis):
        return Program(title=title, measured=value.measurement, analysis=value)
    if isinstance(value, Placement):
        return program(title, (value.measurement, value.machine), metric=value.metric)
    return program(title, value)
