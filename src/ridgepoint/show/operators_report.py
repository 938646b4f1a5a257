"""A program's operators as a document for other programs."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.bound import Bound
from ridgepoint.core.documents import fields_of, report
from ridgepoint.core.operators import Asked, Tensor
from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup, PlacedOperator


def operators_report(analysis: OperatorAnalysis) -> dict[str, Any]:
    """Return all that is known of a program's operators, and of its modules, phases and kinds."""
    profile = analysis.profile
    return report(
        "operator-report",
        {
            **fields_of(profile, "program", "library", "device", "threads"),
            **fields_of(profile.timed, "runtime_s", "cpu_s", "exit_status"),
            **fields_of(profile, "attached_s", "parameter_bytes", "gradient_bytes"),
            **fields_of(profile, "outer_bytes", "library_says", "startup_s", "processor"),
            "outside_s": analysis.outside_s,
            "machine": None if analysis.machine is None else analysis.machine.name,
            "whole": _group(analysis.whole),
            "operators": [_operator(placed) for placed in analysis.operators],
            "modules": [_group(group) for group in analysis.modules],
            "phases": [_group(group) for group in analysis.phases],
            "kinds": [_group(group) for group in analysis.kinds],
            **fields_of(analysis, "verdict", "advice", "explained", "call_s"),
            "fused_s": None if analysis.fused is None else float(analysis.fused.time_s),
            "fusion_gain": analysis.fusion_gain,
            "cautions": analysis.doubts,
            "context": profile.context,
        },
    )


def _group(group: OperatorGroup) -> dict[str, Any]:
    """Return the totals of some operators."""
    demand = group.demand
    return {
        **fields_of(group, "name", "calls", "time_s", "share", "unknown_share"),
        "demand": None if demand is None else dict(demand.amounts),
        "intensity_flop_per_byte": group.intensity,
        "performance_flop_per_s": group.performance,
        "bound": _bound(group.bound),
        "efficiency": group.efficiency,
    }


def _operator(placed: PlacedOperator) -> dict[str, Any]:
    operator = placed.operator
    return {
        **fields_of(operator, "name", "module", "phase", "calls"),
        "inputs": [_tensor(each) for each in operator.call.inputs],
        "outputs": [_tensor(each) for each in operator.call.outputs],
        "asked": _asked(operator.asked),
        "time_s": operator.time_s,
        "share": placed.share,
        "intensity_flop_per_byte": placed.intensity,
        "bound": _bound(placed.bound),
        **fields_of(placed, "efficiency", "explained_by"),
        **fields_of(operator, "checked", "unchecked"),
    }


def _asked(asked: Asked) -> dict[str, Any]:
    """Return what one call asks for."""
    return fields_of(
        asked, "kind", "work", "read_bytes", "write_bytes", "workspace_bytes", "functions", "rule",
        "unknown",
    )  # fmt: skip


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return fields_of(tensor, "shape", "dtype", "nbytes", "layout")


def _bound(bound: Bound | None) -> dict[str, Any] | None:
    """Return the least time, and what needs it; None: it is unknown, or nothing is asked for."""
    if bound is None or not bound.time_s > 0:
        return None
    return {
        "limiter": str(bound.limiter),
        "binding": str(bound.binding),
        "time_s": bound.time_s,
        "times_s": dict(bound.times_s),
        "left_out": bound.left_out,
    }
