"""The page's roofline: programs and their parts at every level, under every roof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import LEVELS
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.every_roof import (
    DIRECTIONS,
    Direction,
    every_bandwidth,
    every_peak,
    measured_cores,
)
from ridgepoint.models.points import Point, limit_of, points_along, says_nothing
from ridgepoint.models.roofs import known_precisions
from ridgepoint.models.work import WORK_UNITS, Metric, used_precisions, work_by_resource
from ridgepoint.show.axes import widened
from ridgepoint.show.chart import Chart, Entry, Interval, Label, Line, Mark, Tags
from ridgepoint.show.charts.program_marks import SHAPES, letter_of
from ridgepoint.show.charts.roof_lines import (
    HEADROOM,
    intensity_axis,
    machine_frame,
    performance_axis,
)
from ridgepoint.show.charts.subjects import Subject as ShownSubject
from ridgepoint.show.charts.subjects import absences_of, summary_of
from ridgepoint.show.page.document import Control, Option, View
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.page.roof_lines import RoofSet, levels_of
from ridgepoint.show.page.subjects import Part, coverage_of, parts_of
from ridgepoint.show.page.tables import parts_table
from ridgepoint.show.words import (
    limit_text,
    machine_title,
    partial_note,
    percent,
    shown_cores,
    shown_intensity,
    shown_name,
)

_SMALLEST, _GROWTH = 0.36, 1.6
"""Areas of discs over that of the usual mark: for no share of the time, and added for all."""
_DIRECTIONS: dict[Direction, str] = {
    "both": "read and written: W/Q",
    "read": "read: W/Qr",
    "write": "written: W/Qw",
    "copy": "as copies move them",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Program:
    """A record on the plane.

    Parameters
    ----------
    index : int
        Its number, which is its colour.
    record : ShownRecord
    analysis : Analysis
    parts : tuple of Part
    tags : mapping of str to str
    """

    index: int
    record: ShownRecord
    analysis: Analysis
    parts: tuple[Part, ...]
    tags: Tags

    @cached_property
    def points(self) -> tuple[tuple[Part, Direction, Point], ...]:
        """Points of the parts that were timed, over the bytes of each kind, at every level."""
        return tuple(
            (part, direction, point)
            for part in self.parts
            if part.is_timed
            for direction, point in _points(part)
        )

    @property
    def letter(self) -> str:
        """Its name on the plane."""
        return letter_of(self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roofed:
    """A machine whose roofs are drawn.

    Parameters
    ----------
    key : str
    machine : Machine
    tags : mapping of str to str
    precisions : tuple of str
        Whose peaks are drawn.
    cores : tuple of float
        Numbers of cores for which roofs are drawn.
    """

    key: str
    machine: Machine
    tags: Tags
    precisions: tuple[str, ...]
    cores: tuple[float, ...]


def roofline_view(
    records: Sequence[tuple[ShownRecord, Analysis]],
    machines: Sequence[Machine],
    *,
    metric: Metric,
) -> View:
    """Return the roofline of programs whose work is in one unit.

    Parameters
    ----------
    records : sequence of (ShownRecord, Analysis)
        All in this metric, each with a machine; may be none.
    machines : sequence of Machine
        Whose roofs are drawn, the first one at first; at least one.
    metric : {"flop", "bop"}
    """
    several = len(records) > 1
    programs = [
        _Program(
            index=index,
            record=record,
            analysis=analysis,
            parts=parts_of(record, analysis, minor=is_own),
            tags={"record": record.key} if several else {},
        )
        for index, (record, analysis) in enumerate(records)
        for is_own in [record.value is analysis]
    ]
    used = _used(programs, metric)
    roofed = _roofed(machines, programs, metric)
    return View(
        key="roofline" if metric == "flop" else "dc-roofline",
        kind="roofline" if metric == "flop" else "dc-roofline",
        title="Roofline" if metric == "flop" else "DC-Roofline",
        charts=(_chart(programs, roofed, metric),),
        controls=tuple(_controls(programs, roofed, used)),
        table=parts_table([(each.record, each.parts, each.tags) for each in programs], metric)
        if programs
        else None,
        subjects=tuple(part.subject for program in programs for part in program.parts),
        coverage=coverage_of([program.analysis for program in programs]),
        notes=tuple(_notes(programs)),
    )


def _used(programs: Sequence[_Program], metric: Metric) -> list[str]:
    """Return the precisions that programs use, the most used first."""
    shares: dict[str, float] = {}
    for program in programs:
        counts = program.analysis.measurement.counted.counts
        for name, share in used_precisions(work_by_resource(counts, metric)).items():
            shares[name] = max(shares.get(name, 0.0), share)
    return sorted(shares, key=lambda name: -shares[name])


def _roofed(
    machines: Sequence[Machine], programs: Sequence[_Program], metric: Metric
) -> list[_Roofed]:
    """Return the machines with the peaks and the numbers of cores that are drawn of each."""
    busy = [program.analysis.placement.cores for program in programs
            if program.analysis.placement is not None]  # fmt: skip
    roofed = []
    for number, machine in enumerate(machines):
        key = f"machine/{number}"
        names = known_precisions(machine) if metric == "flop" else ["bop"]
        cores = {*measured_cores(machine), *(min(each, float(machine.cores)) for each in busy)}
        roofed.append(
            _Roofed(
                key=key,
                machine=machine,
                tags={"machine": key} if len(machines) > 1 else {},
                precisions=tuple(name for name in names if machine.knows(name)),
                cores=tuple(sorted(cores)),
            )
        )
    return roofed


def _chart(programs: Sequence[_Program], roofed: Sequence[_Roofed], metric: Metric) -> Chart:
    unit = WORK_UNITS[metric]
    x_limits, y_limits = _frame(programs, roofed, metric)
    lines = [
        line
        for each in roofed
        for cores in each.cores
        for line in RoofSet(
            machine=each.machine,
            cores=cores,
            precisions=each.precisions,
            tags={**each.tags, "cores": _cores_value(cores)},
        ).lines(x_limits, y_limits)
    ]
    lines += [line for program in programs for line in _stems(program, y_limits)]
    return Chart(
        title=machine_title(roofed[0].machine),
        subtitle="",
        x=intensity_axis(x_limits, f"Operational intensity [{unit}/byte]"),
        y=performance_axis(y_limits, f"Performance [{unit}/s]"),
        lines=tuple(lines),
        marks=tuple(mark for program in programs for mark in _marks(program, x_limits)),
        key=tuple(_key(programs)),
        notes=tuple(_chart_notes(programs)),
    )


def _frame(
    programs: Sequence[_Program], roofed: Sequence[_Roofed], metric: Metric
) -> tuple[Interval, Interval]:
    """Return the limits of both axes, in whole decades: the machines' own, widened by points."""
    frames = [machine_frame(each.machine, metric=metric) for each in roofed]
    points = [point for program in programs for _, _, point in program.points]
    limits = [limit for program in programs for part in program.parts
              if (limit := limit_of(part.analysis)) is not None]  # fmt: skip
    x = [value for point in points for value in (point.intensity, *_ends(point))]
    y = [value for point in points for value in (point.low, point.high)]
    y += [peak.rate * HEADROOM for each in roofed
          for peak in every_peak(each.machine, cores=float(each.machine.cores),
                                 precisions=each.precisions)]  # fmt: skip
    edges = [end for frame in frames for end in frame[0]], [e for f in frames for e in f[1]]
    x_limits, y_limits = ((min(values), max(values)) for values in edges)
    return (
        widened(x_limits, _positive([*x, *(limit[0] for limit in limits)])),
        widened(y_limits, _positive([*y, *(limit[1] for limit in limits)])),
    )


