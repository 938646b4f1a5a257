"""Cases of the datacenter workloads, with their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import document_kind
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.gains import Gain, gain
from ridgepoint.models.work import work_total
from ridgepoint.suites.study import MachineStudy

Step = Literal["original", "ILP", "prefetch", "SIMD"]
"""How far a datacenter workload is optimised: as it was, by the compiler, and, beyond that, by
software prefetches or by vectors."""

_COMPARED: tuple[tuple[Step, Step], ...] = (
    ("original", "ILP"),
    ("original", "SIMD"),
    ("ILP", "prefetch"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatacenterCase:
    """One datacenter workload after a step of optimisation.

    Parameters
    ----------
    workload : str
        Name in `ridgepoint.suites.datacenter.WORKLOADS`.
    title : str
        Name as the paper's tables print it.
    is_traditional : bool
        Whether it is not a datacenter workload, but for comparison.
    step : {"original", "ILP", "prefetch", "SIMD"}
    variant, form : str
        Compiler variant, and implementation of the task.
    size : int
    size_unit : str
        Unit of `size`.
    threads : int
    data : str or None
        File of its data, whose bytes are the size; None: made from a seed.
    pattern : str or None
        What Grep searches for; None: what occurs in its own data.
    """

    workload: str
    title: str
    is_traditional: bool
    step: Step
    variant: str
    form: str
    size: int
    size_unit: str
    threads: int
    data: str | None = None
    pattern: str | None = None

    def __str__(self) -> str:
        return f"{self.title}, {self.step}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatacenterResult:
    """The result of a case.

    Parameters
    ----------
    case : DatacenterCase
    measurement : Measurement or None
        Measurement of its measured part alone; None: it could not be measured.
    source : BasicOperations or None
        Operations that its source defines; None: they could not be counted.
    failures : tuple of str
        Reasons for missing values.
    is_in_turn : bool
        Whether the runs of the steps of its workload were timed in turn, a run of each in every
        round.
    """

    case: DatacenterCase
    measurement: Measurement | None
    source: BasicOperations | None
    failures: tuple[str, ...] = ()
    is_in_turn: bool = False

    @property
    def basic_operations(self) -> int | None:
        """Its BOPs, from the source or else from the instructions; None: unknown."""
        if self.source is not None:
            return self.source.total
        measured = self.measurement
        return None if measured is None else work_total(measured.counted.counts, "bop")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGain:
    """What a step of optimisation gains over an earlier one.

    Parameters
    ----------
    title : str
        Of the workload.
    before, after : {"original", "ILP", "prefetch", "SIMD"}
    time : Gain or None
        The time before over the time after; None: either is not known.
    bop_rate : Gain or None
        BOP/s after over BOP/s before: a step may need more operations, and less time.
    """

    title: str
    before: Step
    after: Step
    time: Gain | None
    bop_rate: Gain | None


@document_kind(
    "datacenter",
    remedy="give a file written by 'ridgepoint suite datacenter -o FILE.json'",
    derived=("gains",),
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatacenterStudy(MachineStudy):
    """The results of the datacenter workloads, with the machine on which they were measured.

    Parameters
    ----------
    machine : Machine
    results : tuple of DatacenterResult
    """

    machine: Machine
    results: tuple[DatacenterResult, ...]

    @property
    def gains(self) -> tuple[StepGain, ...]:
        """What each step gains, workload by workload, where both steps were measured."""
        by_title: dict[str, dict[Step, DatacenterResult]] = {}
        for result in self.results:
            by_title.setdefault(result.case.title, {})[result.case.step] = result
        return tuple(
            _step_gain(steps[before], steps[after])
            for steps in by_title.values()
            for before, after in _COMPARED
            if before in steps and after in steps
        )

    @property
    def unmeasured(self) -> dict[str, str]:
        """Why cases could not be measured, by case."""
        return {
            str(result.case): "; ".join(result.failures)
            for result in self.results
            if result.measurement is None
        }


def _step_gain(before: DatacenterResult, after: DatacenterResult) -> StepGain:
    first, second = _runtime_s(before), _runtime_s(after)
    are_as_many = first is not None and second is not None and first.n == second.n
    is_paired = before.is_in_turn and after.is_in_turn and are_as_many
    time = gain(first, second, paired=is_paired)
    bops, more_bops = before.basic_operations, after.basic_operations
    return StepGain(
        title=before.case.title,
        before=before.case.step,
        after=after.case.step,
        time=time,
        bop_rate=time.scaled(more_bops / bops) if time and bops and more_bops else None,
    )


def _runtime_s(result: DatacenterResult) -> Estimate | None:
    measured = result.measurement
    return None if measured is None or measured.timed is None else measured.timed.runtime_s
