"""The page's view of a Python program's lines: its source, with what was measured beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ridgepoint.core.counts import traffic_at
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.lines import PythonLine, PythonLines
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.work import WORK_UNITS, Metric, work_total
from ridgepoint.show.annotated import AnnotatedLine, annotated
from ridgepoint.show.page.document import Cell, Column, Fact, Row, Subject, Table, View
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.symbols import file_names
from ridgepoint.show.tables.python_line_table import said_of_counts, said_of_samples
from ridgepoint.show.words import limit_text, percent, printable, shown_amount, shown_name
from ridgepoint.show.work import shown_work

_METHOD = "docs/lines.md"
_MOST_LINES = 1000
_NO_BREAK = "\N{NO-BREAK SPACE}"


def line_views(
    record: ShownRecord, lines: PythonLines, timed: Timed, analysis: Analysis | None, of: str
) -> Iterator[View]:
    """Yield the lines of a Python program in the order of its files.

    Parameters
    ----------
    record : ShownRecord
        Its sources are shown around the lines, as far as they are known.
    lines : PythonLines
    timed : Timed
        The program's unsampled runs.
    analysis : Analysis or None
        None: it was not counted.
    of : str
        What titles say behind their subject: of which program.
    """
    cpu_s = timed.cpu_s.median or sum(line.cpu_s.median for line in lines.lines)
    if not lines.lines or not cpu_s:
        return
    metric: Metric = "flop"  # all that is known of lines
    shown = lines.lines[:_MOST_LINES]
    placed = {} if analysis is None else {line.name: part for line, part in analysis.lines}
    names = file_names([line.file for line in shown])
    rows = [
        _row(names[file], line, cpu_s, metric, placed)
        for file, passages in annotated(shown, record.sources)
        for passage in passages
        for line in passage
    ]
    notes = [said_of_samples(lines)]
    if lines.tracing is not None:
        notes.append(said_of_counts(lines.tracing))
    yield View(
        key=f"lines/{record.key}",
        kind="lines",
        title=f"Lines of Python{of}",
        table=_table(tuple(_columns(metric)), rows),
        subjects=tuple(_subject(line, names[line.file], cpu_s, metric) for line in shown),
        notes=tuple(f"{note[:1].upper()}{note[1:]}." for note in notes),
    )


def _table(columns: tuple[Column, ...], rows: list[Row]) -> Table:
    """Return the source without columns of which no line says anything."""
    told = [n for n in range(len(columns)) if any(row.cells[n].text for row in rows)]
    return Table(
        name="annotated source",
        columns=tuple(columns[n] for n in told),
        rows=tuple(replace(row, cells=tuple(row.cells[n] for n in told)) for row in rows),
    )


def _columns(metric: Metric) -> Iterator[Column]:
    unit = WORK_UNITS[metric]
    yield Column(key="line", title="line")
    yield Column(key="source", title="source")
    yield Column(
        key="share",
        title="CPU time",
        kind="share",
        help="Share of the program's CPU time in the line and below it.",
    )
    yield Column(
        key="interpreter",
        title="Python",
        kind="share",
        help="Part of the line's time in the interpreter itself.",
    )
    yield Column(
        key="native",
        title="native",
        kind="share",
        help="Part of the line's time in extension modules and libraries.",
    )
    yield Column(
        key="system", title="kernel", kind="share", help="Part of the line's time in system calls."
    )
    yield Column(
        key="others",
        title="other threads",
        kind="share",
        help="Part of the line's time in threads without Python frames.",
    )
    yield Column(key="begun", title="begun", kind="number", help="How often the line began.")
    yield Column(
        key=f"work_{unit.lower()}",
        title="W",
        unit=unit,
        kind="number",
        help="Work that was counted below the line.",
    )
    yield Column(
        key="dram_bytes",
        title="Q DRAM",
        unit="B",
        kind="number",
        help="Bytes moved at DRAM, in both directions.",
    )
    yield Column(
        key="limiter", title="limiter", help="What bounds it, and how near it comes to that roof."
    )


def _row(
    file: str, line: AnnotatedLine, cpu_s: float, metric: Metric, placed: dict[str, Analysis]
) -> Row:
    """Return a line of a file; what is not known of it, or 0, is left out."""
    measured = line.measured
    place = Cell(text=f"{file}:{line.number}", value=f"{file}:{line.number:09}")
    source = Cell(text=_indented(line.text), value=line.text.strip())
    if measured is None:
        return Row(cells=(place, source, *[Cell(text="")] * 9))
    time_s = measured.cpu_s.median
    parts = (
        measured.interpreter_s, measured.native_s, measured.system_s, measured.other_threads_s
    )  # fmt: skip
    return Row(
        cells=(
            place,
            source,
            Cell(text=percent(time_s / cpu_s), value=time_s / cpu_s, fact="cpu"),
            *(
                Cell(text=percent(part / time_s), value=part / time_s) if part else Cell(text="")
                for part in parts
            ),
            *_counted(measured, metric, placed.get(measured.name)),
        ),
        subject=measured.name,
    )


def _indented(text: str) -> str:
    """Return a line whose indentation a browser keeps."""
    shown = printable(text)
    indentation = len(shown) - len(shown.lstrip(" "))
    return _NO_BREAK * indentation + shown[indentation:]


def _counted(line: PythonLine, metric: Metric, part: Analysis | None) -> tuple[Cell, ...]:
    """Return how often a line began, its work, its traffic, and what limits it."""
    begun, dram = line.executions, traffic_at(line.traffic, "dram")
    work = None if line.counts is None else work_total(line.counts, metric)
    moved = None if dram is None else dram.known_bytes
    limit = None
    if part is not None and part.placement is not None and part.placement.bound is not None:
        reached = part.placement.efficiency
        limit = limit_text(part.placement) + ("" if reached is None else f", {percent(reached)}")
    return (
        Cell(text="" if begun is None else f"{begun:,}", value=begun),
        Cell(text="" if not work or line.counts is None else shown_work(line.counts, metric),
             value=work, fact="work" if work else ""),
        Cell(text="" if moved is None else format_si(moved, "B"), value=moved,
             fact="" if moved is None else "dram"),
        Cell(text=limit or ""),
    )  # fmt: skip


def _subject(line: PythonLine, file: str, cpu_s: float, metric: Metric) -> Subject:
    return Subject(
        key=line.name,
        name=f"{file}:{line.line}" + ("" if line.text is None else f"  {printable(line.text)}"),
        kind="line",
        share=line.cpu_s.median / cpu_s,
        facts=tuple(_facts(line, metric)),
    )


def _facts(line: PythonLine, metric: Metric) -> Iterator[Fact]:
    yield Fact(
        key="cpu", name="CPU time", text=_with_interval(line.cpu_s), source=_METHOD,
        how=f"{line.samples} samples of the threads that were in the line.",
    )  # fmt: skip
    for key, name, part_s in (
        ("interpreter", "in the interpreter", line.interpreter_s),
        ("native", "in native code", line.native_s),
        ("system", "in system calls", line.system_s),
        ("others", "in other threads", line.other_threads_s),
    ):
        if part_s:
            yield Fact(key=key, name=name, text=format_si(part_s, "s"), source=_METHOD)
    if line.counts is not None:
        yield Fact(
            key="work", name="W, work", text=shown_work(line.counts, metric), source=_METHOD,
            how="Executed below the line, in the run in which lines were counted.",
        )  # fmt: skip
    for moved in line.traffic:
        yield Fact(
            key=moved.level, name=f"Q, {shown_name(moved.level)}",
            text=format_si(moved.known_bytes, "B"), source=_METHOD,
            how="In simulated caches, in the run in which lines were counted.",
        )  # fmt: skip


def _with_interval(time: Estimate) -> str:
    if time.low is None or time.high is None:
        return shown_amount(time, "s")
    return (
        f"{format_si(time.median, 's')} (95 %: {format_si(time.low, 's')} to "
        f"{format_si(time.high, 's')})"
    )
