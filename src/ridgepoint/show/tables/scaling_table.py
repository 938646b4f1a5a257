"""A study of cores and nodes as text: what is reached where, and what to allocate."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.gains import Gain
from ridgepoint.models.scaling.allocation import Allocation
from ridgepoint.models.scaling.fits import Fit
from ridgepoint.models.scaling.fitting import Parameter
from ridgepoint.models.scaling.measured import measured_scaling
from ridgepoint.models.scaling.study import ScalingStudy
from ridgepoint.show.scaling_text import heading
from ridgepoint.show.tables.layout import caution_list, plain_table, sections
from ridgepoint.show.words import WITHIN, percent, shown_gain, shown_within

_NONE = "-"

LIMITERS = {"compute": "compute", "dram": "memory", "network": "network", "latency": "latency"}
"""What limits, by the path of the bound, or the latency within the network's."""


def scaling_table(study: ScalingStudy, *, law: bool = False) -> RenderableType:
    """Return a study as text.

    Parameters
    ----------
    study : ScalingStudy
    law : bool
        Whether it is a law of speed-up, which knows processors and nothing of a machine.
    """
    fit = study.fit
    return sections(
        Group(*map(Text, heading(study, law=law))),
        None if fit is None else Group(_fit_table(fit), Text(_quality(fit))),
        None if fit is None else _measured_table(fit, law=law),
        _points(study, law=law),
        Group(_chosen(study, law=law), *map(Text, _lacks(study, law=law))),
        caution_list(study.cautions) if study.cautions else None,
    )


def _choices(study: ScalingStudy) -> list[tuple[str, Allocation]]:
    """Return what may be worth allocating, and why."""
    choices = [("fastest of these", study.best)]
    if study.unshared is not None:
        choices.append(("the same with its nodes to itself", study.unshared))
    if study.optimum is not None and study.nodes[-1] > 1:
        choices.append((f"optimum, p* = {study.optimum.nodes:.6g}", study.optimum.best))
    if study.largest is not None:
        choices.append((_kept(study), study.largest))
    return choices


def _lacks(study: ScalingStudy, *, law: bool) -> list[str]:
    """Return what there is not, a line each."""
    lines = []
    if study.optimum is None and study.nodes[-1] > 1:
        things = "processors" if law else "nodes"
        lines.append(f"no optimum: performance grows with the {things} without end")
    if study.efficiency is not None and study.largest is None:
        lines.append(f"{_kept(study)}: none, not even the smallest allocation")
    return lines


def _kept(study: ScalingStudy) -> str:
    kind = "parallel" if study.against == "core" else "peak"
    return f"{kind} efficiency >= {study.efficiency:g}"


def _points(study: ScalingStudy, *, law: bool) -> RenderableType:
    """Return what is reached where, one row each."""
    unit = RESOURCES[study.scaling.problem.work].unit
    columns = _columns(law)
    if law:
        table = plain_table(*columns, right=columns)
    else:
        table = plain_table(*columns, "performance", "limited by", right=(*columns, "performance"))
    for allocation in study.points:
        more = (
            []
            if law
            else [format_si(allocation.performance, f"{unit}/s"), LIMITERS[allocation.limiter]]
        )
        table.add_row(*_cells(allocation, law), *more)
    return table


def _chosen(study: ScalingStudy, *, law: bool) -> RenderableType:
    """Return what may be worth allocating, one row each."""
    columns = _columns(law)
    table = plain_table("worth allocating", *columns, right=columns)
    for name, allocation in _choices(study):
        table.add_row(name, *_cells(allocation, law))
    return table


def _columns(law: bool) -> list[str]:
    if law:
        return ["processors", "time", "speed-up", "efficiency"]
    return ["nodes", "cores", "time", "speed-up", "peak eff.", "parallel eff."]


def _cells(allocation: Allocation, law: bool) -> list[str]:
    time, speed_up = format_si(allocation.time_s, "s"), f"{allocation.speed_up:.4g}"
    parallel = percent(allocation.parallel_efficiency)
    if law:
        return [f"{allocation.nodes:,}", time, speed_up, parallel]
    peak = percent(allocation.peak_efficiency)
    return [f"{allocation.nodes:,}", f"{allocation.cores:,}", time, speed_up, peak, parallel]


def _fit_table(fit: Fit) -> RenderableType:
    columns = ("value", "standard error", "95 % interval")
    table = plain_table("fitted", *columns, right=columns)
    for parameter in fit.parameters:
        table.add_row(
            parameter.name,
            _amount(parameter, parameter.value),
            _amount(parameter, parameter.standard_error),
            _interval(parameter),
        )
    return table


def _measured_table(fit: Fit, *, law: bool) -> RenderableType:
    """Return what was measured, with what each setting gains over the smallest of its size."""
    every = measured_scaling(fit.solution.runs)
    where = ("processors",) if law else ("nodes", "cores")
    has_sizes = any(measured.run.size is not None for measured in every)
    columns = (*where, *(("n",) if has_sizes else ()), "time", "speed-up", "efficiency", "model")
    table = plain_table("measured", *columns, right=columns)
    for measured, predicted_s in zip(every, fit.solution.predicted_s, strict=True):
        run = measured.run
        table.add_row(
            "",
            *([f"{run.processors:,}"] if law else [f"{run.nodes:,}", f"{run.cores:,}"]),
            *([_NONE if run.size is None else f"{run.size:,.10g}"] if has_sizes else []),
            shown_within(run.time_s, "s"),
            _NONE if measured.speed_up is None else shown_gain(measured.speed_up),
            _NONE if measured.efficiency is None else _efficiency(measured.efficiency),
            format_si(float(predicted_s), "s", digits=3),
        )
    return Group(table, Text(f"over the setting of the same size with the fewest cores; {WITHIN}"))


def _efficiency(gain: Gain) -> str:
    if gain.low is None or gain.high is None:
        return percent(gain.ratio)
    return f"{percent(gain.ratio)} ({percent(gain.low)} to {percent(gain.high)})"


def _interval(parameter: Parameter) -> str:
    if parameter.high is None:
        return f"at least {_amount(parameter, parameter.low)}"
    return f"{_amount(parameter, parameter.low)} to {_amount(parameter, parameter.high)}"


def _amount(parameter: Parameter, value: float | None) -> str:
    if value is None:
        return "unknown"
    return (
        format_si(value, parameter.unit.replace("byte", "B")) if parameter.unit else f"{value:.4g}"
    )


def _quality(fit: Fit) -> str:
    solution = fit.solution
    runs = sum(run.time_s.n for run in solution.runs)
    quality = (
        f"{runs} runs of {len(solution.runs)} settings: medians are {percent(solution.deviation)} "
        "off the model"
    )
    if solution.noise is None or solution.chi_square is None:
        return quality
    return (
        f"{quality}, repeats {percent(solution.noise)} off their medians; reduced chi-square "
        f"{solution.chi_square:.3g}"
    )
