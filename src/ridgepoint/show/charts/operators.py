"""The operators of a program on a machine's roofline, with a size by their share of the time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup
from ridgepoint.models.roofs import ridge_points, shown_roofs
from ridgepoint.models.thresholds import ABOVE_ROOF
from ridgepoint.show.axes import widened
from ridgepoint.show.chart import Chart, Edge, Entry, Interval, Label, Mark
from ridgepoint.show.charts.roof_lines import (
    HEADROOM,
    intensity_axis,
    machine_frame,
    performance_axis,
    ridge_marks,
    ridge_note,
    roof_lines,
)
from ridgepoint.show.operators_text import (
    least_there,
    libraries_of,
    reached_by,
    shown_operator,
    shown_shapes,
)
from ridgepoint.show.words import machine_title, percent, printable, shown_cores, shown_intensity

_MOST_NAMED = 8
_LONGEST_SHAPES = 34
# Hundreds of operators that take no time would hide the others.
_LEAST_SHARE = 0.001
# A loss of ten numbers would push all others into a corner: it is drawn at the edge.
_FRAMED_SHARE = 0.02
# Diameters over that of a usual mark.
_SMALLEST, _LARGEST = 0.35, 3.2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """Equal operators on the plane."""

    group: OperatorGroup
    name: str
    intensity: float
    rate: float
    is_timed: bool
    subject: str
    ink: int = 0


def operators_chart(analysis: OperatorAnalysis) -> Chart:
    """Return the roofline of a machine with a disc for each operator with its shapes.

    Parameters
    ----------
    analysis : OperatorAnalysis
        On a machine.

    Returns
    -------
    Chart
        Intensities are the work over the least bytes, so that no point is right of its true
        intensity at DRAM. Operators that do no flop have no place on the plane: a note says how
        much of the time they take. Colours are families of operators.

    Raises
    ------
    ValueError
        If there is no machine.
    """
    machine, profile = analysis.machine, analysis.profile
    if machine is None:
        raise ValueError("operators are drawn on a machine")
    groups = analysis.alike
    points, kinds = _coloured(_points(analysis, groups), analysis)
    cores = _cores(analysis, machine)
    precisions, missing = _precisions(machine, points)
    roofs = shown_roofs(machine, precisions=precisions, cores=cores)
    x_limits, y_limits = _frame(machine, points, [r.rate for r in roofs if r.is_peak])
    ridges = ridge_points(roofs)
    longest = sorted(points, key=lambda point: -(point.group.share or 0.0))
    # In the order of the key.
    named = sorted(longest[:_MOST_NAMED], key=lambda point: point.ink)
    # The largest first, so that none hides a smaller one.
    marks = [
        _mark(point, (x_limits, y_limits), largest=longest[0], number=_number(point, named))
        for point in points
    ]
    return Chart(
        title=printable(f"{profile.program} on {machine_title(machine)}"),
        subtitle=_subtitle(analysis, cores),
        x=intensity_axis(x_limits, "Operational intensity over the least bytes [flop/byte]"),
        y=performance_axis(y_limits, "Performance [flop/s]"),
        lines=roof_lines(roofs, x_limits=x_limits, y_limits=y_limits),
        marks=(*ridge_marks(ridges), *marks),
        key=tuple(_key(analysis, points, named, kinds)),
        notes=(
            *_left_out(analysis, groups, points, marks),
            *missing,
            *([ridge_note(ridges)] if ridges else []),
        ),
        drawing_notes=(
            "discs: calls of one operator with the same shapes, with an area by their share of "
            "the operators' time",
            *(
                ["red: above its roof"]
                if any((p.group.efficiency or 0.0) > ABOVE_ROOF for p in points)
                else []
            ),
        ),
    )


def subject_of(index: int) -> str:
    """Return the key on a page of what is alike, by its number in `OperatorAnalysis.alike`."""
    return f"operator/{index}"


def _coloured(
    points: Sequence[_Point], analysis: OperatorAnalysis
) -> tuple[list[_Point], list[str]]:
    """Return points with a colour for each family, and the families, those of most time first."""
    drawn = {_kind(point) for point in points}
    kinds = [group.name for group in analysis.kinds if group.name in drawn]
    return [replace(point, ink=kinds.index(_kind(point))) for point in points], kinds


def _kind(point: _Point) -> str:
    return point.group.operators[0].operator.asked.kind


def _points(analysis: OperatorAnalysis, groups: Sequence[OperatorGroup]) -> list[_Point]:
    """Return the operators that have a place: measured, or at their roof if they were not timed."""
    libraries, points = libraries_of(analysis.profile), []
    for index, group in enumerate(groups):
        if group.has_unknown or not group.intensity or group.bound is None:
            continue
        is_timed = group.time_s is not None and not analysis.is_elsewhere
        rate = group.performance.median if is_timed and group.performance is not None else None
        least_s = float(group.bound.time_s)
        if group.share is not None and group.share < _LEAST_SHARE:
            continue
        if not is_timed and least_s:
            rate = float(group.bound.work) / least_s
        if rate is None:
            continue
        points.append(
            _Point(
                group=group,
                name=shown_operator(group.operators[0].operator.call, libraries=libraries),
                intensity=group.intensity,
                rate=rate,
                is_timed=is_timed,
                subject=subject_of(index),
            )
        )
    return points


def _cores(analysis: OperatorAnalysis, machine: Machine) -> float:
    return float(machine.cores if analysis.cores is None else analysis.cores)


def _precisions(machine: Machine, points: Sequence[_Point]) -> tuple[list[str], list[str]]:
    """Return the precisions whose peaks are drawn, the most used first, and what is missing."""
    share: dict[str, float] = {}
    for point in points:
        for name, work in (point.group.demand.amounts if point.group.demand else {}).items():
            if RESOURCES[name].path == "compute":
                share[name] = share.get(name, 0.0) + float(work)
    total = sum(share.values())
    used = [n for n in sorted(share, key=lambda name: -share[name]) if share[n] > 0.01 * total]
    known = [name for name in used if machine.knows(name)]
    unknown = [RESOURCES[name].label for name in used if name not in known]
    notes = [f"this machine has no {name} peak: that roof is missing" for name in unknown]
    return known, notes


def _frame(
    machine: Machine, points: Sequence[_Point], peaks: Sequence[float]
) -> tuple[Interval, Interval]:
    """Return the limits of both axes: the machine's, widened by operators that take time."""
    x_limits, y_limits = machine_frame(machine)
    framed = [
        point for point in points if point.group.share is None or point.group.share >= _FRAMED_SHARE
    ]
    return (
        widened(x_limits, [point.intensity for point in framed]),
        widened(y_limits, [*(p.rate for p in framed), *(peak * HEADROOM for peak in peaks)]),
    )


