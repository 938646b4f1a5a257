"""The DC-Roofline beside the roofline in flop as charts: where the bottleneck changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.dc_ceilings import CALLED
from ridgepoint.models.roofline import DCRoofline
from ridgepoint.models.roofs import RidgePoint, ShownRoof, ridge_points
from ridgepoint.show import theme
from ridgepoint.show.axes import stepped
from ridgepoint.show.chart import Chart, Entry, Face, Interval, Label, Line, Mark, Page
from ridgepoint.show.charts.roof_lines import (
    dc_names,
    intensity_axis,
    performance_axis,
    ridge_marks,
    roof_lines,
)
from ridgepoint.show.words import machine_title, percent, shown_cores
from ridgepoint.suites.datacenter.points import WorkloadPoint

_FACES: dict[str, Face] = {
    "original": "hollow", "ILP": "pale", "prefetch": "hatched", "SIMD": "full", "optimised": "full",
}  # fmt: skip
"""How the marks of a form are filled; the order of the forms."""
_AFTER = {"ILP": "original", "prefetch": "ILP", "SIMD": "ILP", "optimised": "original"}
"""The form that each goes on from."""

_TITLES = {"bop": "DC-Roofline: basic operations", "fp64": "Roofline: floating point"}
# Beyond the outermost point, ridge or ceiling, so that labels have room.
_MARGIN = 2.0
# Multiples of the ridge point to its left and right that are always shown, for the roofs' labels.
_LEFT, _RIGHT = 0.1, 8.0
_SIZE = 0.9
_RANK_OF_NAMES = 20
_HEIGHT = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A form of a workload on one of the planes; without traffic its intensity is infinite."""

    workload: WorkloadPoint
    intensity: float
    performance: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """A chart with its part of the page's key and notes."""

    chart: Chart
    summaries: dict[str, str]
    ridges: tuple[RidgePoint, ...]
    beyond: tuple[str, ...]


def dc_page(
    machine: Machine,
    points: Sequence[WorkloadPoint],
    *,
    flop_points: Sequence[WorkloadPoint] | None = None,
    cores: float | None = None,
    notes: Sequence[str] = (),
) -> Page:
    """Return the DC-Roofline of workloads, with the roofline in flop beside it.

    Parameters
    ----------
    machine : Machine
        Machine with ceilings of ``bop``, ``fp64`` and ``dram``.
    points : sequence of WorkloadPoint
    flop_points : sequence of WorkloadPoint or None
        Points of the second chart, where traffic was taken otherwise; None: the same.
    cores : float or None
        Number of busy cores; None: all.
    notes : sequence of str
        Facts that a reader must know and the planes cannot show.

    Raises
    ------
    UnknownCeiling
        If the machine lacks one of these ceilings.
    ValueError
        If a form of a workload occurs twice.
    """
    panels = [
        _panel(machine, own, work, cores)
        for work, own in (("bop", points), ("fp64", points if flop_points is None else flop_points))
    ]
    in_bop, in_flop = panels
    return Page(
        charts=tuple(panel.chart for panel in panels),
        columns=2,
        key=tuple(
            Entry(
                text=f"{name}: {summary}; in flop: {in_flop.summaries.get(name, 'none')}",
                ink=index,
                shape=theme.shape_of(index),
            )
            for index, (name, summary) in enumerate(in_bop.summaries.items())
        ),
        notes=(*notes, *_notes(machine, points, panels)),
    )


def _notes(
    machine: Machine, points: Sequence[WorkloadPoint], panels: Sequence[_Panel]
) -> Iterator[str]:
    """Yield what faces, bars and roofs mean, and which points are drawn away from their place."""
    yield from steps_note(points)
    ridges = ", ".join(
        f"{ridge.intensity:.2g} {RESOURCES[ridge.work].unit}/byte"
        for panel in panels
        for ridge in panel.ridges
    )
    yield f"ridge points: {ridges}"
    if any(point.runtime_s.n > 1 for point in points):
        yield "error bars: quartiles of performance"
    yield from dc_names(machine, ("bop", "fp64", "dram"))
    beyond = dict.fromkeys(name for panel in panels for name in panel.beyond)
    if beyond:
        yield f"at the right edge, no DRAM traffic: {', '.join(beyond)}"


