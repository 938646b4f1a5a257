"""The tables of the page's views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ridgepoint.core.resources import LEVELS
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.work import WORK_UNITS, Metric, hardly_any, work_total
from ridgepoint.show.chart import Tags
from ridgepoint.show.page.document import Cell, Column, Row, Table
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.page.subjects import Part
from ridgepoint.show.words import (
    UNKNOWN,
    limit_text,
    percent,
    shown_amount,
    shown_intensity,
    shown_name,
    shown_share,
)
from ridgepoint.show.work import shown_work

Shown = tuple[ShownRecord, Sequence[Part], Tags]
"""A record, its parts, and when they are shown."""


def parts_table(shown: Sequence[Shown], metric: Metric) -> Table:
    """Return programs and their parts, row by row."""
    levels = [
        level
        for level in reversed(LEVELS)
        if any(part.analysis.measurement.traffic_at(level) for _, parts, _ in shown
               for part in parts)
    ]  # fmt: skip
    several = len(shown) > 1
    return Table(
        name="programs and their parts",
        columns=tuple(_columns(levels, WORK_UNITS[metric], several=several)),
        rows=tuple(
            Row(
                cells=_explained(part, _cells(record, part, levels, several=several)),
                subject=part.subject.key,
                tags=tags,
            )
            for record, parts, tags in shown
            for part in parts
        ),
    )


def _explained(part: Part, cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return cells that only name facts which the part has."""
    known = {"", *(fact.key for fact in part.subject.facts)}
    return tuple(cell if cell.fact in known else replace(cell, fact="") for cell in cells)


def _columns(levels: Sequence[str], unit: str, *, several: bool) -> list[Column]:
    record = [Column(key="record", title="record")] if several else []
    return [
        *record,
        Column(key="name", title="name"),
        Column(key="kind", title="kind", help="Program, region or function."),
        Column(key="share", title="time", kind="share",
               help="Share of the program's runtime; of functions by samples."),
        Column(key="runtime_s", title="T", unit="s", kind="number", help="Runtime, the median."),
        Column(key=f"work_{unit.lower()}", title="W", unit=unit, kind="number",
               help="Work that was counted."),
        Column(key="performance_per_s", title="P", unit=f"{unit}/s", kind="number",
               help="Performance: W / T."),
        *(
            Column(key=f"{level}_bytes", title=f"Q {shown_name(level)}", unit="B", kind="number",
                   help=f"Bytes moved at {shown_name(level)}, in both directions.")
            for level in levels
        ),
        *(
            Column(key=f"intensity_{level}", title=f"I {shown_name(level)}", unit=f"{unit}/byte",
                   kind="number", help=f"Intensity: W / Q at {shown_name(level)}.")
            for level in levels
        ),
        Column(key="limit", title="limited by", help="What needs the least time at full rate."),
        Column(key="efficiency", title="efficiency", kind="share",
               help="The least time over the runtime; 100 % is the roof."),
        Column(key="gain", title="gain at most", help="Of the first advice on it."),
    ]  # fmt: skip


def _cells(record: ShownRecord, part: Part, levels: Sequence[str], *, several: bool) -> list[Cell]:
    analysis, subject = part.analysis, part.subject
    measurement, placement = analysis.measurement, analysis.placement
    runtime = None if part.runtime is None else part.runtime.median
    performance = None if placement is None else placement.performance_per_s
    efficiency = None if placement is None else placement.efficiency
    advice = subject.advice
    work = work_total(measurement.counted.counts, analysis.metric)
    unit = WORK_UNITS[analysis.metric]
    return [
        *([Cell(text=record.name)] if several else []),
        Cell(text=subject.name),
        Cell(text=subject.kind),
        Cell(text=shown_share(subject.share), value=subject.share),
        Cell(text=shown_amount(runtime, "s"), value=runtime, fact="runtime"),
        Cell(text=shown_work(measurement.counted.counts, analysis.metric), value=work,
             fact="work"),
        Cell(text=shown_amount(performance, f"{unit}/s"),
             value=None if performance is None else performance.median, fact="performance"),
        *(_bytes(analysis, level) for level in levels),
        *(_intensity(analysis, level) for level in levels),
        Cell(text=(limit_text(placement) if placement is not None else "") or UNKNOWN,
             fact="limit"),
        Cell(text=UNKNOWN if efficiency is None else percent(efficiency), value=efficiency,
             fact="efficiency"),
        Cell(text=advice[0].gain if advice else ""),
    ]  # fmt: skip


def _bytes(analysis: Analysis, level: str) -> Cell:
    traffic = analysis.measurement.traffic_at(level)
    moved = None if traffic is None else traffic.total_bytes
    text = UNKNOWN if moved is None else format_si(moved, "B")
    return Cell(text=text, value=moved, fact=f"bytes-{level}")


def _intensity(analysis: Analysis, level: str) -> Cell:
    counts = analysis.measurement.counted.counts
    traffic = analysis.measurement.traffic_at(level)
    moved = None if traffic is None else traffic.total_bytes
    work = work_total(counts, analysis.metric)
    if work is None or moved is None or hardly_any(counts, analysis.metric):
        return Cell(text=UNKNOWN if work is None or moved is None else "no such work")
    if not moved:
        return Cell(text="infinite", fact=f"intensity-{level}")
    return Cell(text=shown_intensity(work / moved), value=work / moved, fact=f"intensity-{level}")
