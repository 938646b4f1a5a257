"""Work and performance of a datacenter workload, however they were counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, methodcaller

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.unknown import sum_if_known
from ridgepoint.models.placement import cores_that_apply
from ridgepoint.models.roofline import DCRoofline
from ridgepoint.models.work import Metric, work_total
from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterResult

TOOLS = ("sort", "grep", "wordcount")
"""What the paper takes for measuring tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCase:
    """A measured case with derived values; None for an unknown value.

    Parameters
    ----------
    case : DatacenterCase
    measurement : Measurement
    source : BasicOperations or None
    bop : int or None
        BOPs that the source defines, or else those of the instructions.
    """

    case: DatacenterCase
    measurement: Measurement
    source: BasicOperations | None
    bop: int | None

    @property
    def time_s(self) -> Estimate | None:
        """Runtime, in seconds."""
        timed = self.measurement.timed
        return None if timed is None else timed.runtime_s

    @property
    def runtime_s(self) -> float | None:
        """Median runtime, in seconds."""
        return None if self.time_s is None else self.time_s.median

    @property
    def dram_bytes(self) -> int | None:
        """Bytes between caches and memory, in both directions."""
        traffic = self.measurement.traffic_at("dram")
        return None if traffic is None else traffic.total_bytes

    @property
    def bytes_per_s(self) -> float | None:
        """The memory bandwidth, byte/s."""
        return over(self.dram_bytes, self.runtime_s)

    @property
    def instructions_per_s(self) -> float | None:
        """Instructions per second of all threads together."""
        return over(self.measurement.counted.counts.instructions, self.runtime_s)

    @property
    def refined_over_source(self) -> float | None:
        """BOPs counted from instructions over those that the source defines."""
        refined = self.measurement.counted.counts.basic_operations
        return self._over_source(None if refined is None else refined.total)

    @property
    def eq3_over_source(self) -> float | None:
        """BOPs by Eq. (3) over those that the source defines."""
        return self._over_source(self.measurement.counted.counts.eq3_bop)

    def _over_source(self, bop: int | None) -> float | None:
        return None if self.source is None else over(bop, self.source.total)

    def work(self, metric: Metric) -> int | None:
        """Return the work, flop or BOP."""
        return self.bop if metric == "bop" else work_total(self.measurement.counted.counts, metric)

    def rate(self, metric: Metric) -> float | None:
        """Return the performance, flop/s or BOP/s."""
        return over(self.work(metric), self.runtime_s)

    def intensity(self, metric: Metric) -> float | None:
        """Return the operational intensity, flop/byte or BOP/byte."""
        return over(self.work(metric), self.dram_bytes)

    def roofline(self, machine: Machine, metric: Metric) -> DCRoofline:
        """Return the roofline of a machine for as many cores as the case has threads."""
        cores = cores_that_apply(self.case.threads, machine.cores)
        return DCRoofline(machine=machine, work="fp64" if metric == "flop" else "bop", cores=cores)

    def peak(self, machine: Machine, metric: Metric) -> float | None:
        """Return the peak of these cores."""
        try:
            return self.roofline(machine, metric).peak
        except UnknownCeiling:
            return None

    def share_of_peak(self, machine: Machine, metric: Metric) -> float | None:
        """Return the efficiency, Eq. (5)."""
        return over(self.rate(metric), self.peak(machine, metric))

    def bound(self, machine: Machine, metric: Metric) -> tuple[float | None, str | None]:
        """Return the bound of Eq. (7) and its bottleneck."""
        intensity = math.inf if self.dram_bytes == 0 else self.intensity(metric)
        if not self.work(metric) or intensity is None:
            return None, None
        try:
            roofline = self.roofline(machine, metric)
            return float(roofline.attainable(intensity)), str(roofline.bottleneck(intensity))
        except UnknownCeiling:
            return None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """What the measuring tools reach of a peak, by Eq. (5).

    Parameters
    ----------
    peak : float or None
        Of as many cores as the tools keep busy, flop/s or BOP/s.
    reached : float or None
        The mean of the tools' performance.
    """

    peak: float | None
    reached: float | None

    @property
    def share(self) -> float | None:
        """What is reached over the peak."""
        return over(self.reached, self.peak)


def tools(cases: Iterable[MeasuredCase]) -> list[MeasuredCase]:
    """Return what the paper takes for measuring tools, as optimised by the compiler.

    Which optimisation its Table 9 has, the paper does not say.
    """
    return [
        measured
        for measured in cases
        if measured.case.workload in TOOLS and measured.case.step == "ILP"
    ]


def efficiency(cases: Sequence[MeasuredCase], machine: Machine, metric: Metric) -> Efficiency:
    """Return the efficiency of these cases' mean; unknown without any."""
    return Efficiency(
        peak=cases[0].peak(machine, metric) if cases else None,
        reached=mean(cases, methodcaller("rate", metric)),
    )


def together(hosts: Sequence[Efficiency]) -> Efficiency:
    """Return the efficiency of hosts that work side by side; unknown if one of them is."""
    return Efficiency(
        peak=sum_if_known(host.peak for host in hosts),
        reached=sum_if_known(host.reached for host in hosts),
    )


def instructions_per_cycle(cases: Sequence[MeasuredCase], machine: Machine) -> float | None:
    """Return the mean number of instructions per cycle, of all threads together."""
    return over(mean(cases, attrgetter("instructions_per_s")), machine.host.frequency_hz)


def measured_cases(results: Sequence[DatacenterResult]) -> list[MeasuredCase]:
    """Return the cases that were measured."""
    return [
        MeasuredCase(
            case=result.case,
            measurement=result.measurement,
            source=result.source,
            bop=result.basic_operations,
        )
        for result in results
        if result.measurement is not None
    ]


def mean(
    cases: Sequence[MeasuredCase], amount: Callable[[MeasuredCase], float | None]
) -> float | None:
    """Return the mean of an amount over cases; None: it is unknown for one of them."""
    total = sum_if_known(amount(case) for case in cases)
    return total / len(cases) if total is not None and cases else None


def over(above: float | None, below: float | None) -> float | None:
    """Return a quotient; None: one value is unknown, or the divisor is 0."""
    return above / below if above is not None and below else None
