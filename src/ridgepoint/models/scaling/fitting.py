"""Least-squares fits of models to measured runs, with uncertainty and tests of the model.

Residuals are relative, t_model/t - 1, since timing errors are proportional to the time.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Array
from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.runs import Run

Times = Callable[[Array, Array, Array, Array], Array]
"""From a model's values, and cores, nodes and sizes of runs, to their times in seconds."""

_LIKELY = 0.975
"""Quantile of the upper end of a 95 % interval."""
# A model is doubted if, were it true, the data would occur once in a hundred times.
_DOUBT = 0.01
_FEWEST_FOR_TREND = 6
_SHUFFLES = 9999
# Smaller relative deviations are rounding errors.
ROUNDING = 1e-6
# The median of many normal samples scatters more than their mean.
_MEDIAN_VARIANCE = math.pi / 2
# Median of the magnitude of normal noise, over its standard deviation.
_NORMAL_MEDIAN = 0.6745
# Efficiency of Shamos' estimator relative to the standard deviation, for normal noise.
_EFFICIENCY = 0.86
_MOST_PAIRED = 200


class CannotFit(RidgepointError):
    """The measured runs are too few or too similar for the fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A fitted parameter with its uncertainty.

    Parameters
    ----------
    name : str
    unit : str
        Unit of the value; empty: none.
    value : float or None
        Fitted value; None: the runs only give the ends of its interval.
    standard_error : float or None
    low, high : float or None
        95 % interval; None: no such end.
    """

    name: str
    unit: str
    value: float | None
    standard_error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Times by a fitted model: the best, and the ends of the mean's 95 % interval, in seconds."""

    time_s: Array
    low_s: Array
    high_s: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """Values at which a model fits some runs best.

    Parameters
    ----------
    times : callable
        The model: maps values, cores, nodes and sizes to seconds.
    values : ndarray, shape (k,)
    scale : ndarray, shape (k,)
        Typical magnitudes of the values.
    covariance : ndarray, shape (k, k)
        Covariance of the values; 0 for a value that changes no time.
    moves : ndarray of bool, shape (k,)
        Whether a small change of a value changes any time.
    degrees : int
        Degrees of freedom: number of runs minus number of values.
    runs : tuple of Run
    predicted_s : tuple of float
    relative_error : float
        Error of a single timing about the model, root mean square over the degrees of freedom.
    noise : float or None
        Scatter of a single timing about its run's median; None: no run was repeated.
    """

    times: Times
    values: Array
    scale: Array
    covariance: Array
    moves: npt.NDArray[np.bool_]
    degrees: int
    runs: tuple[Run, ...]
    predicted_s: tuple[float, ...]
    relative_error: float
    noise: float | None

    @property
    def residuals(self) -> Array:
        """Model over measured time minus 1, by run."""
        return np.asarray(self.predicted_s) / _medians(self.runs) - 1

    @property
    def deviation(self) -> float:
        """Deviation of the runs' medians from the model, RMS over the degrees of freedom."""
        return math.sqrt(float((self.residuals**2).sum()) / self.degrees)

    @property
    def chi_square(self) -> float | None:
        """Reduced chi-square, about 1 if the model holds; None: the noise is not known."""
        return None if self.noise is None else (self.relative_error / self.noise) ** 2

    @property
    def quantile(self) -> float:
        """Half-width of a 95 % interval in standard errors, by Student's t."""
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, _LIKELY))

    @property
    def standard_errors(self) -> Array:
        """Standard errors of the values."""
        return np.sqrt(np.diag(self.covariance))

    def predict(
        self, cores: npt.ArrayLike, nodes: npt.ArrayLike, sizes: npt.ArrayLike
    ) -> Prediction:
        """Return times with their 95 % interval, which assumes that the model holds."""
        q, p, n = np.broadcast_arrays(
            *(np.asarray(a, dtype=np.float64) for a in (cores, nodes, sizes))
        )
        best = self.times(self.values, q, p, n)
        slopes = []
        for index, value in enumerate(self.values):
            step = np.zeros_like(self.values)
            step[index] = 1e-6 * (value or 1.0)
            slopes.append((self.times(self.values + step, q, p, n) - best) / step[index])
        gradient = np.stack(slopes, axis=-1)
        variance = np.einsum("...i,ij,...j->...", gradient, self.covariance, gradient)
        half = self.quantile * np.sqrt(np.maximum(variance, 0.0))
        return Prediction(time_s=best, low_s=np.maximum(best - half, 0.0), high_s=best + half)


