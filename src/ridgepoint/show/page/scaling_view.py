"""Views of scaling: a study of cores and nodes, and records of one program on several cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.runs import Run
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.gains import Gain
from ridgepoint.models.scaling.measured import MeasuredScaling, measured_scaling
from ridgepoint.models.scaling.study import ScalingStudy
from ridgepoint.show.axes import linear_ticks
from ridgepoint.show.chart import Axis, Chart, Entry, Label, Line, Mark
from ridgepoint.show.charts.scaling import scaling_charts
from ridgepoint.show.page.document import Cell, Column, Fact, Row, Subject, Table, View
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.scaling_text import heading
from ridgepoint.show.words import (
    percent,
    printable,
    shown_cores,
    shown_gain,
    shown_within,
    with_quartiles,
)

_HEIGHT = 0.62


def scaling_view(study: ScalingStudy, *, law: bool = False) -> View:
    """Return the view of a study of cores and nodes.

    Parameters
    ----------
    study : ScalingStudy
    law : bool
        Whether it is a law of speed-up, which only depends on the number of processors.
    """
    return View(
        key="scaling",
        kind="scaling",
        title=f"Scaling: {printable(study.scaling.problem.name)}",
        charts=tuple(scaling_charts(study, law=law).values()),
        table=_points(study),
        notes=(*map(printable, heading(study, law=law)), *map(str, study.cautions)),
    )


def _points(study: ScalingStudy) -> Table:
    unit = RESOURCES[study.scaling.problem.work].unit
    return Table(
        name="points",
        columns=(
            Column(key="nodes", title="nodes", kind="number"),
            Column(key="cores", title="cores of each", kind="number"),
            Column(key="time_s", title="time", unit="s", kind="number"),
            Column(key="speed_up", title="speed-up", kind="number"),
            Column(key="peak_efficiency", title="peak efficiency", kind="share"),
            Column(key="parallel_efficiency", title="parallel efficiency", kind="share"),
            Column(key="performance_per_s", title="performance", unit=f"{unit}/s", kind="number"),
            Column(key="limit", title="limited by"),
        ),
        rows=tuple(
            Row(
                cells=(
                    Cell(text=f"{point.nodes}", value=point.nodes),
                    Cell(text=f"{point.cores}", value=point.cores),
                    Cell(text=format_si(point.time_s, "s"), value=point.time_s),
                    Cell(text=f"{point.speed_up:.4g}", value=point.speed_up),
                    *(
                        Cell(text=percent(share), value=share)
                        for share in (point.peak_efficiency, point.parallel_efficiency)
                    ),
                    Cell(text=format_si(point.performance, f"{unit}/s"), value=point.performance),
                    Cell(text=point.limiter),
                )
            )
            for point in study.points
        ),
    )


def measured_views(records: Sequence[tuple[ShownRecord, Analysis]]) -> Iterator[View]:
    """Yield a view for each program that was measured on several numbers of cores.

    Its records are those of one command (or part of it) that was timed, on whole numbers of cores.
    """
    groups: dict[tuple[object, ...], list[tuple[ShownRecord, Run]]] = {}
    for record, analysis in records:
        measurement = analysis.measurement
        run = _run(analysis)
        if run is not None:
            key = (measurement.command, measurement.counted.selected)
            groups.setdefault(key, []).append((record, run))
    for number, runs in enumerate(groups.values()):
        if len({run.processors for _, run in runs}) > 1:
            yield _measured(number, runs)


def _run(analysis: Analysis) -> Run | None:
    """Return a timed program on a whole number of cores; None: it is none."""
    timed, placement = analysis.measurement.timed, analysis.placement
    if timed is None or placement is None or placement.cores != int(placement.cores):
        return None
    return Run(cores=int(placement.cores), nodes=1, time_s=timed.runtime_s)


def _measured(number: int, runs: Sequence[tuple[ShownRecord, Run]]) -> View:
    gains = measured_scaling([run for _, run in runs])
    pairs = list(zip([record for record, _ in runs], gains, strict=True))
    most = max(run.processors for _, run in runs)
    least = min(run.processors for _, run in runs)
    limits = (0.0, most * 1.1)
    name = runs[0][0].own_name
    key = f"scaling/{number}"
    return View(
        key=key,
        kind="scaling",
        title=f"Scaling: {name}",
        charts=(
            Chart(
                title=f"Speed-up over cores: {name}",
                subtitle=f"against {shown_cores(least)}; error bars: 95 % intervals",
                x=Axis(label="Cores", limits=limits, scale="linear",
                       ticks=linear_ticks(limits, lambda cores: f"{cores:g}")),
                y=Axis(label="Speed-up", limits=(0.0, 1.1 * most / least), scale="linear",
                       ticks=linear_ticks((0.0, 1.1 * most / least), lambda gain: f"{gain:g}")),
                lines=(
                    Line(kind="limit", places=((0.0, 0.0), (limits[1], limits[1] / least)),
                         name="as many times as fast as there are more cores"),
                ),
                marks=tuple(_mark(record, gain, key) for record, gain in pairs),
                key=(
                    Entry(text="measured", shape="circle", ink=0, is_abreast=True),
                    Entry(text="as many times as fast as there are more cores", line="limit",
                          is_abreast=True),
                ),
                height=_HEIGHT,
            ),
        ),
        table=_table(pairs, key),
        subjects=tuple(
            Subject(key=f"{key}/{record.key}", name=record.name, kind="program",
                    facts=tuple(_facts(gain)))
            for record, gain in pairs
        ),
        notes=("These records are compared by their time alone: whether they did the same work, "
               "the roofline's table says.",),
    )  # fmt: skip


def _mark(record: ShownRecord, gain: MeasuredScaling, key: str) -> Mark:
    up = gain.speed_up or Gain(ratio=1.0)
    ends = None if up.low is None or up.high is None else (up.low, up.high)
    return Mark(
        at=(float(gain.run.processors), up.ratio), ink=0, y_interval=ends, name=record.name,
        label=Label(text=record.name, is_optional=True),
        summary=f"{shown_cores(gain.run.processors)}: {_speed_up(gain)}, "
        f"{shown_within(gain.run.time_s, 's')}",
        subject=f"{key}/{record.key}",
    )  # fmt: skip


def _speed_up(gain: MeasuredScaling) -> str:
    return "what others are compared with" if gain.speed_up is None else shown_gain(gain.speed_up)


def _facts(gain: MeasuredScaling) -> Iterator[Fact]:
    time, over = gain.run.time_s, gain.over
    yield Fact(key="runtime", name="T, runtime", text=with_quartiles(time, "s"),
               samples=time.samples if time.n > 1 else None, samples_unit="s",
               source="docs/method.md")  # fmt: skip
    yield Fact(
        key="speed-up", name="speed-up", text=_speed_up(gain),
        how=f"The time on {shown_cores(over.processors)} over that on "
        f"{shown_cores(gain.run.processors)}, of medians; its 95 % interval by the samples.",
        source="docs/scaling.md",
    )  # fmt: skip


def _table(pairs: Sequence[tuple[ShownRecord, MeasuredScaling]], key: str) -> Table:
    return Table(
        name="scaling",
        columns=(
            Column(key="record", title="record"),
            Column(key="cores", title="cores", kind="number"),
            Column(key="runtime_s", title="T", unit="s", kind="number",
                   help="Runtime, the median."),
            Column(key="speed_up", title="speed-up", kind="number"),
            Column(key="efficiency", title="efficiency", kind="share",
                   help="Speed-up over the ratio of the cores."),
        ),
        rows=tuple(
            Row(
                cells=(
                    Cell(text=record.name),
                    Cell(text=str(gain.run.processors), value=gain.run.processors),
                    Cell(text=shown_within(gain.run.time_s, "s"), value=gain.run.time_s.median,
                         fact="runtime"),
                    Cell(text=_speed_up(gain), fact="speed-up",
                         value=None if gain.speed_up is None else gain.speed_up.ratio),
                    Cell(text="" if gain.efficiency is None else percent(gain.efficiency.ratio),
                         value=None if gain.efficiency is None else gain.efficiency.ratio),
                ),
                subject=f"{key}/{record.key}",
            )
            for record, gain in pairs
        ),
    )  # fmt: skip
