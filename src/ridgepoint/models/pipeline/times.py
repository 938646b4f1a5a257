"""The times of a pipeline's stages on a machine, with composite intensities and devices.

It divides nothing by a capacity itself: the least time of every stage is that of
`ridgepoint.core.bound`, and the pipeline's is their series.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ridgepoint.core.amounts import Amount, Array, plain, positive, ratio
from ridgepoint.core.bound import Bound, bound, series
from ridgepoint.core.machine import Machine
from ridgepoint.core.rates import Rates
from ridgepoint.models.pipeline import Pipeline, Stage

Rule = Literal["by bytes", "by time", "capped", "exact"]

EQUATIONS: Mapping[Rule, str] = {
    "by bytes": "Eq. (5)",
    "by time": "Eq. (7)",
    "capped": "Eq. (8)",
    "exact": "series sum",
}
"""The memo's three composite intensities, and the bound of stages in series."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StageTimes:
    """Times and least times of every stage; arrays have the shape (stages, ...).

    Parameters
    ----------
    bounds : tuple of Bound
        Bound of each stage, all executions together.
    time_s : ndarray
        T_i in seconds: measured, or the bound over the efficiency.
    bandwidth : ndarray or float
        beta of the machine, byte/s.
    """

    bounds: tuple[Bound, ...]
    time_s: Array
    bandwidth: Amount

    @cached_property
    def whole(self) -> Bound:
        """The bound of all stages in series."""
        return series(self.bounds)

    @cached_property
    def work(self) -> Array:
        """CL_i, flop."""
        return self._of_each(lambda least: least.work)

    @cached_property
    def moved_bytes(self) -> Array:
        """ML_i, byte."""
        return self._of_each(lambda least: least.demand.amount("dram"))

    @cached_property
    def compute_s(self) -> Array:
        """Least seconds of computing."""
        return self._of_each(lambda least: least.times_s.get("compute", 0.0))

    @cached_property
    def memory_s(self) -> Array:
        """Least seconds of moving bytes."""
        return self._of_each(lambda least: least.times_s.get("dram", 0.0))

    @cached_property
    def bound_s(self) -> Array:
        """The larger of both: the time at the roof."""
        return self._of_each(lambda least: least.time_s)

    @property
    def limiters(self) -> tuple[str, ...]:
        """``compute`` or ``dram``, by stage; with many variants, those of the first."""
        return tuple(str(np.ravel(least.limiter)[0]) for least in self.bounds)

    def _of_each(self, amount: Callable[[Bound], Amount]) -> Array:
        shape = self.time_s.shape[1:]
        return np.stack([np.broadcast_to(amount(least), shape) for least in self.bounds])

    @property
    def intensity(self) -> Array:
        """OI_i, flop/byte; infinite without traffic."""
        return np.asarray(ratio(self.work, self.moved_bytes))

    @property
    def weight(self) -> Array:
        """W_i of Eq. (6): shares of the measured time."""
        return np.asarray(self.time_s / self.time_s.sum(axis=0))

    @property
    def roof_weight(self) -> Array:
        """Shares of the time at the roofs."""
        return np.asarray(self.bound_s / self.bound_s.sum(axis=0))

    @property
    def peak(self) -> Array:
        """Peak pi, flop/s; with several precisions, that of their mix."""
        return np.asarray(self.whole.work / self._compute_s)

    @property
    def ridge(self) -> Array:
        """OI_r of the pipeline's peak, flop/byte."""
        return np.asarray(self.peak / self.bandwidth)

    @property
    def roofline_efficiency(self) -> Array:
        """RE_i: attainable over peak; 0 of a pure copy."""
        return np.asarray(self.compute_s / self.bound_s)

    @property
    def programming_efficiency(self) -> Array:
        """PE_i: measured over attainable performance, equal to bound over time."""
        return np.asarray(self.bound_s / self.time_s)

    @property
    def compute_efficiency(self) -> Array:
        """CE of the pipeline: sum CL_i / (pi sum T_i)."""
        return np.asarray(self._compute_s / self.time_s.sum(axis=0))

    @property
    def _compute_s(self) -> Amount:
        """Time of all work at the peak, in seconds: there is some work."""
        return self.whole.times_s["compute"]

    def composite(self, rule: Rule) -> tuple[Array, Array]:
        """Return a composite intensity in flop/byte, and its roofline efficiency, not clipped.

        Notes
        -----
        ``by bytes`` is ``sum CL / sum ML``: stages mixed so well that one computes while another
        moves data. ``by time`` is ``sum W_i OI_i``, which has no upper limit. ``capped`` is
        ``sum W_i min(OI_i, OI_r)``, and so ``RE = sum W_i R_i / pi`` with R_i the attainable
        performance: the roofs, averaged over the *measured* time. ``exact`` is
        ``sum CL / (pi sum t_i)`` with t_i the time at the roof: the roofs of stages in series.
        """
        ridge = self.ridge
        if rule == "by bytes":
            mixed = np.asarray(self.whole.intensity("dram"))
            return mixed, np.minimum(mixed / ridge, 1.0)  # the entity has a flat roof, too
        if rule == "by time":
            intensity = (self.weight * self.intensity).sum(axis=0)
            return intensity, intensity / ridge
        if rule == "capped":
            efficiency = (self.weight * self.roofline_efficiency).sum(axis=0)
        else:
            efficiency = np.asarray(self._compute_s / self.whole.time_s)
        return np.asarray(efficiency * ridge), np.asarray(efficiency)


