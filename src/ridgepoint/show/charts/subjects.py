"""What is drawn of a measured program, and said of it: its points, its limit, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.bound import Bound
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.placement import Placement
from ridgepoint.models.work import WORK_UNITS, hardly_any, work_by_resource, work_total
from ridgepoint.show.charts.plane import Attainable, Coordinates, Point
from ridgepoint.show.words import (
    measured_name,
    percent,
    printable,
    shown_cores,
    shown_intensity,
    shown_limit,
    shown_name,
)
from ridgepoint.show.work import hardly_any_text, used_precisions


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program to be drawn.

    Parameters
    ----------
    name : str
    analysis : Analysis
        On the machine of the figure.
    """

    name: str
    analysis: Analysis

    @property
    def measurement(self) -> Measurement:
        """What was measured."""
        return self.analysis.measurement

    @property
    def placement(self) -> Placement:
        """Its place on the machine."""
        placement = self.analysis.placement
        assert placement is not None  # a figure has a machine
        return placement


def subject(analysis: Analysis, *, name: str | None = None) -> Subject:
    """Return a measured program, named by its command.

    Parameters
    ----------
    analysis : Analysis
        On a machine.
    name : str or None
        None: the command, without the program's folder, and what was counted alone.
    """
    own = measured_name(analysis.measurement) if name is None else printable(name)
    return Subject(name=own, analysis=analysis)


def has_hardly_any(one: Subject) -> bool:
    """Return whether a roofline of what a program's work is counted in says nothing of it."""
    return hardly_any(one.measurement.counted.counts, one.placement.metric)


def points_of(one: Subject) -> list[Point]:
    """Return a program's points, from the core outwards; at infinity where nothing moved."""
    performance = one.placement.performance_per_s
    work = work_total(one.measurement.counted.counts, one.placement.metric)
    if performance is None or work is None or has_hardly_any(one):
        return []
    return [
        Point(
            level=part.level,
            at=(work / moved if moved else float("inf"), performance.median),
            low=performance.q1,
            high=performance.q3,
            is_infinite=not moved,
        )
        for part in one.measurement.counted.traffic
        if (moved := part.total_bytes) is not None
    ]


def attainable_of(one: Subject, points: Sequence[Point]) -> Attainable | None:
    """Return what bounds a program, at its intensity at DRAM; None: one of them is unknown."""
    placement = one.placement
    height, limit = placement.attainable_per_s, placement.bound
    intensity = placement.intensity
    if height is None or limit is None or not intensity:
        return None
    if has_hardly_any(one):
        return None
    return Attainable(at=(intensity, height), limit=_limit(placement, limit), is_alone=not points)


def _limit(placement: Placement, limit: Bound) -> str:
    return shown_limit(str(limit.binding), used_precisions(placement.demand.amounts))


def framed(point: Point, x_limits: Coordinates) -> Point:
    """Return a point where it is drawn: at the right edge if it lies at infinity."""
    if not point.is_infinite:
        return point
    return Point(
        level=point.level,
        at=(x_limits[1], point.at[1]),
        low=point.low,
        high=point.high,
        is_infinite=True,
    )


def absences_of(one: Subject) -> list[str]:
    """Return why points of a program are missing, or are not where they seem."""
    counts, metric = one.measurement.counted.counts, one.placement.metric
    if has_hardly_any(one):
        little = hardly_any_text(counts, metric)
        return [f"{little}: the {WORK_UNITS[metric]} roofline says nothing of it"]
    if one.placement.performance_per_s is None:
        if attainable_of(one, ()) is None:
            return ["counted but not timed: its performance is unknown, so no point"]
        return ["time unknown: marked is the most that its limit allows, at its intensity at DRAM"]
    said = []
    for part in one.measurement.counted.traffic:
        level = shown_name(part.level)
        if part.total_bytes is None:
            said.append(f"{level} writes are unknown, so no point at {level}")
        elif part.total_bytes == 0:
            said.append(f"no {level} traffic: at infinite intensity, drawn at the right edge")
    if one.measurement.traffic_at("dram") is None:
        said.append("DRAM traffic is unknown, so no point at DRAM")
    shares = used_precisions(work_by_resource(counts, metric))
    mixed = [f"{percent(share)} {name}" for name, share in shares.items()]
    if len(mixed) > 1:
        said.append(f"{' and '.join(mixed)}: its peak lies between theirs")
    return said


def summary_of(one: Subject, *, say_cores: bool) -> str:
    """Return what is known of a program's place in one line."""
    placement, parts = one.placement, []
    unit = WORK_UNITS[placement.metric]
    if not has_hardly_any(one):
        if placement.performance_per_s is not None:
            parts.append(format_si(placement.performance_per_s.median, f"{unit}/s", digits=3))
        else:
            parts.append("time unknown")
        if placement.intensity:
            parts.append(f"{shown_intensity(placement.intensity)} {unit}/byte")
    mark = attainable_of(one, ())
    if placement.efficiency is None and mark is not None:
        parts.append(f"at most {format_si(mark.at[1], f'{unit}/s', digits=3)} ({mark.limit})")
    if placement.efficiency is not None and placement.bound is not None:
        roof = "roof" if str(placement.bound.binding) in RESOURCES else ""
        limit = _limit(placement, placement.bound)
        above = " (above it)" if placement.is_above_roof else ""
        parts.append(f"{percent(placement.efficiency)} of {limit} {roof}".rstrip() + above)
    if say_cores:
        parts.append(shown_cores(placement.cores))
    return ", ".join(parts)
