"""The gain between two measured times: how sure it is, and whether there is one at all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.core.estimate import Estimate

Verdict = Literal["gain", "loss", "no difference seen", "unknown"]

_TAIL = 0.025
_NEGLIGIBLE = 1e-5  # of the confidence: gaps beyond are joined, so that many samples cost no time
_PARTS = 200  # of an interval that comes without samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How many times as fast something is as something else.

    Parameters
    ----------
    ratio : float
        Median of the time before over that after, > 0; of pairs, the median of their ratios.
    low, high : float or None
        Ends of its 95 % interval; None: too few samples for one.

    Attributes
    ----------
    verdict : {"gain", "loss", "no difference seen", "unknown"}
        An interval that holds 1 shows no difference, whatever the ratio is.
    """

    ratio: float
    low: float | None = None
    high: float | None = None
    verdict: Verdict = field(init=False)  # a field, so that every document holds it

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", _verdict(self.low, self.high))

    def scaled(self, factor: float) -> Gain:
        """Return the gain times an exactly known factor, > 0.

        That of a rate is the gain in time, times the work after over the work before; an
        efficiency is the gain over the number of cores.
        """
        ends = (None if end is None else end * factor for end in (self.low, self.high))
        low, high = ends
        return Gain(ratio=self.ratio * factor, low=low, high=high)


def _verdict(low: float | None, high: float | None) -> Verdict:
    if low is None or high is None:
        return "unknown"
    if low <= 1 <= high:
        return "no difference seen"
    return "gain" if low > 1 else "loss"


def gain(before: Estimate | None, after: Estimate | None, *, paired: bool = False) -> Gain | None:
    """Return the gain from one measured time to another.

    Parameters
    ----------
    before, after : Estimate or None
        Times, >= 0, in the same unit. Of two rates, give the later one first.
    paired : bool
        Whether the samples were taken in turn, the first of one after the first of the other and
        so on, as many of both.

    Returns
    -------
    Gain or None
        None: either is not known, or has a median of 0.

    Raises
    ------
    ValueError
        If a sample is negative, or paired estimates differ in their number of samples.

    Notes
    -----
    The number of independent samples below a median is binomial(n, 1/2), whatever their
    distribution: the gap between order statistics k and k + 1 holds the median with a confidence
    of C(n, k) / 2^n [1]_. From each gap of one estimate and each of the other follow the least and
    the largest ratio of the medians [2]_. The ends of the interval leave out 2.5 % of the joint
    confidence of the least, and of the largest ratios. If one time is known exactly, this is the
    interval by order statistics of the other; with two equal numbers of samples, there is none
    below seven. Batches of samples count by their medians, as in `Estimate`. An estimate with a
    given interval instead is taken to be log-normal on either side of its median.

    In simulations of 7 to 30 samples of noise in one mode, in two, with heavy tails, and any two
    of these, it holds the true ratio in 95.5 to 99.9 % of all cases. What else was tried is too
    wide or wrong: the ratios of all values of two intervals (99 % and more); and rank sums, which
    assume that both noises have the same shape, and see a difference between equal medians of
    30 samples in one mode and in two in nearly half of all cases.

    Pairs share the machine's state of that moment, which their ratio does not: the interval is
    that of the median of the ratios.

    References
    ----------
    .. [1] W. R. Thompson, "On confidence ranges for the median and other expectation distributions
       for populations of unknown distribution form", Ann. Math. Statist. 7, 1936, 122-128.
    .. [2] T. Schweder, N. L. Hjort, "Confidence, likelihood, probability: statistical inference
       with confidence distributions", Cambridge University Press, 2016.

    Examples
    --------
    >>> found = gain(Estimate(range(200, 210)), Estimate(range(100, 110)))
    >>> f"{found.ratio:.3f} from {found.low:.3f} to {found.high:.3f}: {found.verdict}"
    '1.957 from 1.880 to 2.040: gain'
    """
    if before is None or after is None:
        return None
    for estimate in (before, after):
        if min(estimate.samples) < 0:
            raise ValueError(f"times must be >= 0, got {min(estimate.samples)!r}")
    if paired:
        return _of_pairs(before, after)
    if not before.median or not after.median:
        return None
    ratio = before.median / after.median
    befores, afters = tuple(_gaps(before)), tuple(_gaps(after))
    shares = np.outer([gap.share for gap in befores], [gap.share for gap in afters]).ravel()
    least = _ratios([gap.low for gap in befores], [gap.high for gap in afters])
    largest = _ratios([gap.high for gap in befores], [gap.low for gap in afters])
    low = _beyond(least, shares, np.argsort(least, kind="stable"))
    high = _beyond(largest, shares, np.argsort(-largest, kind="stable"))
    if low == 0 or math.isinf(high):
        return Gain(ratio=ratio)
    return Gain(ratio=ratio, low=low, high=high)


def _of_pairs(before: Estimate, after: Estimate) -> Gain | None:
    if before.n != after.n:
        raise ValueError(f"paired samples must be as many, got {before.n} and {after.n}")
    if not all(before.samples) or not all(after.samples):
        return None
    pairs = zip(before.samples, after.samples, strict=True)
    batches = before.batches if before.batches == after.batches else None
    ratios = Estimate((first / second for first, second in pairs), batches=batches)
    return Gain(ratio=ratios.median, low=ratios.low, high=ratios.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gap:
    """An interval between neighbouring samples, and the confidence that it holds the median."""

    low: float
    high: float
    share: float


def _gaps(estimate: Estimate) -> Iterator[_Gap]:
    if estimate.interval is not None:
        yield from _log_normal(estimate.median, *estimate.interval)
        return
    moments = estimate.moments
    shares = [math.comb(len(moments), k) / 2 ** len(moments) for k in range(len(moments) + 1)]
    first = next(k for k, part in enumerate(itertools.accumulate(shares)) if part > _NEGLIGIBLE)
    last = len(moments) - first
    outer = sum(shares[: first + 1])
    yield _Gap(low=0.0, high=moments[first], share=outer)
    for k in range(first + 1, last):
        yield _Gap(low=moments[k - 1], high=moments[k], share=shares[k])
    yield _Gap(low=moments[last - 1], high=math.inf, share=outer)


def _log_normal(median: float, low: float, high: float) -> Iterator[_Gap]:
    """Yield the middles of the equally likely parts of a distribution known by its interval."""
    for part in range(_PARTS):
        deviation = NormalDist().inv_cdf((part + 0.5) / _PARTS) / NormalDist().inv_cdf(1 - _TAIL)
        end = low if deviation < 0 else high
        value = median * (end / median) ** abs(deviation) if end > 0 else 0.0
        yield _Gap(low=value, high=value, share=1 / _PARTS)


def _ratios(times: Sequence[float], others: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return the ratio of each time to each other one; infinite where that is 0."""
    over, under = np.array(times)[:, np.newaxis], np.array(others)[np.newaxis, :]
    ratios = np.full((len(times), len(others)), math.inf)
    np.divide(over, under, out=ratios, where=under > 0)
    return ratios.ravel()


def _beyond(
    ratios: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
    order: npt.NDArray[np.intp],
) -> float:
    """Return the first ratio, in this order, that is not among the outermost 2.5 %."""
    so_far = np.cumsum(shares[order])
    return float(ratios[order[np.argmax(so_far > _TAIL)]])
