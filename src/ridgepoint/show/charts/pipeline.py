"""A pipeline's figures, from its assessment: the roofline, the time, the devices, what gains."""

from __future__ import annotations

from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import KINDS, StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment, StageFigures
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.show.axes import decade_ticks, decades
from ridgepoint.show.charts.pipeline_plane import (
    Bar,
    BarsFigure,
    CompositeMark,
    Piece,
    PipelineFigure,
    PipelineRoofline,
    StageDot,
    TimeBar,
    TimeFigure,
)
from ridgepoint.show.words import machine_title, percent, printable, shown_devices, shown_intensity

_MOST_ADVICE = 12


def pipeline_figure(found: Assessment) -> PipelineFigure:
    """Return the roofline of a pipeline, and where its time goes."""
    return PipelineFigure(roofline=roofline_figure(found), time=time_figure(found))


def roofline_figure(found: Assessment) -> PipelineRoofline:
    """Return the roofline, with every stage's disc as large as its share of the time."""
    unit = found.pipeline.unit
    marks = tuple(
        CompositeMark(
            label=f"({one.equation.removeprefix('Eq. (').removesuffix(')')})"
            if one.equation.startswith("Eq.") else one.equation,
            at=(one.intensity, one.roofline_efficiency.median * found.peak),
        )
        for one in found.composites
        if one.intensity is not None
    )  # fmt: skip
    capped = found.composite("capped").intensity or found.ridge
    whole = (capped, found.compute_efficiency.median * found.peak)
    known = [(one.intensity, one.performance) for one in found.stages if one.work and one.intensity]
    x = [found.ridge, *(mark.at[0] for mark in marks), *(place[0] for place in known)]
    y = [found.peak, whole[1], *(one.performance for one in found.stages if one.work)]
    x_limits, y_limits = decades(x, room=1.6), decades(y, room=1.6)
    dots = tuple(
        _dot(number, one, unit, x_limits[1]) for number, one in enumerate(found.stages, start=1)
    )
    notes = [
        f"discs: stages, the larger the more of the time; diamonds: composite intensities on the "
        f"roof; star: the pipeline, {percent(found.compute_efficiency.median)} of the peak"
    ]
    bare = [one.name for one in dots if one.at is None]
    if bare:
        notes.append(f"not on this plane, since without work: {', '.join(bare)}")
    return PipelineRoofline(
        title=printable(found.pipeline.name),
        subtitle=f"{machine_title(found.machine)}: {format_si(found.peak, f'{unit}/s')}, "
        f"{format_si(found.bandwidth, 'B/s')}, ridge at {shown_intensity(found.ridge)} {unit}/byte",
        x_label=f"Operational intensity [{unit}/byte]",
        y_label=f"Performance [{unit}/s]",
        x_limits=x_limits,
        y_limits=y_limits,
        x_ticks=decade_ticks(x_limits, lambda value: f"{value:g}"),
        y_ticks=decade_ticks(y_limits, lambda value: format_si(value, "").strip()),
        peak=found.peak,
        bandwidth=found.bandwidth,
        stages=dots,
        composites=marks,
        whole=whole,
        notes=tuple(notes),
    )


def _dot(number: int, one: StageFigures, unit: str, right: float) -> StageDot:
    at = None if not one.work else (one.intensity or right, one.performance)
    place = "no work" if at is None else f"{format_si(one.performance, f'{unit}/s', digits=3)}"
    reached = f"{percent(one.programming_efficiency)} of its roof"
    return StageDot(
        number=number,
        name=printable(one.stage.name),
        summary=f"{percent(one.weight)} of the time, {place}, {reached}",
        at=at,
        attainable=one.attainable,
        share=one.weight,
        is_infinite=at is not None and one.intensity is None,
    )


def time_figure(found: Assessment) -> TimeFigure:
    """Return where the time goes now, and at the roofs."""
    host = found.pipeline.host_time_s
    first = [Piece(number=0, name="host", seconds=host.median)] if host and host.median else []
    names = [(number, printable(one.stage.name)) for number, one in enumerate(found.stages, 1)]
    now, roof = (
        tuple(
            Piece(number=number, name=name, seconds=seconds)
            for (number, name), seconds in zip(names, times, strict=True)
        )
        for times in (
            [one.time_s for one in found.stages],
            [one.bound_s for one in found.stages],
        )
    )
    return TimeFigure(
        title="Where the time goes",
        bars=(
            TimeBar(label="as it runs", pieces=(*first, *now)),
            TimeBar(label="at the roofs", pieces=(*first, *roof)),
        ),
    )


def devices_figure(found: Assessment) -> BarsFigure | None:
    """Return the devices that each composite leads to; None: no load is given."""
    if found.load_per_s is None:
        return None
    bars = []
    for one in found.composites:
        needed = one.devices
        if needed is None or one.devices_at_roof is None:
            continue
        bars.append(
            Bar(
                label=one.equation,
                text=shown_devices(needed.median),
                value=needed.median,
                low=needed.low,
                high=needed.high,
                least=one.devices_at_roof,
            )
        )
    load = format_si(found.load_per_s, f"{found.pipeline.unit}/s")
    return BarsFigure(
        title=f"Devices for {load}, by composite",
        subtitle="N = CL / (peak x RE x PE), with the PE of Eq. (8), and for the series its own",
        x_label=f"Devices [{printable(found.machine.name)}]",
        bars=tuple(bars),
        mark_label="if every stage were at its roof",
    )


def sensitivity_figure(given: Sensitivity) -> BarsFigure:
    """Return what an improvement by a tenth gains: of each stage, and of the machine."""
    rows = [
        ("10 % more compute", given.device.compute),
        ("10 % more bandwidth", given.device.bandwidth),
        *((f"10 % less time in {printable(one.name)}", one.time) for one in given.stages),
    ]
    return _gains("What a tenth gains", "as well programmed as before", rows)


def advice_figure(given: tuple[StageAdvice, ...]) -> BarsFigure | None:
    """Return what each action gains the pipeline at most; None: nothing gains."""
    rows = [
        (f"{printable(one.stage)}, {KINDS[one.kind].partition(': ')[2]}", one.pipeline_gain)
        for one in given[:_MOST_ADVICE]
    ]
    if not rows:
        return None
    return _gains("What each action gains the pipeline at most", "one at a time", rows)


def _gains(title: str, subtitle: str, rows: list[tuple[str, float]]) -> BarsFigure:
    return BarsFigure(
        title=title,
        subtitle=subtitle,
        x_label="Times as fast",
        origin=1.0,
        bars=tuple(
            Bar(label=label, text=f"{gain:.3f}x", value=gain)
            for label, gain in sorted(rows, key=lambda row: -row[1])
        ),
    )
