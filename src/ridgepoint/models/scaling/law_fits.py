"""Laws of speed-up, fitted to measured runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ridgepoint.core.amounts import Array
from ridgepoint.core.caution import Caution
from ridgepoint.core.runs import Run
from ridgepoint.models.scaling import Scaling
from ridgepoint.models.scaling.fits import Fit
from ridgepoint.models.scaling.fitting import (
    CannotFit,
    Parameter,
    Solution,
    doubts,
    require_enough,
    solve,
)
from ridgepoint.models.scaling.speed_up_laws import usl_scaling

Law = Literal["amdahl", "usl"]


def fit_law(runs: Sequence[Run], law: Law) -> Fit:
    """Fit Amdahl's law, or Gunther's universal scalability law, to measured runs.

    Parameters
    ----------
    runs : sequence of Run
        Runs of one problem; processors are the cores of all nodes.
    law : {"amdahl", "usl"}

    Raises
    ------
    CannotFit
        If the runs are too few, or all use the same number of processors.
    """
    sizes = {run.size for run in runs}
    if len(sizes) > 1:
        raise CannotFit(
            "cannot fit a law of speed-up",
            reason="the runs are of several sizes, and a law of speed-up describes one size",
            remedy="keep the runs of one size only, or fit a case study",
        )
    is_usl = law == "usl"
    require_enough(
        tuple(replace(run, cores=run.processors, nodes=1) for run in runs), 3 if is_usl else 2
    )

    def scaling(values: Array) -> Scaling:
        return usl_scaling(
            alone_s=max(float(values[0]), 1e-300),
            contention=min(float(values[1]), 1.0),
            coherence=float(values[2]) if is_usl else 0.0,
        )

    def times(values: Array, cores: Array, nodes: Array, sizes: Array) -> Array:
        return np.asarray(scaling(values).bound_at(1, cores * nodes).time_s)

    start, scale = _law_start(runs, is_usl)
    upper = np.array([np.inf, 1.0 / scale[1], np.inf][: scale.size])
    solution = solve(times, runs, size=1.0, starts=[start], scale=scale, upper=upper)
    parameters, cautions = _law_parameters(solution, is_usl)
    return Fit(
        model="universal scalability law" if is_usl else "Amdahl's law",
        parameters=parameters,
        scaling=lambda size: scaling(solution.values),
        solution=solution,
        cautions=(*doubts(solution), *cautions),
    )


def _law_start(runs: Sequence[Run], is_usl: bool) -> tuple[Array, Array]:
    """Return start and scale: the law is linear in T1, T1 sigma and T1 kappa."""
    from scipy.optimize import nnls

    n = np.array([run.processors for run in runs], dtype=np.float64)
    measured = np.array([run.time_s.median for run in runs])
    columns = np.stack([1 / n, (n - 1) / n, n - 1][: 3 if is_usl else 2], axis=1)
    solution = nnls(columns / measured[:, None], np.ones_like(n))[0]
    alone = solution[0] or float((n * measured).min())
    values = np.array([alone, *(np.clip(solution[1:] / alone, 0.0, 1.0))])
    scale = np.array([alone, *(max(value, 1e-3 / n.max()) for value in values[1:])])
    return values / scale, scale


def _law_parameters(
    solution: Solution, is_usl: bool
) -> tuple[tuple[Parameter, ...], tuple[Caution, ...]]:
    names = ["time of one processor", "contention" if is_usl else "serial share", "coherence"]
    parameters, cautions = [], []
    for index, value in enumerate(solution.values):
        error = float(solution.standard_errors[index])
        half = solution.quantile * error
        parameters.append(
            Parameter(
                name=names[index],
                unit="" if index else "s",
                value=float(value),
                standard_error=error,
                low=max(float(value) - half, 0.0),
                high=float(value) + half if index != 1 else min(float(value) + half, 1.0),
            )
        )
        if index and value - half <= 0:
            cautions.append(
                Caution(
                    code="undetermined",
                    seen=(
                        f"the interval of {names[index]} reaches 0, its lower limit: the runs "
                        "do not show that there is any"
                    ),
                    remedy=f"measure on more processors, or fit a law without {names[index]}",
                )
            )
    return tuple(parameters), tuple(cautions)
