"""Pipelines, their stages, and how many devices they need, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ridgepoint.core.columns import flag, number, rate, share, text
from ridgepoint.core.table import Table
from ridgepoint.show.data_tables.documents import table_of

_OF = text("pipeline", "Name of the pipeline.")
_UNIT = text("unit", "Unit of the work: flop or BOP.")
_STAGES = (
    _OF,
    text("name", "Name of the stage."),
    text("origin", "Where its demand comes from."),
    number("repeat", "How often it runs."),
    _UNIT,
    rate("work", "Work."),
    number("moved_bytes", "Bytes moved at DRAM.", unit="byte"),
    number("output_bytes", "Bytes that the next stage gets.", unit="byte"),
    number("intensity", "Work over bytes at DRAM, in the row's unit per byte.", "I"),
    number("time_s", "Time.", "T", unit="s"),
    *number("measured_time_s", "Measured time of one execution.", unit="s").ends(),
    number("bound_s", "Shortest time that the roofs allow.", unit="s"),
    number("compute_s", "Time of the computation alone.", unit="s"),
    number("memory_s", "Time of the memory traffic alone.", unit="s"),
    share("weight", "Share of the pipeline's time."),
    share("roof_weight", "Share of the shortest time that the roofs allow."),
    number("programming_efficiency", "Bound over time."),
    number("roofline_efficiency", "Attainable performance over the peak."),
    text("limiter", "compute or memory."),
    flag("is_at_the_ridge", "Whether both bound it alike."),
    number("performance_per_s", "Work over time, in the row's unit per second.", "P"),
    number("attainable_per_s", "The most that the roofs allow, in the row's unit per second."),
    number("moved_bytes_per_s", "Bytes at DRAM over time.", unit="byte/s"),
    number("gain", "Speed-up of the pipeline from a little more efficiency of this stage."),
)
_PIPELINES = (
    text("name", "Name of the pipeline."),
    text("machine", "Name of the device."),
    _UNIT,
    rate("work", "Work of all stages."),
    number("moved_bytes", "Bytes moved at DRAM.", unit="byte"),
    *number("time_s", "Time of the stages.", "T", unit="s").ends(),
    *number("host_time_s", "Time of the host.", unit="s").ends(),
    *number("total_time_s", "Time of stages and host.", unit="s").ends(),
    number("bound_s", "Shortest time that the roofs allow.", unit="s"),
    number("performance_per_s", "Work over time, in the row's unit per second.", "P"),
    *number("compute_efficiency", "Performance over the peak.").ends(),
    number("load_per_s", "Load, in the row's unit per second."),
    *number("devices", "Devices that the load needs.").ends(),
    number("devices_if_they_wait", "Devices, if they wait for the host."),
)
_COMPOSITES = (
    _OF,
    text("rule", "How stages are taken together."),
    text("equation", "Equation of the paper."),
    number("intensity", "Intensity, in the pipeline's unit of work per byte."),
    *number("roofline_efficiency", "Attainable performance over the peak.").ends(),
    *number("programming_efficiency", "Performance over the attainable.").ends(),
    *number("compute_efficiency", "Performance over the peak.").ends(),
    flag("is_clipped", "Whether an efficiency above 1 was cut to 1."),
    *number("devices", "Devices that the load needs.").ends(),
    number("devices_at_roof", "Devices, if all stages were at their roofs."),
    number("difference", "Devices over those of the stages in series."),
    text("why", "Why it differs."),
)
_ADVICE = (
    _OF,
    text("stage", "Name of the stage."),
    text("kind", "What it is about."),
    text("seen", "The evidence."),
    text("what", "What to do."),
    number("gain", "Upper limit of the stage's speed-up."),
    number("pipeline_gain", "Upper limit of the pipeline's speed-up."),
)
_LOADS = (
    text("product", "Name of the product."),
    text("title", "Its name in the paper."),
    text("stage", "Name of the stage; empty: all stages."),
    number("load_flop_per_s", "Load.", unit="flop/s"),
)


def pipeline_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the stages of one pipeline or of those of an observation, and the pipelines."""
    pipelines = document.get("pipelines", [document])
    return (
        table_of("stages", _STAGES, _stages(pipelines)),
        table_of(
            "pipelines",
            _PIPELINES,
            ({**pipeline, "machine": pipeline["machine"]["name"]} for pipeline in pipelines),
        ),
        table_of("composites", _COMPOSITES, _of_each(pipelines, "composites")),
        table_of("advice", _ADVICE, _of_each(pipelines, "advice")),
    )


def loads_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the published loads of each product, by stage and in all."""
    rows = (
        {"product": name, "title": product["title"], "stage": stage, "load_flop_per_s": load}
        for name, product in document["products"].items()
        for stage, load in (
            *product["stages_flop_per_s"].items(),
            (None, product["total_flop_per_s"]),
        )
    )
    return (table_of("loads", _LOADS, rows),)


def _stages(pipelines: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    for pipeline in pipelines:
        gains = {gain["name"]: gain["time"] for gain in pipeline["sensitivity"]["stages"]}
        for stage in pipeline["stages"]:
            yield {
                "pipeline": pipeline["name"],
                "unit": pipeline["unit"],
                **stage,
                "origin": stage["from"],
                **{f"{path}_s": seconds for path, seconds in stage["times_s"].items()},
                "gain": gains.get(stage["name"]),
            }


def _of_each(pipelines: Iterable[Mapping[str, Any]], key: str) -> Iterable[dict[str, Any]]:
    for pipeline in pipelines:
        for row in pipeline[key]:
            yield {"pipeline": pipeline["name"], **row}


COLUMNS = {
    "stages": _STAGES,
    "pipelines": _PIPELINES,
    "composites": _COMPOSITES,
    "advice": _ADVICE,
    "loads": _LOADS,
}
"""Of each table, by its name."""
