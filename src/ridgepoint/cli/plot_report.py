"""What ``ridgepoint plot --json`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgepoint.core import documents
from ridgepoint.core.documents import fields_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import LINKS
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.work import WORK_UNITS, Metric
from ridgepoint.show.report import report

_GIVEN = (
    *("work", "traffic", "read", "write", *LINKS, "intensity", "runtime", "performance"),
    "is_in_cycles",
)


def plot_report(
    machines: Sequence[Machine],
    analyses: Sequence[Analysis],
    points: Sequence[PlacedPoint],
    metric: Metric,
) -> dict[str, Any]:
    """Return what is drawn as one document.

    Parameters
    ----------
    machines : sequence of Machine
    analyses : sequence of Analysis
        Measured programs.
    points : sequence of PlacedPoint
        Given points, on each of the machines.
    metric : {"flop", "bop"}
    """
    fields = {
        "unit": WORK_UNITS[metric],
        "machines": [fields_of(machine, "name", "host") for machine in machines],
        "points": [_point(placed) for placed in points],
        "programs": [report(analysis) for analysis in analyses],
    }
    return documents.report("plot", fields)


def _point(placed: PlacedPoint) -> dict[str, Any]:
    return {
        "name": placed.point.name,
        "machine": placed.machine.name,
        "resource": placed.point.resource,
        "cores": placed.cores,
        "given": {name: _estimate(getattr(placed.point, name)) for name in _GIVEN},
        "intensity": _estimate(placed.intensity),
        "performance_per_s": _estimate(placed.performance),
        "bound": {
            "limiter": placed.bindings,
            "attainable_per_s": _estimate(placed.attainable),
            "efficiency": _estimate(placed.efficiency),
            "left_out": placed.bound.left_out,
        },
        "is_above_roof": placed.is_above_roof,
    }


def _estimate(value: Estimate | bool | None) -> dict[str, float | None] | bool | None:
    """Return a value with its interval; None: not given, or not known."""
    if not isinstance(value, Estimate):
        return value
    return {"value": value.median, "low": value.low, "high": value.high}
