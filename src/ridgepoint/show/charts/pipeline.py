"""A pipeline's charts, from its assessment: the roofline, and where the time goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment, StageFigures
from ridgepoint.models.pipeline.composites import Composite
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.show.axes import decades, decimal_ticks, log_axis, plain_number, with_prefix
from ridgepoint.show.chart import (
    Axis,
    Bar,
    Chart,
    Entry,
    Interval,
    Label,
    Line,
    Mark,
    Page,
    Place,
    Shape,
)
from ridgepoint.show.charts.pipeline_bars import (
    advice_chart,
    at_the_end,
    devices_chart,
    row_axis,
    sensitivity_chart,
)
from ridgepoint.show.theme import face_of
from ridgepoint.show.words import (
    machine_title,
    percent,
    printable,
    shown_intensity,
    shown_time,
    time_unit,
)

_LEAST_AREA, _MORE_AREA = 0.9, 28.0
"""Of discs, of which the usual mark has 1: of no time, and so much more of all of it."""
_SAME = 0.01
"""Of the axes: marks that are nearer to each other share a label."""
_MANY = 8
"""Of more stages the key has columns."""
_TIME_HEIGHT = 0.2


def pipeline_charts(
    assessment: Assessment, gains: Sensitivity, advice: Sequence[StageAdvice]
) -> dict[str, Chart | Page]:
    """Return every picture of a pipeline, with a name for its file as key."""
    pictures: dict[str, Chart | Page | None] = {
        "pipeline": pipeline_page(assessment),
        "roofline": roofline_chart(assessment),
        "time": time_chart(assessment),
        "devices": devices_chart(assessment),
        "sensitivity": sensitivity_chart(gains),
        "advice": advice_chart(advice),
    }
    return {name: picture for name, picture in pictures.items() if picture is not None}


def pipeline_page(assessment: Assessment) -> Page:
    """Return the roofline of a pipeline, with its division of time below."""
    return Page(charts=(roofline_chart(assessment), time_chart(assessment, has_key=False)))


def roofline_chart(assessment: Assessment) -> Chart:
    """Return the roofline, with the area of every stage's disc as its share of the time."""
    unit, peak, ridge = assessment.pipeline.unit, assessment.peak, assessment.ridge
    composites = [
        (composite, (composite.intensity, composite.roofline_efficiency.median * peak))
        for composite in assessment.composites
        if composite.intensity is not None
    ]
    whole = (
        assessment.composite("capped").intensity or ridge,
        assessment.compute_efficiency.median * peak,
    )
    placed = [stage for stage in assessment.stages if stage.work]
    finite = [stage.intensity for stage in placed if stage.intensity]
    x_limits = decades([ridge, *finite, *(at[0] for _, at in composites)], room=1.6)
    y_limits = decades([peak, whole[1], *(stage.performance for stage in placed)], room=1.6)
    bare = [printable(stage.stage.name) for stage in assessment.stages if not stage.work]
    left, right = x_limits
    roof = ((left, left * assessment.bandwidth), (ridge, peak), (right, peak))
    discs = list(_discs(assessment, unit, x_limits, y_limits))
    return Chart(
        title=printable(assessment.pipeline.name),
        subtitle=f"{machine_title(assessment.machine)}: {format_si(peak, f'{unit}/s')}, "
        f"{format_si(assessment.bandwidth, 'B/s')}, ridge at {shown_intensity(ridge)} {unit}/byte",
        x=log_axis(f"Operational intensity [{unit}/byte]", x_limits, plain_number),
        y=log_axis(f"Performance [{unit}/s]", y_limits, with_prefix),
        lines=(
            Line(kind="roof", places=roof, name="roof"),
            *(
                Line(kind="stem", places=(at, (at[0], stage.attainable)), ink=number)
                for number, stage, at in _places(assessment, right)
            ),
        ),
        # The largest first, so that small discs lie on them.
        marks=(
            *sorted(discs, key=lambda disc: -disc.size),
            *(_composite(composite, at) for composite, at in composites),
            Mark(at=whole, shape="star", size=2.2, name="the pipeline"),
        ),
        key=_key(
            assessment,
            _short_summary if len(assessment.stages) > _MANY else partial(_summary, unit=unit),
        ),
        notes=(
            "discs: stages, with an area by their share of the time; diamonds: composite "
            "intensities on the roof; star: the pipeline, "
            f"{percent(assessment.compute_efficiency.median)} of the peak",
            *(
                ("key: shares of the time, and how much of its roof each stage reaches",)
                if len(assessment.stages) > _MANY
                else ()
            ),
            *(
                (f"not on this plane, because they have no work: {', '.join(bare)}",)
                if bare
                else ()
            ),
        ),
    )


def _key(
    assessment: Assessment, describe: Callable[[StageFigures], str], *, shape: Shape = "circle"
) -> tuple[Entry, ...]:
    """Return the stages by their numbers; many of them in columns."""
    return tuple(
        Entry(
            text=f"{printable(stage.stage.name)}: {describe(stage)}",
            ink=number,
            shape=shape,
            face=face_of(number),
            lead=str(number + 1),
            is_abreast=len(assessment.stages) > _MANY,
        )
        for number, stage in enumerate(assessment.stages)
    )


