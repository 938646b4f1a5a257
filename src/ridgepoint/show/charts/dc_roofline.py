"""The DC-Roofline beside the roofline in flop, as a figure value: where the bottleneck changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.roofline import DCRoofline
from ridgepoint.published.tables import publication, spans
from ridgepoint.show.charts.dc_plane import DCFigure, DCPanel, Mark, Workload, WorkloadPoint
from ridgepoint.show.charts.plane import Coordinates, Role, RoofLine
from ridgepoint.show.charts.roofs import intensity_ticks, performance_ticks, ridge_marks
from ridgepoint.show.words import machine_title, percent, shown_cores, shown_name

__all__ = ["WorkloadPoint", "dc_figure", "dc_panel", "published_points"]

_FORMS = ("original", "optimised")

_CALLED = {
    # Eq. (8), by the paper's names.
    "SIMD": "with SIMD",
    "ILP": "with ILP, no SIMD",
    # Measured: what is left without one or the other.
    "mixed scalar": "no SIMD",
    "fma scalar": "no SIMD",
    **{f"dependent {bits}-bit": "no ILP" for bits in (512, 256, 128)},
    "dependent scalar": "no SIMD, no ILP",
    "stream, no prefetching": "no prefetching",
    "gather": "no prefetching",
}
"""Lower ceilings that are drawn, by the names of what was measured or published."""

_TITLES = {"bop": "DC-Roofline: basic operations", "fp64": "Roofline: floating point"}
# Beyond the outermost point, ridge or ceiling, so that labels have room.
_MARGIN = 2.0
# Of the ridge point: so far to its left the bandwidths are seen at least, for their labels.
_LEFT = 0.1
_STEPS = (1.0, 2.0, 5.0, 10.0)
"""Of a decade, at which an axis may end."""


def dc_figure(
    machine: Machine,
    points: Sequence[WorkloadPoint],
    *,
    flop_points: Sequence[WorkloadPoint] | None = None,
    cores: float | None = None,
    notes: Sequence[str] = (),
) -> DCFigure:
    """Return the DC-Roofline of some workloads, and the roofline in flop beside it.

    Parameters
    ----------
    machine : Machine
        With ceilings of ``bop``, ``fp64`` and ``dram``.
    points : sequence of WorkloadPoint
    flop_points : sequence of WorkloadPoint or None
        Of the second panel, where traffic was taken otherwise; None: the same.
    cores : float or None
        That the workloads keep busy; None: all.
    notes : sequence of str
        What a reader must know and the planes cannot show.

    Raises
    ------
    UnknownCeiling
        If the machine lacks one of these ceilings.
    ValueError
        If a form of a workload is there twice.
    """
    panels = [
        dc_panel(machine, own, work=work, cores=cores)
        for work, own in (("bop", points), ("fp64", points if flop_points is None else flop_points))
    ]
    said = []
    if any(one.form == "optimised" for one in points):
        said.append("hollow: original, filled: optimised")
    ridges = ", ".join(
        f"{ridge.label} {RESOURCES[ridge.precision].unit}/byte"
        for panel in panels
        for ridge in panel.ridges
    )
    said.append(f"ridge points: {ridges}")
    if any(one.runtime_s.n > 1 for one in points):
        said.append("error bars: quartiles of performance")
    said += _measured_names(machine)
    beyond = [
        w.name for panel in panels for w in panel.workloads if any(m.is_beyond for m in w.marks)
    ]
    if beyond:
        said.append(f"at the right edge, no DRAM traffic: {', '.join(dict.fromkeys(beyond))}")
    return DCFigure(bop=panels[0], flop=panels[1], notes=(*notes, *said))


def dc_panel(
    machine: Machine,
    points: Sequence[WorkloadPoint],
    *,
    work: str,
    cores: float | None = None,
) -> DCPanel:
    """Return one panel of `dc_figure`: ``bop``, or the flop of ``fp64``."""
    keys = [(one.name, one.form) for one in points]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"a form of a workload must be there once, got {twice!r} again")
    unit = RESOURCES[work].unit
    busy = float(machine.cores) if cores is None else cores
    roofline = DCRoofline(machine=machine, work=work, cores=busy)
    slope = float(machine.rate("dram", cores=busy))
    lower = {resource: _lower(machine, resource, busy) for resource in (work, "dram")}
    placed = [(one, mark) for one in points if (mark := _mark(one, work)) is not None]
    x_limits, y_limits = _frame(roofline, placed, [rate for _, rate in lower[work]])
    wanted: list[tuple[str, Role, str, float]] = [
        (work, "outer", "peak", roofline.peak),
        ("dram", "outer", _bandwidth_name(machine), slope),
        *((name, "lower", *one) for name in (work, "dram") for one in lower[name]),
    ]
    roofs = tuple(
        RoofLine(
            resource=resource,
            role=role,
            label=_label(resource, name, rate),
            tag=name,
            rate=rate,
            cores=busy,
            start=start,
            end=end,
        )
        for resource, role, name, rate in wanted
        for start, end in [_ends(resource, rate, roofline.peak, slope, (x_limits, y_limits))]
    )
    names = dict.fromkeys(one.name for one in points)
    return DCPanel(
        title=_TITLES[work],
        subtitle=f"{machine_title(machine)}; {shown_cores(busy)}",
        x_label=f"Operational intensity [{unit}/byte]",
        y_label=f"Performance [{unit}/s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=_within(intensity_ticks(x_limits), x_limits),
        y_ticks=_within(performance_ticks(y_limits), y_limits),
        roofs=roofs,
        ridges=ridge_marks(roofs),
        workloads=tuple(
            _workload(name, [(p, m) for p, m in placed if p.name == name], roofline, x_limits)
            for name in names
        ),
    )


def published_points() -> tuple[tuple[WorkloadPoint, ...], tuple[WorkloadPoint, ...]]:
    """Return the paper's workloads by its Table 3: for the panel in BOP, and for that in flop.

    The table gives rates and intensities: here each runs for a second. Traffic by BOPs and by
    flop is not always the same there, so that each panel has its own.
    """
    table = publication().table["3"]
    of_panels = []
    for rate, oi in (("BOPS", "OI in BOP"), ("FLOPS", "OI in flop")):
        rates, intensities = spans(table, rate), spans(table, oi)
        of_panels.append(
            tuple(
                WorkloadPoint(
                    name=row.removesuffix(", optimised"),
                    form="optimised" if row.endswith("optimised") else "original",
                    bop=spans(table, "BOPS")[row].value,
                    flop=spans(table, "FLOPS")[row].value,
                    dram_bytes=rates[row].value / intensities[row].value,
                    runtime_s=Estimate([1.0]),
                )
                for row in table.rows
            )
        )
    return of_panels[0], of_panels[1]


def _lower(machine: Machine, resource: str, cores: float) -> list[tuple[str, float]]:
    """Return the lower ceilings of a resource that are drawn, the highest first."""
    found: dict[str, float] = {}
    for name, called in _CALLED.items():
        if machine.knows(resource, patterns=(name,)):
            found[called] = float(machine.rate(resource, cores=cores, patterns=(name,)))
    best = float(machine.rate(resource, cores=cores))
    return sorted(
        ((label, rate) for label, rate in found.items() if rate < best), key=lambda one: -one[1]
    )


def _measured_names(machine: Machine) -> list[str]:
    """Return which measured ceilings the lower roofs are; published ones are called as they are."""
    if machine.source is not None:
        return []
    known = {(c.resource, c.name) for c in machine.ceilings if c.rate is not None}
    named: dict[str, list[str]] = {}
    for resource in ("bop", "fp64", "dram"):
        for name, called in _CALLED.items():
            if (resource, name) in known:
                named.setdefault(called, []).append(f"{shown_name(resource)} {name}")
    return ["; ".join(f"{called}: {', '.join(names)}" for called, names in named.items())]


def _bandwidth_name(machine: Machine) -> str:
    """Return what the outer bandwidth is called: where one without is drawn, with prefetching."""
    without = any(
        c.resource == "dram" and _CALLED.get(c.name) == "no prefetching" for c in machine.ceilings
    )
    return "prefetching" if without else "bandwidth"


def _label(resource: str, name: str, rate: float) -> str:
    if RESOURCES[resource].path == "compute":
        return f"{name} {format_si(rate, f'{RESOURCES[resource].unit}/s', digits=3)}"
    return f"DRAM {name} {format_si(rate, 'B/s', digits=3)}"


def _ends(
    resource: str,
    rate: float,
    peak: float,
    slope: float,
    limits: tuple[Coordinates, Coordinates],
) -> tuple[Coordinates, Coordinates]:
    """Return both ends of a roof: from the outer bandwidth on, or up to the outer peak."""
    (left, right), (bottom, _) = limits
    if RESOURCES[resource].path == "compute":
        return (max(rate / slope, left), rate), (right, rate)
    begin, end = max(left, bottom / rate), min(peak / rate, right)
    return (begin, begin * rate), (end, end * rate)


def _mark(one: WorkloadPoint, work: str) -> Mark | None:
    """Return where a workload is, not framed yet; None: it does no such work."""
    amount = one.bop if work == "bop" else one.flop
    if not amount:
        return None
    performance = one.runtime_s.map(lambda seconds: amount / seconds)
    intensity = amount / one.dram_bytes if one.dram_bytes else math.inf
    return Mark(
        form=one.form,
        at=(intensity, performance.median),
        low=performance.q1,
        high=performance.q3,
        is_beyond=math.isinf(intensity),
    )


def _frame(
    roofline: DCRoofline,
    placed: Iterable[tuple[WorkloadPoint, Mark]],
    lower: Sequence[float],
) -> tuple[Coordinates, Coordinates]:
    """Return the limits of both axes, which hold points, ridge and ceilings."""
    marks = [mark for _, mark in placed]
    xs = [roofline.ridge * _LEFT, roofline.ridge, *(m.at[0] for m in marks if not m.is_beyond)]
    ys = [roofline.peak, *lower, *(y for m in marks for y in (m.low, m.high) if y > 0)]
    return _widened(xs), _widened(ys)


def _widened(values: Sequence[float]) -> Coordinates:
    """Return limits with room beyond the least and the greatest value."""
    low, high = min(values) / _MARGIN, max(values) * _MARGIN
    below, above = (10.0 ** math.floor(math.log10(value)) for value in (low, high))
    return (
        max(below * step for step in _STEPS if below * step <= low),
        min(above * step for step in _STEPS if above * step >= high),
    )


def _within(
    ticks: Sequence[tuple[float, str]], limits: Coordinates
) -> tuple[tuple[float, str], ...]:
    return tuple(tick for tick in ticks if limits[0] <= tick[0] <= limits[1])


def _workload(
    name: str,
    placed: Sequence[tuple[WorkloadPoint, Mark]],
    roofline: DCRoofline,
    x_limits: Coordinates,
) -> Workload:
    """Return a workload's marks, framed, and what the key says of it."""
    unit = RESOURCES[roofline.work].unit
    marks = sorted((mark for _, mark in placed), key=lambda mark: _FORMS.index(mark.form))
    if not marks:
        return Workload(name=name, marks=(), summary="none")
    bounds = [
        roofline.peak if mark.is_beyond else float(roofline.attainable(mark.at[0]))
        for mark in marks
    ]
    words = [
        "calculation" if mark.is_beyond else str(roofline.bottleneck(mark.at[0])) for mark in marks
    ]
    shown = [format_si(mark.at[1], f"{unit}/s", digits=3) for mark in marks]
    shares = [percent(mark.at[1] / bound) for mark, bound in zip(marks, bounds, strict=True)]
    rates, of_attainable, bottlenecks = map(_steps, (shown, shares, words))
    return Workload(
        name=name,
        marks=tuple(
            replace(mark, at=(x_limits[1], mark.at[1])) if mark.is_beyond else mark
            for mark in marks
        ),
        summary=f"{rates} ({of_attainable} of attainable), {bottlenecks}",
    )


def _steps(texts: Sequence[str]) -> str:
    """Return texts with arrows between them; a unit that all share stands last alone."""
    different = list(dict.fromkeys(texts))
    units = {text.partition(" ")[2] for text in different}
    if len(units) == 1 and all(text[0].isdigit() for text in different):
        different[:-1] = [text.partition(" ")[0] for text in different[:-1]]
    return " → ".join(different)