def steps_note(points: Sequence[WorkloadPoint]) -> Iterator[str]:
    """Yield what the faces of the marks mean, if there is a step after the first."""
    forms = {point.form for point in points}
    if forms > {"original"}:
        named = (f"{form} ({face})" for form, face in _FACES.items() if form in forms)
        yield f"steps, as far as there are any: {', '.join(named)}"


def dc_chart(
    machine: Machine,
    points: Sequence[WorkloadPoint],
    *,
    work: str,
    cores: float | None = None,
    limits: tuple[Interval, Interval] | None = None,
    names: Sequence[str] = (),
) -> Chart:
    """Return one chart of `dc_page`: ``bop``, or the flop of ``fp64``.

    Parameters
    ----------
    machine : Machine
    points : sequence of WorkloadPoint
    work : {"bop", "fp64"}
    cores : float or None
    limits : tuple of (float, float) or None
        Those of both axes; None: as wide as this chart needs.
    names : sequence of str
        All workloads of charts that share colours and shapes, in their order; empty: those here.
    """
    return _panel(machine, points, work, cores, limits=limits, names=names).chart


def dc_limits(
    machine: Machine, points: Sequence[WorkloadPoint], *, work: str, cores: float | None = None
) -> tuple[Interval, Interval]:
    """Return how wide the axes of a `dc_chart` have to be."""
    chart = dc_chart(machine, points, work=work, cores=cores)
    return chart.x.limits, chart.y.limits


def _placed(points: Sequence[WorkloadPoint], work: str) -> list[_Placed]:
    """Return the points with such work on its plane.

    Raises
    ------
    ValueError
        If a form of a workload is there twice.
    """
    keys = [(point.name, point.form) for point in points]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"a form of a workload must be there once, got {twice!r} again")
    return [
        _Placed(
            workload=point, intensity=point.intensity(work), performance=point.performance(work)
        )
        for point in points
        if point.work(work)
    ]


def _panel(
    machine: Machine,
    points: Sequence[WorkloadPoint],
    work: str,
    cores: float | None,
    *,
    limits: tuple[Interval, Interval] | None = None,
    names: Sequence[str] = (),
) -> _Panel:
    placed = _placed(points, work)
    unit = RESOURCES[work].unit
    busy = float(machine.cores) if cores is None else cores
    roofline = DCRoofline(machine=machine, work=work, cores=busy)
    roofs = _roofs(machine, roofline, busy)
    x_limits, y_limits = limits or _frame(roofline, placed, roofs)
    of_names = {
        name: sorted(
            (point for point in placed if point.workload.name == name),
            key=lambda point: list(_FACES).index(point.workload.form),
        )
        for name in names or dict.fromkeys(point.name for point in points)
    }
    ridges = ridge_points(roofs)
    lines = roof_lines(roofs, x_limits=x_limits, y_limits=y_limits)
    marks = [_marks(own, index, x_limits[1]) for index, own in enumerate(of_names.values())]
    chart = Chart(
        title=_TITLES[work],
        subtitle=f"{machine_title(machine)}; {shown_cores(busy)}",
        x=intensity_axis(x_limits, f"Operational intensity [{unit}/byte]"),
        y=performance_axis(y_limits, f"Performance [{unit}/s]"),
        lines=(
            *(_named(line, roof) for line, roof in zip(lines, roofs, strict=True)),
            *(line for own in marks for line in _changes(own)),
        ),
        marks=(*ridge_marks(ridges), *(mark for own in marks for mark in own)),
        height=_HEIGHT,
    )
    return _Panel(
        chart=chart,
        summaries={name: _summary(own, roofline) for name, own in of_names.items()},
        ridges=ridges,
        beyond=tuple(point.workload.name for point in placed if math.isinf(point.intensity)),
    )


def _roofs(machine: Machine, roofline: DCRoofline, cores: float) -> list[ShownRoof]:
    """Return peak and bandwidth, then the lower ceilings of both, with their names here."""
    work, peak = roofline.work, roofline.peak
    slope = float(machine.rate("dram", cores=cores))
    outer = {(work, "peak"): peak, ("dram", _bandwidth_name(machine)): slope}
    lower = {
        (resource, name): rate
        for resource in (work, "dram")
        for name, rate in _lower(machine, resource, cores)
    }
    return [
        ShownRoof(
            resource=resource,
            role="outer" if (resource, name) in outer else "lower",
            rate=rate,
            cores=cores,
            # From the outer bandwidth on, or up to the outer peak.
            ridge=peak / rate if resource == "dram" else rate / slope,
            pattern=name,
        )
        for (resource, name), rate in (*outer.items(), *lower.items())
    ]