def solve(
    times: Times,
    runs: Sequence[Run],
    *,
    size: float,
    starts: Sequence[Array],
    scale: Array,
    upper: Array | None = None,
) -> Solution:
    """Return the non-negative values at which a model fits some runs best.

    Parameters
    ----------
    times : callable
    runs : sequence of Run
    size : float
        Problem size of runs that state none.
    starts : sequence of ndarray
        Start values over `scale`; the best result is returned.
    scale : ndarray
        Typical magnitudes of the values.
    upper : ndarray or None
        Upper limits of the values, over `scale`; None: no limits.

    Raises
    ------
    CannotFit
        If runs with different settings are not more than the values.
    """
    from scipy.optimize import least_squares

    k = scale.size
    require_enough(runs, k)
    residuals = relative_residuals(times, runs, size)
    least = np.zeros(k)
    most = np.full(k, np.inf) if upper is None else upper
    fits = [
        least_squares(
            lambda scaled: residuals(scaled * scale),
            np.clip(start, 1e-9, most * (1 - 1e-9)), bounds=(least, most),
            xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=1000,
        )
        for start in starts
    ]  # fmt: skip
    best = min(fits, key=lambda fit: float(fit.cost))
    degrees = len(runs) - k
    variance = 2 * float(best.cost) / degrees
    inverse, moves = _inverse(np.asarray(best.jac))
    values = np.asarray(best.x) * scale
    return Solution(
        times=times,
        values=values,
        scale=scale,
        covariance=variance * inverse * np.outer(scale, scale),
        moves=moves,
        degrees=degrees,
        runs=tuple(runs),
        predicted_s=tuple(times(values, *settings(runs, size)).tolist()),
        relative_error=math.sqrt(variance),
        noise=_noise(runs),
    )


def relative_residuals(times: Times, runs: Sequence[Run], size: float) -> Callable[[Array], Array]:
    """Return a function of the values: each run's deviation, weighted by its repeats."""
    q, p, n = settings(runs, size)
    measured, weights = _medians(runs), np.sqrt(_effective(runs))

    def residuals(values: Array) -> Array:
        deviation: Array = (times(values, q, p, n) / measured - 1) * weights
        return deviation

    return residuals


def require_enough(runs: Sequence[Run], parameters: int) -> None:
    """Refuse runs that are too few to fit this many parameters and test the model.

    Raises
    ------
    CannotFit
        If runs with different settings are not more than the parameters.
    """
    different = len({(run.cores, run.nodes, run.size) for run in runs})
    if different <= parameters:
        raise CannotFit(
            f"cannot fit {parameters} parameter{'s' * (parameters > 1)}",
            reason=(
                f"the runs have only {different} different settings, and at least "
                f"{parameters + 1} are needed to see whether the model holds"
            ),
            remedy="measure more numbers of cores, nodes or sizes, or give some of the parameters",
        )


def settings(runs: Sequence[Run], size: float) -> tuple[Array, Array, Array]:
    """Return cores, nodes and sizes of runs; `size` where a run names none."""
    return (
        np.array([run.cores for run in runs], dtype=np.float64),
        np.array([run.nodes for run in runs], dtype=np.float64),
        np.array([size if run.size is None else run.size for run in runs], dtype=np.float64),
    )


def doubts(solution: Solution) -> tuple[Caution, ...]:
    """Return reasons why the model may not hold: deviations beyond noise, or systematic ones."""
    cautions = [_beyond_noise(solution), _trend(solution)]
    if solution.noise is None:
        cautions.append(
            Caution(
                code="no-repeats",
                seen="no run was repeated, so noise cannot be told from a wrong model",
                remedy="repeat runs: give several rows that differ only in their time",
            )
        )
    return tuple(caution for caution in cautions if caution is not None)