def stage_times(
    pipeline: Pipeline,
    machine: Machine,
    *,
    cores: float | None = None,
    compute: Amount = 1.0,
    bandwidth: Amount = 1.0,
    times_s: Mapping[str, Amount] | None = None,
    efficiencies: Mapping[str, Amount] | None = None,
) -> StageTimes:
    """Return the times of a pipeline's stages on a machine.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    cores : float or None
        Number of busy cores; None: all.
    compute, bandwidth : float or ndarray, shape (...,)
        Factors by which the machine's peak and bandwidth are multiplied.
    times_s, efficiencies : mapping of str to float or ndarray, shape (...,)
        Values by stage, in place of the medians.

    Raises
    ------
    UnknownCeiling
        If the machine has no ceiling for a resource that a stage asks for.
    """
    measured, reached = times_s or {}, efficiencies or {}
    shape = np.broadcast_shapes(
        np.shape(compute), np.shape(bandwidth), *map(np.shape, measured.values()),
        *map(np.shape, reached.values()),
    )  # fmt: skip
    rates = Rates(machine=machine, cores=cores, faster={"compute": compute, "dram": bandwidth})
    bounds = tuple(bound(stage.demand * stage.repeat, rates) for stage in pipeline.stages)
    taken = [
        np.broadcast_to(_time_of(stage, least.time_s, measured, reached), shape)
        for stage, least in zip(pipeline.stages, bounds, strict=True)
    ]
    return StageTimes(bounds=bounds, time_s=np.stack(taken), bandwidth=rates.rate("dram"))


def _time_of(
    stage: Stage, bound_s: Amount, times_s: Mapping[str, Amount], reached: Mapping[str, Amount]
) -> Amount:
    """Return T_i of all executions, in seconds."""
    if stage.name in times_s:
        return stage.repeat * times_s[stage.name]
    if stage.name in reached:
        return bound_s / reached[stage.name]
    if stage.time_s is not None:
        return stage.repeat * stage.time_s.median
    return bound_s if stage.efficiency is None else bound_s / stage.efficiency.median


def devices(load_per_s: Amount, *, peak: Amount, compute_efficiency: Amount) -> Amount:
    """Return N of Eq. (10): devices that a load needs, not rounded.

    Parameters
    ----------
    load_per_s : float or ndarray
        CL, a *rate* in flop/s: the work to be done per second of an observation.
    peak : float or ndarray
        CC of one device, flop/s.
    compute_efficiency : float or ndarray
        CE, > 0.

    Examples
    --------
    >>> devices(415105.57e9, peak=4000e9, compute_efficiency=0.5)
    207.552785
    """
    positive("load_per_s", load_per_s)
    return plain(load_per_s / np.multiply(peak, compute_efficiency))
