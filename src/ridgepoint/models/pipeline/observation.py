"""Several pipelines that share an observation, each with its weight, and legroom: Eq. (12)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.unknown import sum_if_known
from ridgepoint.models.pipeline.assessment import Assessment

USED = (0.8, 0.9)
"""Shares of the time that the memo lets pipelines use; it calls them arbitrary."""

_WHOLE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A pipeline's part of an observation.

    Parameters
    ----------
    assessment : Assessment
    weight : float
        W_j, in (0, 1].
    """

    assessment: Assessment
    weight: float

    @property
    def time_s(self) -> Estimate:
        """T_j: host time included if known."""
        return self.assessment.total_s or self.assessment.time_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Pipelines in series that take turns in using all devices.

    Parameters
    ----------
    shares : tuple of Share
        At least one; their weights add up to 1.
    period_s : float or None
        Length of the observation, in seconds; None: not given.
    is_of_a_second : bool
        Whether stages describe the work for each second of the period, or for all of it.
    used : tuple of float
        Shares of the period that pipelines may use, in (0, 1]; the rest is legroom.

    Raises
    ------
    ValueError
        If weights do not add up to 1, or a figure is impossible.
    """

    shares: tuple[Share, ...]
    period_s: float | None = None
    is_of_a_second: bool = False
    used: tuple[float, ...] = USED

    def __post_init__(self) -> None:
        if not self.shares:
            raise ValueError("shares must name at least one pipeline")
        require_weights([share.weight for share in self.shares])
        if self.period_s is not None and not 0 < self.period_s < math.inf:
            raise ValueError(f"period_s must be finite and > 0, got {self.period_s!r}")
        if not self.used or not all(0 < share <= 1 for share in self.used):
            raise ValueError(f"used must be in (0, 1], got {self.used!r}")

    @property
    def time_s(self) -> Estimate:
        """T_sdp of Eq. (12): the weighted time of one device, for the period or for a second."""
        times = (self.period_s or 1.0) if self.is_of_a_second else 1.0
        return _sum([(times * share.weight, share.time_s) for share in self.shares])

    @property
    def load_per_s(self) -> float | None:
        """Weighted load, flop/s; None: one of the pipelines has none."""
        loads = ((share.weight, share.assessment.load_per_s) for share in self.shares)
        return sum_if_known(None if load is None else weight * load for weight, load in loads)

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of the pipelines' machines; of several, devices are not of one kind."""
        return tuple(dict.fromkeys(share.assessment.machine.name for share in self.shares))

    @property
    def devices(self) -> Estimate | None:
        """Devices that the weighted load keeps busy; None: not known, or of several kinds."""
        devices = self._each()
        if devices is None:
            return None
        weights = [share.weight for share in self.shares]
        return _sum(list(zip(weights, devices, strict=True)))

    @property
    def most_devices(self) -> Estimate | None:
        """Devices for the most demanding pipeline, which keep up at every moment."""
        devices = self._each()
        return None if devices is None else max(devices, key=lambda estimate: estimate.median)

    def devices_to_fit(self, used: float) -> Estimate | None:
        """Return the devices needed to finish within a share of the period.

        None: there is no period, or devices are of several kinds.
        """
        period = self.period_s or (1.0 if self.is_of_a_second else None)
        if period is None or len(self.machines) > 1:
            return None
        return self.time_s.map(lambda seconds: seconds / (used * period))

    def _each(self) -> list[Estimate] | None:
        if len(self.machines) > 1:
            return None
        needed = [share.assessment.devices for share in self.shares]
        known = [estimate for estimate in needed if estimate is not None]
        return known if len(known) == len(needed) else None


def _sum(parts: list[tuple[float, Estimate]]) -> Estimate:
    """Return a weighted sum; for independent parts, interval half-widths add in quadrature."""
    point = math.fsum(weight * part.median for weight, part in parts)
    below = [weight * (part.median - part.low) for weight, part in parts if part.low is not None]
    above = [weight * (part.high - part.median) for weight, part in parts if part.high is not None]
    if not below:
        return Estimate([point])
    return Estimate([point], interval=(point - math.hypot(*below), point + math.hypot(*above)))


def require_weights(weights: list[float]) -> None:
    """Refuse weights that are not shares of one whole.

    Parameters
    ----------
    weights : list of float
        Each in (0, 1]; their sum is 1.

    Raises
    ------
    ValueError
        If they are not.
    """
    for weight in weights:
        if not 0 < weight <= 1:
            raise ValueError(f"a weight must be in (0, 1], got {weight!r}")
    if abs(math.fsum(weights) - 1) > _WHOLE:
        raise ValueError(f"weights must add up to 1, got {math.fsum(weights):.6g}")


def with_legroom(devices: Estimate, used: float) -> Estimate:
    """Return the devices needed if each may be busy for only this share of its time."""
    return devices.map(lambda number: number / used)


def rounded_up(devices: float) -> int:
    """Return a whole number of devices, ignoring excess that is only rounding."""
    return math.ceil(devices * (1 - 1e-12))
