"""Divides the time of runs among the places where samples were."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ridgepoint.meters.sampling.address_space import Place
from ridgepoint.meters.sampling.records import Sample

_BIN_PERIODS = 20
_QUANTILE = 1.959964  # of the normal distribution: 95 % within


@dataclass(slots=True)
class Share:
    """What samples say of one place, or of several together.

    Parameters
    ----------
    samples : int
    wall_s : float
        Its part of the wall-clock time: at each moment that is divided evenly among the threads
        that run then.
    first_s : float
        When the earliest of its samples was, in any run, after the run's first of all.
    """

    samples: int = 0
    wall_s: float = 0.0
    first_s: float = math.inf

    def add(self, other: Share) -> None:
        """Add what is said of another place."""
        self.samples += other.samples
        self.wall_s += other.wall_s
        self.first_s = min(self.first_s, other.first_s)


@dataclass(slots=True)
class Shares:
    """The samples of several runs.

    Parameters
    ----------
    period_s : float
        CPU time between two samples of a thread.
    of : dict of Place to Share
    """

    period_s: float
    of: dict[Place, Share] = field(default_factory=dict)

    def add(self, samples: Iterable[tuple[Sample, Place]]) -> None:
        """Add the samples of a run.

        Notes
        -----
        A sample stands for one period of CPU time. Time is cut into intervals of 20 periods, and
        where these hold more CPU time than they last, several threads ran at once: each sample
        then stands for that much less of the wall-clock time.
        """
        each = list(samples)
        times_s = np.array([sample.time_ns for sample, _ in each], dtype=np.float64) * 1e-9
        if not times_s.size:
            return
        interval_s = _BIN_PERIODS * self.period_s
        bins = ((times_s - times_s[0]) / interval_s).astype(np.int64)
        # A thread alone leaves 20 samples in each, and one more by chance where they lie on an
        # end: that is no second thread.
        busy = np.bincount(bins - bins.min())[bins - bins.min()]
        at_once = np.where(busy > _BIN_PERIODS + 1, busy / _BIN_PERIODS, 1.0)
        since_s = (times_s - times_s.min()).tolist()
        for (_, place), divided, first_s in zip(each, at_once.tolist(), since_s, strict=True):
            self.of.setdefault(place, Share()).add(Share(1, self.period_s / divided, first_s))

    @property
    def samples(self) -> int:
        """All of them."""
        return sum(share.samples for share in self.of.values())


def interval(samples: int, among: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of samples.

    Parameters
    ----------
    samples : int
    among : int
        All samples, > 0.

    Notes
    -----
    Wilson's interval of a binomial proportion: that samples come at even distances, and not by
    chance, makes the true one narrower unless the program beats in time with them.

    Examples
    --------
    >>> low, high = interval(96, 1000)
    >>> round(low, 4), round(high, 4)
    (0.0793, 0.1158)
    """
    share, square = samples / among, _QUANTILE**2 / among
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    return max(middle - half, 0.0), min(middle + half, 1.0)