def _positive(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0 and math.isfinite(value)]


def _points(part: Part) -> Iterator[tuple[Direction, Point]]:
    """Yield a part's points over the bytes of each kind, at every level."""
    for direction in DIRECTIONS:
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


def _marks(program: _Program, x_limits: Interval) -> Iterator[Mark]:
    """Yield what stands for a program and its parts: the program last, over the others."""
    for part, direction, point in reversed(program.points):
        yield _mark(program, part, direction, point, x_limits)
    for part in _limited(program):
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
    program: _Program, part: Part, direction: Direction, point: Point, x_limits: Interval
) -> Mark:
    subject = part.subject
    is_whole, is_dram = subject.kind == "program", point.level == "dram"
    ends = _ends(point)
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
        size=1.0 if is_whole else math.sqrt(_SMALLEST + _GROWTH * min(subject.share or 0.0, 1.0)),
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
    share = part.subject.share
    unit = WORK_UNITS[part.analysis.metric]
    way = {"read": " read", "write": " written"}.get(direction, "")
    over = f"{shown_name(point.level)}{way}"
    place = summary_of(ShownSubject(name=part.subject.name, analysis=part.analysis), say_cores=True)
    at = (
        f"no {over} traffic: drawn at the right edge"
        if math.isinf(point.intensity)
        else f"{shown_intensity(point.intensity)} {unit}/byte at {over}"
    )
    parts = [] if share is None or part.subject.kind == "program" else [
        f"{percent(share)} of the time"
    ]  # fmt: skip
    return ", ".join([*parts, at, place])


