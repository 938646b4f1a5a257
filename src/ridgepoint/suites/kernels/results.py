"""Reference cases: the known work of a call, and the results of measuring it."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.documents import document_kind
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement, State
from ridgepoint.models.analysis import place
from ridgepoint.models.placement import Placement, cores_that_apply
from ridgepoint.suites.study import MachineStudy


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Work and traffic that one call must have; the bytes are compulsory.

    Parameters
    ----------
    work_flop : int or None
        fp64, one FMA counted as 2 flop. For hand-written workloads exactly the executed flop, for
        libraries the textbook's count. None: no formula is known.
    read_bytes, write_bytes : int
        Bytes at DRAM if the caches are cold and hold all of the data. Arrays that are only
        written are read first (write-allocate): they count in both.
    pseudo_flop : float or None
        5 n log2 n for an FFT of n points, by which codes of different work are compared; None:
        the workload is not an FFT.
    """

    work_flop: int | None
    read_bytes: int
    write_bytes: int
    pseudo_flop: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One workload of one size, in one state of the caches, on a number of cores.

    Parameters
    ----------
    workload : str
        ``family.implementation``.
    n : int
    state : {"warm", "cold"}
    threads : int
    """

    workload: str
    n: int
    state: State
    threads: int

    def __str__(self) -> str:
        cores = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.workload} n = {self.n}, {self.state}, {cores}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a case.

    Parameters
    ----------
    case : Case
    expected : Expected
        Work and traffic that one call must have.
    measurement : Measurement or None
        None: it could not be measured.
    failure : str or None
        Why it could not be measured; None: it was measured.
    """

    case: Case
    expected: Expected
    measurement: Measurement | None
    failure: str | None = None


@document_kind("suite", remedy="give a file written by 'ridgepoint suite -o FILE.json'")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KernelStudy(MachineStudy):
    """The results of a suite, with the machine on which they were measured.

    Parameters
    ----------
    machine : Machine
    results : tuple of Result
    """

    machine: Machine
    results: tuple[Result, ...]

    @property
    def placed(self) -> tuple[tuple[Result, Measurement, Placement], ...]:
        """The cases that were measured, each on as many cores as it had threads."""
        return tuple(
            (
                result,
                result.measurement,
                place(
                    result.measurement,
                    self.machine,
                    cores=cores_that_apply(result.case.threads, self.machine.cores),
                ),
            )
            for result in self.results
            if result.measurement is not None
        )

    @property
    def unmeasured(self) -> dict[str, str]:
        """Why cases could not be measured, by case."""
        return {
            str(result.case): result.failure or ""
            for result in self.results
            if result.measurement is None
        }