def _subtitle(analysis: OperatorAnalysis, cores: float) -> str:
    profile = analysis.profile
    parts = [printable(f"{profile.library}, {profile.device}")]
    parts += [] if analysis.cores is None else [shown_cores(cores)]
    if profile.timed is not None:
        on = f" on {printable(profile.device_model)}" if analysis.is_elsewhere else ""
        parts.append(f"{format_si(profile.timed.runtime_s.median, 's')} a run{on}")
    return "; ".join(parts)


def _number(point: _Point, named: Sequence[_Point]) -> int | None:
    """Return the number by which the key calls a point; None: it is not in the key."""
    return next((at for at, each in enumerate(named, start=1) if each is point), None)


def _mark(
    point: _Point, frame: tuple[Interval, Interval], *, largest: _Point, number: int | None
) -> Mark:
    """Return a disc with an area by its share of the time; those in the key have a number."""
    group = point.group
    (left, right), (bottom, _) = frame
    edge: Edge | None = (
        "left"
        if point.intensity < left
        else "right"
        if point.intensity > right
        else "bottom"
        if point.rate < bottom
        else None
    )
    share = (group.share or 0.0) / (largest.group.share or 1.0)
    return Mark(
        at=(min(max(point.intensity, left), right), max(point.rate, bottom)),
        ink=point.ink,
        face="pale" if point.is_timed else "hollow",
        y_interval=_quartiles(group) if number is not None and edge is None else None,
        size=max(_LARGEST * math.sqrt(share), _SMALLEST),
        edge=edge,
        is_alarming=point.is_timed and (group.efficiency or 0.0) > ABOVE_ROOF,
        label=None if number is None else Label(text=str(number), rank=number, where="inside"),
        glyph="" if number is None else str(number),
        name=f"{_cut(point.name, _LONGEST_SHAPES)} {_cut(_shapes(group), _LONGEST_SHAPES)}",
        summary=_summary(point),
        subject=point.subject,
    )


def _quartiles(group: OperatorGroup) -> Interval | None:
    performance = group.performance
    if performance is None or performance.q1 == performance.q3:
        return None
    return performance.q1, performance.q3


def _summary(point: _Point) -> str:
    """Return a point's place in figures."""
    group, parts = point.group, []
    if group.share is not None:
        parts.append(f"{percent(group.share)} of the time")
    parts.append(group.shown_calls)
    if point.is_timed:
        parts.append(format_si(point.rate, "flop/s", digits=3))
    parts.append(f"{shown_intensity(point.intensity)} flop/byte")
    parts.append(reached_by(group) if point.is_timed else f"at least {least_there(group)}")
    return ", ".join(parts)


def _shapes(group: OperatorGroup) -> str:
    return shown_shapes(group.operators[0].operator.call)


def _key(
    analysis: OperatorAnalysis,
    points: Sequence[_Point],
    named: Sequence[_Point],
    kinds: Sequence[str],
) -> Iterator[Entry]:
    """Yield each family with its share of the time, and below it its largest operators."""
    shares = {kind.name: kind.share for kind in analysis.kinds}
    for ink, kind in enumerate(kinds):
        share = shares.get(kind)
        text = printable(kind) + ("" if share is None else f": {percent(share)} of the time")
        yield Entry(text=text, ink=ink, shape="circle", face="pale")
        for number, point in enumerate(named, start=1):
            if point.ink == ink:
                shapes = _cut(_shapes(point.group), _LONGEST_SHAPES)
                yield Entry(
                    text=f"{_cut(point.name, _LONGEST_SHAPES)} {shapes}: {_summary(point)}",
                    ink=ink,
                    lead=str(number),
                    glyph=str(number),
                    is_part=True,
                )


def _left_out(
    analysis: OperatorAnalysis,
    groups: Sequence[OperatorGroup],
    points: Sequence[_Point],
    marks: Sequence[Mark],
) -> Iterator[str]:
    """Yield which operators have no point, with their share of the time."""
    drawn = {id(point.group) for point in points}
    unknown = [group for group in groups if group.has_unknown]
    idle = [g for g in groups if id(g) not in drawn and not g.has_unknown]
    if idle:
        yield (f"operators that do no flop (copies, views, look-ups) have no point{_time_of(idle)}")
    if unknown:
        yield f"operators of unknown demand have no point{_time_of(unknown)}"
    if analysis.is_elsewhere or analysis.whole.time_s is None:
        ran = "not on this machine" if analysis.whole.time_s is not None else "not timed"
        yield f"the operators were run, but {ran}: discs are where their roofs are"


def _time_of(groups: Sequence[OperatorGroup]) -> str:
    shares = [group.share for group in groups if group.share is not None]
    return f": {percent(math.fsum(shares))} of the time" if shares else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
