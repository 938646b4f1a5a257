"""The page's views of a comparison and of a history: a chart, and every amount as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.measurement import Timing
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.history import History
from ridgepoint.models.comparing.programs import (
    Program,
    ProgramComparison,
    Tolerances,
    shown_quantities,
)
from ridgepoint.models.comparing.quantities import QUANTITIES, TIMES
from ridgepoint.show.chart import Chart
from ridgepoint.show.charts.compare import comparison_chart
from ridgepoint.show.charts.history import history_chart
from ridgepoint.show.compare_text import (
    amount_text,
    event_text,
    headline,
    interval_cell,
    interval_text,
    limits_text,
    quantity_name,
    ratio_text,
    verdict_text,
)
from ridgepoint.show.page.build import page_of
from ridgepoint.show.page.document import (
    Cell,
    Column,
    Fact,
    Input,
    PageDocument,
    Row,
    Subject,
    Table,
    View,
)
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.page.subjects import doubt
from ridgepoint.show.tables.compare_table import part_name
from ridgepoint.show.words import percent, printable

_METHOD = "docs/comparing.md"
_CHANGES = (
    Column(key="name", title="name", help="The program, a region or a function."),
    Column(key="kind", title="kind"),
    Column(key="quantity", title="quantity"),
    Column(key="before", title="before", kind="number", help="In the base unit of the quantity."),
    Column(key="after", title="after", kind="number", help="In the base unit of the quantity."),
    Column(key="change", title="change", kind="change", help="After over before, less 1."),
    Column(key="interval", title="95 % interval of the ratio"),
    Column(key="verdict", title="verdict"),
    Column(key="weight", title="of program", kind="share",
           help="The difference as a share of the program's amount."),
)  # fmt: skip
_HISTORY = (
    Column(key="record", title="record"),
    Column(key="measured", title="measured (UTC)"),
    Column(key="host", title="host"),
    Column(key="value", title="value", kind="number"),
    Column(key="change", title="change", kind="change", help="From the level before, less 1."),
    Column(key="event", title="what happened"),
)


def compare_page(comparisons: Sequence[ProgramComparison]) -> PageDocument:
    """Return the page of programs that are compared with the first: each, and what changed.

    Parameters
    ----------
    comparisons : sequence of ProgramComparison
        At least one; all have the same program before.
    """
    programs = (comparisons[0].before, *(comparison.after for comparison in comparisons))
    views = [_view(comparison, number) for number, comparison in enumerate(comparisons)]
    return page_of(_records(programs), title=views[0].title, views=views)


def history_page(
    histories: Sequence[History], labels: Sequence[str], *, title: str
) -> PageDocument:
    """Return the page of amounts of a program over its measurements.

    Parameters
    ----------
    histories : sequence of History
        At least one, all of the same measurements.
    labels : sequence of str
        Number or title of each measurement.
    title : str
        The program's name.
    """
    views = [_over_time(history, labels, title, n) for n, history in enumerate(histories)]
    return page_of([], title=views[0].title, views=views)


def _records(programs: Sequence[Program]) -> list[ShownRecord]:
    """Return each program once as a record of the page; one may be compared with itself."""
    records: dict[str, ShownRecord] = {}
    for program in programs:
        measured = program.measured
        value = measured if isinstance(measured, Timing) else program.analysis
        assert value is not None  # what was counted has an analysis
        records[program.title] = ShownRecord(key=program.title, value=value, label=program.title)
    return list(records.values())


def _view(comparison: ProgramComparison, number: int) -> View:
    key = f"compare-{number}"
    rows: list[Row] = []
    subjects: list[Subject] = []
    for subject, changes, quantities, weight in _subjects(comparison, key):
        subjects.append(subject)
        rows += [_row(subject, changes[quantity], weight) for quantity in quantities]
    try:
        charts: tuple[Chart, ...] = (comparison_chart([comparison], keys=[key]),)
    except RidgepointError:  # nothing bounds one of them: the table says all that is known
        charts = ()
    before, after = (printable(program.title) for program in (comparison.before, comparison.after))
    return View(
        key=key,
        kind="compare",
        title=f"{after} compared with {before}",
        charts=charts,
        table=Table(name="changes", columns=_CHANGES, rows=tuple(rows)),
        subjects=tuple(subjects),
        notes=tuple(_notes(comparison)),
    )


def _notes(comparison: ProgramComparison) -> Iterator[str]:
    if not comparison.is_same_work:
        first = comparison.differences[0]
        yield printable(f"{first.seen}; {first.remedy}")
    yield headline(comparison)
    yield limits_text(comparison)
    for parts in (comparison.regions, comparison.functions):
        for when, side in (("before", parts.only_before), ("after", parts.only_after)):
            if side:
                yield f"{parts.kind}s only {when}: {', '.join(map(part_name, side))}"


_Told = tuple[Subject, Mapping[str, Change], Sequence[str], float | None]
"""A subject, its changes, those that have a row, and how much of the program they are."""


def _subjects(comparison: ProgramComparison, key: str) -> Iterator[_Told]:
    cautions = tuple(doubt(caution, matters=True) for caution in comparison.differences)
    quantities = shown_quantities([comparison])
    whole = Subject(
        key=f"{key}/program",
        name="the program",
        kind="program",
        facts=_facts(comparison, comparison.changes, quantities),
        cautions=cautions,
    )
    yield whole, comparison.changes, quantities, None
    for parts in (comparison.regions, comparison.functions):
        for number, part in enumerate(parts.matched):
            known = [name for name in quantities if part.changes[name].is_known]
            subject = Subject(
                key=f"{key}/{parts.kind}/{number}",
                name=part_name(part.part),
                kind=parts.kind,
                parent=f"{key}/program",
                facts=_facts(comparison, part.changes, known),
            )
            differing = [name for name in known if part.changes[name].is_change]
            yield subject, part.changes, differing, part.weight


def _facts(
    comparison: ProgramComparison, changes: Mapping[str, Change], quantities: Sequence[str]
) -> tuple[Fact, ...]:
    return tuple(_fact(changes[quantity], comparison.tolerances) for quantity in quantities)


def _fact(change: Change, tolerances: Tolerances) -> Fact:
    interval = interval_text(change)
    is_time = change.quantity in TIMES
    tolerance = percent(tolerances.time if is_time else tolerances.count)
    how = "After over before."
    if is_time:
        how += (
            f" It differs if the {change.interval_name} of the ratio of the medians does not "
            f"include 1 and the ratio differs from 1 by more than {tolerance}."
        )
    else:
        how += f" Counts differ if their ratio differs from 1 by more than {tolerance}."
    samples = None if change.after is None or change.after.n < 2 else change.after.samples
    return Fact(
        key=change.quantity,
        name=quantity_name(change.quantity),
        text=f"{ratio_text(change)}{f' ({interval})' if interval else ''}, {verdict_text(change)}",
        how=how,
        inputs=(
            Input(name="before", text=amount_text(change.before, change.unit)),
            Input(name="after", text=amount_text(change.after, change.unit)),
        ),
        samples=samples,
        samples_unit=change.unit if samples else "",
        source=_METHOD,
    )


def _row(subject: Subject, change: Change, weight: float | None) -> Row:
    return Row(
        subject=subject.key,
        cells=(
            Cell(text=subject.name),
            Cell(text=subject.kind),
            Cell(text=quantity_name(change.quantity), value=QUANTITIES.index(change.quantity)),
            Cell(
                text=amount_text(change.before, change.unit),
                value=None if change.before is None else change.before.median,
            ),
            Cell(
                text=amount_text(change.after, change.unit),
                value=None if change.after is None else change.after.median,
            ),
            Cell(
                text=ratio_text(change),
                value=None if change.ratio is None else change.ratio - 1,
                fact=change.quantity,
            ),
            Cell(text=interval_cell(change)),
            Cell(text=verdict_text(change)),
            Cell(text="" if weight is None else percent(weight), value=weight),
        ),
    )


def _over_time(history: History, labels: Sequence[str], title: str, number: int) -> View:
    chart = history_chart(history, labels, title=title)
    return View(
        key=f"history-{number}",
        kind="history",
        title=chart.title,
        charts=(chart,),
        table=Table(name="history", columns=_HISTORY, rows=tuple(_moments(history, labels))),
    )


def _moments(history: History, labels: Sequence[str]) -> Iterator[Row]:
    for label, moment in zip(labels, history.moments, strict=True):
        context, change = moment.program.measured.context, moment.change
        yield Row(
            cells=(
                Cell(text=printable(label)),
                Cell(text=context.started[:16].replace("T", " "), value=context.started),
                Cell(text=printable(context.hostname)),
                Cell(
                    text=amount_text(moment.value, history.unit),
                    value=None if moment.value is None else moment.value.median,
                ),
                Cell(
                    text="" if change is None else ratio_text(change),
                    value=None if change is None or change.ratio is None else change.ratio - 1,
                ),
                Cell(text=event_text(history.quantity, moment) if moment.event else ""),
            ),
        )
