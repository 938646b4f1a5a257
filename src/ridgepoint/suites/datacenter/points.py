"""Datacenter workloads as points of a DC-Roofline: measured here, or from the paper."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.amounts import ratio
from ridgepoint.core.estimate import Estimate
from ridgepoint.published.tables import publication, spans
from ridgepoint.suites.datacenter.results import DatacenterResult, DatacenterStudy, Step

Form = Step | Literal["optimised"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPoint:
    """The measurement of one form of a workload.

    Parameters
    ----------
    name : str
        Name of the workload; its forms share it.
    form : {"original", "ILP", "prefetch", "SIMD", "optimised"}
        Step of optimisation; "optimised": it is not known by which steps.
    bop, flop : float
        Basic and floating-point operations of one run.
    dram_bytes : float
        Bytes moved between caches and memory, in both directions.
    runtime_s : Estimate
    """

    name: str
    form: Form
    bop: float
    flop: float
    dram_bytes: float
    runtime_s: Estimate

    def work(self, resource: str) -> float:
        """Return the basic operations for ``bop``, or the flop for any other compute resource."""
        return self.bop if resource == "bop" else self.flop

    def intensity(self, resource: str) -> float:
        """Return the work over the bytes at DRAM; infinite without traffic."""
        return float(ratio(self.work(resource), self.dram_bytes))

    def performance(self, resource: str) -> Estimate:
        """Return the work over the runtime, per second."""
        return self.runtime_s.map(lambda seconds: self.work(resource) / seconds)


def datacenter_points(results: Sequence[DatacenterResult]) -> tuple[WorkloadPoint, ...]:
    """Return a point of each datacenter workload after each step of its optimisation.

    Parameters
    ----------
    results : sequence of DatacenterResult
        Results without a measurement, and those for comparison, are left out; of a step that is
        there twice, the first counts.
    """
    points: dict[tuple[str, Form], WorkloadPoint] = {}
    for result in results:
        point = None if result.case.is_traditional else _point(result)
        if point is not None:
            points.setdefault((point.name, point.form), point)
    return tuple(points.values())


def busy_cores(study: DatacenterStudy) -> float:
    """Return as many cores as the threads that were measured keep busy: those whose roofs apply."""
    threads = max((result.case.threads for result in study.results), default=1)
    return float(min(threads, study.machine.cores))


def published_points(
    titles: Collection[str] = (),
) -> tuple[tuple[WorkloadPoint, ...], tuple[WorkloadPoint, ...]]:
    """Return the paper's workloads by its Table 3: for the panel in BOP, and for the one in flop.

    Parameters
    ----------
    titles : collection of str
        Those that are wanted; empty: all.

    Notes
    -----
    The table gives rates and intensities, so here each workload runs for a second. Its traffic by
    BOPs and by flop is not always the same, so each panel has its own points.
    """
    table = publication().table["3"]
    of_panels = []
    for rate, oi in (("BOPS", "OI in BOP"), ("FLOPS", "OI in flop")):
        rates, intensities = spans(table, rate), spans(table, oi)
        of_panels.append(
            tuple(
                WorkloadPoint(
                    name=row.removesuffix(", optimised"),
                    form="optimised" if row.endswith("optimised") else "original",
                    bop=spans(table, "BOPS")[row].value,
                    flop=spans(table, "FLOPS")[row].value,
                    dram_bytes=rates[row].value / intensities[row].value,
                    runtime_s=Estimate([1.0]),
                )
                for row in table.rows
                if not titles or row.removesuffix(", optimised") in titles
            )
        )
    return of_panels[0], of_panels[1]


def _point(result: DatacenterResult) -> WorkloadPoint | None:
    measured = result.measurement
    if measured is None or measured.timed is None:
        return None
    traffic, counts = measured.traffic_at("dram"), measured.counted.counts
    bop = result.basic_operations
    if bop is None or traffic is None or traffic.total_bytes is None:
        return None
    return WorkloadPoint(
        name=result.case.title,
        form=result.case.step,
        bop=bop,
        flop=counts.work_flop,
        dram_bytes=traffic.total_bytes,
        runtime_s=measured.timed.runtime_s,
    )
