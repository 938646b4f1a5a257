"""Prints a study of cores and nodes as JSON, and draws its figures into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from ridgepoint.cli import common
from ridgepoint.core.documents import SCHEMA, estimate_fields, plain, render
from ridgepoint.models.scaling.allocation import Allocation
from ridgepoint.models.scaling.fits import Fit
from ridgepoint.models.scaling.study import ScalingStudy


def show_json(study: ScalingStudy, *, law: bool) -> None:
    """Print a study as one JSON object on standard output."""
    sys.stdout.write(render(_fields(study, law=law)))


def _fields(study: ScalingStudy, *, law: bool) -> dict[str, Any]:
    optimum = study.optimum
    return {
        "schema": SCHEMA,
        "kind": "scaling",
        **(_law_inputs(study) if law else _inputs(study)),
        "points": [_allocation(one) for one in study.points],
        "best": _allocation(study.best),
        "optimum": optimum and {"nodes": optimum.nodes, "best": _allocation(optimum.best)},
        "efficiency": study.efficiency,
        "against": study.against,
        "largest": study.largest and _allocation(study.largest),
        "fit": study.fit and _fit(study.fit),
        "cautions": plain(study.cautions),
    }


def _law_inputs(study: ScalingStudy) -> dict[str, Any]:
    return {"law": study.scaling.problem.name}


def _inputs(study: ScalingStudy) -> dict[str, Any]:
    scaling, problem = study.scaling, study.scaling.problem
    machine = scaling.machine
    link = scaling.link_bytes_per_s
    if link is None and machine.knows("network"):
        link = float(machine.rate("network"))
    x = scaling.intensity
    return {
        "problem": {
            "name": problem.name,
            "size": study.size,
            "work": problem.work,
            "operations": float(np.asarray(problem.operations)),
            "dram_bytes": float(np.asarray(problem.dram_bytes)),
        },
        "machine": {
            "name": machine.name,
            "cores": machine.cores,
            "core_rate": scaling.core_rate,
            "memory_bytes_per_s": float(machine.rate("dram")) if machine.knows("dram") else None,
            "link_bytes_per_s": link,
        },
        "network": scaling.network,
        "overlap": scaling.overlap,
        "intensity": None if x is None else float(x),
    }


def _allocation(one: Allocation) -> dict[str, Any]:
    return {**plain(one), "relative_speed_up": one.relative_speed_up}


def _fit(fit: Fit) -> dict[str, Any]:
    solution = fit.solution
    return {
        "model": fit.model,
        "parameters": [plain(one) for one in fit.parameters],
        "degrees_of_freedom": solution.degrees,
        "relative_error": solution.relative_error,
        "deviation": solution.deviation,
        "noise": solution.noise,
        "reduced_chi_square": solution.chi_square,
        "runs": [
            {
                "nodes": run.nodes,
                "cores": run.cores,
                "size": run.size,
                "time_s": estimate_fields(run.time_s),
                "predicted_s": predicted,
            }
            for run, predicted in zip(solution.runs, solution.predicted_s, strict=True)
        ],
    }


def draw_figures(study: ScalingStudy, folder: Path, *, law: bool) -> None:
    """Write every figure of a study into a folder."""
    from ridgepoint.show.charts.scaling import study_figures
    from ridgepoint.show.charts.scaling_mpl import save

    made = common.made_folder(folder)
    for name, figure in study_figures(study, law=law).items():
        save(figure, made / f"{name}.svg")
