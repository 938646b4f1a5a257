"""Views of measured programs beside the roofline: runs, cache sizes, ranks and the Ridgeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.counts import Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Timing
from ridgepoint.core.ranks import Rank
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.distributed import nodes_on_ridgeline, why_no_ridgeline
from ridgepoint.models.work import WORK_UNITS, work_total
from ridgepoint.show.axes import linear_ticks
from ridgepoint.show.chart import Axis, Chart, Entry, Interval, Line, Mark, Ticks
from ridgepoint.show.charts.miss_curve import miss_curve_chart
from ridgepoint.show.charts.program_marks import letter_of
from ridgepoint.show.charts.ridgeline import ridgeline_page
from ridgepoint.show.page.document import (
    Cell,
    Column,
    Doubt,
    Fact,
    Row,
    Subject,
    Table,
    View,
)
from ridgepoint.show.page.line_views import line_views
from ridgepoint.show.page.pictures import picture_view
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.page.subjects import doubt
from ridgepoint.show.tables.rank_table import ridgeline_notes
from ridgepoint.show.words import (
    percent,
    printable,
    shown_amount,
    with_quartiles,
)

_HEIGHT, _MARGIN, _MOST_TICKS = 0.4, 0.08, 9


def program_views(record: ShownRecord, analysis: Analysis, *, is_alone: bool) -> Iterator[View]:
    """Yield the views of one program: its lines, traffic over cache size, and its ranks.

    Parameters
    ----------
    record : ShownRecord
    analysis : Analysis
    is_alone : bool
        Whether there is no other program, so that titles need not name it.
    """
    of = "" if is_alone else f": {record.name}"
    measurement, machine = analysis.measurement, analysis.machine
    if measurement.lines is not None and measurement.timed is not None:
        yield from line_views(record, measurement.lines, measurement.timed, analysis, of)
    if measurement.counted.miss_curve is not None and machine is not None:
        yield picture_view(
            miss_curve_chart(measurement, machine),
            key=f"miss-curve/{record.key}",
            kind="miss-curve",
            title=f"Traffic over cache size{of}",
            table=_cache_sizes(analysis),
        )
    if measurement.distributed is not None:
        yield _ranks(record, analysis, measurement.distributed.ranks, f"Ranks{of}")
        if machine is not None:
            yield from _ridgeline(record, analysis, machine, f"Ridgeline{of}")


def _cache_sizes(analysis: Analysis) -> Table:
    """Return the traffic of every size of a cache, and the working sets."""
    curve = analysis.measurement.counted.miss_curve
    assert curve is not None
    sets = {each.size_bytes: each.saves_bytes for each in analysis.working_sets or ()}
    amounts = zip(
        curve.capacities_bytes, curve.read_bytes, curve.write_bytes, curve.pending_bytes,
        strict=True,
    )  # fmt: skip
    return Table(
        name="cache sizes",
        columns=(
            Column(key="size_bytes", title="size of the cache", unit="B", kind="number"),
            Column(key="read_bytes", title="read", unit="B", kind="number"),
            Column(key="write_bytes", title="written back", unit="B", kind="number"),
            Column(key="pending_bytes", title="dirty at the end", unit="B", kind="number"),
            Column(key="saves_bytes", title="working set saves", unit="B", kind="number",
                   help="At this size a working set fits: the traffic that this saves."),
        ),
        rows=tuple(
            Row(
                cells=(
                    Cell(text=format_size(size), value=size),
                    *(Cell(text=format_si(part, "B"), value=part) for part in parts),
                    Cell(text=format_si(sets[size], "B") if size in sets else "",
                         value=sets.get(size)),
                )
            )
            for size, *parts in amounts
        ),
    )  # fmt: skip


def _ridgeline(
    record: ShownRecord, analysis: Analysis, machine: Machine, title: str
) -> Iterator[View]:
    """Yield the Ridgeline of a distributed program's nodes, or why there is none."""
    key = f"ridgeline/{record.key}"
    measurement, metric = analysis.measurement, analysis.metric
    reason = why_no_ridgeline(measurement, machine, metric=metric)
    if reason is not None:
        note = (
            f"There is no Ridgeline: {reason}. A machine with a network has one: mpirun -n P "
            "ridgepoint machine measures it."
        )
        yield View(key=key, kind="ridgeline", title=title, notes=(printable(note),))
        return
    ridgeline, nodes = nodes_on_ridgeline(measurement, machine, metric=metric)
    notes = ridgeline_notes(analysis)
    page = ridgeline_page(ridgeline, [nodes], notes=notes)
    yield picture_view(page, key=key, kind="ridgeline", title=title)