def _limited(program: _Program) -> list[Part]:
    """Return the parts without a known time that are drawn at what their limit allows.

    Where the time of some functions is known, a point for each other function would only hide them.
    """
    timed = {part.subject.kind for part in program.parts if part.is_timed}
    return [
        part
        for part in program.parts
        if not part.is_timed
        and part.subject.kind not in timed
        and limit_of(part.analysis) is not None
    ]


def _limit_mark(program: _Program, part: Part) -> Mark:
    limit = limit_of(part.analysis)
    placement = part.analysis.placement
    assert limit is not None
    assert placement is not None
    is_whole = part.subject.kind == "program"
    return Mark(
        at=limit,
        ink=program.index,
        face="hollow",
        size=1.0 if is_whole else math.sqrt(_SMALLEST),
        label=Label(text=program.letter, is_bold=True) if is_whole else Label(
            text=part.subject.name, rank=2, is_optional=True
        ),
        name=part.subject.name,
        summary=f"time unknown: at most this, limited by {limit_text(placement)}",
        glyph=f"{program.letter}?" if is_whole else "",
        tags={**program.tags, "level": "dram", "bandwidth": "both"},
        subject=part.subject.key,
    )  # fmt: skip


def _stems(program: _Program, y_limits: Interval) -> Iterator[Line]:
    """Yield a line from each program to its limit, and from limits to the axis."""
    tags = {**program.tags, "level": "dram", "bandwidth": "both"}
    for part in (program.parts[0], *_limited(program)):
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


def _ends(point: Point) -> tuple[float, ...]:
    return () if point.intensity_range is None else point.intensity_range.ends


def _key(programs: Sequence[_Program]) -> Iterator[Entry]:
    """Yield the key: the mark of each level, then the programs."""
    levels = {point.level for program in programs for _, _, point in program.points}
    for level in sorted(levels, key=LEVELS.index, reverse=True):
        yield Entry(
            text=shown_name(level), shape=SHAPES[level],
            face="full" if level == "dram" else "hollow", is_abreast=True, tags={"level": level},
        )  # fmt: skip
    for program in programs:
        whole = program.parts[0]
        shown = ShownSubject(name=whole.subject.name, analysis=program.analysis)
        place = summary_of(shown, say_cores=True)
        yield Entry(
            text=f"{whole.subject.name}: {place}" if place else whole.subject.name,
            ink=program.index,
            shape="circle",
            face="full" if whole.is_timed else "hollow",
            lead=program.letter,
            glyph=program.letter,
            tags=program.tags,
            subject=whole.subject.key,
        )


