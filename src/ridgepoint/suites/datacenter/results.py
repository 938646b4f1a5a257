"""Cases of the datacenter workloads, and what became of measuring them."""

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
    """One datacenter workload, optimised so far.

    Parameters
    ----------
    workload : str
        Of `ridgepoint.suites.datacenter.WORKLOADS`.
    title : str
        As the paper's tables print it.
    is_traditional : bool
        Not of a datacenter: for comparison.
    step : {"original", "ILP", "prefetch", "SIMD"}
    variant, form : str
        How it is compiled, and in which way it does its work.
    size : int
    size_unit : str
        What `size` counts.
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
    """What became of such a case.

    Parameters
    ----------
    case : DatacenterCase
    measurement : Measurement or None
        Of its measured part alone; None: it could not be measured.
    source : BasicOperations or None
        What its source defines; None: it could not be counted.
    failures : tuple of str
        Why not.
    """

    case: DatacenterCase
    measurement: Measurement | None
    source: BasicOperations | None
    failures: tuple[str, ...] = ()

    @property
    def basic_operations(self) -> int | None:
        """Its BOPs: of its source, or else of its instructions; None: unknown."""
        if self.source is not None:
            return self.source.total
        measured = self.measurement
        return None if measured is None else work_total(measured.counted.counts, "bop")


@document_kind(
    "datacenter", remedy="give a file written by 'ridgepoint suite datacenter -o FILE.json'"
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatacenterStudy(Study):
    """The results of the datacenter workloads, and the machine that they were found on.

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
