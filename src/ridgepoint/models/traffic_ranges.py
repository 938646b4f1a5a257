"""Between what a program's traffic lies: by its estimate, and by the caches that it may get."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.counted import CountedOnce
from ridgepoint.core.counts import traffic_at
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.one_bandwidth import Bandwidth, bytes_of
from ridgepoint.models.work import Metric, work_total

_ALIKE = 0.01
"""Relative difference below which the ends of an interval are not worth a word."""


def at_ends(measurement: Measurement) -> tuple[Measurement, ...]:
    """Return the measurement with the traffic on the smallest and on the largest caches.

    Empty if the caches do not vary, or were not simulated.
    """
    counted = measurement.counted
    return tuple(
        replace(
            measurement, counted=replace(counted, traffic=end.traffic, caches=end.caches, ends=())
        )
        for end in counted.ends
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IntensityRange:
    """Between what an intensity lies.

    Parameters
    ----------
    low, high : float
        flop/byte or BOP/byte; `high` is infinite where no byte may have moved.
    runs : int or None
        Number of counted runs of which these are the quartiles, or beyond these the run that is
        shown: of few runs, it may be the least or the most. None: they are the ends of the 95 %
        interval of estimated traffic.
    """

    low: float
    high: float
    runs: int | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high


def intensity_range(
    measurement: Measurement, metric: Metric, level: str, bandwidth: Bandwidth | None = None
) -> IntensityRange | None:
    """Return between what the intensity at a level lies, where that was measured.

    Parameters
    ----------
    measurement : Measurement
    metric : {"flop", "bop"}
    level : str
    bandwidth : {"read", "write", "copy"} or None
        Which of the level's bytes the intensity is over; None: all.

    Returns
    -------
    IntensityRange or None
        The 95 % interval of estimated traffic, which each run has; or quartiles over several
        counted runs. None: the program was counted once, exactly.
    """
    counted = measurement.counted
    work = work_total(counted.counts, metric)
    interval = None if counted.estimate is None else counted.estimate.at(level)
    if interval is None:
        moved = bytes_of(traffic_at(counted.traffic, level), bandwidth)
        own = work / moved if work and moved else None
        return _of_runs(counted.runs, metric, level, bandwidth, own) if counted.runs else None
    if not work:
        return None
    least, most = {
        "read": interval.read_bytes,
        "write": interval.write_bytes,
    }.get(bandwidth or "", interval.total_bytes)
    if not most:
        return None
    return IntensityRange(low=work / most, high=work / least if least else math.inf)


def _of_runs(
    runs: Sequence[CountedOnce],
    metric: Metric,
    level: str,
    bandwidth: Bandwidth | None,
    own: float | None,
) -> IntensityRange | None:
    """Return the quartiles of the runs' intensities, extended to that of the run shown.

    None: one is not known, or infinite.
    """
    intensities = []
    for run in runs:
        work = run.flop if metric == "flop" else run.bop
        moved = bytes_of(traffic_at(run.traffic, level), bandwidth)
        if not work or not moved or work < 0:
            return None
        intensities.append(work / moved)
    if own is None:
        return None
    estimate = Estimate(intensities)
    return IntensityRange(
        low=min(estimate.q1, own), high=max(estimate.q3, own), runs=len(intensities)
    )


def traffic_at_ends(measurement: Measurement, level: str) -> tuple[float, float] | None:
    """Return the least and the most bytes at a level over the possible caches.

    None: they hardly differ, or are not known.
    """
    parts = [whole.traffic_at(level) for whole in (measurement, *at_ends(measurement))]
    own, *others = (None if part is None else part.total_bytes for part in parts)
    return range_of(own, others)


def range_of(own: float | None, others: Sequence[float | None]) -> tuple[float, float] | None:
    """Return the range of an amount; None: hardly different, one is unknown, or no others."""
    known = [amount for amount in (own, *others) if amount is not None]
    if not others or len(known) <= len(others) or max(known) <= min(known) * (1 + _ALIKE):
        return None
    return min(known), max(known)
