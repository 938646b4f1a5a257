"""The view of a transformer on devices."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.units import format_si
from ridgepoint.models.transformer.designs import Design
from ridgepoint.models.transformer.report import OnDevices, TransformerReport
from ridgepoint.show.charts.transformer import transformer_charts
from ridgepoint.show.page.document import Cell, Column, Row, Table, View
from ridgepoint.show.transformer_text import (
    LIMITERS,
    asked_line,
    crossing_line,
    design_name,
    device_line,
    meaning,
    memory_line,
    model_lines,
    target_line,
    tokens_rate,
    types_of,
    unreached,
)
from ridgepoint.show.words import printable


def transformer_view(report: TransformerReport) -> View:
    """Return the view of a transformer on each kind of device."""
    return View(
        key="transformer",
        kind="transformer",
        title=f"Transformer: {printable(report.name)}",
        charts=tuple(transformer_charts(report).values()),
        table=_table(report),
        notes=(*_notes(report), *map(str, report.cautions)),
    )


def _notes(report: TransformerReport) -> Iterator[str]:
    yield from model_lines(report)
    serving = report.machines[0].study.serving
    yield types_of(serving)
    yield asked_line(serving)
    yield meaning(serving)
    for on in report.machines:
        name = printable(on.study.serving.machine.name)
        yield device_line(on.study.serving)
        yield f"{name}: {memory_line(on.study)}"
        yield f"{name}: {crossing_line(on.study)}"
        if report.target is not None:
            yield f"{name}: to generate {target_line(report.target)}: {_fewest(on)}"


def _fewest(on: OnDevices) -> str:
    if not on.designs:
        return unreached(on)
    design = on.designs[0]
    return (
        f"{design.devices:,} devices at least, {design.copies:,} x {design_name(design)} with a "
        f"batch of {design.batch:,} each"
    )


def _table(report: TransformerReport) -> Table:
    """Return every division and batch that fits, and the designs for the target first."""
    return Table(
        name="designs",
        columns=(
            Column(key="machine", title="machine"),
            Column(key="each", title="each copy on"),
            Column(key="copies", title="copies", kind="number"),
            Column(key="devices", title="devices", kind="number"),
            Column(key="batch", title="batch", kind="number"),
            Column(key="first_s", title="first token", unit="s", kind="number"),
            Column(key="token_s", title="each token", unit="s", kind="number"),
            Column(key="limiter", title="limited by"),
            Column(key="rate_per_s", title="tokens/s", kind="number",
                   help="Over whole answers, prompts included."),
            Column(key="of_device", title="tokens/s of a device", kind="number"),
        ),
        rows=tuple(
            _row(printable(on.study.serving.machine.name), design)
            for on in report.machines
            for design in (
                *(on.designs or ()),
                *(design for curve in on.curves for design in curve.designs),
            )
        ),
    )  # fmt: skip


def _row(machine: str, design: Design) -> Row:
    return Row(
        cells=(
            Cell(text=machine),
            Cell(text=design_name(design)),
            Cell(text=f"{design.copies:,}", value=design.copies),
            Cell(text=f"{design.devices:,}", value=design.devices),
            Cell(text=f"{design.batch:,}", value=design.batch),
            Cell(text=format_si(design.first_s, "s"), value=design.first_s),
            Cell(text=format_si(design.token_s, "s"), value=design.token_s),
            Cell(text=LIMITERS[design.limiter]),
            Cell(text=tokens_rate(design.rate_per_s), value=design.rate_per_s),
            Cell(text=tokens_rate(design.rate_of_device_per_s), value=design.rate_of_device_per_s),
        )
    )
