"""What ``ridgepoint transformer --json`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ridgepoint.cli.transformer_inputs import dimensions_of
from ridgepoint.core import documents
from ridgepoint.core.documents import fields_of, plain
from ridgepoint.demands.transformer import Transformer
from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.designs import Design
from ridgepoint.models.transformer.report import OnDevices, TransformerReport
from ridgepoint.published.transformers import PublishedTransformer

_ASKED = (*("prompt", "generated", "overlap", "in_series", "latency_s", "cores", "efficiency"),)


def report(found: TransformerReport) -> dict[str, Any]:
    """Return a transformer on each kind of device as one document."""
    serving = found.machines[0].study.serving
    fields = {
        "model": {
            "name": found.name, "source": found.source, **_model(found.model)
        },
        **fields_of(serving.inference, "precision", "tensor", "pipeline", "activations", "routing"),
        "weights": serving.inference.weights or serving.inference.precision,
        "cache": serving.inference.cache or serving.inference.precision,
        "all_reduce": serving.inference.algorithm,
        **fields_of(serving, *_ASKED),
        "context": serving.mean_context,
        "target": None if found.target is None else asdict(found.target),
        "machines": [_machine(on) for on in found.machines],
        "cautions": plain(list(found.cautions)),
    }  # fmt: skip
    return documents.report("transformer", fields)


def models_report(models: Mapping[str, PublishedTransformer]) -> dict[str, Any]:
    """Return the published models as one document."""
    listed = [
        {"name": name, "source": published.source, **_model(published.model)}
        for name, published in models.items()
    ]
    return documents.report("transformers", {"models": listed})


def _model(model: Transformer) -> dict[str, Any]:
    return {
        **dimensions_of(model),
        "kv_heads": model.kv_head_count,
        "head_width": model.head_size,
        "parameters": model.weights,
        "active_parameters": model.active_weights,
    }


def _machine(on: OnDevices) -> dict[str, Any]:
    study = on.study
    return {
        **_rates(study.serving),
        "need": {**asdict(study.memory), "largest_batch": study.memory.largest_batch},
        "leaves_memory": None if study.crossing is None else asdict(study.crossing),
        "points": [asdict(point) for point in study.points],
        "fullest": None if study.fullest is None else asdict(study.fullest),
        "assumptions": [
            {"name": each.name, "is_own": each.is_own, **asdict(each.point)}
            for each in study.assumptions
        ],
        "divisions": [_design(design) for curve in on.curves for design in curve.designs],
        "designs": None if on.designs is None else [_design(design) for design in on.designs],
    }


def _rates(serving: Serving) -> dict[str, Any]:
    machine = serving.machine
    return {
        "name": machine.name,
        "work_per_s": machine.rate(serving.inference.precision, cores=serving.cores),
        "memory_bytes_per_s": machine.rate("dram", cores=serving.cores),
        "network_bytes_per_s": machine.rate("network") if machine.knows("network") else None,
    }


def _design(design: Design) -> dict[str, Any]:
    return {
        **plain(design),
        "devices": design.devices,
        "rate_of_device_per_s": design.rate_of_device_per_s,
    }
