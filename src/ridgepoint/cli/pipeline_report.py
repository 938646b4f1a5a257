"""What ``ridgepoint pipeline --json`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgepoint.core import documents
from ridgepoint.core.documents import fields_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline.advice import StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment, StageFigures
from ridgepoint.models.pipeline.devices import Assignment
from ridgepoint.models.pipeline.observation import Observation, rounded_up, with_legroom
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.models.pipeline.uncertainty import DRAWS, SEED

Shown = tuple[Assessment, Sensitivity, Sequence[StageAdvice], Assignment | None]
"""A pipeline and what follows from it."""


def report(shown: Sequence[Shown], observation: Observation | None) -> dict[str, Any]:
    """Return what a file holds as one document: a pipeline, or an observation of several."""
    head = {
        "uncertainty": {"method": "Monte Carlo", "draws": DRAWS, "seed": SEED, "interval": 0.95}
    }
    pipelines = [_pipeline(*pipeline) for pipeline in shown]
    if observation is None:
        return documents.report("pipeline", {**head, **pipelines[0]})
    fields = {**head, "pipelines": pipelines, "observation": _observation(observation)}
    return documents.report("observation", fields)


def _pipeline(
    assessment: Assessment,
    gains: Sensitivity,
    advised: Sequence[StageAdvice],
    assigned: Assignment | None,
) -> dict[str, Any]:
    return {
        "name": assessment.pipeline.name,
        "machine": {
            **fields_of(assessment.machine, "name", "source"),
            **fields_of(assessment, "cores"),
            "peak_per_s": assessment.peak,
            "memory_bytes_per_s": assessment.bandwidth,
            "ridge": assessment.ridge,
        },
        "unit": assessment.pipeline.unit,
        "stages": [_stage(stage) for stage in assessment.stages],
        "composites": [
            {
                **fields_of(composite, "rule", "equation", "intensity", "roofline_efficiency"),
                **fields_of(composite, "is_clipped", "programming_efficiency"),
                **fields_of(composite, "compute_efficiency", "devices_at_roof"),
                **fields_of(composite, "difference", "why"),
                "devices": _devices(composite.devices),
            }
            for composite in assessment.composites
        ],
        **fields_of(assessment.pipeline, "host_time_s"),
        **fields_of(
            assessment, "compute_efficiency", "time_s", "bound_s", "load_per_s", "uncertain"
        ),
        "total_time_s": assessment.total_s,
        "mixed_bound_s": assessment.mixed_s,
        "devices": _devices(assessment.devices),
        "sensitivity": gains,
        "advice": advised,
        "assignment": None if assigned is None else _assignment(assigned),
        "cautions": assessment.cautions,
    }


def _stage(figures: StageFigures) -> dict[str, Any]:
    stage = figures.stage
    return {
        **fields_of(stage, "name", "repeat", "output_bytes"),
        "from": stage.origin,
        "demand": stage.demand.amounts,
        "measured_time_s": stage.time_s,
        "given_efficiency": stage.efficiency,
        **fields_of(figures, "work", "moved_bytes", "intensity", "time_s", "bound_s"),
        **fields_of(figures, "weight", "roof_weight"),
        **fields_of(figures, "programming_efficiency", "roofline_efficiency"),
        "times_s": {"compute": figures.compute_s, "memory": figures.memory_s},
        "limiter": {"compute": "compute", "dram": "memory"}[figures.limiter],
        "performance_per_s": figures.performance,
        "attainable_per_s": figures.attainable,
    }


def _assignment(assigned: Assignment) -> dict[str, Any]:
    return {
        **fields_of(assigned, "stages", "time_s", "has_transfers"),
        "alone_s": dict(assigned.alone_s),
        "shares_s": dict(assigned.shares),
    }


def _observation(observation: Observation) -> dict[str, Any]:
    return {
        "pipelines": [
            {"name": share.assessment.pipeline.name, **fields_of(share, "weight", "time_s")}
            for share in observation.shares
        ],
        **fields_of(observation, "time_s", "period_s", "is_of_a_second", "load_per_s"),
        "devices": _devices(observation.devices),
        "most_devices": _devices(observation.most_devices),
        "legroom": [
            {
                "share": share,
                "devices_to_fit": _devices(observation.devices_to_fit(share)),
                "devices": _devices(observation.devices, share),
                "most_devices": _devices(observation.most_devices, share),
            }
            for share in observation.legroom
        ],
    }


def _devices(needed: Estimate | None, legroom: float = 1.0) -> dict[str, Any] | None:
    """Return how many devices are needed, if each is busy for the share `legroom` of its time."""
    if needed is None:
        return None
    ends = fields_of(with_legroom(needed, legroom), "median", "low", "high")
    whole = {name: None if end is None else rounded_up(end) for name, end in ends.items()}
    return {**ends, "whole": whole}
