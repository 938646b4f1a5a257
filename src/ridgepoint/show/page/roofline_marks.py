"""The marks of the page's roofline: programs and their parts, at every level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.every_roof import Direction
from ridgepoint.models.points import Point, limit_of, points_along
from ridgepoint.models.roofs import shown_roofs, with_own_roofs
from ridgepoint.models.work import WORK_UNITS
from ridgepoint.show.chart import Interval, Label, Line, Mark, Tags
from ridgepoint.show.charts.parts import MOST_FUNCTIONS
from ridgepoint.show.charts.program_marks import SHAPES, disc_size, letter_of
from ridgepoint.show.charts.roof_lines import RANK_OF_REST
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.page.subjects import Part
from ridgepoint.show.words import (
    limit_text,
    percent,
    share_of_roof,
    shown_cores,
    shown_intensity,
    shown_name,
)

_WAYS: dict[Direction, str] = {"read": " read", "write": " written"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """A record on the plane.

    Parameters
    ----------
    index : int
        Its number, which is its colour.
    record : ShownRecord
    analysis : Analysis
    parts : tuple of Part
    directions : tuple of str
        Which bytes can be chosen.
    tags : mapping of str to str
    """

    index: int
    record: ShownRecord
    analysis: Analysis
    parts: tuple[Part, ...]
    directions: tuple[Direction, ...]
    tags: Tags

    @cached_property
    def points(self) -> tuple[tuple[Part, Direction, Point], ...]:
        """Points of the parts that were timed, over the bytes of each kind, at every level."""
        return tuple(
            (part, direction, point)
            for part in self.parts
            if part.is_timed
            for direction, point in points_of_part(part, self.directions)
        )

    @property
    def letter(self) -> str:
        """Its name on the plane."""
        return letter_of(self.index)


def points_of_part(
    part: Part, directions: Sequence[Direction]
) -> Iterator[tuple[Direction, Point]]:
    """Yield a part's points over the bytes of each kind, at every level."""
    for direction in directions:
        for point in points_along(part.analysis, None if direction == "both" else direction):
            # What copies move is known of main memory alone.
            if direction != "copy" or point.level == "dram":
                yield direction, _with_interval(part, point)


def _with_interval(part: Part, point: Point) -> Point:
    """Return a point with the interval of a performance that comes from samples of the time."""
    placement = part.analysis.placement
    performance = None if placement is None else placement.performance_per_s
    if performance is None or performance.interval is None:
        return point
    low, high = performance.interval
    return Point(
        level=point.level, intensity=point.intensity, performance=point.performance, low=low,
        high=high, intensity_range=point.intensity_range,
    )  # fmt: skip


def marks_of(program: Program, x_limits: Interval) -> Iterator[Mark]:
    """Yield what stands for a program and its parts: the program last, over the others."""
    for part, direction, point in reversed(program.points):
        yield _mark(program, part, direction, point, x_limits)
    for part in limited(program):
        yield _limit_mark(program, part)
    whole = program.parts[0]
    limit = limit_of(whole.analysis)
    if limit is not None and whole.is_timed:
        placement = whole.analysis.placement
        yield Mark(
            at=limit, shape="cap", ink=program.index, subject=whole.subject.key,
            name=f"{whole.subject.name}: attainable",
            summary="" if placement is None else f"limited by {limit_text(placement)}",
            tags={**program.tags, "level": "dram", "bandwidth": "both"},
        )  # fmt: skip


def _mark(
    program: Program, part: Part, direction: Direction, point: Point, x_limits: Interval
) -> Mark:
    subject = part.subject
    is_whole, is_dram = subject.kind == "program", point.level == "dram"
    ends = ends_of(point)
    placement = part.analysis.placement
    label = Label(text=program.letter, rank=0, is_bold=True) if is_whole else Label(
        text=subject.name, rank=2, is_optional=True
    )  # fmt: skip
    return Mark(
        at=(min(point.intensity, x_limits[1]), point.performance),
        shape=SHAPES[point.level],
        ink=program.index,
        face=("full" if is_dram else "hollow") if is_whole else "pale",
        x_interval=(min(ends[0], x_limits[1]), min(ends[1], x_limits[1])) if ends else None,
        y_interval=(point.low, point.high) if point.low < point.high else None,
        size=1.0 if is_whole else disc_size(subject.share),
        edge="right" if math.isinf(point.intensity) else None,
        is_alarming=placement is not None and placement.is_above_roof,
        label=label if is_dram or is_whole else None,
        name=subject.name,
        summary=_summary(part, direction, point),
        glyph=program.letter if is_whole else "",
        tags={**program.tags, "level": point.level, "bandwidth": direction},
        subject=subject.key,
    )