def _named(line: Line, roof: ShownRoof) -> Line:
    """Return a roof's line with its name in this chart."""
    rate = format_si(roof.rate, RESOURCES[roof.resource].rate_unit, digits=3)
    text = f"{'' if roof.is_peak else 'DRAM '}{roof.pattern} {rate}"
    assert line.label is not None
    return replace(line, label=replace(line.label, text=text, short=roof.pattern), name=text)


def _marks(placed: Sequence[_Placed], index: int, right: float) -> list[Mark]:
    """Return a workload's marks, the original hollow; without traffic it is at the right edge."""
    return [
        Mark(
            at=(min(point.intensity, right), point.performance.median),
            shape=theme.shape_of(index),
            ink=index,
            face=_FACES[point.workload.form],
            y_interval=(point.performance.q1, point.performance.q3),
            size=_SIZE,
            edge="right" if math.isinf(point.intensity) else None,
            name=point.workload.name,
            summary=point.workload.form,
        )
        for point in placed
    ]


def _changes(marks: Sequence[Mark]) -> Iterator[Line]:
    """Yield a line to each form from the one before; the first has the workload's name."""
    places = {mark.summary: mark.at for mark in marks}
    first = next(iter(places), "")
    for form, place in places.items():
        before = places.get(_AFTER.get(form, ""), places[first])
        if form == first and len(places) > 1:
            continue
        is_named = form == first or form == list(places)[1]
        yield Line(
            kind="change",
            places=(place,) if form == first else (before, place),
            ink=marks[0].ink,
            label=Label(marks[0].name, where="beside", rank=_RANK_OF_NAMES, is_bold=True)
            if is_named
            else None,
            name=marks[0].name,
        )


def _lower(machine: Machine, resource: str, cores: float) -> list[tuple[str, float]]:
    """Return the lower ceilings of a resource that are drawn, the highest first."""
    rates: dict[str, float] = {}
    for name, called in CALLED.items():
        if machine.knows(resource, patterns=(name,)):
            rates[called] = float(machine.rate(resource, cores=cores, patterns=(name,)))
    best = float(machine.rate(resource, cores=cores))
    return sorted(
        ((label, rate) for label, rate in rates.items() if rate < best),
        key=lambda ceiling: -ceiling[1],
    )


def _bandwidth_name(machine: Machine) -> str:
    """Return the outer bandwidth's name: "prefetching" if one without is drawn."""
    without = any(
        c.resource == "dram" and CALLED.get(c.name) == "no prefetching" for c in machine.ceilings
    )
    return "prefetching" if without else "bandwidth"


def _frame(
    roofline: DCRoofline, placed: Sequence[_Placed], roofs: Sequence[ShownRoof]
) -> tuple[Interval, Interval]:
    """Return the limits of both axes, which hold points, ridge and ceilings."""
    intensities = [point.intensity for point in placed if math.isfinite(point.intensity)]
    rates = [
        rate for point in placed for rate in (point.performance.q1, point.performance.q3) if rate
    ]
    peaks, ridge = [roof.rate for roof in roofs if roof.is_peak], roofline.ridge
    return (
        stepped([ridge * _LEFT, ridge * _RIGHT, *intensities], room=_MARGIN),
        stepped([*peaks, *rates], room=_MARGIN),
    )


def _summary(placed: Sequence[_Placed], roofline: DCRoofline) -> str:
    """Return performance, share of attainable performance and bottleneck of a workload's forms."""
    if not placed:
        return "none"
    unit = RESOURCES[roofline.work].unit
    rates, shares, bottlenecks = [], [], []
    for point in placed:
        rate = point.performance.median
        rates.append(format_si(rate, f"{unit}/s", digits=3))
        shares.append(percent(rate / float(roofline.attainable(point.intensity))))
        bottlenecks.append(str(roofline.bottleneck(point.intensity)))
    return f"{_steps(rates)} ({_steps(shares)} of attainable), {_steps(bottlenecks)}"


def _steps(texts: Sequence[str]) -> str:
    """Return texts with arrows between them; a unit that all share is written only once, last."""
    different = list(texts) if len(set(texts)) > 1 else list(texts[:1])
    units = {text.partition(" ")[2] for text in different}
    if len(units) == 1 and all(text[0].isdigit() for text in different):
        different[:-1] = [text.partition(" ")[0] for text in different[:-1]]
    return " → ".join(different)
