"""What ``ridgepoint ridgeline --json`` prints.

The keys are a contract; floats are in SI base units; what is infinite or 0/0 is ``null``, and the
amounts beside it say which.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ridgepoint.core.bound import Overlap
from ridgepoint.core.documents import SCHEMA
from ridgepoint.core.machine import Machine
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.ridgeline import REGIONS, Ridgeline
from ridgepoint.models.ridgeline.sweep import Front
from ridgepoint.models.ridgeline.trajectories import Trajectory


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
    ridge = ridgeline.ridge
    return {
        "schema": SCHEMA,
        "kind": "ridgeline",
        "machines": _machines(ridgeline.machines, ridgeline.work, ridgeline.cores),
        "work": ridgeline.work,
        "unit": ridgeline.unit,
        "overlap": ridgeline.overlap,
        "ridge": {
            "arithmetic_intensity": ridge.arithmetic_intensity,
            "memory_intensity": ridge.memory_intensity,
            "network_intensity": ridge.network_intensity,
        },
        "inputs": dict(inputs),
        "points": [point for one in trajectories for point in _points(ridgeline, one)],
    }


def sweep_report(
    front: Front,
    machines: Sequence[Machine],
    steps: Sequence[TrainingStep],
    inputs: Mapping[str, Any],
    overlap: Overlap,
) -> dict[str, Any]:
    """Return the front of a sweep as one document.

    Parameters
    ----------
    front : Front
    machines : sequence of Machine
    steps : sequence of TrainingStep
    inputs : mapping
        What was tried, as fields.
    overlap : str or float
    """
    return {
        "schema": SCHEMA,
        "kind": "ridgeline-sweep",
        "machines": _machines(machines, steps[0].precision, None),
        "overlap": overlap,
        "inputs": dict(inputs),
        "designs": front.designs,
        "front": [
            {
                "nodes": int(front.nodes[index]),
                "time_per_sample_s": float(front.time_per_sample_s[index]),
                "time_s": float(front.step_s[index]),
                "batch": int(front.batch[index]),
                "machine": machines[front.machine[index]].name,
                "all_reduce": steps[front.step[index]].algorithm,
                "limiter": str(front.limiter[index]),
            }
            for index in range(len(front.nodes))
        ],
    }


def _machines(machines: Sequence[Machine], work: str, cores: float | None) -> list[dict[str, Any]]:
    """Return every machine's name and rates."""
    return [
        {
            "name": machine.name,
            "work_per_s": float(machine.rate(work, cores=cores)),
            "memory_bytes_per_s": float(machine.rate("dram", cores=cores)),
            "network_bytes_per_s": float(machine.rate("network", cores=cores)),
        }
        for machine in machines
    ]


def _points(ridgeline: Ridgeline, one: Trajectory) -> list[dict[str, Any]]:
    placed = one.placed
    columns = {
        "work": placed.work,
        "memory_bytes": placed.memory_bytes,
        "network_bytes": placed.network_bytes,
        "arithmetic_intensity": placed.arithmetic_intensity,
        "memory_intensity": placed.memory_intensity,
        "network_intensity": placed.network_intensity,
        "time_s": placed.time_s,
        "performance_per_s": placed.performance,
    }
    return [
        {
            "name": label,
            "batch": None if one.batch is None else one.batch[index],
            "nodes": None if one.nodes is None else one.nodes[index],
            **{name: _known(np.atleast_1d(column)[index]) for name, column in columns.items()},
            "times_s": {
                region: _known(np.atleast_1d(placed.times_s[region])[index]) for region in REGIONS
            },
            "limiter": str(np.atleast_1d(placed.limiter)[index]),
            "roofline_limiter": str(np.atleast_1d(placed.roofline_limiter)[index]),
            "machine": ridgeline.machines[np.atleast_1d(placed.slowest)[index]].name,
        }
        for index, label in enumerate(one.labels)
    ]


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