def _summary(part: Part, direction: Direction, point: Point) -> str:
    """Return a point in figures, for a reader who asks."""
    placement, share = part.analysis.placement, part.subject.share
    unit = WORK_UNITS[part.analysis.metric]
    over = f"{shown_name(point.level)}{_WAYS.get(direction, '')}"
    parts = []
    if share is not None and part.subject.kind != "program":
        parts.append(f"{percent(share)} of the time")
    parts.append(f"P {format_si(point.performance, f'{unit}/s')}{_between(point, unit)}")
    if math.isinf(point.intensity):
        parts.append(f"no {over} traffic: drawn at the right edge")
    else:
        parts.append(f"I {shown_intensity(point.intensity)} {unit}/byte at {over}{_range(point)}")
    if placement is not None and placement.efficiency is not None:
        reached = share_of_roof(placement.efficiency, is_above=placement.is_above_roof)
        parts.append(f"{reached} of what {limit_text(placement)} allows")
    if placement is not None:
        parts.append(shown_cores(placement.cores))
    return ", ".join(parts)


def _between(point: Point, unit: str) -> str:
    """Return between what a performance lies."""
    if not point.low < point.high:
        return ""
    low, high = (format_si(end, f"{unit}/s") for end in (point.low, point.high))
    return f" ({low} to {high})"


def _range(point: Point) -> str:
    """Return between what an intensity lies."""
    ends = ends_of(point)
    return f" ({shown_intensity(ends[0])} to {shown_intensity(ends[1])})" if ends else ""


def limited(program: Program) -> list[Part]:
    """Return the parts without a known time that are drawn at what their limit allows.

    Where the time of some functions is known, a point for each other function would only hide them;
    and of many functions those that executed most are enough.
    """
    timed = {part.subject.kind for part in program.parts if part.is_timed}
    untimed = [
        part
        for part in program.parts
        if part.subject.kind not in timed and limit_of(part.analysis) is not None
    ]
    functions = [part for part in untimed if part.subject.kind == "function"]
    functions.sort(key=lambda part: -part.analysis.measurement.counted.counts.instructions)
    left_out = {part.subject.key for part in functions[MOST_FUNCTIONS:]}
    return [part for part in untimed if part.subject.key not in left_out]


def _limit_mark(program: Program, part: Part) -> Mark:
    limit = limit_of(part.analysis)
    placement = part.analysis.placement
    assert limit is not None
    assert placement is not None
    is_whole = part.subject.kind == "program"
    return Mark(
        at=limit,
        ink=program.index,
        face="hollow",
        size=1.0 if is_whole else disc_size(None),
        label=Label(text=program.letter, is_bold=True) if is_whole else Label(
            text=part.subject.name, rank=2, is_optional=True
        ),
        name=part.subject.name,
        summary=f"time unknown: at most this on {shown_cores(placement.cores)}, limited by "
        f"{limit_text(placement)}",
        glyph=f"{program.letter}?" if is_whole else "",
        tags={**program.tags, "level": "dram", "bandwidth": "both"},
        subject=part.subject.key,
    )  # fmt: skip


def own_roofs_of(program: Program, x_limits: Interval) -> Iterator[Line]:
    """Yield what a program's own mix of instructions allows, where that is well below the peak."""
    placement, machine = program.analysis.placement, program.analysis.machine
    if placement is None or machine is None:
        return
    slopes = shown_roofs(machine, precisions=(), cores=placement.cores)
    for roof in with_own_roofs(slopes, {program.index: placement}):
        if roof.role == "own":
            begin = min(max(roof.ridge, x_limits[0]), x_limits[1])
            name = f"own mix of {program.letter} {format_si(roof.rate, 'flop/s')}"
            yield Line(
                kind="own",
                places=((begin, roof.rate), (x_limits[1], roof.rate)),
                label=Label(text=name, rank=RANK_OF_REST, is_optional=True),
                name=name,
                summary=f"what the instructions of {program.record.name} allow, on "
                f"{shown_cores(placement.cores)}",
                tags=program.tags,
                subject=program.parts[0].subject.key,
            )


def stems_of(program: Program, y_limits: Interval) -> Iterator[Line]:
    """Yield a line from each program to its limit, and from limits to the axis."""
    tags = {**program.tags, "level": "dram", "bandwidth": "both"}
    for part in (program.parts[0], *limited(program)):
        limit = limit_of(part.analysis)
        if limit is None or (part.is_timed and part is not program.parts[0]):
            continue
        reached = [
            point.performance
            for of, direction, point in program.points
            if of is part and point.level == "dram" and direction == "both"
        ]
        low = reached[0] if reached else y_limits[0]
        yield Line(
            kind="stem", places=((limit[0], low), limit), ink=program.index, tags=tags,
            subject=part.subject.key,
        )  # fmt: skip


def ends_of(point: Point) -> tuple[float, ...]:
    """Return between what an intensity lies; empty: it is exact."""
    return () if point.intensity_range is None else point.intensity_range.ends
