"""The view of a pipeline: its charts, and each stage with its figures and advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.units import format_si
from ridgepoint.models.pipeline.advice import KINDS, StageAdvice
from ridgepoint.models.pipeline.assessment import Assessment, StageFigures
from ridgepoint.models.pipeline.sensitivity import Sensitivity
from ridgepoint.show.chart import Page
from ridgepoint.show.charts.pipeline import pipeline_charts, stage_key
from ridgepoint.show.page.document import (
    Advised,
    Cell,
    Column,
    Fact,
    Input,
    Row,
    Subject,
    Table,
    View,
)
from ridgepoint.show.page.subjects import doubt
from ridgepoint.show.words import percent, printable, shown_intensity, shown_time, with_interval

MEMO = "SDP memo 54, Eqs. (3) to (11)"


def pipeline_view(
    assessment: Assessment, gains: Sensitivity, advised: Sequence[StageAdvice], *, number: int = 0
) -> View:
    """Return the view of a pipeline.

    Parameters
    ----------
    assessment : Assessment
    gains : Sensitivity
    advised : sequence of StageAdvice
    number : int
        Of the pipeline on the page.
    """
    key = f"pipeline/{number}"
    pictures = pipeline_charts(assessment, gains, advised)
    charts = [
        chart
        for name, picture in pictures.items()
        if name != "pipeline"
        for chart in (picture.charts if isinstance(picture, Page) else (picture,))
    ]
    unit = assessment.pipeline.unit
    return View(
        key=key,
        kind="pipeline",
        title=f"Pipeline: {printable(assessment.pipeline.name)}",
        charts=tuple(charts),
        table=Table(
            name="stages",
            columns=tuple(_columns(unit)),
            rows=tuple(
                Row(cells=tuple(_cells(stage, unit)), subject=stage_key(index))
                for index, stage in enumerate(assessment.stages)
            ),
        ),
        subjects=(
            _whole(assessment, key),
            *(
                _subject(stage, stage_key(index), key, advised, unit)
                for index, stage in enumerate(assessment.stages)
            ),
        ),
    )


def _columns(unit: str) -> Iterator[Column]:
    yield Column(key="stage", title="stage")
    yield Column(key=f"work_{unit.lower()}", title="W", unit=unit, kind="number", help="Work.")
    yield Column(
        key="intensity", title="I", unit=f"{unit}/byte", kind="number", help="Intensity: W / Q."
    )
    yield Column(key="time_s", title="T", unit="s", kind="number", help="Time of the stage.")
    yield Column(key="share", title="time", kind="share", help="Of all stages.")
    yield Column(
        key="performance_per_s", title="P", unit=f"{unit}/s", kind="number",
        help="Performance: W / T.",
    )  # fmt: skip
    yield Column(key="bytes_per_s", title="bandwidth", unit="B/s", kind="number")
    yield Column(
        key="efficiency", title="of roof", kind="share",
        help="Programming efficiency: performance over the roof at its intensity.",
    )  # fmt: skip
    yield Column(key="limit", title="limited by")


def _cells(stage: StageFigures, unit: str) -> Iterator[Cell]:
    yield Cell(text=printable(stage.stage.name))
    yield Cell(text=format_si(stage.work, unit), value=stage.work)
    intensity = "infinite" if stage.intensity is None else shown_intensity(stage.intensity)
    yield Cell(text=intensity, value=stage.intensity, fact="intensity")
    yield Cell(text=shown_time(stage.time_s), value=stage.time_s, fact="time")
    yield Cell(text=percent(stage.weight), value=stage.weight, fact="share")
    yield Cell(text=format_si(stage.performance, f"{unit}/s") if stage.work else "none",
               value=stage.performance, fact="performance")  # fmt: skip
    yield Cell(text=format_si(stage.moved_bytes_per_s, "B/s") if stage.moved_bytes else "none",
               value=stage.moved_bytes_per_s)  # fmt: skip
    efficiency = stage.programming_efficiency
    yield Cell(text=percent(efficiency), value=efficiency, fact="efficiency")
    yield Cell(text="both" if stage.is_at_the_ridge else _limiter(stage))


def _limiter(stage: StageFigures) -> str:
    return "memory" if stage.limiter == "dram" else stage.limiter


def _subject(
    stage: StageFigures, key: str, parent: str, advised: Sequence[StageAdvice], unit: str
) -> Subject:
    return Subject(
        key=key,
        name=printable(stage.stage.name),
        kind="case",
        parent=parent,
        share=stage.weight,
        facts=tuple(_facts(stage, unit)),
        advice=tuple(
            Advised(
                seen=printable(advice.seen),
                what=printable(f"{KINDS[advice.kind]}: {advice.what}"),
                gain=f"stage at most {advice.gain:.2g}x, pipeline {advice.pipeline_gain:.3g}x",
            )
            for advice in advised
            if advice.stage == stage.stage.name
        ),
    )


def _facts(stage: StageFigures, unit: str) -> Iterator[Fact]:
    work, moved = format_si(stage.work, unit), format_si(stage.moved_bytes, "B")
    time, bound = shown_time(stage.time_s), shown_time(stage.bound_s)
    yield Fact(key="time", name="T, time", text=time, source=MEMO)
    yield Fact(key="share", name="share of the time", text=percent(stage.weight), source=MEMO,
               how="Its time over that of all stages.")  # fmt: skip
    if stage.intensity is not None:
        yield Fact(key="intensity", name="I, intensity",
                   text=f"{shown_intensity(stage.intensity)} {unit}/byte",
                   how=f"I = W / Q = {work} / {moved}", source=MEMO)  # fmt: skip
    yield Fact(key="performance", name="P, performance",
               text=format_si(stage.performance, f"{unit}/s"), how=f"P = W / T = {work} / {time}",
               source=MEMO)  # fmt: skip
    yield Fact(
        key="efficiency", name="programming efficiency",
        text=percent(stage.programming_efficiency),
        how=f"The least time over the time: {bound} / {time}",
        inputs=(
            Input(name="computing", text=shown_time(stage.compute_s)),
            Input(name="moving bytes", text=shown_time(stage.memory_s)),
        ),
        source=MEMO,
    )  # fmt: skip


def _whole(assessment: Assessment, key: str) -> Subject:
    """Return the pipeline as a whole, with its composites."""
    facts = [
        Fact(key="time", name="T, all stages", text=with_interval(assessment.time_s, shown_time),
             how="The sum of the stages' times.", source=MEMO),
        Fact(key="compute-efficiency", name="CE, compute efficiency",
             text=with_interval(assessment.compute_efficiency, percent),
             how="All work over what the peak could do in the time.", source=MEMO),
    ]  # fmt: skip
    facts += [
        Fact(
            key=f"composite-{number}",
            name=f"composite intensity, {composite.equation}",
            text="unknown"
            if composite.intensity is None
            else f"{shown_intensity(composite.intensity)} {assessment.pipeline.unit}/byte, "
            f"roofline efficiency {with_interval(composite.roofline_efficiency, percent)}",
            source=MEMO,
        )
        for number, composite in enumerate(assessment.composites)
    ]
    return Subject(
        key=key,
        name=printable(assessment.pipeline.name),
        kind="program",
        share=1.0,
        facts=tuple(facts),
        cautions=tuple(doubt(caution, matters=True) for caution in assessment.cautions),
    )  # fmt: skip
