"""The page's views of a fleet: machines by their ceilings, and a program on each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.table import Column as DataColumn
from ridgepoint.core.table import Table as DataTable
from ridgepoint.models.fleet import Member
from ridgepoint.models.fleet.outliers import Model
from ridgepoint.models.fleet.programs import ProgramOnFleet
from ridgepoint.show.cells import shown_columns, shown_rows
from ridgepoint.show.charts.fleet import program_chart, relative_chart
from ridgepoint.show.data_tables.fleet import (
    Ranking,
    outliers_table,
    placements_table,
    ranks_table,
)
from ridgepoint.show.fleet_text import notes, outlier_lines, time_text
from ridgepoint.show.page.document import (
    Cell,
    Column,
    ColumnKind,
    Control,
    Fact,
    Option,
    Row,
    Subject,
    Table,
    View,
)
from ridgepoint.show.page.facts import needs
from ridgepoint.show.page.machine_facts import machine_facts
from ridgepoint.show.page.subjects import doubt
from ridgepoint.show.words import limit_text, printable, shown_name

_METHOD = "docs/fleet.md"
_UNRANKED = "Without a rank: a ceiling that the program needs, or a price, is not known there."


def fleet_views(
    members: Sequence[Member],
    ranking: Ranking,
    models: Sequence[Model],
    program: ProgramOnFleet | None,
) -> tuple[View, ...]:
    """Return the program on each machine first, then ceilings, then what is out of line."""
    views = [] if program is None else [_program_view(program)]
    views.append(_ceilings_view(members, ranking))
    if any(model.outliers is not None for model in models):
        views.append(
            View(
                key="outliers",
                kind="fleet",
                title="Out of line",
                table=page_table(
                    outliers_table(models), name="ceilings out of line", subject="machine"
                ),
                subjects=tuple(_machine(member) for member in members),
                notes=tuple(outlier_lines(models)),
            )
        )
    return tuple(views)


def _ceilings_view(members: Sequence[Member], ranking: Ranking) -> View:
    known = {resource: ranked for resource, ranked in ranking.items() if ranked}
    return View(
        key="ceilings",
        kind="fleet",
        title="Machines by ceilings",
        charts=(relative_chart(known, [member.name for member in members]),),
        controls=(
            Control(
                tag="resource",
                title="ceiling",
                options=tuple(Option(value=name, title=shown_name(name)) for name in known),
                initial=tuple(known)[:1],
                exclusive=True,
            ),
        ),
        table=page_table(
            ranks_table(known), name="machines and ceilings", subject="machine", tag="resource"
        ),
        subjects=tuple(_machine(member) for member in members),
        notes=(
            "A rank is 1 plus the number of machines whose 95 % interval lies wholly above; a "
            "single number counts as exact.",
        ),
    )


def _program_view(program: ProgramOnFleet) -> View:
    return View(
        key="program",
        kind="fleet",
        title="Where it would run best",
        charts=(replace(program_chart(program), notes=()),),
        table=page_table(placements_table(program), name="the program there", subject="machine"),
        subjects=tuple(
            _machine(
                one.member,
                Fact(
                    key="time_s",
                    name="least time",
                    text=time_text(one),
                    how=f"the longest of the times that its demand needs at each ceiling: "
                    f"{limit_text(one.placement) or 'none is known'}",
                    inputs=tuple(needs(one.placement)),
                    source=_METHOD,
                ),
                cautions=one.cautions,
            )
            for one in program.there
        ),
        notes=(*notes(program, in_table=False), _UNRANKED),
    )  # fmt: skip


def _machine(member: Member, *facts: Fact, cautions: Sequence[Caution] = ()) -> Subject:
    return Subject(
        key=member.name,
        name=printable(member.name),
        kind="machine",
        facts=(*facts, *machine_facts(member.machine)),
        cautions=tuple(doubt(caution, matters=True) for caution in cautions),
    )


def page_table(table: DataTable, *, name: str, subject: str = "", tag: str = "") -> Table:
    """Return a table of raw values as the page shows it, with an interval beside its value.

    Parameters
    ----------
    table : ridgepoint.core.table.Table
    name : str
        Heading.
    subject : str
        Key of the column that holds the key of each row's subject; empty: there is none.
    tag : str
        Key of the column whose value is the row's tag of that name; empty: there is none.
    """
    columns = shown_columns(table)
    return Table(
        name=name,
        columns=tuple(
            Column(
                key=column.key,
                title=column.title,
                unit=column.unit.replace("byte", "B"),
                kind=_kind(column),
                help=column.help,
            )
            for column in columns
        ),
        rows=tuple(
            Row(
                cells=tuple(
                    Cell(text=text, value=_value(row[column.key]))
                    for column, text in zip(columns, texts, strict=True)
                ),
                subject=str(row[subject]) if subject else "",
                tags={tag: str(row[tag])} if tag else {},
            )
            for row, texts in zip(table.records(), shown_rows(table), strict=True)
        ),
    )


def _kind(column: DataColumn) -> ColumnKind:
    if column.kind == "share":
        return "share"
    return "number" if column.kind in ("count", "number") else "text"


def _value(cell: object) -> float | str | None:
    if cell is None or isinstance(cell, bool):
        return None
    return cell if isinstance(cell, int | float | str) else None
