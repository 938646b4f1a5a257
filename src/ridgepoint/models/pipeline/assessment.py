"""A pipeline on a machine: all its figures, with intervals, and how the composites differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.core.amounts import Amount
from ridgepoint.core.bound import Bound, combined
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.models.pipeline import (
    EQUATIONS,
    Pipeline,
    Rule,
    Stage,
    StageTimes,
    devices,
    stage_times,
)
from ridgepoint.models.pipeline.uncertainty import Drawn, draw
from ridgepoint.models.thresholds import ABOVE_ROOF

# Below this the composites agree as far as anybody reads them.
_ALIKE = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """One stage, all executions together.

    Parameters
    ----------
    stage : Stage
    bound : Bound
    time_s : float
        T_i.
    weight, roof_weight : float
        Shares of sum T_i (Eq. 6), and of the time at the roofs.
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
        return _finite(self.bound.intensity("dram"))

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
        """The time at the roof: the larger of both."""
        return float(self.bound.time_s)

    @property
    def limiter(self) -> str:
        """``compute`` or ``dram``."""
        return str(self.bound.limiter)

    @property
    def performance(self) -> float:
        """P_i, flop/s."""
        return float(self.bound.performance(self.time_s))

    @property
    def attainable(self) -> float:
        """R_i, flop/s."""
        return float(self.bound.attainable)

    @property
    def programming_efficiency(self) -> float:
        """P_i / R_i; of a pure copy it alone says what is reached: it performs nothing."""
        return float(self.bound.efficiency(self.time_s))

    @property
    def roofline_efficiency(self) -> float:
        """R_i over the peak."""
        return self.compute_s / self.bound_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """A pipeline as one point of the roofline, by one rule.

    Parameters
    ----------
    rule : {"by bytes", "by time", "capped", "exact"}
    intensity : float or None
        flop/byte; None: infinite. Of ``exact``: where the roof is at the performance of the
        series.
    roofline_efficiency : Estimate
        RE, at most 1.
    is_clipped : bool
        Whether the rule itself gives more than 1.
    programming_efficiency : Estimate
        That goes with it: CE / RE by Eq. (8), and for ``exact`` the bound over the time.
    compute_efficiency : Estimate
        Their product.
    devices : Estimate or None
        N of Eq. (10), not rounded; None: no load is given.
    devices_at_roof : float or None
        N if every stage were at its roof (PE = 1).
    difference : float
        RE over the exact one, minus 1.
    why : str
        Why it differs.
    """

    rule: Rule
    intensity: float | None
    roofline_efficiency: Estimate
    is_clipped: bool
    programming_efficiency: Estimate
    compute_efficiency: Estimate
    devices: Estimate | None
    devices_at_roof: float | None
    difference: float
    why: str

    @property
    def equation(self) -> str:
        """How the memo calls it."""
        return EQUATIONS[self.rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A pipeline on a machine.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    cores : float or None
        Kept busy; None: all.
    load_per_s : float or None
        CL of Eq. (10), flop/s.
    peak, bandwidth : float
        pi, of the mix of precisions that the stages have, flop/s; beta, byte/s.
    stages : tuple of StageFigures
    composites : tuple of Composite
        By bytes (5), by time (7), capped (8), exact.
    compute_efficiency : Estimate
        CE: sum CL_i / (pi sum T_i).
    time_s : Estimate
        sum T_i.
    bound_s : float
        Least time of the stages in series: the exact bound.
    mixed_s : float
        Least time if all stages ran at once, each using what the others leave.
    total_s : Estimate or None
        T_cip of Eq. (11), host time included; None: the host time is not known.
    devices : Estimate or None
        N, not rounded; None: no load is given.
    uncertain : tuple of str
        What the intervals are of; empty: there are none.
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

    def composite(self, rule: Rule) -> Composite:
        """Return the composite by a rule."""
        return next(one for one in self.composites if one.rule == rule)


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
        Kept busy; None: all.
    load_per_s : float or None
        CL of Eq. (10), a rate in flop/s; None: no devices are counted.

    Raises
    ------
    UnknownCeiling
        If the machine has no ceiling for what a stage asks for.
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
    point, drawn = stage_times(pipeline, machine, cores=cores), draw(pipeline, machine, cores=cores)
    time = float(point.time_s.sum())
    time_s = drawn.interval(time, drawn.times.time_s.sum(axis=0))
    efficiency = drawn.interval(float(point.compute_efficiency), drawn.times.compute_efficiency)
    total = None
    if pipeline.host_time_s is not None:
        sums = drawn.times.time_s.sum(axis=0) + drawn.host_s
        total = drawn.interval(time + pipeline.host_time_s.median, sums)
    composites = _composites(pipeline, point, drawn, load_per_s)
    stages = _stages(pipeline, point)
    return Assessment(
        pipeline=pipeline,
        machine=machine,
        cores=cores,
        load_per_s=load_per_s,
        peak=float(point.peak),
        bandwidth=float(np.asarray(point.bandwidth)),
        stages=stages,
        composites=composites,
        compute_efficiency=efficiency,
        time_s=time_s,
        bound_s=float(point.whole.time_s),
        mixed_s=float(combined(point.whole.times_s.values())),
        total_s=total,
        devices=composites[2].devices,
        uncertain=drawn.uncertain,
        cautions=_cautions(stages, composites, drawn, machine),
    )


def _stages(pipeline: Pipeline, point: StageTimes) -> tuple[StageFigures, ...]:
    return tuple(
        StageFigures(
            stage=stage,
            bound=point.bounds[i],
            time_s=float(point.time_s[i]),
            weight=float(point.weight[i]),
            roof_weight=float(point.roof_weight[i]),
        )
        for i, stage in enumerate(pipeline.stages)
    )


def _composites(
    pipeline: Pipeline, point: StageTimes, drawn: Drawn, load_per_s: float | None
) -> tuple[Composite, ...]:
    """Return the composites, each with the devices that follow from it."""
    # CE = RE x PE is an identity for Eq. (8) and for the exact bound, each with its own PE. What
    # the other two would give, were the memo's PE multiplied with them, shows how N moves.
    own = {rule: _efficiencies(point, rule) for rule in EQUATIONS}
    many = {rule: _efficiencies(drawn.times, rule) for rule in EQUATIONS}
    exact = float(own["exact"][1])
    found = []
    for rule in EQUATIONS:
        intensity, roofline, programming = own[rule]
        clipped = min(float(roofline), 1.0)
        drawn_roofline = np.minimum(many[rule][1], 1.0)
        product = clipped * float(programming)
        drawn_product = drawn_roofline * many[rule][2]
        needed = None
        if load_per_s is not None:
            needed = drawn.interval(
                _devices(load_per_s, point.peak, product),
                devices(load_per_s, peak=drawn.times.peak, compute_efficiency=drawn_product),
            )
        found.append(
            Composite(
                rule=rule,
                intensity=_finite(intensity),
                roofline_efficiency=drawn.interval(clipped, drawn_roofline),
                is_clipped=bool(roofline > 1 + 1e-12),
                programming_efficiency=drawn.interval(float(programming), many[rule][2]),
                compute_efficiency=drawn.interval(product, drawn_product),
                devices=needed,
                devices_at_roof=load_per_s and _devices(load_per_s, point.peak, clipped),
                difference=clipped / exact - 1,
                why=_why(rule, clipped / exact - 1, pipeline, point),
            )
        )
    return tuple(found)


def _efficiencies(found: StageTimes, rule: Rule) -> tuple[Amount, Amount, Amount]:
    """Return intensity, roofline efficiency, and the programming efficiency that goes with it."""
    intensity, roofline = found.composite(rule)
    base = found.composite("exact" if rule == "exact" else "capped")[1]
    return intensity, roofline, np.asarray(found.compute_efficiency / base)


def _devices(load_per_s: float, peak: Amount, efficiency: float) -> float:
    return float(np.asarray(devices(load_per_s, peak=peak, compute_efficiency=efficiency)))


def _why(rule: Rule, difference: float, pipeline: Pipeline, point: StageTimes) -> str:
    """Return why a composite differs from the bound of the stages in series."""
    if rule == "exact":
        return "not an average: adds up the times at the roofs of stages in series"
    names = [stage.name for stage in pipeline.stages]
    if rule == "by bytes":
        if abs(difference) < _ALIKE:
            return "agrees: one resource bounds all stages"
        return "assumes that the stages overlap; in series they do not"
    beyond = [
        name
        for name, intensity, limiter in zip(names, point.intensity, point.limiters, strict=True)
        if limiter == "compute" and intensity > point.ridge * (1 + _ALIKE)
    ]
    if rule == "by time" and beyond:
        return (
            "counts intensity beyond the ridge, where it no longer raises the roof "
            f"({', '.join(beyond)})"
        )
    if abs(difference) < _ALIKE:
        return (
            "agrees: the roofs of all stages are equally high, whatever share of them is reached"
            if np.ptp(point.roofline_efficiency) < _ALIKE
            else (
                "agrees: all stages reach the same share of their roofs, or their differences "
                "cancel"
            )
        )
    moved = point.weight - point.roof_weight
    exact = float(point.composite("exact")[1])
    most = int(np.argmax(np.abs(moved * (point.roofline_efficiency - exact))))
    return (
        f"weighted by measured time: {names[most]} is {_share(point.weight[most])} of it, and "
        f"{_share(point.roof_weight[most])} of the time at the roofs"
    )


def _cautions(
    stages: tuple[StageFigures, ...],
    composites: tuple[Composite, ...],
    drawn: Drawn,
    machine: Machine,
) -> tuple[Caution, ...]:
    found = list(machine.cautions)
    for one in stages:
        if one.programming_efficiency > ABOVE_ROOF:
            found.append(
                Caution(
                    "above-roof",
                    f"{one.stage.name} is {one.programming_efficiency:.2f} times as fast as its "
                    "roof allows",
                    "check its work, its bytes (does a cache hold its data?) and the machine",
                )
            )
    if any(one.is_clipped for one in composites):
        found.append(
            Caution(
                "clipped",
                "Eq. (7) gives a roofline efficiency above 1, which is impossible",
                "it is taken as 1; use Eq. (8) or the series sum",
            )
        )
    bare = [
        one.stage.name for one in stages if one.stage.time_s is None and not one.stage.efficiency
    ]
    if bare:
        found.append(
            Caution(
                "at-roof",
                f"there is no time for {', '.join(bare)}: the time at the roof is taken",
                "measure the stage or give an efficiency; until then the number of devices is "
                "a lower bound",
            )
        )
    if drawn.certain:
        found.append(
            Caution(
                "single-values",
                f"there is only a single value for {', '.join(drawn.certain)}",
                "the intervals do not include its uncertainty; give repeats, or low and high",
            )
        )
    return tuple(found)


def _finite(value: Amount) -> float | None:
    number = float(np.asarray(value))
    return number if np.isfinite(number) else None


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"
