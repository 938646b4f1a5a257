"""Propagation of the uncertainty of times, efficiencies and ceilings into a pipeline's figures.

Monte Carlo, seeded: every uncertain quantity is drawn from a lognormal distribution with its
median and its 95 % interval, below and above; the figures are computed for every draw, and the
middle 95 % of them are their interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Array
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES, resource_named
from ridgepoint.models.pipeline import Pipeline
from ridgepoint.models.pipeline.times import StageTimes, stage_times

DRAWS = 4000
SEED = 54
_NORMAL_95 = 1.959964
_ENDS = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Many random draws of a pipeline.

    Parameters
    ----------
    times : StageTimes
        Times of the stages, shape (stages, draws).
    host_s : ndarray or float
        Host time; 0 where it is not known.
    uncertain : tuple of str
        Quantities that were drawn; empty: nothing is known to be uncertain, and there is one draw.
    certain : tuple of str
        Stages whose time or efficiency is a single value, of unknown uncertainty.
    """

    times: StageTimes
    host_s: Array
    uncertain: tuple[str, ...]
    certain: tuple[str, ...]

    def interval(self, point: float, draws: npt.ArrayLike) -> Estimate:
        """Return a figure with the interval of its draws, widened to include the figure."""
        if not self.uncertain:
            return Estimate([point])
        low, high = np.percentile(np.asarray(draws, dtype=np.float64), _ENDS)
        return Estimate([point], interval=(min(float(low), point), max(float(high), point)))


def spread(estimate: Estimate) -> tuple[float, float] | None:
    """Return an estimate's 95 % interval; for 2 to 5 samples their range; None: unknown."""
    if estimate.low is not None and estimate.high is not None:
        return estimate.low, estimate.high
    if estimate.n > 1:
        return min(estimate.samples), max(estimate.samples)
    return None


def draw(
    pipeline: Pipeline,
    machine: Machine,
    *,
    cores: float | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Drawn:
    """Draw a pipeline's times, efficiencies and ceilings.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    cores : float or None
    draws : int
    seed : int
        The same seed gives the same intervals.

    Notes
    -----
    Stages are independent of each other; a ceiling is the same for all of them. A measured time
    does not depend on the ceilings; a time from an efficiency does.
    """
    random = np.random.default_rng(seed)
    times: dict[str, Array] = {}
    reached: dict[str, Array] = {}
    uncertain: list[str] = []
    certain: list[str] = []
    for stage in pipeline.stages:
        known = stage.time_s or stage.efficiency
        if known is None:
            continue
        drawn = _drawn(known, random, draws)
        if drawn is None:
            certain.append(stage.name)
            continue
        uncertain.append(stage.name)
        if stage.time_s is not None:
            times[stage.name] = drawn
        else:
            reached[stage.name] = np.minimum(drawn, 1.0)
    factors = {}
    for path, rate in _rates(pipeline, machine, cores):
        drawn = _drawn(rate, random, draws)
        factors[path] = 1.0 if drawn is None else drawn / rate.median
        if drawn is not None:
            uncertain.append(f"{path} ceiling")
    host = None if pipeline.host_time_s is None else _drawn(pipeline.host_time_s, random, draws)
    if host is not None:
        uncertain.append("host time")
    return Drawn(
        times=stage_times(
            pipeline,
            machine,
            cores=cores,
            compute=factors.get("compute", 1.0),
            bandwidth=factors.get("dram", 1.0),
            times_s=times,
            efficiencies=reached,
        ),
        host_s=np.asarray(_median(pipeline.host_time_s) if host is None else host),
        uncertain=tuple(uncertain),
        certain=tuple(certain),
    )


def _median(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.median


def _drawn(estimate: Estimate, random: np.random.Generator, draws: int) -> Array | None:
    """Return draws of a positive quantity; None: its uncertainty is unknown."""
    ends = spread(estimate)
    if ends is None or not (0 < ends[0] < ends[1] < np.inf):
        return None
    middle = estimate.median
    normal = random.standard_normal(draws) / _NORMAL_95
    below, above = np.log(middle / ends[0]), np.log(ends[1] / middle)
    return np.asarray(middle * np.exp(normal * np.where(normal < 0, below, above)))


def _rates(
    pipeline: Pipeline, machine: Machine, cores: float | None
) -> Iterator[tuple[str, Estimate]]:
    """Yield the ceilings that bound: of the precision with most work, and of memory."""
    work: dict[str, float] = {}
    for stage in pipeline.stages:
        for name, amount in stage.demand.amounts.items():
            if RESOURCES[name].path == "compute":
                work[name] = work.get(name, 0.0) + stage.repeat * float(amount)
    threads = machine.cores if cores is None else int(cores)
    for path, name in (("compute", max(work, key=lambda name: work[name])), ("dram", "dram")):
        best = machine.best(name, threads=threads)
        rate = None if best is None else best.rate_of(resource_named(name))
        if rate is not None:
            yield path, rate