def _short_summary(stage: StageFigures) -> str:
    """Return a stage's share of the time, and how far it climbed."""
    return f"{percent(stage.weight)}, {percent(stage.programming_efficiency)} of roof"


def _lasting(stage: StageFigures) -> str:
    """Return a stage's time, and its least time."""
    now, least = (shown_time(each, digits=3) for each in (stage.time_s, stage.bound_s))
    return f"{now}, at its roof {least}"


def _places(assessment: Assessment, right: float) -> Iterator[tuple[int, StageFigures, Place]]:
    """Yield the stages with work, their number from 0, and their places."""
    for number, stage in enumerate(assessment.stages):
        if stage.work:
            yield number, stage, (stage.intensity or right, stage.performance)


def _discs(
    assessment: Assessment, unit: str, x_limits: Interval, y_limits: Interval
) -> Iterator[Mark]:
    """Yield the stages' discs; overlapping discs have one label, at the largest."""
    placed = list(_places(assessment, x_limits[1]))

    def far(first: Place, second: Place) -> float:
        shares = (
            math.log(here / there) / math.log(high / low)
            for here, there, (low, high) in zip(first, second, (x_limits, y_limits), strict=True)
        )
        return math.hypot(*shares)

    for number, stage, at in placed:
        group = [other for other in placed if far(at, other[2]) < _SAME]
        is_named = number == max(group, key=lambda other: (other[1].weight, other[0]))[0]
        text = ", ".join(str(other + 1) for other, _, _ in group)
        yield Mark(
            at=at,
            ink=number,
            face=face_of(number),
            size=math.sqrt(_LEAST_AREA + _MORE_AREA * stage.weight),
            edge="right" if stage.intensity is None else None,
            label=Label(text=text, is_bold=True) if is_named else None,
            name=printable(stage.stage.name),
            summary=_summary(stage, unit),
            subject=stage_key(number),
        )


def stage_key(number: int) -> str:
    """Return the key of a stage as what marks, bars and rows speak of."""
    return f"stage/{number}"


def _summary(stage: StageFigures, unit: str) -> str:
    """Return a stage's share of the time and its place, in figures."""
    place = format_si(stage.performance, f"{unit}/s", digits=3) if stage.work else "no work"
    reached = f"{percent(stage.programming_efficiency)} of its roof"
    return f"{percent(stage.weight)} of the time, {place}, {reached}"


def _composite(composite: Composite, at: Place) -> Mark:
    """Return a composite, drawn on the roof at the height of its roofline efficiency."""
    equation = composite.equation
    name = equation.removeprefix("Eq. ")
    return Mark(at=at, shape="diamond", face="hollow", label=Label(text=name), name=equation)


def time_chart(assessment: Assessment, *, has_key: bool = True) -> Chart:
    """Return the division of the time, as it is and at the roofs.

    Parameters
    ----------
    assessment : Assessment
    has_key : bool
        Whether it names the stages; it does not where it stands below a chart that does.
    """
    host = assessment.pipeline.host_time_s
    host_s = host.median if host is not None else 0.0
    rows = (
        ("as it runs", [stage.time_s for stage in assessment.stages]),
        ("at the roofs", [stage.bound_s for stage in assessment.stages]),
    )
    names = [printable(stage.stage.name) for stage in assessment.stages]
    bars = [
        bar for row, (_, times) in enumerate(rows) for bar in _pieces(-row, host_s, names, times)
    ]
    longest = max(bar.end for bar in bars)
    limits = (0.0, longest * 1.12)
    return Chart(
        title="Where the time goes",
        subtitle=f"grey: {shown_time(host_s)} of the host" if host_s else "",
        x=_time_axis(limits),
        y=row_axis([name for name, _ in rows]),
        bars=tuple(bars),
        marks=tuple(
            at_the_end(host_s + sum(times), -row, shown_time(host_s + sum(times), digits=3))
            for row, (_, times) in enumerate(rows)
        ),
        key=_key(assessment, _lasting, shape="square") if has_key else (),
        height=_TIME_HEIGHT,
    )


def _time_axis(limits: Interval) -> Axis:
    """Return the axis of times, in the unit that people would use for the longest."""
    unit_s, unit = time_unit(limits[1])
    ticks = decimal_ticks((limits[0] / unit_s, limits[1] / unit_s), most=9)
    return Axis(
        label=f"Time [{unit}]",
        limits=limits,
        ticks=tuple((place * unit_s, text) for place, text in ticks),
        scale="linear",
    )


def _pieces(
    row: float, host_s: float, names: Sequence[str], times: Sequence[float]
) -> Iterator[Bar]:
    """Yield the pieces of a bar of time, one after the other."""
    end = host_s
    if host_s:
        yield Bar(row=row, begin=0.0, end=end, ink="faint", label=Label(text="host", is_bold=True),
                  name="host", summary=shown_time(host_s, digits=3))  # fmt: skip
    for number, (name, seconds) in enumerate(zip(names, times, strict=True)):
        yield Bar(
            row=row,
            begin=end,
            end=end + seconds,
            ink=number,
            face=face_of(number),
            label=Label(text=str(number + 1), is_bold=True),
            name=name,
            summary=shown_time(seconds, digits=3),
            subject=stage_key(number),
        )
        end += seconds
