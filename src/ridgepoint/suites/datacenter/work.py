"""What a datacenter workload did, however that was counted."""

from __future__ import annotations

from ridgepoint.core.reference import DatacenterResult
from ridgepoint.models.work import work_total


def basic_operations_of(result: DatacenterResult) -> int | None:
    """Return the BOPs of a workload: of its source, or else of its instructions; None: unknown."""
    if result.source is not None:
        return result.source.total
    measured = result.measurement
    return None if measured is None else work_total(measured.counted.counts, "bop")
