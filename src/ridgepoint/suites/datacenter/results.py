"""Cases of the datacenter workloads, with their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import document_kind
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.presenting import quoted
from ridgepoint.models.work import work_total
from ridgepoint.suites.study import Study

Step = Literal["original", "ILP", "prefetch", "SIMD"]
"""How far a datacenter workload is optimised: as it was, by the compiler, and, beyond that, by
software prefetches or by vectors."""


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
    """

    case: DatacenterCase
    measurement: Measurement | None
    source: BasicOperations | None
    failures: tuple[str, ...] = ()

    @property
    def basic_operations(self) -> int | None:
        """Its BOPs, from the source or else from the instructions; None: unknown."""
        if self.source is not None:
            return self.source.total
        measured = self.measurement
        return None if measured is None else work_total(measured.counted.counts, "bop")


@document_kind(
    "datacenter", remedy="give a file written by 'ridgepoint suite datacenter -o FILE.json'"
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatacenterStudy(Study):
    """The results of the datacenter workloads, with the machine on which they were measured.

    Parameters
    ----------
    machine : Machine
    results : tuple of DatacenterResult
    """

    machine: Machine
    results: tuple[DatacenterResult, ...]

    @property
    def where(self) -> str:
        """The name of the machine."""
        return quoted(self.machine.name)

    @property
    def unmeasured(self) -> dict[str, str]:
        """Why cases could not be measured, by case."""
        return {
            str(result.case): "; ".join(result.failures)
            for result in self.results
            if result.measurement is None
        }
