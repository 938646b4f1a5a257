"""A pipeline on a machine: all its figures, with intervals, and the cautions about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.core.bound import Bound, combined
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.models.pipeline import Pipeline, Stage
from ridgepoint.models.pipeline.composites import Composite, composites_of, finite
from ridgepoint.models.pipeline.times import Rule, StageTimes, devices, stage_times
from ridgepoint.models.pipeline.uncertainty import Drawn, draw
from ridgepoint.models.thresholds import ABOVE_ROOF, SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """Figures of one stage, all executions together.

    Parameters
    ----------
    stage : Stage
    bound : Bound
    time_s : float
        T_i, in seconds.
    weight, roof_weight : float
        Shares of sum T_i (Eq. 6), and of the sum of times at the roofs.
    """

    stage: Stage
    bound: Bound
    time_s: float
    weight: float
    roof_weight: float

    @property
    def work(self) -> float:
        """CL_i, flop or BOP."""
        return float(self.bound.work)

    @property
    def moved_bytes(self) -> float:
        """ML_i, byte."""
        return float(self.bound.demand.amount("dram"))

    @property
    def intensity(self) -> float | None:
        """OI_i, flop/byte; None: infinite."""
        return finite(self.bound.intensity("dram"))

    @property
    def compute_s(self) -> float:
        """Least seconds of computing."""
        return float(self.bound.times_s.get("compute", 0.0))

    @property
    def memory_s(self) -> float:
        """Least seconds of moving bytes."""
        return float(self.bound.times_s.get("dram", 0.0))

    @property
    def bound_s(self) -> float:
        """The time at the roof: the larger of compute and memory time, in seconds."""
        return float(self.bound.time_s)

    @property
    def limiter(self) -> str:
        """``compute`` or ``dram``."""
        return str(self.bound.limiter)

    @property
    def is_at_the_ridge(self) -> bool:
        """Whether computing and moving bytes take equally long, so that both limit it."""
        return len(self.bound.bind_equally(within=SAME)) > 1

    @property
    def performance(self) -> float:
        """P_i, flop/s."""
        return float(self.bound.performance(self.time_s))

    @property
    def attainable(self) -> float:
        """R_i, flop/s."""
        return float(self.bound.attainable)

    @property
    def moved_bytes_per_s(self) -> float:
        """ML_i / T_i of Eq. (4): the bandwidth that it reaches, byte/s."""
        return self.moved_bytes / self.time_s

    @property
    def programming_efficiency(self) -> float:
        """P_i / R_i; for a pure copy, which does no work, the bound over the time."""
        return float(self.bound.efficiency(self.time_s))

    @property
    def roofline_efficiency(self) -> float:
        """R_i over the peak."""
        return self.compute_s / self.bound_s


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateEstimate:
    """An efficiency from aggregate loads and a bandwidth alone, as memo 54 says of memo 10.

    Parameters
    ----------
    bytes_per_s : float
        The memory bandwidth that is taken, byte/s.
    compute_efficiency : float
        The aggregate intensity times that bandwidth, over the peak; above 1: not attainable.
    devices : float or None
        Devices whose memory moves the load's bytes at that bandwidth, not rounded; None: no load
        was given.
    """

    bytes_per_s: float
    compute_efficiency: float
    devices: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Figures of a pipeline on a machine.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    cores : float or None
        Number of busy cores; None: all.
    load_per_s : float or None
        CL of Eq. (10), flop/s.
    peak, bandwidth : float
        pi of the stages' mix of precisions, flop/s; beta, byte/s.
    stages : tuple of StageFigures
    composites : tuple of Composite
        By bytes (5), by time (7), capped (8), exact.
    compute_efficiency : Estimate
        CE: sum CL_i / (pi sum T_i).
    time_s : Estimate
        sum T_i.
    bound_s : float
        Least time of the stages in series: the exact bound, in seconds.
    mixed_s : float
        Least time if all stages ran at once, each using the resources that others leave.
    total_s : Estimate or None
        T_cip of Eq. (11), host time included; None: the host time is not known.
    devices : Estimate or None
        N, not rounded; None: no load was given.
    uncertain : tuple of str
        Quantities whose uncertainty the intervals include; empty: there are no intervals.
    cautions : tuple of Caution
    """

    pipeline: Pipeline
    machine: Machine
    cores: float | None
    load_per_s: float | None
    peak: float
    bandwidth: float
    stages: tuple[StageFigures, ...]
    composites: tuple[Composite, ...]
    compute_efficiency: Estimate
    time_s: Estimate
    bound_s: float
    mixed_s: float
    total_s: Estimate | None
    devices: Estimate | None
    uncertain: tuple[str, ...]
    cautions: tuple[Caution, ...]

    @property
    def ridge(self) -> float:
        """OI_r, flop/byte."""
        return self.peak / self.bandwidth

    @property
    def work(self) -> float:
        """Sum of CL_i, flop or BOP."""
        return sum(stage.work for stage in self.stages)

    @property
    def moved_bytes(self) -> float:
        """Sum of ML_i, byte."""
        return sum(stage.moved_bytes for stage in self.stages)

    @property
    def performance(self) -> float:
        """Eq. (3) of all stages together: sum CL_i / sum T_i, flop/s."""
        return self.work / self.time_s.median

    @property
    def moved_bytes_per_s(self) -> float:
        """Eq. (4) of all stages together: sum ML_i / sum T_i, byte/s."""
        return self.moved_bytes / self.time_s.median

    def aggregate(self, bytes_per_s: float) -> AggregateEstimate | None:
        """Return the estimate from the sums of work and bytes and a bandwidth; None: no traffic.

        Parameters
        ----------
        bytes_per_s : float
            > 0, such as the machine's `bandwidth`, or `moved_bytes_per_s` that the stages reach.

        Notes
        -----
        The second is an identity: ``(sum CL / sum ML) (sum ML / sum T) / pi`` is CE. The first
        takes all stages to be bound by memory, one after the other.

        References
        ----------
        .. [1] SDP memo 54, rev. 1.1: section 5.1, a), on memo 10, whose text is not public.
        """
        if not self.moved_bytes:
            return None
        efficiency = self.work / self.moved_bytes * bytes_per_s / self.peak
        needed = None
        if self.load_per_s is not None:
            needed = float(
                np.asarray(devices(self.load_per_s, peak=self.peak, compute_efficiency=efficiency))
            )
        return AggregateEstimate(
            bytes_per_s=bytes_per_s, compute_efficiency=efficiency, devices=needed
        )

    @property
    def devices_if_they_wait(self) -> float | None:
        """N if the devices wait while the host works; None: not known, or no host time."""
        total, own = self.total_s, self.time_s.median
        if self.devices is None or total is None or total.median <= own:
            return None
        return self.devices.median * total.median / own

    @property
    def devices_for_the_stages(self) -> float | None:
        """N for one run of the stages in each second; None: no load was given."""
        if self.devices is None or self.load_per_s is None:
            return None
        return self.devices.median * self.work / self.load_per_s

    def composite(self, rule: Rule) -> Composite:
        """Return the composite by one rule."""
        return next(composite for composite in self.composites if composite.rule == rule)


