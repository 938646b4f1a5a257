"""What ``ridgepoint pipeline --json`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ridgepoint.core import documents
from ridgepoint.core.documents import fields_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.kept.pipeline_file import Case
from ridgepoint.models.pipeline.advice import StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment, StageFigures
from ridgepoint.models.pipeline.devices import Assignment
from ridgepoint.models.pipeline.observation import Observation, rounded_up, with_legroom
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.models.pipeline.uncertainty import DRAWS, SEED
from ridgepoint.published.sdp_loads import products, source


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A pipeline, and what follows from it.

    Parameters
    ----------
    case : Case
    assessment : Assessment
    gains : Sensitivity
    advised : tuple of StageAdvice
    assigned : Assignment or None
        To several machines; None: there is one.
    """

    case: Case
    assessment: Assessment
    gains: Sensitivity
    advised: tuple[StageAdvice, ...]
    assigned: Assignment | None


def report(shown: Sequence[Shown], observation: Observation | None) -> dict[str, Any]:
    """Return what a file holds as one document: a pipeline, or an observation of several."""
    head = {
        "uncertainty": {"method": "Monte Carlo", "draws": DRAWS, "seed": SEED, "interval": 0.95}
    }
    pipelines = [_pipeline(pipeline) for pipeline in shown]
    if observation is None:
        return documents.report("pipeline", {**head, **pipelines[0]})
    fields = {**head, "pipelines": pipelines, "observation": _observation(observation)}
    return documents.report("observation", fields)


def published() -> dict[str, Any]:
    """Return the published loads of the science data processor as a document."""
    fields = {
        "source": source(),
        "products": {
            name: {
                "title": product.title,
                "stages_flop_per_s": product.stage_flop_per_s,
                "total_flop_per_s": product.total_flop_per_s,
                "imaging_share": product.imaging_share,
            }
            for name, product in products().items()
        },
    }
    return documents.report("published loads", fields)


def _pipeline(shown: Shown) -> dict[str, Any]:
    assessment, assigned = shown.assessment, shown.assigned
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
            assessment,
            "compute_efficiency",
            "time_s",
            "bound_s",
            "load_per_s",
            "uncertain",
            "work",
            "moved_bytes",
            "moved_bytes_per_s",
        ),
        "performance_per_s": assessment.performance,
        "total_time_s": assessment.total_s,
        "mixed_bound_s": assessment.mixed_s,
        "aggregate": {
            "at_the_machine": assessment.aggregate(assessment.bandwidth),
            "at_what_is_reached": assessment.aggregate(assessment.moved_bytes_per_s),
        },
        "devices": _devices(assessment.devices),
        "devices_if_they_wait": assessment.devices_if_they_wait,
        "legroom": [
            {"used": used, "devices": _devices(assessment.devices, used)}
            for used in shown.case.used
        ],
        "sensitivity": {**fields_of(shown.gains, "stages"), "device": _device(shown.gains)},
        "advice": shown.advised,
        "assignment": None if assigned is None else _assignment(assigned),
        "cautions": assessment.cautions,
    }


def _device(gains: Sensitivity) -> dict[str, Any]:
    return fields_of(gains.device, "compute", "bandwidth", "both", "better")


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
        "is_at_the_ridge": figures.is_at_the_ridge,
        "performance_per_s": figures.performance,
        "attainable_per_s": figures.attainable,
        "moved_bytes_per_s": figures.moved_bytes_per_s,
    }


def _assignment(assigned: Assignment) -> dict[str, Any]:
    return {
        **fields_of(assigned, "stages", "time_s", "has_transfers"),
        "alone": assigned.alone,
        "shares_s": dict(assigned.shares),
    }


def _observation(observation: Observation) -> dict[str, Any]:
    return {
        "pipelines": [
            {"name": share.assessment.pipeline.name, **fields_of(share, "weight", "time_s")}
            for share in observation.shares
        ],
        **fields_of(observation, "time_s", "period_s", "is_of_a_second", "load_per_s", "machines"),
        "devices": _devices(observation.devices),
        "most_devices": _devices(observation.most_devices),
        "legroom": [
            {
                "used": used,
                "devices_to_fit": _devices(observation.devices_to_fit(used)),
                "devices": _devices(observation.devices, used),
                "most_devices": _devices(observation.most_devices, used),
            }
            for used in observation.used
        ],
    }


def _devices(needed: Estimate | None, used: float = 1.0) -> dict[str, Any] | None:
    """Return how many devices are needed, if each is busy for the share `used` of its time."""
    if needed is None:
        return None
    ends = fields_of(with_legroom(needed, used), "median", "low", "high")
    whole = {name: None if end is None else rounded_up(end) for name, end in ends.items()}
    return {**ends, "whole": whole}
