"""Studies of cores and nodes as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ridgepoint.core.columns import count, flag, number, text
from ridgepoint.core.table import Table
from ridgepoint.show.data_tables.documents import table_of

_POINTS = (
    count("nodes", "Number of nodes."),
    count("cores", "Cores of each node."),
    number("time_s", "Time.", "T", unit="s"),
    number("performance", "Performance, in the problem's operations per second.", "P"),
    number("speed_up", "Speed-up over as many cores of one node."),
    number("relative_speed_up", "Speed-up over one core alone."),
    number("peak_efficiency", "Performance over the peak of all cores."),
    number("parallel_efficiency", "Speed-up over one core, divided by the cores."),
    text("limiter", "compute, dram, network or latency."),
    number("compute_s", "Time of the computation alone.", unit="s"),
    number("dram_s", "Time of the memory traffic alone.", unit="s"),
    number("network_s", "Time of the exchanged data alone.", unit="s"),
    number("latency_s", "Part of the network's time in which messages wait.", unit="s"),
    flag("is_best", "Whether it has the highest performance."),
    flag("is_largest", "Whether it is the largest with the efficiency asked for."),
)
_FITTED_RUNS = (
    count("nodes", "Number of nodes."),
    count("cores", "Cores of each node."),
    number("size", "Size of the problem."),
    *number("time_s", "Measured time.", "T", unit="s").ends(),
    number("predicted_s", "Time by the fitted model.", unit="s"),
    number("speed_up", "Speed-up over the smallest run."),
    number("efficiency", "Speed-up over the growth in cores."),
)
_SHARES = (
    count("placement", "Rank of the placement, from 1: the highest throughput."),
    number("throughput", "Sum over the jobs of the time alone over the time shared."),
    number("mean_slowdown", "Mean of the jobs' slow-downs."),
    number("largest_slowdown", "Largest of the jobs' slow-downs."),
    text("name", "Name of the job."),
    count("cores", "Cores of each of its nodes."),
    text("nodes", "Numbers of its nodes, from 1, separated by ', '."),
    number("alone_s", "Time with its nodes to itself.", unit="s"),
    number("shared_s", "Time beside the others.", unit="s"),
    number("slowdown", "Time beside the others over the time alone."),
    number("wanted_bytes_per_s", "Memory bandwidth of a node that it would use.", unit="byte/s"),
    number("memory_bytes_per_s", "Memory bandwidth of a node that it uses.", unit="byte/s"),
    text("limiter", "What holds it up."),
)
_LOADS = (
    count("placement", "Rank of the placement, from 1."),
    count("node", "Number of the node, from 1."),
    count("cores", "Busy cores."),
    number("memory_bytes_per_s", "Memory bandwidth that its jobs use.", unit="byte/s"),
    number("memory_limit_bytes_per_s", "Memory bandwidth of so many cores.", unit="byte/s"),
)


def scaling_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the allocations of a study, and the runs that rates were fitted to."""
    best, largest = document["best"], document["largest"]
    points = (
        {
            **point,
            **{f"{path}_s": seconds for path, seconds in point["parts_s"].items()},
            "is_best": _place(point) == _place(best),
            "is_largest": largest and _place(point) == _place(largest),
        }
        for point in document["points"]
    )
    fit = document["fit"]
    return (
        table_of("points", _POINTS, points),
        table_of("runs", _FITTED_RUNS, [] if fit is None else fit["runs"]),
    )


def sharing_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the jobs of each placement, and the loads of its nodes."""
    ranked = list(enumerate(document["placements"], start=1))
    shares = (
        {**placement, "placement": rank, **job}
        for rank, placement in ranked
        for job in placement["jobs"]
    )
    loads = (
        {"placement": rank, **node, "memory_limit_bytes_per_s": node["memory_limit"]}
        for rank, placement in ranked
        for node in placement["nodes"]
    )
    return table_of("jobs", _SHARES, shares), table_of("loads", _LOADS, loads)


def _place(point: Mapping[str, Any]) -> tuple[int, int]:
    return point["nodes"], point["cores"]


COLUMNS = {"points": _POINTS, "runs": _FITTED_RUNS, "jobs": _SHARES, "loads": _LOADS}
"""Of each table, by its name."""