def assess(
    pipeline: Pipeline,
    machine: Machine,
    *,
    cores: float | None = None,
    load_per_s: float | None = None,
) -> Assessment:
    """Return all figures of a pipeline on a machine.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    cores : float or None
        Number of busy cores; None: all.
    load_per_s : float or None
        CL of Eq. (10), a rate in flop/s; None: do not compute the number of devices.

    Raises
    ------
    UnknownCeiling
        If the machine has no ceiling for a resource that a stage asks for.
    ValueError
        If the load is not finite and > 0.

    Examples
    --------
    >>> from ridgepoint.core.demand import Demand
    >>> from ridgepoint.published.machines import load
    >>> fft = Stage(name="fft", demand=Demand({"fp32": 2e9, "dram": 5e8}), time_s=Estimate([0.01]))
    >>> found = assess(Pipeline(name="one", stages=(fft,)), load("cascade-lake"))
    >>> round(found.composite("capped").intensity, 3), round(found.compute_efficiency.median, 4)
    (4.0, 0.0476)
    """
    times, drawn = stage_times(pipeline, machine, cores=cores), draw(pipeline, machine, cores=cores)
    seconds = float(times.time_s.sum())
    time_s = drawn.interval(seconds, drawn.times.time_s.sum(axis=0))
    efficiency = drawn.interval(float(times.compute_efficiency), drawn.times.compute_efficiency)
    total = None
    if pipeline.host_time_s is not None:
        sums = drawn.times.time_s.sum(axis=0) + drawn.host_s
        total = drawn.interval(seconds + pipeline.host_time_s.median, sums)
    composites = composites_of(pipeline, times, drawn, load_per_s)
    stages = _stages(pipeline, times)
    return Assessment(
        pipeline=pipeline,
        machine=machine,
        cores=cores,
        load_per_s=load_per_s,
        peak=float(times.peak),
        bandwidth=float(np.asarray(times.bandwidth)),
        stages=stages,
        composites=composites,
        compute_efficiency=efficiency,
        time_s=time_s,
        bound_s=float(times.whole.time_s),
        mixed_s=float(combined(times.whole.times_s.values())),
        total_s=total,
        devices=composites[2].devices,
        uncertain=drawn.uncertain,
        cautions=_cautions(stages, composites, drawn, machine),
    )


def _stages(pipeline: Pipeline, times: StageTimes) -> tuple[StageFigures, ...]:
    return tuple(
        StageFigures(
            stage=stage,
            bound=times.bounds[i],
            time_s=float(times.time_s[i]),
            weight=float(times.weight[i]),
            roof_weight=float(times.roof_weight[i]),
        )
        for i, stage in enumerate(pipeline.stages)
    )


def _cautions(
    stages: tuple[StageFigures, ...],
    composites: tuple[Composite, ...],
    drawn: Drawn,
    machine: Machine,
) -> tuple[Caution, ...]:
    cautions = list(machine.cautions)
    for figures in stages:
        if figures.programming_efficiency > ABOVE_ROOF:
            cautions.append(
                Caution(
                    "above-roof",
                    f"{figures.stage.name} is {figures.programming_efficiency:.2f} times as fast "
                    "as its roof allows",
                    "check its work, its bytes (does a cache hold its data?) and the machine",
                )
            )
    if any(composite.is_clipped for composite in composites):
        cautions.append(
            Caution(
                "clipped",
                "Eq. (7) gives a roofline efficiency above 1, which is impossible",
                "it is taken as 1; use Eq. (8) or the series sum",
            )
        )
    bare = [
        figures.stage.name
        for figures in stages
        if figures.stage.time_s is None and not figures.stage.efficiency
    ]
    if bare:
        cautions.append(
            Caution(
                "at-roof",
                f"there is no time for {', '.join(bare)}: the time at the roof is taken",
                "measure the stage or give an efficiency; until then the number of devices is "
                "a lower bound",
            )
        )
    if drawn.certain:
        cautions.append(
            Caution(
                "single-values",
                f"there is only a single value for {', '.join(drawn.certain)}",
                "the intervals do not include its uncertainty; give repeats, or low and high",
            )
        )
    return tuple(cautions)
