"""Prints a study of cores and nodes as JSON, and draws its figures into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ridgepoint.cli import common
from ridgepoint.core.documents import fields_of, plain, report
from ridgepoint.models.scaling.allocation import Allocation
from ridgepoint.models.scaling.fits import Fit
from ridgepoint.models.scaling.measured import measured_scaling
from ridgepoint.models.scaling.study import ScalingStudy


def fields(study: ScalingStudy, *, law: bool) -> dict[str, Any]:
    """Return a study as the fields of one JSON object."""
    optimum = study.optimum
    of_study = {
        **({"law": study.scaling.problem.name} if law else _inputs(study)),
        "points": [_allocation(point) for point in study.points],
        "best": _allocation(study.best),
        "optimum": optimum and {"nodes": optimum.nodes, "best": _allocation(optimum.best)},
        "unshared": study.unshared and _allocation(study.unshared),
        **fields_of(study, "efficiency", "against", "cautions"),
        "largest": study.largest and _allocation(study.largest),
        "fit": study.fit and _fit(study.fit),
    }
    return report("scaling", of_study)


def _inputs(study: ScalingStudy) -> dict[str, Any]:
    scaling, machine = study.scaling, study.scaling.machine
    link = scaling.link_bytes_per_s
    if link is None and machine.knows("network"):
        link = float(machine.rate("network"))
    return {
        "problem": {
            **fields_of(scaling.problem, "name", "work", "operations", "dram_bytes"),
            "size": study.size,
        },
        "machine": {
            **fields_of(machine, "name", "cores"),
            "core_rate": scaling.core_rate,
            "memory_bytes_per_s": machine.rate("dram") if machine.knows("dram") else None,
            "link_bytes_per_s": link,
        },
        **fields_of(scaling, "network", "overlap", "share", "intensity"),
        "latency_s": scaling.latency_s if scaling.counts_latency else None,
    }


def _allocation(allocation: Allocation) -> dict[str, Any]:
    return {**plain(allocation), "relative_speed_up": allocation.relative_speed_up}


def _fit(fit: Fit) -> dict[str, Any]:
    solution = fit.solution
    return {
        **fields_of(fit, "model", "parameters"),
        **fields_of(solution, "relative_error", "deviation", "noise"),
        "degrees_of_freedom": solution.degrees,
        "reduced_chi_square": solution.chi_square,
        "runs": [
            {
                **fields_of(measured.run, "nodes", "cores", "size", "time_s"),
                **fields_of(measured, "speed_up", "efficiency"),
                "predicted_s": predicted_s,
            }
            for measured, predicted_s in zip(
                measured_scaling(solution.runs), solution.predicted_s, strict=True
            )
        ],
    }


def draw_figures(study: ScalingStudy, folder: Path, *, law: bool) -> None:
    """Write every figure of a study into a folder."""
    from ridgepoint.show.charts.scaling import scaling_charts
    from ridgepoint.show.draw_mpl import save

    made = common.made_folder(folder)
    for name, chart in scaling_charts(study, law=law).items():
        save(chart, made / f"{name}.svg")
