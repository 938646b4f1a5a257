"""The rates of the scaling model, fitted to measured runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Array
from ridgepoint.core.bound import Overlap
from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Machine
from ridgepoint.core.rates import Network, ideal_machine
from ridgepoint.core.runs import Run
from ridgepoint.core.units import format_si
from ridgepoint.models.scaling import Problem, Scaling, nothing
from ridgepoint.models.scaling.fit_intervals import profile_interval
from ridgepoint.models.scaling.fitting import (
    ROUNDING,
    CannotFit,
    Parameter,
    Solution,
    doubts,
    require_enough,
    settings,
    solve,
)

_NAMES: Mapping[str, tuple[str, str, str]] = {
    # Path of a bound: name of the parameter, unit, option of the command line.
    "compute": ("core rate", "flop/s", "--core-rate"),
    "dram": ("memory bandwidth", "byte/s", "--memory"),
    "network": ("link bandwidth", "byte/s", "--link"),
}
# Share of a run's time below which a contribution is not seen.
_UNSEEN = 1e-4
# Columns of the normalised demands closer to each other than this count as equal.
_ALIKE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A model fitted to runs.

    Parameters
    ----------
    model : str
        Description in words.
    parameters : tuple of Parameter
        Fitted parameters, without the given ones.
    scaling : callable
        Maps a problem's size to its scaling with the fitted values.
    solution : Solution
        Residuals, covariance, predictions with their interval.
    cautions : tuple of Caution
        Why the model may not hold, or may mislead.
    """

    model: str
    parameters: tuple[Parameter, ...]
    scaling: Callable[[float], Scaling]
    solution: Solution
    cautions: tuple[Caution, ...]

    def parameter(self, name: str) -> Parameter:
        """Return a fitted parameter.

        Raises
        ------
        KeyError
            If none has this name.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rates:
    """The known and the free rates of a fit, and the scaling that they give."""

    problem: Callable[[npt.ArrayLike], Problem]
    machine: Machine | None
    given: Mapping[str, float | None]
    free: tuple[str, ...]
    cores: int
    network: Network
    overlap: Overlap
    latency_s: float | None

    def scaling(self, seconds: Array, size: npt.ArrayLike) -> Scaling:
        """Return the scaling for given seconds per operation or byte of the free rates."""
        rates = dict(self.given)
        for path, value in zip(self.free, seconds, strict=True):
            rates[path] = 1 / max(float(value), 1e-300)
        problem = self.problem(size)
        machine = self.machine
        if machine is None:
            machine = ideal_machine(
                core_rate=rates["compute"] or 1.0,
                memory_bytes_per_s=rates["dram"],
                cores=self.cores,
                work=problem.work,
            )
        return Scaling(
            problem=problem,
            machine=machine,
            network=self.network,
            link_bytes_per_s=rates["network"],
            overlap=self.overlap,
            latency_s=self.latency_s,
        )

    def times(self, seconds: Array, cores: Array, nodes: Array, sizes: Array) -> Array:
        least = self.scaling(seconds, sizes).bound_at(cores, nodes)
        return np.asarray(least.time_s, dtype=np.float64) + np.zeros_like(cores)

    def amounts(self, runs: Sequence[Run], size: float) -> tuple[Array, Array]:
        """Return each run's seconds per unit of each free rate, and those of all given rates."""
        q, p, n = settings(runs, size)
        least = self.scaling(np.ones(len(self.free)), n).bound_at(q, p)
        latency = np.asarray(least.constraints_s.get("latency", 0.0)) + np.zeros_like(q)
        parts = {
            path: np.asarray(part) - (latency if path == "network" else 0.0)
            for path, part in least.times_s.items()
        }
        columns = [parts.get(path, 0.0) + np.zeros_like(q) for path in self.free]
        rest = [part + np.zeros_like(q) for path, part in parts.items() if path not in self.free]
        return np.stack(columns, axis=1), np.sum([*rest, latency], axis=0)


def fit_rates(
    runs: Sequence[Run],
    problem: Callable[[npt.ArrayLike], Problem],
    *,
    size: float = 1.0,
    core_rate: float | None = None,
    memory_bytes_per_s: float | None = None,
    link_bytes_per_s: float | None = None,
    machine: Machine | None = None,
    cores: int | None = None,
    network: Network = "shared",
    overlap: Overlap = "none",
    latency_s: float | None = None,
) -> Fit:
    """Fit the rates of a machine to measured runs.

    Parameters
    ----------
    runs : sequence of Run
    problem : callable
        Maps an array of sizes to the problem, such as
        `ridgepoint.models.scaling.case_studies.matrix_product_1d`.
    size : float
        Problem size of runs that state none.
    core_rate, memory_bytes_per_s, link_bytes_per_s : float or None
        l_c, b_m, b_cl as given; None: fitted, if the problem needs it.
    machine : Machine or None
        A node whose ceilings are known; then only the link is fitted.
    cores : int or None
        Number of cores of a node; None: the most that a run uses.
    network : {"shared", "parallel"}
    overlap : {"none", "full"} or float
    latency_s : float or None
        Latency of a message, in seconds, as given: it is not fitted. None: not counted.

    Raises
    ------
    CannotFit
        If all rates are given, the machine has fewer cores than a run, or the runs are too few or
        cannot tell two rates apart.

    Notes
    -----
    The fit determines seconds per operation and per byte, in which the model without overlap is
    linear. Their intervals are inverted; with overlap they follow from the profile of the squares.
    If the interval of the seconds reaches 0, the rate has no upper end: the runs only give its
    lower limit.
    """
    probe = problem(np.asarray([size]))
    given = {"compute": core_rate, "dram": memory_bytes_per_s, "network": link_bytes_per_s}
    needed = {
        "compute": machine is None,
        "dram": machine is None and bool(np.any(np.asarray(probe.dram_bytes) > 0)),
        "network": probe.exchanged_bytes is not nothing,
    }
    free = tuple(path for path in given if needed[path] and given[path] is None)
    most = max(run.cores for run in runs)
    _require_open(free, [path for path in given if needed[path]], machine, most)
    rates = _Rates(
        problem=problem,
        machine=machine,
        given=given,
        free=free,
        cores=max(cores or 1, most),
        network=network,
        overlap=overlap,
        latency_s=latency_s,
    )
    require_enough(runs, len(free))
    columns, rest = rates.amounts(runs, size)
    measured = np.array([run.time_s.median for run in runs])
    _require_apart(columns / measured[:, None], free)
    scale = np.array([np.median(measured[c > 0] / c[c > 0]) for c in columns.T])
    starts = _starts(columns * scale / measured[:, None], 1 - rest / measured)
    solution = solve(rates.times, runs, size=size, starts=starts, scale=scale)
    solution, parameters, cautions = _rates_of(solution, rates, columns, size)
    return Fit(
        model="cores, memory and network",
        parameters=parameters,
        scaling=lambda n: rates.scaling(solution.values, n),
        solution=solution,
        cautions=(*doubts(solution), *cautions),
    )


