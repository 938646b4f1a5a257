"""The traffic of caches over a whole program, from bursts in which all accesses were recorded.

Nothing is recorded between bursts. A burst accesses lines that a cache may or may not still hold:
the intervals count them as misses at one end and as hits at the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_ROUNDS = 1000  # of the bootstrap
_FEWEST = 5  # bursts; fewer do not show how much they differ
_QUANTILE = 1.96
_SURE = 0.02  # share of a burst's traffic that may be unknown for it to count as known


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A number and the ends of its interval.

    Parameters
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Tell whether a value lies in it."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moved:
    """Traffic on one side of one cache in a burst, in one direction.

    Parameters
    ----------
    words : ndarray, shape (parts + 1,)
        Words of the access record up to the ends of the burst's parts, from 0 on.
    lines : ndarray, shape (parts + 1,)
        Lines moved up to there if the cache began in the state in which the last burst left it.
    too_many, too_few : ndarray, shape (parts + 1,)
        Lines counted in `lines` that may not have moved; further lines that may have moved.
    """

    words: Floats
    lines: Floats
    too_many: Floats
    too_few: Floats

    @property
    def rates(self) -> tuple[float, float, float]:
        """Lines per word: as recorded, lower limit, upper limit.

        Taken from the later parts only, starting where almost nothing is unknown any more; at least
        from the second half.
        """
        parts = len(self.words) - 1
        for begin in range(parts // 2 + 1):
            seen, fewer, more = (
                column[-1] - column[begin] for column in (self.lines, self.too_many, self.too_few)
            )
            if fewer + more <= _SURE * (seen + more):
                break
        words = max(self.words[-1] - self.words[begin], 1.0)
        return seen / words, max(seen - fewer, 0.0) / words, (seen + more) / words


def estimate(
    bursts: Sequence[Moved],
    *,
    weights: Sequence[float],
    words: float,
    before: float = 0.0,
    most: float = math.inf,
    unseen: float = 0.0,
    seed: int = 0,
) -> Interval | None:
    """Return the traffic over a whole program; None: there are too few bursts to tell.

    Parameters
    ----------
    bursts : sequence of Moved
    weights : sequence of float
        Part of the program that each burst samples, in any unit; 0: unknown, weighted like others.
    words : float
        Length of the whole program in such words, between and within bursts.
    before : float
        Traffic of a part that is not in `words`, and was recorded completely.
    most : float
        Known upper limit of the total traffic.
    unseen : float
        Traffic that may have occurred while nothing was recorded: the high end is no less.
    seed : int
        Seed of the bootstrap.
    """
    if words <= 0:
        return Interval(value=before, low=before, high=before)
    if len(bursts) < _FEWEST:
        return None
    rates = np.array([burst.rates for burst in bursts])
    shares = np.array(weights, float)
    shares[shares <= 0] = shares[shares > 0].mean() if np.any(shares > 0) else 1.0
    value = float(shares @ rates[:, 0] / shares.sum())
    low, high = _ends(rates, shares, seed)
    most = max(most, before)
    value, low, high = (min(before + words * share, most) for share in (value, low, high))
    return Interval(value=value, low=min(low, value), high=max(high, value, min(unseen, most)))


def _ends(rates: Floats, shares: Floats, seed: int) -> tuple[float, float]:
    """Return the ends of the mean rate, from the ends of each burst and their variation.

    Bursts are drawn with replacement, which underestimates their variation; the interval is widened
    for that, and by Student's t, since they are few.
    """
    from scipy.special import stdtrit

    n = len(rates)
    drawn = np.random.default_rng(seed).integers(0, n, (_ROUNDS, n))
    totals = shares[drawn].sum(axis=1)
    least = (shares[drawn] * rates[drawn, 1]).sum(axis=1) / totals
    most = (shares[drawn] * rates[drawn, 2]).sum(axis=1) / totals
    widened = stdtrit(n - 1, 0.975) / _QUANTILE * math.sqrt(n / (n - 1))
    means = (shares @ rates[:, 1:]) / shares.sum()
    low = means[0] - widened * (means[0] - np.quantile(least, 0.025))
    high = means[1] + widened * (np.quantile(most, 0.975) - means[1])
    return max(float(low), 0.0), float(high)