def _ranks(record: ShownRecord, analysis: Analysis, ranks: Sequence[Rank], title: str) -> View:
    """Return every rank of a distributed program."""
    unit, metric = WORK_UNITS[analysis.metric], analysis.metric
    columns = (
        Column(key="rank", title="rank", kind="number"),
        Column(key="host", title="node"),
        Column(key="runtime_s", title="T", unit="s", kind="number", help="Runtime, the median."),
        Column(key="in_mpi_s", title="in MPI", unit="s", kind="number",
               help="Time in calls of MPI, the median."),
        Column(key="mpi_share", title="in MPI", kind="share", help="Of its runtime."),
        Column(key=f"work_{unit.lower()}", title="W", unit=unit, kind="number",
               help="Work that was counted."),
        Column(key="dram_bytes", title="Q DRAM", unit="B", kind="number",
               help="Bytes moved at DRAM, in both directions."),
        Column(key="sent_bytes", title="sent", unit="B", kind="number",
               help="By point-to-point calls."),
        Column(key="calls", title="MPI calls", kind="number"),
    )  # fmt: skip
    rows, subjects = [], []
    for rank in ranks:
        key = f"{record.key}/rank/{rank.rank}"
        work = None if rank.counts is None else work_total(rank.counts, metric)
        share = _share(rank.in_mpi_s, rank.runtime_s)
        rows.append(
            Row(
                cells=(
                    Cell(text=str(rank.rank), value=rank.rank),
                    Cell(text=printable(rank.host)),
                    _seconds(rank.runtime_s, "runtime"),
                    _seconds(rank.in_mpi_s, "mpi"),
                    Cell(text=shown_amount(None) if share is None else percent(share),
                         value=share),
                    Cell(text=shown_amount(work, unit), value=work),
                    Cell(text=shown_amount(rank.memory_bytes, "B"), value=rank.memory_bytes),
                    Cell(text=shown_amount(rank.sent_bytes, "B"), value=rank.sent_bytes),
                    Cell(text=str(rank.call_count), value=rank.call_count),
                ),
                subject=key,
            )
        )  # fmt: skip
        subjects.append(
            Subject(
                key=key, name=f"rank {rank.rank} on {printable(rank.host)}", kind="rank",
                parent=record.key, facts=tuple(_rank_facts(rank)),
            )
        )  # fmt: skip
    return View(
        key=f"ranks/{record.key}",
        kind="ranks",
        title=title,
        charts=(_ranks_chart(record, ranks),) if _known(ranks) else (),
        table=Table(name="ranks", columns=columns, rows=tuple(rows)),
        subjects=tuple(subjects),
    )


def _known(ranks: Sequence[Rank]) -> list[Rank]:
    return [rank for rank in ranks if rank.runtime_s is not None]


def _ranks_chart(record: ShownRecord, ranks: Sequence[Rank]) -> Chart:
    """Return the runtime of every rank, and its part in MPI."""
    known = _known(ranks)
    times = [rank.runtime_s.median for rank in known if rank.runtime_s is not None]
    inside = [(rank.rank, rank.in_mpi_s) for rank in known if rank.in_mpi_s is not None]
    x_limits = (-0.5, len(ranks) - 0.5)
    marks = [
        _run_mark(rank.rank, rank.runtime_s, 0, f"rank {rank.rank}",
                  f"{record.key}/rank/{rank.rank}")
        for rank in known
        if rank.runtime_s is not None
    ]  # fmt: skip
    marks += [
        _run_mark(number, time, 1, f"rank {number} in MPI", f"{record.key}/rank/{number}")
        for number, time in inside
    ]
    return Chart(
        title=f"Time of each rank: {record.name}",
        subtitle="",
        x=Axis(label="Rank", limits=x_limits, scale="linear", ticks=_numbers(len(ranks))),
        y=_times_axis([0.0, *times]),
        marks=tuple(marks),
        key=(
            Entry(text="runtime", shape="circle", ink=0, is_abreast=True),
            *([Entry(text="inside MPI", shape="circle", ink=1, is_abreast=True)] if inside else []),
        ),
        height=_HEIGHT,
    )  # fmt: skip


