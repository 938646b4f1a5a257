"""What caches moved during a whole program, from bursts in which all of its accesses were seen.

Between bursts nothing is seen. A burst meets lines of which nobody knows whether a cache still
holds them: they are in the intervals, missed at one end and found at the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_ROUNDS = 1000  # of the bootstrap
_FEWEST = 5  # bursts, of which fewer say nothing of how much they differ
_QUANTILE = 1.96
_SURE = 0.02  # of what a burst moved, may be unknown for it to be taken as known


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A number, and two between which it is believed to lie.

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
    """What crossed one side of one cache in a burst, in one direction.

    Parameters
    ----------
    words : ndarray, shape (parts + 1,)
        How far the burst was at the ends of its parts, from 0 on.
    lines : ndarray, shape (parts + 1,)
        Lines up to there, if the cache was at the beginning as the burst before left it.
    too_many, too_few : ndarray, shape (parts + 1,)
        Of these, those that may not have crossed it; and others that may have.
    """

    words: Floats
    lines: Floats
    too_many: Floats
    too_few: Floats

    @property
    def rates(self) -> tuple[float, float, float]:
        """Lines per word: as they were seen, at least, at most.

        They are those of the later parts, from the first on after which next to nothing is
        unknown; of the second half at least.
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
    """Return what crossed during a whole program; None: there are too few bursts to tell.

    Parameters
    ----------
    bursts : sequence of Moved
    weights : sequence of float
        Of how much of the program each is a sample, in any unit; 0: nobody knows, as the others.
    words : float
        What the program did while nothing was seen, and in the bursts.
    before : float
        What crossed in a part that is not in `words`, and was seen completely.
    most : float
        What is known to be the most that can cross in all.
    unseen : float
        What may have crossed at least, for all that anybody knows, while nothing was seen.
    seed : int
        Of the bootstrap.
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
    """Return ends of the mean rate: the least and the most of each burst, and how these differ.

    Bursts are drawn with replacement, which makes them differ too little; the interval is widened
    for that, and as Student's is, since they are few.
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
