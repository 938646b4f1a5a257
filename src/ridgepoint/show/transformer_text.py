"""What tables, pictures and pages of a transformer all say."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.units import format_si
from ridgepoint.demands.transformer import Transformer
from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.designs import Design
from ridgepoint.models.transformer.report import OnDevices, Target, TransformerReport
from ridgepoint.models.transformer.study import ServingStudy
from ridgepoint.show.words import percent, printable, shown_cores

LIMITERS = {"compute": "compute", "dram": "memory", "network": "network"}
"""What limits, by the path of the bound."""


def model_lines(report: TransformerReport) -> Iterator[str]:
    """Yield what the model is, a line each."""
    model = report.model
    yield f"{printable(report.name)}: {dimensions(model)}"
    used = ""
    if model.experts > 1:
        used = f", of which a token uses {format_si(model.active_weights, '', digits=4).strip()}"
    yield f"{counted(model.weights)} weights{used}"
    if report.source is not None:
        yield f"source: {report.source}"


def dimensions(model: Transformer) -> str:
    """Return the dimensions of a transformer, in words."""
    shared = ""
    if model.kv_head_count != model.heads:
        shared = f" ({model.kv_head_count} of keys and values)"
    networks = f"feed-forward {model.feed_forward:,}"
    if model.experts > 1:
        networks = f"{model.experts} experts of {model.feed_forward:,}, {model.active_experts} used"
    window = "" if model.window is None else f", window {model.window:,}"
    return (
        f"{model.layers} layers of width {model.width:,}, {model.heads} heads{shared}, "
        f"{networks}, vocabulary {model.vocabulary:,}{window}"
    )


def counted(number: float) -> str:
    """Return a large number with a prefix of the SI, such as ``6.738 G``."""
    return format_si(number, "").strip()


def types_of(serving: Serving) -> str:
    """Return the types of a model's numbers, in words."""
    inference = serving.inference
    return (
        f"work in {inference.precision}, weights in {inference.weights or inference.precision}, "
        f"keys and values in {inference.cache or inference.precision}"
    )


def device_line(serving: Serving) -> str:
    """Return a kind of device with its rates, in a line."""
    machine, inference = serving.machine, serving.inference
    busy = "" if serving.cores is None else f", {shown_cores(serving.cores)} busy"
    rates = [
        f"{name} {format_si(float(machine.rate(resource, cores=serving.cores)), unit)}"
        for name, resource, unit in (
            (inference.precision, inference.precision, "flop/s"),
            ("memory", "dram", "B/s"),
        )
    ]
    if machine.knows("network"):
        rates.append(f"network {format_si(float(machine.rate('network')), 'B/s')}")
    return f"{printable(machine.name)}{busy}: {', '.join(rates)}"


def division(tensor: int, pipeline: int) -> str:
    """Return how a model is divided over devices, in words."""
    if tensor * pipeline == 1:
        return "1 device"
    ways = [
        *([f"tensor {tensor}"] if tensor > 1 else []),
        *([f"pipeline {pipeline}"] if pipeline > 1 else []),
    ]
    return f"{tensor * pipeline} devices ({', '.join(ways)})"


def asked_line(serving: Serving) -> str:
    """Return what is asked of a model, in a line."""
    inference = serving.inference
    context = f"{serving.mean_context:,.0f} tokens in the cache"
    if serving.context is None:
        context += " on average"
    return (
        f"each copy on {division(inference.tensor, inference.pipeline)}; prompts of "
        f"{serving.prompt:,} tokens, answers of {serving.generated:,}, {context}"
    )


def meaning(serving: Serving) -> str:
    """Return what times and rates mean, in a line."""
    if serving.efficiency == 1:
        return "least times and most tokens per second: no program does better"
    return (
        f"times and rates of programs that reach {percent(serving.efficiency)} of the bound, as "
        "--efficiency expects"
    )


def memory_line(study: ServingStudy) -> str:
    """Return what a device must hold, and what fits, in a line."""
    need = study.memory
    held = (
        f"a device holds {format_si(need.weights_bytes, 'B')} of weights, "
        f"{format_si(need.cache_bytes, 'B')} of keys and values for each sequence, and "
        f"{format_si(need.activations_bytes, 'B')} of activations"
    )
    if need.memory_bytes is None:
        return f"{held}; its memory is not known (--memory gives it)"
    of = format_si(need.memory_bytes, "B")
    most = need.largest_batch
    if not most:
        return f"{held}: more than its {of}, so that not even one sequence fits"
    return f"{held}: of its {of}, a batch of {most:,} is the largest that fits"


def crossing_line(study: ServingStudy) -> str:
    """Return from which batch on memory no longer limits, in a line."""
    crossing = study.crossing
    if crossing is None:
        return (
            "generating is limited by the memory at every batch: each sequence adds more time for "
            "its keys and values than for its work"
        )
    if crossing.batch == 1:
        return (
            f"generating is limited by the memory at no batch: {LIMITERS[crossing.limiter]} limits "
            "one sequence"
        )
    most = study.memory.largest_batch
    beyond = ", which the memory cannot hold" if most is not None and crossing.batch > most else ""
    return (
        f"generating leaves the memory's roof at a batch of {crossing.batch:,}{beyond}; from "
        f"there on {LIMITERS[crossing.limiter]} limits"
    )


def target_line(target: Target) -> str:
    """Return what devices have to reach, in words."""
    limits = [
        f"{name} within {format_si(value, 's')}"
        for name, value in (
            ("each token", target.within_s),
            ("the first token", target.first_within_s),
        )
        if value is not None
    ]
    return f"{tokens_rate(target.rate_per_s)}{''.join(f', {limit}' for limit in limits)}"


def tokens_rate(rate_per_s: float) -> str:
    """Return a rate of tokens: ``1234 tokens/s``, ``1.2 M tokens/s``."""
    if rate_per_s < 1e6:
        shown = f"{rate_per_s:,.0f}" if rate_per_s >= 100 else f"{rate_per_s:.3g}"
        return f"{shown} tokens/s"
    return f"{format_si(rate_per_s, '').strip()} tokens/s"


def design_name(design: Design) -> str:
    """Return how a design divides the model."""
    return division(design.tensor, design.pipeline)


def unreached(on: OnDevices) -> str:
    """Return why no design reaches the target."""
    if all(not curve.designs for curve in on.curves):
        return (
            "none of the divisions fits into the memory of its devices: try more with --tensor or "
            "--pipeline"
        )
    return "no division and batch is fast enough: try others with --tensor or --pipeline"
