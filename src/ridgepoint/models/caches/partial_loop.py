"""What a whole loop does, from calls that do some of its rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ridgepoint.models.caches.burst_estimate import Interval

_FEWEST = 3  # calls; two do not show whether the amounts lie on a line


def of_whole_loop(rounds: Sequence[int], amounts: Sequence[int], length: float) -> Interval:
    """Return an amount of a whole loop, with its 95 % interval.

    Parameters
    ----------
    rounds : sequence of int
        Rounds of each call, ascending, evenly apart within the loop.
    amounts : sequence of int
        What each call did, for example the bytes that it read.
    length : float
        Rounds of the whole loop.

    Raises
    ------
    ValueError
        If there are fewer than three calls.

    Notes
    -----
    A line is fitted: what the first round alone does, such as filling the caches, is its
    intercept, and what each round adds is its slope. The interval is that of a prediction by
    linear regression [1]_: it is wide where the amounts do not lie on a line, because the caches
    have not settled or because the rounds differ.

    References
    ----------
    .. [1] N. Draper, H. Smith, "Applied Regression Analysis", 3rd edition, 1998, section 3.1.

    Examples
    --------
    >>> of_whole_loop([2, 4, 6], [120, 140, 160], 1000)
    Interval(value=10100.0, low=10100.0, high=10100.0)
    """
    if len(rounds) < _FEWEST or len(rounds) != len(amounts):
        raise ValueError(f"{_FEWEST} calls or more are needed, got {list(rounds)!r}")
    from scipy.special import stdtrit

    n, free = len(rounds), len(rounds) - 2
    x, y = np.array(rounds, float), np.array(amounts, float)
    away = x - x.mean()
    slope = float(away @ y / (away @ away))
    value = float(y.mean() + slope * (length - x.mean()))
    residuals = y - y.mean() - slope * away
    spread = math.sqrt(float(residuals @ residuals) / free)
    error = spread * math.sqrt(1 / n + (length - x.mean()) ** 2 / float(away @ away))
    half = float(stdtrit(free, 0.975)) * error
    return Interval(value=value, low=max(value - half, 0.0), high=value + half)
