"""A measured quantity: its raw samples, and the statistics derived from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable


def _interval_rank(n: int) -> int | None:
    """Return k so that order statistics k and n+1-k hold the median with 95 %, or None.

    The number of samples below the median is binomial(n, 1/2); the largest k with
    P(fewer than k) <= 2.5 % gives the tightest such interval. Fewer than 6 samples have none.
    """
    below, rank = 0, None
    for k in range(n):
        below += math.comb(n, k)
        if below > 0.025 * 2**n:
            break
        rank = k + 1
    return rank


class Estimate:
    """Samples of one quantity; every statistic is derived from them.

    Parameters
    ----------
    samples : iterable of float
        At least one; finite. In the quantity's base unit, in the order they were taken.

    Raises
    ------
    ValueError
        If there is no sample, or one is not finite.

    Notes
    -----
    The interval is the distribution-free 95 % interval of the median by order statistics:
    it assumes independent samples and nothing about their distribution. With fewer than six
    samples no such interval exists, and `low` and `high` are None.

    Examples
    --------
    >>> e = Estimate([2.0, 1.0, 4.0, 3.0, 5.0, 6.0, 7.0, 9.0, 8.0])
    >>> e.n, e.median, e.q1, e.q3, e.low, e.high
    (9, 5.0, 3.0, 7.0, 2.0, 8.0)
    """

    # Not a dataclass: its JSON form carries the derived statistics too (see documents.py).
    __slots__ = ("samples",)
    samples: tuple[float, ...]

    def __init__(self, samples: Iterable[float]) -> None:
        values = tuple(float(sample) for sample in samples)
        if not values:
            raise ValueError("samples must hold at least one value")
        for value in values:
            if not math.isfinite(value):
                raise ValueError(f"samples must be finite, got {value!r}")
        object.__setattr__(self, "samples", values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Estimate is a value: {name!r} cannot be set")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Estimate) and self.samples == other.samples

    def __hash__(self) -> int:
        return hash(self.samples)

    def __repr__(self) -> str:
        return f"Estimate(median={self.median!r}, low={self.low!r}, high={self.high!r}, n={self.n})"

    def __reduce__(self) -> tuple[type[Estimate], tuple[tuple[float, ...]]]:
        return Estimate, (self.samples,)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.samples)

    @property
    def median(self) -> float:
        """Median of the samples."""
        return statistics.median(self.samples)

    def _quartile(self, index: int) -> float:
        if self.n == 1:
            return self.samples[0]
        return statistics.quantiles(self.samples, n=4, method="inclusive")[index]

    @property
    def q1(self) -> float:
        """First quartile (linear interpolation)."""
        return self._quartile(0)

    @property
    def q3(self) -> float:
        """Third quartile (linear interpolation)."""
        return self._quartile(2)

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % interval of the median; None with fewer than six samples."""
        rank = _interval_rank(self.n)
        return None if rank is None else sorted(self.samples)[rank - 1]

    @property
    def high(self) -> float | None:
        """Upper end of the 95 % interval of the median; None with fewer than six samples."""
        rank = _interval_rank(self.n)
        return None if rank is None else sorted(self.samples)[-rank]

    @property
    def relative_spread(self) -> float | None:
        """Width of the 95 % interval over the median; None where either is unknown or 0."""
        if self.low is None or self.high is None or self.median == 0:
            return None
        return (self.high - self.low) / abs(self.median)

    def map(self, function: Callable[[float], float]) -> Estimate:
        """Return the estimate of a function of this quantity, sample by sample."""
        return Estimate(function(sample) for sample in self.samples)
