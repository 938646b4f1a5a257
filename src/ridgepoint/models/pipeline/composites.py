"""A pipeline as one point of the roofline, by each of the memo's rules, and why they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.core.amounts import Amount
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.pipeline import Pipeline
from ridgepoint.models.pipeline.times import EQUATIONS, Rule, StageTimes, devices
from ridgepoint.models.pipeline.uncertainty import Drawn

# Below this the composites agree as far as readers can see.
_ALIKE = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """A pipeline as one point of the roofline, by one rule.

    Parameters
    ----------
    rule : {"by bytes", "by time", "capped", "exact"}
    intensity : float or None
        flop/byte; None: infinite. For ``exact``: intensity at which the roof equals the performance
        of the series.
    roofline_efficiency : Estimate
        RE, at most 1.
    is_clipped : bool
        Whether the rule itself gives more than 1, before clipping.
    programming_efficiency : Estimate
        PE that goes with it: CE / RE by Eq. (8), and for ``exact`` the bound over the time.
    compute_efficiency : Estimate
        CE, the product of the two.
    devices : Estimate or None
        N of Eq. (10), not rounded; None: no load was given.
    devices_at_roof : float or None
        N if every stage were at its roof (PE = 1).
    difference : float
        RE over the exact one, minus 1.
    why : str
        Why RE differs from the exact one.
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
        """The memo's name of the rule."""
        return EQUATIONS[self.rule]


def composites_of(
    pipeline: Pipeline, times: StageTimes, drawn: Drawn, load_per_s: float | None
) -> tuple[Composite, ...]:
    """Return the composites of a pipeline, each with its number of devices.

    Parameters
    ----------
    pipeline : Pipeline
    times : StageTimes
        Times of its stages.
    drawn : Drawn
        The same times, drawn many times.
    load_per_s : float or None
        CL of Eq. (10), a rate in flop/s; None: do not compute the number of devices.
    """
    # CE = RE x PE is an identity for Eq. (8) and for the exact bound, each with its own PE. For
    # the other two rules, multiplying with the memo's PE shows how N changes.
    own = {rule: _efficiencies(times, rule) for rule in EQUATIONS}
    many = {rule: _efficiencies(drawn.times, rule) for rule in EQUATIONS}
    exact = float(own["exact"][1])
    composites = []
    for rule in EQUATIONS:
        intensity, roofline, programming = own[rule]
        clipped = min(float(roofline), 1.0)
        drawn_roofline = np.minimum(many[rule][1], 1.0)
        product = clipped * float(programming)
        drawn_product = drawn_roofline * many[rule][2]
        needed = None
        if load_per_s is not None:
            needed = drawn.interval(
                _devices(load_per_s, times.peak, product),
                devices(load_per_s, peak=drawn.times.peak, compute_efficiency=drawn_product),
            )
        composites.append(
            Composite(
                rule=rule,
                intensity=finite(intensity),
                roofline_efficiency=drawn.interval(clipped, drawn_roofline),
                is_clipped=bool(roofline > 1 + 1e-12),
                programming_efficiency=drawn.interval(float(programming), many[rule][2]),
                compute_efficiency=drawn.interval(product, drawn_product),
                devices=needed,
                devices_at_roof=load_per_s and _devices(load_per_s, times.peak, clipped),
                difference=clipped / exact - 1,
                why=_why(rule, clipped / exact - 1, pipeline, times),
            )
        )
    return tuple(composites)


def _efficiencies(times: StageTimes, rule: Rule) -> tuple[Amount, Amount, Amount]:
    """Return intensity, roofline efficiency, and the matching programming efficiency."""
    intensity, roofline = times.composite(rule)
    base = times.composite("exact" if rule == "exact" else "capped")[1]
    return intensity, roofline, np.asarray(times.compute_efficiency / base)


def _devices(load_per_s: float, peak: Amount, efficiency: float) -> float:
    return float(np.asarray(devices(load_per_s, peak=peak, compute_efficiency=efficiency)))


def _why(rule: Rule, difference: float, pipeline: Pipeline, times: StageTimes) -> str:
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
        for name, intensity, limiter in zip(names, times.intensity, times.limiters, strict=True)
        if limiter == "compute" and intensity > times.ridge * (1 + _ALIKE)
    ]
    if rule == "by time" and beyond:
        return (
            "counts intensity beyond the ridge, where it no longer raises the roof "
            f"({', '.join(beyond)})"
        )
    if abs(difference) < _ALIKE:
        return (
            "agrees: the roofs of all stages are equally high, whatever share of them is reached"
            if np.ptp(times.roofline_efficiency) < _ALIKE
            else (
                "agrees: all stages reach the same share of their roofs, or their differences "
                "cancel"
            )
        )
    moved = times.weight - times.roof_weight
    exact = float(times.composite("exact")[1])
    most = int(np.argmax(np.abs(moved * (times.roofline_efficiency - exact))))
    return (
        f"weighted by {_times_of(pipeline)}: {names[most]} takes {_share(times.weight[most])}, "
        f"and {_share(times.roof_weight[most])} at the roofs"
    )


def _times_of(pipeline: Pipeline) -> str:
    """Return what the weights of Eq. (6) are shares of: times need not be measured."""
    timed = [stage.time_s is not None for stage in pipeline.stages]
    if all(timed):
        return "measured times"
    return "measured and assumed times" if any(timed) else "assumed times"


def finite(value: Amount) -> float | None:
    """Return a number, or None if it is infinite."""
    number = float(np.asarray(value))
    return number if np.isfinite(number) else None


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"
