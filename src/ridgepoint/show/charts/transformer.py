"""Charts of a transformer on devices: throughput over latency, and what limits each batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ridgepoint.core.units import format_si
from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.crossing import leaves_memory
from ridgepoint.models.transformer.designs import Curve, Design
from ridgepoint.models.transformer.report import OnDevices, TransformerReport
from ridgepoint.show.axes import log_ticks, power_ticks, stepped, with_prefix
from ridgepoint.show.chart import Axis, Chart, Entry, Interval, Label, Line, LineKind, Mark
from ridgepoint.show.transformer_text import (
    LIMITERS,
    crossing_line,
    dimensions,
    division,
    memory_line,
    tokens_rate,
    types_of,
)
from ridgepoint.show.words import percent, printable

_HEIGHT = 0.62
_ROOM = 1.25
_POINTS = 97
_MOST_BATCH = 1024
"""Largest batch of a chart over batches where the memory does not say less."""
_PATHS: dict[str, LineKind] = {"compute": "curve", "dram": "curve", "network": "curve"}
_INKS = {"compute": "compute", "dram": "memory", "network": "network"}


def transformer_chart(report: TransformerReport) -> Chart:
    """Return the most informative chart: throughput over latency, if any division fits."""
    if any(curve.designs for on in report.machines for curve in on.curves):
        return latency_throughput(report)
    return time_over_batch(report, report.machines[0])


def transformer_charts(report: TransformerReport) -> dict[str, Chart]:
    """Return every chart of a transformer on devices, by a name for its file."""
    charts = {}
    if any(curve.designs for on in report.machines for curve in on.curves):
        charts["throughput_over_latency"] = latency_throughput(report)
    for number, on in enumerate(report.machines):
        charts[f"time_over_batch_{number}"] = time_over_batch(report, on)
    return charts


def latency_throughput(report: TransformerReport) -> Chart:
    """Return the tokens per second of a device over the time of a token, for every division.

    At least one division fits.
    """
    drawn = [
        (_name(report, on, curve), curve)
        for on in report.machines
        for curve in on.curves
        if curve.designs
    ]
    designs = [design for _, curve in drawn for design in curve.designs]
    serving = report.machines[0].study.serving
    x = stepped([design.token_s for design in designs], room=_ROOM)
    y = stepped([design.rate_of_device_per_s for design in designs], room=_ROOM)
    target = report.target
    limit = None if target is None else target.within_s
    return Chart(
        title=f"Throughput over latency: {printable(report.name)}",
        subtitle=f"{types_of(serving)}; prompts of {serving.prompt:,} tokens, answers of "
        f"{serving.generated:,}{_expected(serving)}",
        x=Axis(label="Time from token to token [s]", limits=x, ticks=log_ticks(x, with_prefix)),
        y=Axis(
            label="Tokens/s of each device, prompts included",
            limits=y,
            ticks=log_ticks(y, with_prefix),
        ),
        lines=(
            *(_curve(name, curve, ink) for ink, (name, curve) in enumerate(drawn)),
            *([] if limit is None or not x[0] < limit < x[1] else [_limit(limit, y)]),
        ),
        marks=tuple(
            mark for ink, (name, curve) in enumerate(drawn) for mark in _marks(name, curve, ink)
        ),
        key=tuple(
            Entry(text=name, ink=ink, line="curve", is_abreast=True)
            for ink, (name, _) in enumerate(drawn)
        ),
        notes=_notes(report),
        drawing_notes=(
            "circles: batches of powers of two, with their size at the ends; diamonds: the batch "
            "at which generating leaves the memory's roof",
        ),
        height=_HEIGHT,
    )


def time_over_batch(report: TransformerReport, on: OnDevices) -> Chart:
    """Return the least time of a token over the batch: of work, of memory and of the network."""
    study = on.study
    most = min(study.memory.largest_batch or _MOST_BATCH, 1 << 16)
    if study.crossing is not None:
        most = max(most, min(4 * study.crossing.batch, 1 << 16))
    batches = np.unique(np.geomspace(1, max(most, 2), _POINTS).round())
    passed = study.serving.decode(batches)
    times = {
        path: np.broadcast_to(seconds, batches.shape)
        for path, seconds in passed.bound.times_s.items()
    }
    heights = np.concatenate(list(times.values()))
    y = stepped([float(height) for height in heights if height > 0], room=_ROOM)
    lines = [
        Line(
            kind=_PATHS[path],
            places=tuple(zip(batches.tolist(), seconds.tolist(), strict=True)),
            ink=_INKS[path],  # type: ignore[arg-type]
            name=LIMITERS[path],
        )
        for path, seconds in times.items()
        if np.any(seconds > 0)
    ]
    holds = study.memory.largest_batch
    if holds and holds < batches[-1]:
        lines.append(_upright(float(holds), y, f"memory holds {holds:,}"))
    return Chart(
        title=f"Time of a token over the batch: {printable(report.name)}",
        subtitle=f"{printable(study.serving.machine.name)}, "
        f"{division(study.serving.inference.tensor, study.serving.inference.pipeline)}; "
        f"{study.serving.mean_context:,.0f} tokens in the cache",
        x=Axis(
            label="Batch: sequences of one copy of the model",
            limits=(1.0, float(batches[-1])),
            ticks=power_ticks((1.0, float(batches[-1])), lambda n: f"{n:,.0f}"),
        ),
        y=Axis(label="Least time of a token [s]", limits=y, ticks=log_ticks(y, with_prefix)),
        lines=tuple(lines),
        marks=_crossing_marks(study.serving, passed_at=float(batches[-1])),
        key=tuple(
            Entry(text=line.name, ink=line.ink, line="curve", is_abreast=True)
            for line in lines
            if line.kind == "curve"
        ),
        notes=(memory_line(study), crossing_line(study)),
        height=_HEIGHT,
    )


def _name(report: TransformerReport, on: OnDevices, curve: Curve) -> str:
    inference = curve.serving.inference
    ways = division(inference.tensor, inference.pipeline)
    machine = printable(on.study.serving.machine.name)
    if len(report.machines) == 1:
        return f"{machine}, {ways}" if len(on.curves) == 1 else ways
    return machine if len(on.curves) == 1 else f"{machine}, {ways}"


def _curve(name: str, curve: Curve, ink: int) -> Line:
    return Line(
        kind="curve",
        places=tuple((design.token_s, design.rate_of_device_per_s) for design in curve.designs),
        ink=ink,
        name=name,
    )


def _marks(name: str, curve: Curve, ink: int) -> Iterator[Mark]:
    """Yield a mark for every batch, named at the ends, and one where memory no longer limits."""
    last = len(curve.designs) - 1
    for at, design in enumerate(curve.designs):
        label = None
        if at in (0, last):
            label = Label(text=f"batch {design.batch:,}", is_optional=True, rank=at == 0)
        yield Mark(
            at=(design.token_s, design.rate_of_device_per_s),
            shape="circle",
            size=0.5,
            ink=ink,
            label=label,
            name=f"{name}: batch {design.batch:,}",
            summary=_summary(design),
        )
    crossing = leaves_memory(curve.serving)
    if crossing is not None and 1 < crossing.batch <= curve.designs[last].batch:
        batch = crossing.batch
        token_s = float(curve.serving.decode(batch).time_s[0])
        rate = float(curve.serving.rate_per_s(batch)[0]) / curve.serving.inference.devices
        yield Mark(
            at=(token_s, rate), shape="diamond", ink=ink,
            label=Label(text=f"{LIMITERS[crossing.limiter]} from {batch:,}", is_optional=True),
            name=f"{name}: leaves the memory's roof at a batch of {batch:,}",
        )  # fmt: skip


def _summary(design: Design) -> str:
    return (
        f"{format_si(design.token_s, 's')} for each token, {tokens_rate(design.rate_per_s)}, "
        f"limited by {LIMITERS[design.limiter]}; first token after {format_si(design.first_s, 's')}"
    )


def _expected(serving: Serving) -> str:
    if serving.efficiency == 1:
        return "; no program is above or left of its line"
    return f"; programs reach {percent(serving.efficiency)} of the bound"


def _crossing_marks(serving: Serving, *, passed_at: float) -> tuple[Mark, ...]:
    crossing = leaves_memory(serving)
    if crossing is None or not 1 < crossing.batch <= passed_at:
        return ()
    least_s = float(np.ravel(serving.decode(crossing.batch).bound.time_s)[0])
    return (
        Mark(
            at=(float(crossing.batch), least_s),
            shape="diamond",
            label=Label(text=f"{LIMITERS[crossing.limiter]} from {crossing.batch:,}", is_bold=True),
            name="leaves the memory's roof",
        ),
    )


def _limit(at: float, ends: Interval) -> Line:
    return _upright(at, ends, f"within {format_si(at, 's')}")


def _upright(at: float, ends: Interval, text: str) -> Line:
    return Line(
        kind="limit", places=((at, ends[0]), (at, ends[1])), label=Label(text=text), name=text
    )


def _notes(report: TransformerReport) -> tuple[str, ...]:
    """Return the model, and which divisions do not fit."""
    lacking: Sequence[str] = [
        _name(report, on, curve)
        for on in report.machines
        for curve in on.curves
        if not curve.designs
    ]
    model = f"{printable(report.name)}: {dimensions(report.model)}"
    if not lacking:
        return (model,)
    return (model, f"not drawn, since not even one sequence fits: {'; '.join(lacking)}")