def _beyond_noise(solution: Solution) -> Caution | None:
    """Compare the scatter about the model with that of repeats: the F test of lack of fit."""
    from scipy.special import fdtrc

    error, noise, ratio = solution.relative_error, solution.noise, solution.chi_square
    if noise is None or ratio is None or error < ROUNDING:
        return None
    repeats = _EFFICIENCY * sum(run.time_s.n - 1 for run in solution.runs)
    if fdtrc(solution.degrees, repeats, ratio) >= _DOUBT:
        return None
    return Caution(
        code="model-does-not-hold",
        seen=(
            "the runs differ from the model by more than repeats differ from each other: "
            f"reduced chi-square {ratio:.3g} (about 1 is expected), largest deviation "
            f"{_worst(solution):.1%}"
        ),
        remedy=(
            "try another model (overlap, network, law), check the counts of work and bytes, "
            "and do not trust the model beyond the runs"
        ),
    )


def _trend(solution: Solution) -> Caution | None:
    """Test whether neighbours deviate alike, by shuffling (von Neumann's ratio)."""
    residuals = solution.residuals
    if residuals.size < _FEWEST_FOR_TREND or np.abs(residuals).max() < ROUNDING:
        return None
    order = sorted(
        range(residuals.size),
        key=lambda i: (
            solution.runs[i].nodes, solution.runs[i].cores, solution.runs[i].size or 0.0
        ),
    )  # fmt: skip
    ordered = residuals[order]
    shuffled = np.random.default_rng(0).permuted(np.tile(ordered, (_SHUFFLES, 1)), axis=1)
    own, others = _roughness(ordered), _roughness(shuffled)
    if (np.count_nonzero(others <= own) + 1) / (_SHUFFLES + 1) >= _DOUBT:
        return None
    return Caution(
        code="systematic-residuals",
        seen=(
            "neighbouring runs deviate from the model in the same direction, by up to "
            f"{_worst(solution):.1%}, as noise would not"
        ),
        remedy="try another model (overlap, network, law); the intervals are too narrow",
    )


def _roughness(values: Array) -> Array:
    return np.asarray((np.diff(values, axis=-1) ** 2).sum(axis=-1))


def _worst(solution: Solution) -> float:
    return float(np.abs(solution.residuals).max())


def _inverse(jacobian: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return (J^T J)^-1, with 0 for a value that changes no time, and whether each value does."""
    lengths = np.linalg.norm(jacobian, axis=0)
    moves = lengths > 1e-9 * max(float(lengths.max()), 1e-300)
    inverse = np.zeros((lengths.size, lengths.size))
    unit = jacobian[:, moves] / lengths[moves]
    inverse[np.ix_(moves, moves)] = np.linalg.pinv(unit.T @ unit) / np.outer(
        lengths[moves], lengths[moves]
    )
    return inverse, moves


def _medians(runs: Sequence[Run]) -> Array:
    return np.array([run.time_s.median for run in runs])


def _effective(runs: Sequence[Run]) -> Array:
    """Return the number of single timings that a run's median is worth."""
    return np.array(
        [run.time_s.n / (_MEDIAN_VARIANCE if run.time_s.n > 2 else 1.0) for run in runs]
    )


def _noise(runs: Sequence[Run]) -> float | None:
    """Return the scatter of repeats as a share of their median, by Shamos' estimator.

    It is the median distance of all pairs of repeats: a single disturbed repeat counts little.
    """
    distances = [
        abs(pair - other) / run.time_s.median
        for run in runs
        for pair, other in itertools.combinations(_some(run.time_s.samples), 2)
    ]
    if not distances:
        return None
    # Identical repeats were not measured finely enough to show noise.
    return statistics.median(distances) / (math.sqrt(2) * _NORMAL_MEDIAN) or None


def _some(samples: Sequence[float]) -> Sequence[float]:
    """Return the samples, or an even selection of many: their pairs grow with the square."""
    return samples[:: math.ceil(len(samples) / _MOST_PAIRED)]
