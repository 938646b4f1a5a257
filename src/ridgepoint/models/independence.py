"""Samples that depend on each other: on a machine that drifts, a run is like the run before."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist

from ridgepoint.core.estimate import Estimate

_MOST_CHANCE, _CHANCE_TIMES_N = 0.1, 1.5
"""Share of independent series that are taken for dependent ones: a tenth of short ones, since a
stricter test misses most series of ten that drift; in 30 samples drift is seen anyway."""

_BEYOND = 0.5
"""Share of the range, on logarithms, by which a dependent series may be off on either side of it:
what drifted during the runs went on drifting between two measurements."""

_SAMPLES_PER_OUTLIER = 15


def is_dependent(samples: Sequence[float]) -> bool:
    """Return whether samples are more like their neighbours than independent ones would be.

    Parameters
    ----------
    samples : sequence of float
        In the order in which they were taken.

    Notes
    -----
    The test is the rank version of von Neumann's ratio [1]_, which assumes nothing about the
    distribution: with ranks R of n samples, the sum of (R_i - R_i+1)^2 over the sum of
    (R_i - mean)^2 is about normal around 2 with variance 20 / (5 n + 7). A series is dependent if
    its ratio is among the smallest of independent series: a tenth of them, and from 15 samples on
    the share 1.5 / n.

    A series that alternates (fast, slow, fast, ...) has a large ratio: its interval is too wide
    rather than too narrow.

    References
    ----------
    .. [1] R. Bartels, "The rank version of von Neumann's ratio test for randomness", J. Am. Stat.
       Assoc. 77(377), 1982, 40-46, :doi:`10.1080/01621459.1982.10477764`.

    Examples
    --------
    >>> is_dependent([1, 2, 3, 4, 5, 6]), is_dependent([5, 1, 4, 2, 6, 3])
    (True, False)
    """
    ratio = von_neumann_ratio(samples)
    if ratio is None:
        return False
    n = len(samples)
    chance = min(_MOST_CHANCE, _CHANCE_TIMES_N / n)
    return ratio < 2 + NormalDist().inv_cdf(chance) * math.sqrt(20 / (5 * n + 7))


def range_with_drift(estimate: Estimate) -> tuple[float, float]:
    """Return the range of a dependent series of times > 0, and half as much again on each side.

    Of every 15 samples the least and the largest are left out: a run may be disturbed.
    """
    left_out = estimate.n // _SAMPLES_PER_OUTLIER
    ordered = sorted(estimate.samples)
    low, high = ordered[left_out], ordered[-1 - left_out]
    beyond = (high / low) ** _BEYOND
    return low / beyond, high * beyond


def von_neumann_ratio(samples: Sequence[float]) -> float | None:
    """Return the rank version of von Neumann's ratio; None: all samples are equal, or but one."""
    ranks = _ranks(samples)
    mean = (len(ranks) + 1) / 2
    spread = sum((rank - mean) ** 2 for rank in ranks)
    steps = sum((after - before) ** 2 for before, after in itertools.pairwise(ranks))
    return steps / spread if spread else None


def _ranks(samples: Sequence[float]) -> list[float]:
    """Return the rank of each sample, from 1; equal samples share the mean of their ranks."""
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, sample in enumerate(sorted(samples), start=1):
        first.setdefault(sample, rank)
        last[sample] = rank
    return [(first[sample] + last[sample]) / 2 for sample in samples]
