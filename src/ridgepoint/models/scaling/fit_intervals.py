"""Intervals of fitted values where the model has kinks and slopes at the optimum mislead."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ridgepoint.core.amounts import Array
from ridgepoint.models.scaling.fitting import Solution, relative_residuals

# Relative tolerance of an interval's end.
_FINE = 1e-3
_FARTHEST = 1e9


def profile_interval(solution: Solution, index: int, *, size: float) -> tuple[float, float]:
    """Return the 95 % interval of one value by profile likelihood.

    Parameters
    ----------
    solution : Solution
    index : int
        Index of the value.
    size : float
        Problem size of runs that state none.

    Returns
    -------
    tuple of float
        Ends of the range in which the other values can be chosen so that the sum of squares grows
        by at most ``s^2 t^2``, with Student's t; 0 or infinity if there is no such end.

    Notes
    -----
    Slopes would determine a resource exactly if it happens to limit one run; the profile shows
    how much worse the model is without it.
    """
    degrees = solution.degrees
    best = degrees * solution.relative_error**2
    allowed = best * (1 + solution.quantile**2 / degrees)
    unit = float(solution.scale[index])
    # A value too small to be seen has no lower end.
    value = max(float(solution.values[index]), 1e-9 * unit)
    near = solution.values

    def squares(candidate: float) -> float:
        nonlocal near
        least, near = _best_without(solution, index, candidate, near, size)
        return least

    low = 0.0 if squares(0.0) <= allowed else None
    near = solution.values
    if low is None:
        outside = value
        while squares(outside) <= allowed and outside > unit / _FARTHEST:
            outside /= 2
        low = _end(squares, min(outside * 2, value), outside, allowed)
    near, outside = solution.values, value
    while squares(outside) <= allowed:
        outside *= 2
        if outside > unit * _FARTHEST:
            return low, math.inf
    return low, _end(squares, max(outside / 2, value), outside, allowed)


def _end(squares: Callable[[float], float], inside: float, outside: float, allowed: float) -> float:
    """Return where the sum of squares exceeds the allowed one."""
    while abs(outside / inside - 1) > _FINE:
        middle = math.sqrt(inside * outside)
        if squares(middle) <= allowed:
            inside = middle
        else:
            outside = middle
    return math.sqrt(inside * outside)


def _best_without(
    solution: Solution, index: int, value: float, start: Array, size: float
) -> tuple[float, Array]:
    """Return the least sum of squares with one value fixed, and the other values there."""
    from scipy.optimize import least_squares

    residuals = relative_residuals(solution.times, solution.runs, size)
    scale, others = solution.scale, np.arange(solution.values.size) != index
    values = start.copy()
    values[index] = value

    def held(scaled: Array) -> Array:
        values[others] = scaled * scale[others]
        return residuals(values)

    if not others.any():
        return float((residuals(values) ** 2).sum()), values
    fits = [
        least_squares(held, np.maximum(begin[others] / scale[others], 1e-9), bounds=(0.0, np.inf))
        for begin in (start, solution.values)
    ]
    best = min(fits, key=lambda fit: float(fit.cost))
    values[others] = best.x * scale[others]
    return 2 * float(best.cost), values
