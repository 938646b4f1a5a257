"""A pipeline on a machine: all its figures, with intervals, and how the composites differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.core.amounts import Amount
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.models.pipeline import EQUATIONS, Pipeline, Rule, Series, Stage, devices, series
from ridgepoint.models.pipeline.uncertainty import Drawn, draw
from ridgepoint.models.placement_doubts import ABOVE_ROOF

# Below this the composites agree as far as anybody reads them.
_ALIKE = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """One stage, all executions together.

    Parameters
    ----------
    stage : Stage
    work : float
        CL_i, flop or BOP.
    moved_bytes : float
        ML_i, byte.
    intensity : float or None
        OI_i, flop/byte; None: infinite.
    compute_s, memory_s : float
        Least seconds of each path.
    time_s, bound_s : float
        T_i, and the time at the roof: the larger of both.
    weight, roof_weight : float
        Shares of sum T_i (Eq. 6), and of the time at the roofs.
    limiter : str
        ``compute`` or ``dram``.
    performance, attainable : float
        P_i and R_i, flop/s.
    programming_efficiency, roofline_efficiency : float
        P_i / R_i, and R_i over the peak.
    """

    stage: Stage
    work: float
    moved_bytes: float
    intensity: float | None
    compute_s: float
    memory_s: float
    time_s: float
    bound_s: float
    weight: float
    roof_weight: float
    limiter: str
    performance: float
    attainable: float
    programming_efficiency: float
    roofline_efficiency: float


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
    point, drawn = series(pipeline, machine, cores=cores), draw(pipeline, machine, cores=cores)
    time = float(point.time_s.sum())
    time_s = drawn.interval(time, drawn.series.time_s.sum(axis=0))
    efficiency = drawn.interval(float(point.compute_efficiency), drawn.series.compute_efficiency)
    total = None
    if pipeline.host_time_s is not None:
        sums = drawn.series.time_s.sum(axis=0) + drawn.host_s
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
        bound_s=float(point.bound_s.sum()),
        mixed_s=float(max(point.compute_s.sum(), point.memory_s.sum())),
        total_s=total,
        devices=composites[2].devices,
        uncertain=drawn.uncertain,
        cautions=_cautions(stages, composites, drawn, machine),
    )


def _stages(pipeline: Pipeline, point: Series) -> tuple[StageFigures, ...]:
    # Of a pure copy, the programming efficiency alone says what it reaches: it performs nothing.
    return tuple(
        StageFigures(
            stage=stage,
            work=float(point.work[i]),
            moved_bytes=float(point.moved_bytes[i]),
            intensity=_finite(point.intensity[i]),
            compute_s=float(point.compute_s[i]),
            memory_s=float(point.memory_s[i]),
            time_s=float(point.time_s[i]),
            bound_s=float(point.bound_s[i]),
            weight=float(point.weight[i]),
            roof_weight=float(point.roof_weight[i]),
            limiter=point.limiters[i],
            performance=float(point.work[i] / point.time_s[i]),
            attainable=float(point.work[i] / point.bound_s[i]),
            programming_efficiency=float(point.programming_efficiency[i]),
            roofline_efficiency=float(point.roofline_efficiency[i]),
        )
        for i, stage in enumerate(pipeline.stages)
    )


def _composites(
    pipeline: Pipeline, point: Series, drawn: Drawn, load_per_s: float | None
) -> tuple[Composite, ...]:
    """Return the composites, each with the devices that follow from it."""
    # CE = RE x PE is an identity for Eq. (8) and for the exact bound, each with its own PE. What
    # the other two would give, were the memo's PE multiplied with them, shows how N moves.
    own = {rule: _efficiencies(point, rule) for rule in EQUATIONS}
    many = {rule: _efficiencies(drawn.series, rule) for rule in EQUATIONS}
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
                devices(load_per_s, peak=drawn.series.peak, compute_efficiency=drawn_product),
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


def _efficiencies(found: Series, rule: Rule) -> tuple[Amount, Amount, Amount]:
    """Return intensity, roofline efficiency, and the programming efficiency that goes with it."""
    intensity, roofline = found.composite(rule)
    base = found.composite("exact" if rule == "exact" else "capped")[1]
    return intensity, roofline, np.asarray(found.compute_efficiency / base)


def _devices(load_per_s: float, peak: Amount, efficiency: float) -> float:
    return float(np.asarray(devices(load_per_s, peak=peak, compute_efficiency=efficiency)))


def _why(rule: Rule, difference: float, pipeline: Pipeline, point: Series) -> str:
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
