"""What ``ridgepoint ridgeline --json`` prints.

What is infinite or 0/0 is ``null``, and the amounts beside it say which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ridgepoint.core import documents
from ridgepoint.core.bound import Overlap
from ridgepoint.core.documents import fields_of
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import LINKS
from ridgepoint.demands.training import Step
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import REGIONS, Placed
from ridgepoint.models.ridgeline.sweep import Front
from ridgepoint.models.ridgeline.trajectories import Trajectory

_OF_POINTS = (
    *("work", "memory_bytes", "network_bytes", "arithmetic_intensity", "memory_intensity"),
    *("network_intensity", "time_s", "limiter", "roofline_limiter"),
)


def report(
    ridgeline: Ridgeline, trajectories: Sequence[Trajectory], inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return trajectories on a Ridgeline as one document.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectories : sequence of Trajectory
    inputs : mapping
        What the points were computed from, as fields.
    """
    fields = {
        "machines": _machines(ridgeline.machines, ridgeline.work, ridgeline.cores),
        **fields_of(ridgeline, "work", "unit", "overlap", "ridge"),
        "inputs": inputs,
        "points": [
            point for trajectory in trajectories for point in _points(ridgeline, trajectory)
        ],
    }
    return documents.report("ridgeline", fields)


def sweep_report(
    front: Front,
    machines: Sequence[Machine],
    steps: Sequence[Step],
    inputs: Mapping[str, Any],
    overlap: Overlap,
) -> dict[str, Any]:
    """Return the front of a sweep as one document.

    Parameters
    ----------
    front : Front
    machines : sequence of Machine
    steps : sequence of TrainingStep or RecommendationStep
    inputs : mapping
        What was tried, as fields.
    overlap : str or float
    """
    columns: dict[str, Iterable[Any]] = {
        **fields_of(front, "nodes", "time_per_sample_s", "batch", "limiter", "limiters"),
        "time_s": front.step_s,
        "machine": [machines[index].name for index in front.machine],
        "machines": [[machines[index].name for index in alike] for alike in front.machines],
        "all_reduce": [steps[index].algorithm for index in front.step],
    }
    fields = {
        "machines": _machines(machines, steps[0].precision, None),
        "overlap": overlap,
        "inputs": inputs,
        "designs": front.designs,
        "front": _rows(columns),
    }
    return documents.report("ridgeline-sweep", fields)


def _machines(machines: Sequence[Machine], work: str, cores: float | None) -> list[dict[str, Any]]:
    """Return every machine's name and rates."""
    return [
        {
            "name": machine.name,
            "work_per_s": machine.rate(work, cores=cores),
            "memory_bytes_per_s": machine.rate("dram", cores=cores),
            "network_bytes_per_s": machine.rate("network", cores=cores),
            **{
                f"{path}_bytes_per_s": machine.rate(path, cores=cores)
                for path in LINKS[1:]
                if machine.knows(path)
            },
        }
        for machine in machines
    ]


def _points(ridgeline: Ridgeline, trajectory: Trajectory) -> list[dict[str, Any]]:
    placed, count = trajectory.placed, len(trajectory.labels)
    columns: dict[str, Iterable[Any]] = {
        "name": trajectory.labels,
        "batch": trajectory.batch or [None] * count,
        "nodes": trajectory.nodes or [None] * count,
        **_columns(fields_of(placed, *_OF_POINTS)),
        **_other_links(placed),
        **({"parts": _parts(trajectory)} if trajectory.parts else {}),
        **(
            {}
            if trajectory.runtimes_s is None
            else {"runtime_s": trajectory.runtimes_s, "efficiency": trajectory.efficiencies}
        ),
        "performance_per_s": np.atleast_1d(placed.performance),
        "times_s": _rows(_columns(placed.times_s)),
        "limiters": placed.limiters,
        "roofline_limiters": placed.roofline_limiters,
        "slowest": [
            [ridgeline.machines[index].name for index in together] for together in placed.slowest
        ],
    }
    return _rows(columns)


def _parts(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Return of each unit of work what its parts ask for, and how long they need."""
    return _rows(
        {
            name: _rows(
                {
                    "work": np.atleast_1d(placed.work),
                    "memory_bytes": np.atleast_1d(placed.memory_bytes),
                    "network_bytes": np.atleast_1d(placed.network_bytes),
                    **_other_links(placed),
                    "times_s": _rows(_columns(placed.times_s)),
                    "time_s": np.atleast_1d(placed.time_s),
                    "limiters": placed.limiters,
                }
            )
            for name, placed in trajectory.parts.items()
        }
    )


def _other_links(placed: Placed) -> dict[str, Iterable[Any]]:
    """Return the bytes and intensities at links that only some machines have."""
    columns: dict[str, Iterable[Any]] = {}
    for region in placed.regions:
        if (path := REGIONS[region]) in LINKS[1:]:
            columns[f"{path}_bytes"] = np.atleast_1d(placed.bytes_of(region))
            columns[f"{path}_intensity"] = np.atleast_1d(placed.intensity(region))
    return columns


def _columns(amounts: Mapping[Any, Any]) -> dict[str, Iterable[Any]]:
    """Return amounts, single or many, as columns."""
    return {name: np.atleast_1d(amount) for name, amount in amounts.items()}


def _rows(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Return columns of one length row by row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
