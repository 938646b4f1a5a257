"""Positions of a measured program and its parts on the plane of a roofline."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, replace

from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.one_bandwidth import Bandwidth, bytes_of
from ridgepoint.models.traffic_ranges import IntensityRange, intensity_range
from ridgepoint.models.work import hardly_any, work_total


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A program's position by its traffic at one memory level.

    Parameters
    ----------
    level : str
    intensity : float
        flop/byte (or BOP/byte); infinite where no byte moved.
    performance : float
        Median, flop/s (or BOP/s).
    low, high : float
        Quartiles of the performance; for a function, whose time comes from samples, the ends of
        its 95 % interval.
    intensity_range : IntensityRange or None
        Between what the intensity lies; None: the traffic was counted once, exactly.
    """

    level: str
    intensity: float
    performance: float
    low: float
    high: float
    intensity_range: IntensityRange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPoint:
    """A part's position by its traffic at DRAM or, above its roof, at the level of that roof.

    Parameters
    ----------
    point : Point
        If the part's time is unknown: its intensity, and the performance that it cannot exceed.
    is_timed : bool
    roof : float or None
        Performance that the roof allows, flop/s, if the part is above it; None: it is not.
    """

    point: Point
    is_timed: bool
    roof: float | None = None


def says_nothing(analysis: Analysis) -> bool:
    """Return whether a roofline of this metric tells nothing about a program."""
    return hardly_any(analysis.measurement.counted.counts, analysis.metric)


def points_of(analysis: Analysis) -> tuple[Point, ...]:
    """Return a program's points, from the core outwards; of one bandwidth alone, that at DRAM."""
    points = points_along(analysis, analysis.bandwidth)
    return tuple(point for point in points if analysis.bandwidth is None or point.level == "dram")


def points_along(analysis: Analysis, bandwidth: Bandwidth | None) -> tuple[Point, ...]:
    """Return a program's points at every level, over the bytes of one kind.

    Parameters
    ----------
    analysis : Analysis
    bandwidth : {"read", "write", "copy"} or None
        Which bytes of each level; None and ``copy``: those of both directions.
    """
    placement = analysis.placement
    work = work_total(analysis.measurement.counted.counts, analysis.metric)
    if placement is None or placement.performance_per_s is None or work is None:
        return ()
    if says_nothing(analysis):
        return ()
    performance = placement.performance_per_s
    return tuple(
        Point(
            level=part.level,
            intensity=work / moved if moved else math.inf,
            performance=performance.median,
            low=performance.q1,
            high=performance.q3,
            intensity_range=intensity_range(
                analysis.measurement, analysis.metric, part.level, bandwidth
            ),
        )
        for part in analysis.measurement.counted.traffic
        if (moved := bytes_of(part, bandwidth)) is not None
    )


def limit_of(analysis: Analysis) -> tuple[float, float] | None:
    """Return a program's intensity at DRAM and its attainable performance; None: one is unknown."""
    placement = analysis.placement
    if placement is None or placement.bound is None or says_nothing(analysis):
        return None
    if placement.attainable_per_s is None or not placement.intensity:
        return None
    return placement.intensity, placement.attainable_per_s


def part_point(part: Analysis) -> PartPoint | None:
    """Return the position of a program's part; None: neither its time nor its limit is known."""
    placement = part.placement
    points = {point.level: point for point in points_of(part)}
    level = _level_passed(part, points)
    if placement is None or level not in points:
        limit = limit_of(part)
        if limit is None:
            return None
        intensity, most = limit
        point = Point(level="dram", intensity=intensity, performance=most, low=most, high=most)
        return PartPoint(point=point, is_timed=False)
    point, performance = points[level], placement.performance_per_s
    if performance is not None and performance.interval is not None:
        # The time of a function has no quartiles.
        point = replace(point, low=performance.interval[0], high=performance.interval[1])
    is_above = placement.is_above_roof
    return PartPoint(
        point=point, is_timed=True, roof=placement.attainable_per_s if is_above else None
    )


def _level_passed(part: Analysis, levels: Container[str]) -> str:
    """Return the level whose roof a part exceeds, if it has a point there; else DRAM."""
    placement = part.placement
    if placement is None or placement.bound is None or not placement.is_above_roof:
        return "dram"
    resource = RESOURCES.get(str(placement.bound.binding))
    return resource.path if resource is not None and resource.path in levels else "dram"
