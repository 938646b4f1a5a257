"""Measured datacenter workloads as points of a DC-Roofline."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.show.charts.dc_plane import WorkloadPoint
from ridgepoint.suites.datacenter.results import DatacenterResult


def datacenter_points(results: Sequence[DatacenterResult]) -> tuple[WorkloadPoint, ...]:
    """Return two points of each datacenter workload: as it was, and in its fastest form.

    Parameters
    ----------
    results : sequence of DatacenterResult
        Those that could not be measured, and those for comparison, are left out.
    """
    found: dict[str, dict[str, WorkloadPoint]] = {}
    for one in results:
        point = None if one.case.is_traditional else _point(one)
        if point is None:
            continue
        known = found.setdefault(point.name, {})
        fastest = known.get(point.form)
        if fastest is None or point.runtime_s.median < fastest.runtime_s.median:
            known[point.form] = point
    return tuple(point for forms in found.values() for point in forms.values())


def _point(one: DatacenterResult) -> WorkloadPoint | None:
    measured = one.measurement
    if measured is None or measured.timed is None:
        return None
    traffic, counts = measured.traffic_at("dram"), measured.counted.counts
    bop = one.basic_operations
    if bop is None or traffic is None or traffic.total_bytes is None:
        return None
    return WorkloadPoint(
        name=one.case.title,
        form="original" if one.case.step == "original" else "optimised",
        bop=bop,
        flop=counts.work_flop,
        dram_bytes=traffic.total_bytes,
        runtime_s=measured.timed.runtime_s,
    )