def _require_open(
    free: Sequence[str], needed: Sequence[str], machine: Machine | None, most: int
) -> None:
    """Refuse if no rate is left to be fitted, or if a run uses more cores than the machine has."""
    if not free:
        raise CannotFit(
            "cannot fit the machine to the runs",
            reason="no rate remains to be fitted",
            remedy="leave out " + " or ".join(_NAMES[path][2] for path in _NAMES if path in needed),
        )
    if machine is not None and most > machine.cores:
        raise CannotFit(
            "cannot fit the network to the runs",
            reason=(
                f"the runs use up to {most} cores of a node, and {machine.name} has {machine.cores}"
            ),
            remedy=(
                "name the machine on which the runs were made, or name none to fit its rates too"
            ),
        )


def _require_apart(columns: Array, free: Sequence[str]) -> None:
    """Refuse runs in which a rate plays no part, or two rates always play the same part."""
    for path, column in zip(free, columns.T, strict=True):
        name, _, option = _NAMES[path]
        if not column.any():
            raise CannotFit(
                f"cannot fit the {name}",
                reason="no run uses it",
                remedy=f"measure runs on several nodes, or give its value ({option})",
            )
    unit = columns / np.linalg.norm(columns, axis=0)
    strengths, directions = np.linalg.svd(unit)[1:]
    if strengths[-1] > _ALIKE:
        return
    alike = [path for path, part in zip(free, directions[-1], strict=True) if abs(part) > 0.1]
    names = " and ".join(_NAMES[path][0] for path in alike)
    vary = "nodes and cores" if "network" in alike else "cores of a node"
    raise CannotFit(
        f"cannot fit {names} together",
        reason="their shares are alike in all runs, so the runs cannot tell them apart",
        remedy=f"measure several numbers of {vary}, or give one of them "
        f"({' or '.join(_NAMES[path][2] for path in alike)})",
    )


def _starts(columns: Array, target: Array) -> list[Array]:
    """Return start values: all shares equal, one alone, and the best without overlap."""
    from scipy.optimize import nnls

    k = columns.shape[1]
    alone = [np.where(np.arange(k) == index, 1.0, 1e-3) for index in range(k)]
    best = nnls(columns, np.maximum(target, 0.0))[0]
    return [np.maximum(best, 1e-6), np.full(k, 1 / k), *alone]


def _rates_of(
    solution: Solution, rates: _Rates, columns: Array, size: float
) -> tuple[Solution, tuple[Parameter, ...], tuple[Caution, ...]]:
    """Return rates with intervals, and the solution completed for rates without an interval."""
    values = solution.values.copy()
    parameters, cautions = [], []
    for index, path in enumerate(rates.free):
        name, unit, option = _NAMES[path]
        parameter = _rate(solution, index, columns[:, index], rates.overlap, size)
        parameters.append(replace(parameter, name=name, unit=unit))
        if parameter.value is None and parameter.low is not None:
            values[index] = 1 / parameter.low
        if parameter.high is None:
            cautions.append(
                Caution(
                    code="undetermined",
                    seen=(
                        f"the runs do not determine the {name}: they only show that it is at "
                        "least "
                        f"{format_si(parameter.low or 0.0, unit.replace('byte', 'B'), digits=3)}"
                    ),
                    remedy=f"measure runs that are limited by it, or give its value ({option})",
                )
            )
    return replace(solution, values=values), tuple(parameters), tuple(cautions)


def _rate(
    solution: Solution, index: int, column: Array, overlap: Overlap, size: float
) -> Parameter:
    """Return one rate, without a name, from the fitted seconds, and its interval."""
    seconds, error = float(solution.values[index]), float(solution.standard_errors[index])
    predicted = np.asarray(solution.predicted_s)
    if not solution.moves[index]:
        # It limits no run: it may be as slow as it can be without limiting one.
        used = column > 0
        low = float((column[used] / predicted[used]).max())
        return Parameter(name="", unit="", value=None, standard_error=None, low=low, high=None)
    if overlap == "none" or solution.relative_error < ROUNDING:
        half = solution.quantile * error
        least, most = max(seconds - half, 0.0), seconds + half
    else:
        least, most = profile_interval(solution, index, size=size)
    is_seen = bool((seconds * column / predicted).max() > _UNSEEN)
    return Parameter(
        name="",
        unit="",
        value=1 / seconds if is_seen else None,
        standard_error=error / seconds**2 if is_seen and least > 0 else None,
        low=1 / most,
        high=1 / least if is_seen and least > 0 else None,
    )