def _numbers(count: int, first: int = 0) -> Ticks:
    """Return ticks at whole numbers, nine at most."""
    step = -(-count // _MOST_TICKS)
    return tuple((float(number), str(number)) for number in range(first, first + count, step))


def _run_mark(x: float, time: Estimate, ink: int, name: str, subject: str = "") -> Mark:
    ends = None if time.low is None or time.high is None else (time.low, time.high)
    return Mark(
        at=(x, time.median), ink=ink, name=name, summary=with_quartiles(time, "s"),
        y_interval=ends, subject=subject,
    )  # fmt: skip


def _rank_facts(rank: Rank) -> Iterator[Fact]:
    for key, name, time in (
        ("runtime", "T, runtime", rank.runtime_s),
        ("mpi", "time in MPI", rank.in_mpi_s),
        ("cpu", "CPU time", rank.cpu_s),
    ):
        if time is None:
            yield Fact(key=key, name=name, text=shown_amount(None))
        else:
            yield Fact(
                key=key, name=name, text=with_quartiles(time, "s"),
                how="From the end of MPI_Init to the beginning of MPI_Finalize, in every run.",
                samples=time.samples if time.n > 1 else None, samples_unit="s",
                source="docs/distributed_programs.md",
            )  # fmt: skip
    for part in rank.traffic:
        yield _rank_bytes(part)


def _rank_bytes(part: Traffic) -> Fact:
    return Fact(
        key=f"bytes-{part.level}",
        name=f"Q, bytes at {part.level.upper()}",
        text=shown_amount(part.total_bytes, "B"),
    )


def _seconds(time: Estimate | None, fact: str) -> Cell:
    return Cell(
        text=shown_amount(time, "s"), value=None if time is None else time.median, fact=fact
    )


def _share(part: Estimate | None, whole: Estimate | None) -> float | None:
    if part is None or whole is None or not whole.median:
        return None
    return part.median / whole.median


def runs_view(records: Sequence[tuple[ShownRecord, Estimate]]) -> View:
    """Return every native run of programs, in the order in which they ran.

    Parameters
    ----------
    records : sequence of (ShownRecord, Estimate)
        With their runtimes; at least one.
    """
    most = max(time.n for _, time in records)
    x_limits = (0.5, most + 0.5)
    samples = [sample for _, time in records for sample in time.samples]
    lines, marks, key = [], [], []
    several = len(records) > 1
    for ink, (record, time) in enumerate(records):
        subject = f"{record.key}/runs"
        lines.append(_median_line(time, ink, x_limits, record.name))
        marks += [
            Mark(
                at=(number, sample), ink=ink, name=f"{record.name}, run {number}",
                summary=format_si(sample, "s"), subject=subject,
            )
            for number, sample in enumerate(time.samples, start=1)
        ]  # fmt: skip
        key.append(Entry(text=f"{record.name}: {with_quartiles(time, 's')}", ink=ink,
                         shape="circle", line="curve", has_band=time.low is not None,
                         lead=letter_of(ink) if several else "", subject=subject))  # fmt: skip
    return View(
        key="runs",
        kind="samples",
        title="Runs",
        charts=(
            Chart(
                title="Runtime of every run",
                subtitle="lines: medians; bands: 95 % intervals of the medians",
                x=Axis(label="Run, in the order taken", limits=x_limits, scale="linear",
                       ticks=_numbers(most, 1)),
                y=_times_axis(samples),
                lines=tuple(lines),
                marks=tuple(marks),
                key=tuple(key),
                height=_HEIGHT,
            ),
        ),
        table=_runs_table(records),
        subjects=tuple(
            Subject(key=f"{record.key}/runs", name=record.name, kind="program",
                    facts=tuple(_run_facts(time)), cautions=_of_timing(record))
            for record, time in records
        ),
    )  # fmt: skip


def _of_timing(record: ShownRecord) -> tuple[Doubt, ...]:
    """Return why a program was not counted, and all doubts about its times."""
    if not isinstance(record.value, Timing):
        return ()
    return tuple(doubt(caution, matters=True) for caution in record.value.all_cautions)


def _run_facts(time: Estimate) -> Iterator[Fact]:
    yield Fact(
        key="runtime", name="T, runtime", text=with_quartiles(time, "s"),
        how="The median of the runs. Of six or more it has a 95 % interval, by order statistics, "
        "which assume nothing about their distribution.",
        samples=time.samples if time.n > 1 else None, samples_unit="s", source="docs/method.md",
    )  # fmt: skip


def _runs_table(records: Sequence[tuple[ShownRecord, Estimate]]) -> Table:
    return Table(
        name="runs",
        columns=(
            Column(key="record", title="record"),
            Column(key="run", title="run", kind="number"),
            Column(
                key="runtime_s", title="T", unit="s", kind="number", help="Runtime of this run."
            ),
        ),
        rows=tuple(
            Row(
                cells=(
                    Cell(text=record.name),
                    Cell(text=str(number), value=number),
                    Cell(text=format_si(sample, "s"), value=sample, fact="runtime"),
                ),
                subject=f"{record.key}/runs",
            )
            for record, time in records
            for number, sample in enumerate(time.samples, start=1)
        ),
    )


def _median_line(time: Estimate, ink: int, across: Interval, name: str) -> Line:
    ends = () if time.low is None or time.high is None else (time.low, time.high)
    return Line(
        kind="curve",
        places=tuple((x, time.median) for x in across),
        ink=ink,
        low=(ends[0],) * 2 if ends else (),
        high=(ends[1],) * 2 if ends else (),
        name=f"{name}: median {format_si(time.median, 's')}",
    )


def _times_axis(seconds: Sequence[float]) -> Axis:
    """Return a linear axis that holds times."""
    low, high = min(seconds), max(seconds)
    margin = _MARGIN * (high - low) or _MARGIN * (high or 1.0)
    limits = (max(low - margin, 0.0), high + margin)
    ticks = linear_ticks(limits, lambda time: format_si(time, "s").strip(), most=5)
    return Axis(label="Time", limits=limits, scale="linear", ticks=ticks)
