"""What ``ridgepoint pipeline --json`` prints.

The keys are a contract; floats are in SI base units; what is infinite or unknown is ``null``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgepoint.core.documents import SCHEMA, estimate_fields, plain
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline.advice import StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment, Composite, StageFigures
from ridgepoint.models.pipeline.devices import Assignment
from ridgepoint.models.pipeline.observation import Observation, rounded_up
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.models.pipeline.uncertainty import DRAWS, SEED
from ridgepoint.show.charts.pipeline import work_unit

Shown = tuple[Assessment, Sensitivity, Sequence[StageAdvice], Assignment | None]
"""A pipeline and what follows from it."""


def report(shown: Sequence[Shown], observation: Observation | None) -> dict[str, Any]:
    """Return what a file holds as one document: a pipeline, or an observation of several."""
    head = {
        "schema": SCHEMA,
        "kind": "pipeline" if observation is None else "observation",
        "uncertainty": {"method": "Monte Carlo", "draws": DRAWS, "seed": SEED, "interval": 0.95},
    }
    if observation is None:
        return {**head, **_pipeline(*shown[0])}
    return {
        **head,
        "pipelines": [_pipeline(*one) for one in shown],
        "observation": _observation(observation),
    }


def _pipeline(
    found: Assessment,
    gains: Sensitivity,
    advised: Sequence[StageAdvice],
    assigned: Assignment | None,
) -> dict[str, Any]:
    host = found.pipeline.host_time_s
    return {
        "name": found.pipeline.name,
        "machine": {
            "name": found.machine.name,
            "source": found.machine.source,
            "cores": found.cores,
            "peak_per_s": found.peak,
            "memory_bytes_per_s": found.bandwidth,
            "ridge": found.ridge,
        },
        "unit": work_unit(found),
        "stages": [_stage(one) for one in found.stages],
        "composites": [_composite(one) for one in found.composites],
        "compute_efficiency": _estimate(found.compute_efficiency),
        "host_time_s": None if host is None else _estimate(host),
        "time_s": _estimate(found.time_s),
        "total_time_s": _estimate(found.total_s),
        "bound_s": found.bound_s,
        "mixed_bound_s": found.mixed_s,
        "load_per_s": found.load_per_s,
        "devices": _devices(found.devices),
        "uncertain": list(found.uncertain),
        "sensitivity": plain(gains),
        "advice": plain(tuple(advised)),
        "assignment": None if assigned is None else _assignment(assigned),
        "cautions": plain(found.cautions),
    }


def _stage(one: StageFigures) -> dict[str, Any]:
    stage = one.stage
    return {
        "name": stage.name,
        "from": stage.origin,
        "repeat": stage.repeat,
        "demand": {name: float(amount) for name, amount in stage.demand.amounts.items()},
        "measured_time_s": _estimate(stage.time_s),
        "given_efficiency": _estimate(stage.efficiency),
        "output_bytes": stage.output_bytes,
        "work": one.work,
        "moved_bytes": one.moved_bytes,
        "intensity": one.intensity,
        "time_s": one.time_s,
        "bound_s": one.bound_s,
        "times_s": {"compute": one.compute_s, "memory": one.memory_s},
        "limiter": {"compute": "compute", "dram": "memory"}[one.limiter],
        "weight": one.weight,
        "roof_weight": one.roof_weight,
        "performance_per_s": one.performance,
        "attainable_per_s": one.attainable,
        "programming_efficiency": one.programming_efficiency,
        "roofline_efficiency": one.roofline_efficiency,
    }


def _composite(one: Composite) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "equation": one.equation,
        "intensity": one.intensity,
        "roofline_efficiency": _estimate(one.roofline_efficiency),
        "is_clipped": one.is_clipped,
        "programming_efficiency": _estimate(one.programming_efficiency),
        "compute_efficiency": _estimate(one.compute_efficiency),
        "devices": _devices(one.devices),
        "devices_at_roof": one.devices_at_roof,
        "difference": one.difference,
        "why": one.why,
    }


def _assignment(found: Assignment) -> dict[str, Any]:
    return {
        "stages": plain(found.stages),
        "time_s": found.time_s,
        "alone_s": dict(found.alone_s),
        "shares_s": dict(found.shares),
        "has_transfers": found.has_transfers,
    }


def _observation(found: Observation) -> dict[str, Any]:
    return {
        "pipelines": [
            {
                "name": one.assessment.pipeline.name,
                "weight": one.weight,
                "time_s": _estimate(one.time_s),
            }
            for one in found.shares
        ],
        "time_s": _estimate(found.time_s),
        "period_s": found.period_s,
        "is_of_a_second": found.is_of_a_second,
        "load_per_s": found.load_per_s,
        "devices": _devices(found.devices),
        "most_devices": _devices(found.most_devices),
        "legroom": [
            {
                "share": share,
                "devices_to_fit": _devices(found.devices_to_fit(share)),
                "devices": _devices(_over(found.devices, share)),
                "most_devices": _devices(_over(found.most_devices, share)),
            }
            for share in found.legroom
        ],
    }


def _over(needed: Estimate | None, share: float) -> Estimate | None:
    return None if needed is None else needed.map(lambda devices: devices / share)


def _devices(needed: Estimate | None) -> dict[str, Any] | None:
    if needed is None:
        return None
    ends = (needed.median, needed.low, needed.high)
    whole = [None if end is None else rounded_up(end) for end in ends]
    return {
        "median": needed.median,
        "low": needed.low,
        "high": needed.high,
        "whole": dict(zip(("median", "low", "high"), whole, strict=True)),
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else estimate_fields(estimate)
