"""Distributed programs on a Ridgeline as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ridgepoint.core.columns import count, number, rate, text
from ridgepoint.core.table import Table
from ridgepoint.show.data_tables.documents import table_of

_DEMAND = (
    text("unit", "Unit of the work: flop, BOP or op."),
    rate("work", "Work of a node."),
    number("memory_bytes", "Bytes moved at a node's memory.", unit="byte"),
    number("network_bytes", "Bytes over a node's link.", unit="byte"),
    number("remote_bytes", "Bytes from and to remote memory.", unit="byte"),
    number("storage_bytes", "Bytes from and to storage.", unit="byte"),
)
_TIMES = (
    number("time_s", "Time by the model.", "T", unit="s"),
    number("compute_s", "Time of the computation alone.", unit="s"),
    number("memory_s", "Time of the memory traffic alone.", unit="s"),
    number("network_s", "Time of the network alone.", unit="s"),
    number("remote_s", "Time of the remote memory alone.", unit="s"),
    number("storage_s", "Time of the storage alone.", unit="s"),
    text("limiters", "What bounds it, separated by ', ' where several bind equally."),
)
_POINTS = (
    text("name", "Name of the point."),
    count("batch", "Samples on each node."),
    count("nodes", "Number of nodes."),
    *_DEMAND,
    number("arithmetic_intensity", "Work over memory bytes, in the row's unit per byte."),
    number("memory_intensity", "Memory bytes over network bytes."),
    number("network_intensity", "Work over network bytes, in the row's unit per byte."),
    *_TIMES,
    text("roofline_limiters", "What would bound it without the network."),
    number("performance_per_s", "Work over time, in the row's unit per second.", "P"),
    number("runtime_s", "Measured time.", unit="s"),
    number("efficiency", "Time by the model over the measured time."),
    text("slowest", "Machines that are slowest, separated by ', '."),
)
_PARTS = (
    text("name", "Name of the point."),
    text("part", "Part of the step."),
    *_DEMAND,
    *_TIMES,
)
_FRONT = (
    count("nodes", "Number of nodes."),
    count("batch", "Samples on each node."),
    text("machine", "The fastest machine."),
    text("all_reduce", "Algorithm of the all-reduce."),
    number("time_s", "Time of a step.", "T", unit="s"),
    number("time_per_sample_s", "Time of a step over its samples.", unit="s"),
    text("limiters", "What bounds it, separated by ', ' where several bind equally."),
)


def ridgeline_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the points on a Ridgeline, and the parts of each."""
    unit = {"unit": document["unit"]}
    points = [{**unit, **point, **_seconds(point)} for point in document["points"]]
    parts = [
        {**unit, "name": point["name"], "part": name, **part, **_seconds(part)}
        for point in document["points"]
        for name, part in point.get("parts", {}).items()
    ]
    return table_of("points", _POINTS, points), table_of("parts", _PARTS, parts)


def front_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the fastest design for each number of nodes."""
    return (table_of("front", _FRONT, document["front"]),)


def _seconds(row: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{path}_s": seconds for path, seconds in row["times_s"].items()}


COLUMNS = {"points": _POINTS, "parts": _PARTS, "front": _FRONT}
"""Of each table, by its name."""
