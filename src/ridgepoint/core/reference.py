"""Reference cases: what a call of known work must do, and what became of measuring it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.presenting import Presentable, amount, quoted

State = Literal["warm", "cold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What one call must do and move; the bytes are compulsory.

    Parameters
    ----------
    work_flop : int or None
        fp64, one FMA counted as 2 flop. Of hand-written workloads exactly what they execute, of
        libraries the textbook's count. None: no formula is known.
    read_bytes, write_bytes : int
        At DRAM, where the caches are cold and hold all of the data. Arrays that are only
        written are read first (write-allocate): they count in both.
    pseudo_flop : float or None
        5 n log2 n of an FFT of n points, by which codes of different work are compared; None:
        the workload is no FFT.
    """

    work_flop: int | None
    read_bytes: int
    write_bytes: int
    pseudo_flop: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One workload of one size, in one state of the caches, on so many cores.

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
    """What became of a case.

    Parameters
    ----------
    case : Case
    expected : Expected
        What one call must do and move.
    measurement : Measurement or None
        None: it could not be measured.
    failure : str or None
        Why not.
    """

    case: Case
    expected: Expected
    measurement: Measurement | None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SuiteRun(Presentable):
    """The results of a suite, and the machine that they were found on.

    Parameters
    ----------
    machine : Machine
    results : tuple of Result
    """

    machine: Machine
    results: tuple[Result, ...]

    @property
    def headline(self) -> str:
        """What it is, in one line."""
        return _of_suite(self.machine, [each.measurement for each in self.results])


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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatacenterRun(Presentable):
    """The results of the datacenter workloads, and the machine that they were found on.

    Parameters
    ----------
    machine : Machine
    results : tuple of DatacenterResult
    """

    machine: Machine
    results: tuple[DatacenterResult, ...]

    @property
    def headline(self) -> str:
        """What it is, in one line."""
        return _of_suite(self.machine, [each.measurement for each in self.results])


def _of_suite(machine: Machine, measurements: Sequence[Measurement | None]) -> str:
    failed = measurements.count(None)
    return (
        f"on {quoted(machine.name)}: {amount(len(measurements), 'result')}"
        f"{f', {failed} of them could not be measured' if failed else ''}"
    )
