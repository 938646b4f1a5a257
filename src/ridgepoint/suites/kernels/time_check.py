"""How well simulated traffic explains time here: streams and stencils on both sides of each knee.

Without hardware counters nothing shows how many bytes a program moved, but its time is known. A
loop that does little but move data takes as long as its traffic over the measured bandwidth of the
limiting level: if the simulated traffic of such loops, bounded by this machine, explains their
time on both sides of every cache's capacity, it is near the real traffic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.host import data_caches
from ridgepoint.models.analysis import place
from ridgepoint.models.caches.capacity import ends_of
from ridgepoint.suites.kernels import find
from ridgepoint.suites.kernels.measuring import run_suite
from ridgepoint.suites.kernels.results import Case, Result

KERNELS = {"stream.triad": 1, "stencil.5point": 2}
"""And the level around whose capacity their sizes begin: within L1 a stencil waits for its sums."""

AROUND = (0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
"""Sizes of the data, over each cache's capacity."""

FEW_AROUND = (0.5, 2.0)
"""The same, where it has to be quick."""

_TRIAD_BYTES = 24  # of each element: two numbers are read, one written
_STENCIL_BYTES = 16
_REPETITIONS = 10
_LIMIT_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One loop over data of one size: the time predicted from its traffic, and the measured time.

    Parameters
    ----------
    kernel : str
    size_bytes : int
        Size of its data.
    runtime_s : Estimate
    predicted_s : float
        The largest of its times at each level, by simulated traffic over measured bandwidth.
    low_s, high_s : float
        The same with the smallest and the largest caches that a program may get.
    limiter : str
        The level with that time, such as ``dram_read``.
    """

    kernel: str
    size_bytes: int
    runtime_s: Estimate
    predicted_s: float
    low_s: float
    high_s: float
    limiter: str

    @property
    def ratio(self) -> float:
        """Predicted over measured time: 1 if traffic explains it, less if it does not."""
        return self.predicted_s / self.runtime_s.median


def explain_times(
    machine: Machine,
    *,
    around: Sequence[float] = AROUND,
    sizes_of: Machine | None = None,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[Explained, ...]:
    """Measure loops of known kinds on one core, with the time predicted from their traffic.

    Parameters
    ----------
    machine : Machine
        This machine.
    around : sequence of float
        Sizes of the data, as multiples of each cache's capacity.
    sizes_of : Machine or None
        Machine with these capacities; None: `machine`.
    report : callable

    Returns
    -------
    tuple of Explained
        By kernel, then size; without loops that could not be measured.

    Raises
    ------
    MeterUnavailable
        If the counting engine does not work here.
    """
    chosen = [
        Case(workload=kernel, n=n, state="warm", threads=1)
        for kernel in KERNELS
        for n in _lengths(kernel, data_caches((sizes_of or machine).caches), around)
    ]
    runs = [
        run_suite(chosen, repetitions=_REPETITIONS, caches=caches, limit_s=_LIMIT_S, report=report)
        for caches in (machine.caches, *ends_of(machine))
    ]
    return tuple(
        explained
        for results in zip(*runs, strict=True)
        if (explained := _explained(results, machine)) is not None
    )


def _lengths(kernel: str, caches: dict[int, Cache], around: Sequence[float]) -> tuple[int, ...]:
    """Return n of a kernel for data of some sizes around each cache's capacity."""
    beginning = KERNELS[kernel]
    sizes = sorted(
        {
            cache.size_bytes * factor
            for level, cache in caches.items()
            for factor in around
            if level >= beginning and (factor >= 1 or level > 1)
        }
    )
    if kernel == "stencil.5point":
        return tuple(dict.fromkeys(max(16, math.isqrt(int(s / _STENCIL_BYTES))) for s in sizes))
    return tuple(dict.fromkeys(max(64, int(size / _TRIAD_BYTES)) for size in sizes))


def _explained(results: Sequence[Result], machine: Machine) -> Explained | None:
    """Return one row from its runs with several caches; None: one of them failed."""
    first, times = results[0], []
    limiter = None
    for result in results:
        if result.measurement is None or result.measurement.timed is None:
            return None
        limit = place(result.measurement, machine, cores=1.0).bound
        if limit is None:
            return None
        times.append(float(limit.time_s))
        limiter = limiter or limit.limiter
    assert first.measurement is not None
    assert first.measurement.timed is not None
    operands = find(first.case.workload).operands(first.case.n)
    return Explained(
        kernel=first.case.workload,
        size_bytes=sum(operand.nbytes for operand in operands),
        runtime_s=first.measurement.timed.runtime_s,
        predicted_s=times[0],
        low_s=min(times),
        high_s=max(times),
        limiter=str(limiter),
    )
