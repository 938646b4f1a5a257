"""Between what a program's traffic lies: by its estimate, and by the caches that it may get."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ridgepoint.core.measurement import Measurement
from ridgepoint.models.one_bandwidth import Bandwidth

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


def intensity_interval(
    measurement: Measurement, work: int | None, level: str, bandwidth: Bandwidth | None = None
) -> tuple[float, float] | None:
    """Return between what the intensity at a level lies, where its traffic has an interval.

    Parameters
    ----------
    measurement : Measurement
    work : int or None
        flop or BOP; None: not known.
    level : str
    bandwidth : {"read", "write", "copy"} or None
        Which of the level's bytes the intensity is over; None: all.

    Returns
    -------
    tuple of float or None
        Lower and upper end, flop/byte or BOP/byte; infinite where no byte may have moved. None:
        the traffic was not estimated, or has no interval.
    """
    estimate = measurement.counted.estimate
    interval = None if estimate is None else estimate.at(level)
    if interval is None or not work:
        return None
    least, most = {
        "read": interval.read_bytes,
        "write": interval.write_bytes,
    }.get(bandwidth or "", interval.total_bytes)
    return (work / most, work / least if least else math.inf) if most else None


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
