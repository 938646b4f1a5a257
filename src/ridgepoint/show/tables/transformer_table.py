"""A transformer on devices as text: times, rates, memory, devices for a target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.units import format_si
from ridgepoint.models.transformer.designs import Design
from ridgepoint.models.transformer.report import OnDevices, TransformerReport
from ridgepoint.models.transformer.study import Point, ServingStudy
from ridgepoint.published.transformers import PublishedTransformer
from ridgepoint.show.tables.layout import caution_list, plain_table, sections
from ridgepoint.show.transformer_text import (
    LIMITERS,
    asked_line,
    counted,
    crossing_line,
    design_name,
    device_line,
    dimensions,
    division,
    meaning,
    memory_line,
    model_lines,
    target_line,
    types_of,
    unreached,
)
from ridgepoint.show.words import printable

_MOST_DESIGNS = 8


def transformer_table(report: TransformerReport) -> RenderableType:
    """Return a transformer on each kind of device as text."""
    serving = report.machines[0].study.serving
    head = (*model_lines(report), types_of(serving), asked_line(serving))
    parts: list[RenderableType | None] = [Group(*map(Text, head))]
    if len(report.machines) > 1:
        parts.append(_machines(report.machines))
    for on in report.machines:
        parts += _of_machine(report, on, is_alone=len(report.machines) == 1)
    cautions = caution_list(report.cautions) if report.cautions else None
    return sections(*parts, Text(meaning(serving)), cautions)


def models_table(models: dict[str, PublishedTransformer]) -> RenderableType:
    """Return the published models."""
    table = plain_table("model", "weights", "used", "dimensions", right=("weights", "used"))
    for name, published in models.items():
        model = published.model
        table.add_row(
            name, counted(model.weights), counted(model.active_weights), Text(dimensions(model))
        )
    return table


def _of_machine(
    report: TransformerReport, on: OnDevices, *, is_alone: bool
) -> Iterator[RenderableType | None]:
    study = on.study
    yield Text(device_line(study.serving), style="" if is_alone else "bold")
    if is_alone:
        yield _points(study)
    yield Group(Text(memory_line(study)), Text(crossing_line(study)))
    if is_alone:
        yield _assumptions(study)
    if len(on.curves) > 1:
        yield _divisions(on)
    if report.target is not None:
        yield Text(f"to generate {target_line(report.target)}", style="bold")
        yield _designs(on.designs) if on.designs else Text(unreached(on))


def _points(study: ServingStudy) -> RenderableType:
    """Return what each batch reaches, and the largest that fits."""
    right = ("batch", "first token", "each token", "tokens/s", "whole answers", "memory")
    table = plain_table(
        "batch", "first token", "by", "each token", "by", "tokens/s", "whole answers", "memory",
        right=right,
    )  # fmt: skip
    points = list(study.points)
    if study.fullest is not None and study.fullest.batch not in [p.batch for p in points]:
        points.append(study.fullest)
    for point in points:
        table.add_row(*_cells(point))
    return table


def _cells(point: Point) -> list[str]:
    return [
        f"{point.batch:,}",
        format_si(point.first_s, "s"),
        LIMITERS[point.first_limiter],
        format_si(point.token_s, "s"),
        LIMITERS[point.token_limiter],
        _rate(point.tokens_per_s),
        _rate(point.rate_per_s),
        f"{format_si(point.needed_bytes, 'B')}{' (too much)' if point.fits is False else ''}",
    ]


def _assumptions(study: ServingStudy) -> RenderableType:
    """Return what would follow of the first batch if assumptions were others."""
    right = ("first token", "each token", "tokens/s", "whole answers")
    first = study.points[0]
    table = plain_table(f"a batch of {first.batch:,}, if", *right, right=right)
    for assumption in study.assumptions:
        point = assumption.point
        table.add_row(
            assumption.name,
            format_si(point.first_s, "s"),
            format_si(point.token_s, "s"),
            _rate(point.tokens_per_s),
            _rate(point.rate_per_s),
        )
    return table


def _machines(machines: Sequence[OnDevices]) -> RenderableType:
    """Return machines one below the other."""
    right = ("batch", "first token", "each token", "tokens/s", "largest batch", "tokens/s there")
    table = plain_table("machine", *right[:3], "by", *right[3:], right=right)
    for on in machines:
        point, fullest = on.study.points[0], on.study.fullest
        most = on.study.memory.largest_batch
        table.add_row(
            Text(printable(on.study.serving.machine.name)),
            f"{point.batch:,}",
            format_si(point.first_s, "s"),
            format_si(point.token_s, "s"),
            LIMITERS[point.token_limiter],
            _rate(point.tokens_per_s),
            "unknown" if most is None else f"{most:,}",
            "-" if fullest is None else _rate(fullest.rate_per_s),
        )
    return Group(table, Text("tokens/s there: over whole answers, prompts included"))


def _divisions(on: OnDevices) -> RenderableType:
    """Return each division of the model with one sequence, and with the largest batch."""
    right = ("each token", "largest batch", "each token then", "tokens/s", "of each device")
    table = plain_table("each copy on", *right, right=right)
    for curve in on.curves:
        inference = curve.serving.inference
        if not curve.designs:
            ways = division(inference.tensor, inference.pipeline)
            table.add_row(ways, "-", "none fits", "-", "-", "-")
            continue
        alone, most = curve.designs[0], curve.designs[-1]
        table.add_row(
            design_name(alone),
            format_si(alone.token_s, "s"),
            f"{most.batch:,}",
            format_si(most.token_s, "s"),
            _rate(most.rate_per_s),
            _rate(most.rate_of_device_per_s),
        )
    return table


def _designs(designs: Sequence[Design]) -> RenderableType:
    """Return the fewest devices that reach the target, and what more gain."""
    right = ("devices", "copies", "batch of each", "first token", "each token", "tokens/s")
    table = plain_table(
        "devices", "copies", "each on", "batch of each", "first token", "each token", "by",
        "tokens/s", right=right,
    )  # fmt: skip
    for design in designs[:_MOST_DESIGNS]:
        table.add_row(
            f"{design.devices:,}",
            f"{design.copies:,}",
            design_name(design),
            f"{design.batch:,}",
            format_si(design.first_s, "s"),
            format_si(design.token_s, "s"),
            LIMITERS[design.limiter],
            _rate(design.rate_per_s),
        )
    more = len(designs) - _MOST_DESIGNS
    if more <= 0:
        return table
    return Group(table, Text(f"and {more} with more devices (all: --json)"))


def _rate(rate_per_s: float) -> str:
    if rate_per_s >= 1e6:
        return counted(rate_per_s)
    return f"{rate_per_s:,.0f}" if rate_per_s >= 100 else f"{rate_per_s:.3g}"