def _chart_notes(programs: Sequence[_Program]) -> Iterator[str]:
    """Yield what a reader must know of each program: which points are missing, and why."""
    for program in programs:
        shown = ShownSubject(name=program.record.name, analysis=program.analysis)
        for note in absences_of(shown):
            yield f"{program.letter}: {note}" if len(programs) > 1 else note


def _notes(programs: Sequence[_Program]) -> Iterator[str]:
    """Yield what is to know of the view as a whole."""
    for program in programs:
        note = partial_note(program.analysis.measurement)
        if note is not None:
            yield f"{program.record.name}: {note}"
        untimed = [part for part in program.parts if part.subject.kind == "function"
                   and not part.is_timed and not says_nothing(part.analysis)]  # fmt: skip
        if untimed and len(untimed) > len(_limited(program)):
            yield (
                f"{program.record.name}: of {len(untimed)} functions the time is not known well "
                "enough for a point; the table has them"
            )


def _controls(
    programs: Sequence[_Program], roofed: Sequence[_Roofed], used: Sequence[str]
) -> Iterator[Control]:
    """Yield what can be chosen, where there is a choice."""
    first = roofed[0]
    points = {point.level for program in programs for _, _, point in program.points}
    points |= {"dram"} if any(_limited(program) for program in programs) else set()
    marked = [level for level in reversed(LEVELS) if level in points]
    yield from _control("level", "Points over the bytes at", marked, initial=marked[:1],
                        titles=shown_name)  # fmt: skip
    bandwidths = [
        roof for each in roofed for roof in every_bandwidth(each.machine, cores=each.cores[-1])
    ]
    ways = [way for way in DIRECTIONS if any(roof.direction == way for roof in bandwidths)]
    yield from _control("bandwidth", "Bytes", ways, initial=ways[:1], exclusive=True,
                        titles=lambda way: _DIRECTIONS[way])  # type: ignore[index]  # fmt: skip
    levels = levels_of(bandwidths)
    yield from _control("roof", "Bandwidth roofs", levels, initial=levels, titles=shown_name)
    peaks = list(dict.fromkeys(name for each in roofed for name in each.precisions))
    chosen = [name for name in peaks if name in used] or peaks[:1]
    yield from _control("precision", "Peaks", peaks, initial=chosen, titles=shown_name)
    counts = sorted({cores for each in roofed for cores in each.cores})
    busy = [program.analysis.placement.cores for program in programs
            if program.analysis.placement is not None]  # fmt: skip
    most = max((cores for cores in counts if cores in busy), default=float(first.machine.cores))
    yield Control(
        tag="cores",
        title="Roofs of",
        options=tuple(Option(value=_cores_value(each), title=shown_cores(each)) for each in counts),
        initial=(_cores_value(most),),
        exclusive=True,
    )
    if len(roofed) > 1:
        yield Control(
            tag="machine",
            title="Machines",
            options=tuple(
                Option(value=each.key, title=machine_title(each.machine)) for each in roofed
            ),
            initial=(first.key,),
        )
    if len(programs) > 1:
        options = tuple(
            Option(value=each.record.key, title=f"{each.letter} {each.record.name}")
            for each in programs
        )
        yield Control(
            tag="record", title="Records", options=options,
            initial=tuple(option.value for option in options),
        )  # fmt: skip


def _control(
    tag: str,
    title: str,
    values: Sequence[str],
    *,
    initial: Sequence[str],
    titles: Callable[[str], str],
    exclusive: bool = False,
) -> Iterator[Control]:
    """Yield a control, if there is anything that it could be about."""
    if values:
        yield Control(
            tag=tag,
            title=title,
            options=tuple(Option(value=value, title=titles(value)) for value in values),
            initial=tuple(initial),
            exclusive=exclusive,
        )


def _cores_value(cores: float) -> str:
    return f"{cores:.4g}"
