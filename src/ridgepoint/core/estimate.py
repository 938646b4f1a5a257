"""A measured quantity: its raw samples, and the statistics derived from them."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable


def _interval_rank(n: int) -> int | None:
    """Return k such that order statistics k and n+1-k enclose the median with 95 %, or None.

    The number of samples below the median is binomial(n, 1/2); the largest k with
    P(fewer than k) <= 2.5 % gives the tightest such interval. Below 6 samples there is none.
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
    batches : int or None
        Number of batches of consecutive samples. Samples of one batch are alike, since they share
        the machine's clock and neighbours at that moment; the interval is that of the medians of
        the batches. None: all samples are independent.
    interval : tuple of float or None
        Lower and upper end of an interval that holds the median, where it is known from more than
        the samples; None: derive it from the samples alone.

    Raises
    ------
    ValueError
        If there is no sample or one is not finite, `batches` is less than 1, or the interval does
        not hold the median.

    Notes
    -----
    The interval is the distribution-free 95 % interval of the median by order statistics:
    it assumes independent samples (or batches: the method of batch means, with medians) and
    nothing about their distribution. With fewer than six no such interval exists, and `low` and
    `high` are None. If there are fewer samples than batches, each sample is a batch.

    Examples
    --------
    >>> e = Estimate([2.0, 1.0, 4.0, 3.0, 5.0, 6.0, 7.0, 9.0, 8.0])
    >>> e.n, e.median, e.q1, e.q3, e.low, e.high
    (9, 5.0, 3.0, 7.0, 2.0, 8.0)

    Twelve samples that drift, as six batches of two:

    >>> e = Estimate(range(1, 13), batches=6)
    >>> e.low, e.high
    (1.5, 11.5)
    """

    # Not a dataclass: its JSON form carries the derived statistics too (see documents.py).
    __slots__ = ("batches", "interval", "samples")
    samples: tuple[float, ...]
    batches: int | None
    interval: tuple[float, float] | None

    def __init__(
        self,
        samples: Iterable[float],
        *,
        batches: int | None = None,
        interval: tuple[float, float] | None = None,
    ) -> None:
        values = tuple(float(sample) for sample in samples)
        if not values:
            raise ValueError("samples must hold at least one value")
        for value in values:
            if not math.isfinite(value):
                raise ValueError(f"samples must be finite, got {value!r}")
        if batches is not None and batches <= 0:
            raise ValueError(f"batches must be > 0, got {batches!r}")
        object.__setattr__(self, "samples", values)
        object.__setattr__(self, "batches", batches)
        object.__setattr__(self, "interval", interval)
        if interval is not None and not interval[0] <= self.median <= interval[1]:
            raise ValueError(f"interval must hold the median {self.median!r}, got {interval!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Estimate is a value: {name!r} cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return False
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.samples, self.batches, self.interval

    def __repr__(self) -> str:
        return f"Estimate(median={self.median!r}, low={self.low!r}, high={self.high!r}, n={self.n})"

    def __reduce__(self) -> tuple[Callable[..., Estimate], tuple[object, ...]]:
        return _restored, self._key()

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
        """Lower end of the 95 % interval of the median; None with fewer than six."""
        if self.interval is not None:
            return self.interval[0]
        moments = self.moments
        rank = _interval_rank(len(moments))
        return None if rank is None else moments[rank - 1]

    @property
    def high(self) -> float | None:
        """Upper end of the 95 % interval of the median; None with fewer than six."""
        if self.interval is not None:
            return self.interval[1]
        moments = self.moments
        rank = _interval_rank(len(moments))
        return None if rank is None else moments[-rank]

    @property
    def moments(self) -> list[float]:
        """The independent values behind the samples (batches' medians), ascending."""
        if self.batches is None or self.n <= self.batches:
            return sorted(self.samples)
        ends = [self.n * batch // self.batches for batch in range(self.batches + 1)]
        return sorted(statistics.median(self.samples[a:b]) for a, b in itertools.pairwise(ends))

    @property
    def relative_spread(self) -> float | None:
        """Width of the 95 % interval over the median; None where either is unknown or 0."""
        if self.low is None or self.high is None or self.median == 0:
            return None
        return (self.high - self.low) / abs(self.median)

    def map(self, function: Callable[[float], float]) -> Estimate:
        """Return the estimate of a monotonic function of this quantity, sample by sample."""
        interval = None
        if self.interval is not None:
            low, high = sorted(map(function, self.interval))
            interval = low, high
        return Estimate(map(function, self.samples), batches=self.batches, interval=interval)


def _restored(
    samples: tuple[float, ...], batches: int | None, interval: tuple[float, float] | None
) -> Estimate:
    """Return an estimate that was pickled."""
    return Estimate(samples, batches=batches, interval=interval)


def total(a: Estimate, b: Estimate) -> Estimate:
    """Return the sum of two quantities, each by its median; see `quotient`."""
    return _corners(a, b, lambda x, y: x + y)


def product(a: Estimate, b: Estimate) -> Estimate:
    """Return the product of two quantities >= 0, each by its median; see `quotient`."""
    return _corners(a, b, lambda x, y: x * y)


def quotient(a: Estimate, b: Estimate) -> Estimate:
    """Return the quotient of two quantities, a >= 0 and b > 0, each by its median.

    Returns
    -------
    Estimate
        Its interval holds every quotient of values in both intervals; it has none if neither has.
        What has no interval counts as exact. It is infinite where that of `b` reaches 0.

    Examples
    --------
    >>> quotient(Estimate([2.0], interval=(1.0, 3.0)), Estimate([4.0], interval=(2.0, 5.0)))
    Estimate(median=0.5, low=0.2, high=1.5, n=1)
    """
    return _corners(a, b, lambda x, y: x / y if y else math.inf)


def _corners(a: Estimate, b: Estimate, function: Callable[[float, float], float]) -> Estimate:
    """Return a function, monotonic in both quantities, of their medians and their ends."""
    middle = function(a.median, b.median)
    if a.low is None and b.low is None:
        return Estimate([middle])
    corners = [function(x, y) for x in _ends(a) for y in _ends(b)]
    return Estimate([middle], interval=(min(*corners, middle), max(*corners, middle)))


def _ends(estimate: Estimate) -> tuple[float, float]:
    low, high = estimate.low, estimate.high
    return (estimate.median, estimate.median) if low is None or high is None else (low, high)
