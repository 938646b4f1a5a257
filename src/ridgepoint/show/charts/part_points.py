"""Parts of a measured program, regions or functions, as points beside that of the whole."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.analysis import Analysis
from ridgepoint.show.charts.plane import Point, RegionPoint
from ridgepoint.show.charts.subjects import (
    Subject,
    attainable_of,
    has_hardly_any,
    points_of,
    summary_of,
)
from ridgepoint.show.words import percent, shown_name
from ridgepoint.show.work import hardly_any_text

Kind = Literal["region", "function"]

_LONGEST_NAME = 40
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsDrawn:
    """What a figure shows of the parts of one program.

    Parameters
    ----------
    points : tuple of RegionPoint
        Those that took most time first, then those of unknown time.
    subjects : tuple of Subject
        The parts that these are of.
    notes : tuple of str
        Which parts have no point, and why.
    """

    points: tuple[RegionPoint, ...] = ()
    subjects: tuple[Subject, ...] = ()
    notes: tuple[str, ...] = ()

    def with_others(self, others: PartsDrawn) -> PartsDrawn:
        """Return both."""
        return PartsDrawn(
            points=(*self.points, *others.points),
            subjects=(*self.subjects, *others.subjects),
            notes=(*self.notes, *others.notes),
        )


def part_subject(name: str, part: Analysis) -> Subject:
    """Return a part of a program by a name that is safe to print, cut where it is long."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return Subject(name=short, analysis=part)


def parts_drawn(kind: Kind, parts: Iterable[Subject], whole: Subject, *, most: int) -> PartsDrawn:
    """Return the points of parts of a program, of at most so many.

    Parameters
    ----------
    kind : {"region", "function"}
    parts : iterable of Subject
    whole : Subject
        The program.
    most : int
    """
    # Of a program without work the notes say so already.
    has_no_work = has_hardly_any(whole)
    placed: list[tuple[Subject, RegionPoint]] = []
    missing = []
    for one in sorted(parts, key=_by_time):
        point = _point(kind, one, whole)
        if point is not None:
            placed.append((one, point))
        elif not (has_no_work and has_hardly_any(one)):
            missing.append(one)
    drawn, notes = placed[:most], _absences(kind, missing)
    if len(placed) > len(drawn):
        left = len(placed) - len(drawn)
        more = f"1 more {kind} is" if left == 1 else f"{left} more {kind}s are"
        measure = "took most time" if drawn[-1][1].is_timed else "executed most instructions"
        notes = (f"{more} not drawn: the {len(drawn)} that {measure} are", *notes)
    return PartsDrawn(
        points=tuple(point for _, point in drawn),
        subjects=tuple(one for one, _ in drawn),
        notes=notes,
    )


def _by_time(one: Subject) -> tuple[float, int]:
    """Sort by time, then by instructions, both descending; unknown times last."""
    runtime = one.placement.runtime_s
    return 0.0 if runtime is None else -runtime.median, -one.measurement.counted.counts.instructions


def _point(kind: Kind, one: Subject, whole: Subject) -> RegionPoint | None:
    """Return a part's point over its traffic at DRAM, or over its limit if its time is unknown.

    Of a part above its roof it is over the traffic at the level of that roof, if that is known.
    None: neither is known.
    """
    points = {point.level: point for point in points_of(one)}
    level = _level_passed(one, points)
    point = points.get(level)
    is_timed = point is not None
    performance = one.placement.performance_per_s
    if point is not None and performance is not None and performance.interval is not None:
        # Of the time of a function there are no quartiles.
        point = replace(point, low=performance.interval[0], high=performance.interval[1])
    if point is None:
        mark = attainable_of(one, ())
        if mark is None:
            return None
        point = Point(level="dram", at=mark.at, low=mark.at[1], high=mark.at[1])
    share, own, total = None, one.placement.runtime_s, whole.placement.runtime_s
    if own is not None and total is not None:
        share = own.median / total.median
    said = summary_of(one, say_cores=one.placement.cores != whole.placement.cores)
    if point.is_infinite:
        said += f", no {shown_name(level)} traffic: drawn at the right edge"
    elif level != "dram":
        said += f", drawn over its traffic at {shown_name(level)}"
    allowed = one.placement.attainable_per_s
    return RegionPoint(
        kind=kind,
        name=one.name,
        summary=said if share is None else f"{percent(share)} of the time, {said}",
        point=point,
        is_timed=is_timed,
        share=share,
        roof=(point.at[0], allowed) if allowed and one.placement.is_above_roof else None,
    )


def _level_passed(one: Subject, levels: Container[str]) -> str:
    """Return the level whose roof a part is above, if it has a point there; else DRAM."""
    limit = one.placement.bound
    if limit is None or not one.placement.is_above_roof:
        return "dram"
    resource = RESOURCES.get(str(limit.binding))
    return resource.path if resource is not None and resource.path in levels else "dram"


def _absences(kind: Kind, missing: Sequence[Subject]) -> tuple[str, ...]:
    """Return which parts have no point, by the reason."""
    names: dict[str, list[str]] = {}
    for one in missing:
        names.setdefault(_reason(one), []).append(one.name)
    return tuple(
        f"no point for {kind}{'s' if len(of) > 1 else ''} {listed(of)}: {reason}"
        for reason, of in names.items()
    )


def _reason(one: Subject) -> str:
    dram = one.measurement.traffic_at("dram")
    if has_hardly_any(one):
        return hardly_any_text(one.measurement.counted.counts, one.placement.metric)
    if dram is None or dram.total_bytes is None:
        return "DRAM traffic is unknown"
    if dram.total_bytes == 0:
        return "time unknown, and no byte moved at DRAM"
    return "time and limit are unknown"


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
