"""Programs that are compared, for the terminal: what differs, by how much, and where."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.presenting import amount, first_of
from ridgepoint.models.comparing.parts import OWN, Part, PartChange, PartChanges
from ridgepoint.models.comparing.programs import Program, ProgramComparison, shown_quantities
from ridgepoint.models.comparing.quantities import INSTRUCTIONS, NETWORK, RUNTIME, WORK
from ridgepoint.show.charts.program_marks import letter_of
from ridgepoint.show.compare_text import (
    amount_text,
    drift_note,
    headline,
    interval_cell,
    limit_of,
    limits_text,
    quantity_name,
    ratio_text,
    verdict_text,
)
from ridgepoint.show.symbols import shown_symbol
from ridgepoint.show.tables.layout import caution_list, plain_table, sections
from ridgepoint.show.words import one_line, percent, printable

THRESHOLD = 0.01
"""A part that differs by a smaller share of the program's is not listed."""

MOST_PARTS = 15
"""Rows of functions, and of regions."""
_MOST_ABREAST = 4
"""Of more programs the columns would be too narrow."""
_MAIN = (RUNTIME, WORK, INSTRUCTIONS, "dram", NETWORK)
PART_COLUMNS = (RUNTIME, INSTRUCTIONS, WORK, "dram")
_MOST_NAMED = 6


def pair(comparison: ProgramComparison, *, threshold: float = THRESHOLD) -> RenderableType:
    """Return how two programs differ.

    Parameters
    ----------
    comparison : ProgramComparison
    threshold : float
        Share of the program's amounts; parts that differ by less are counted in a line.
    """
    return sections(
        programs((comparison.before, comparison.after)),
        _said_first(comparison),
        Group(Text(headline(comparison), style="bold"), Text(limits_text(comparison))),
        Group(_amounts(comparison), *_note(comparison)),
        parts(comparison.regions, threshold=threshold),
        parts(comparison.functions, threshold=threshold),
        _cautions(comparison),
    )


def several(comparisons: Sequence[ProgramComparison]) -> RenderableType:
    """Return how several programs differ from the first.

    Parameters
    ----------
    comparisons : sequence of ProgramComparison
        At least one; all have the same program before.
    """
    before = comparisons[0].before
    others = [comparison.after for comparison in comparisons]
    return sections(
        programs((before, *others)),
        *(_said_first(comparison) for comparison in comparisons),
        _side_by_side(comparisons) if len(comparisons) <= _MOST_ABREAST else _rows_of(comparisons),
        Group(*(Text(headline(comparison)) for comparison in comparisons)),
        _cautions(*comparisons),
    )


def programs(of: Sequence[Program]) -> Table:
    """Return a row for each program: its letter, its title, its command, its limit."""
    table = plain_table("", "record", "command", "measured (UTC)", "limited by")
    for index, program in enumerate(of):
        measured = program.measured
        table.add_row(
            Text(letter_of(index), style="bold"),
            Text(printable(program.title)),
            Text(printable(one_line(shlex.join(measured.command))), overflow="fold"),
            Text(measured.context.started[:16].replace("T", " ")),
            Text(limit_of(program)),
        )
    return table


def _said_first(comparison: ProgramComparison) -> RenderableType | None:
    """Return that the work differs; None: it does not."""
    if comparison.is_same_work:
        return None
    first = comparison.differences[0]
    whose = f"{comparison.after.title}: "
    return Text(printable(f"{whose}{first.seen}; {first.remedy}"), style="bold")


def _note(comparison: ProgramComparison) -> list[Text]:
    note = drift_note(comparison)
    return [Text(note)] if note else []


def _amounts(comparison: ProgramComparison) -> Table:
    right = ("A", "B", "B over A", "95 % interval")
    table = plain_table("", *right, "", right=right)
    for quantity in shown_quantities([comparison]):
        change = comparison.changes[quantity]
        is_bold = change.is_change
        table.add_row(
            Text(quantity_name(quantity)),
            Text(amount_text(change.before, change.unit)),
            Text(amount_text(change.after, change.unit)),
            Text(ratio_text(change)),
            Text(interval_cell(change)),
            Text(verdict_text(change), style="bold" if is_bold else ""),
        )
    return table


def _side_by_side(comparisons: Sequence[ProgramComparison]) -> Table:
    letters = [letter_of(index) for index in range(len(comparisons) + 1)]
    table = plain_table("", *letters, right=letters)
    for quantity in shown_quantities(comparisons):
        changes = [comparison.changes[quantity] for comparison in comparisons]
        cells = [Text(amount_text(changes[0].before, changes[0].unit))]
        for change in changes:
            shown = f"{amount_text(change.after, change.unit)}\n{ratio_text(change)}"
            style = "bold" if change.is_change else ""
            cells.append(Text(shown, style=style, justify="right"))
        table.add_row(Text(quantity_name(quantity)), *cells)
    return table


def _rows_of(comparisons: Sequence[ProgramComparison]) -> RenderableType:
    """Return a row for each program, with the amounts that matter most."""
    known = [name for name in shown_quantities(comparisons) if name in _MAIN]
    table = plain_table("", *map(quantity_name, known), right=[*map(quantity_name, known)])
    firsts = [comparisons[0].changes[name] for name in known]
    table.add_row("A", *(Text(amount_text(first.before, first.unit)) for first in firsts))
    for number, comparison in enumerate(comparisons, start=1):
        changes = [comparison.changes[name] for name in known]
        table.add_row(
            letter_of(number),
            *(
                Text(
                    f"{amount_text(change.after, change.unit)}  {ratio_text(change):>7}",
                    style="bold" if change.is_change else "",
                )
                for change in changes
            ),
        )
    return Group(table, Text("--csv and --json have all amounts"))


def parts(changes: PartChanges, *, threshold: float) -> RenderableType | None:
    """Return the functions, or the regions, that differ, and those that only one program has."""
    rows = list(_part_rows(changes, threshold=threshold))
    lines = list(rest_lines(changes, threshold=threshold))
    if not rows and not lines:
        return None
    shown: list[RenderableType] = []
    if rows:
        columns = [column for column in PART_COLUMNS if any(column in cells for _, cells in rows)]
        heads = [
            {RUNTIME: "time", INSTRUCTIONS: "instr."}.get(c, quantity_name(c)) for c in columns
        ]
        table = plain_table(changes.kind, *heads, "of program", right=(*heads, "of program"))
        for (name, cells), change in zip(rows, changes.matched, strict=False):
            table.add_row(
                Text(name, overflow="ellipsis", no_wrap=True),
                *(Text(cells.get(column, "")) for column in columns),
                Text(percent(change.weight)),
            )
        shown.append(table)
    return Group(*shown, *map(Text, lines))


def _part_rows(changes: PartChanges, *, threshold: float) -> Iterator[tuple[str, dict[str, str]]]:
    for change in changes.matched[:MOST_PARTS]:
        if change.weight < threshold:
            return
        yield part_name(change.part), part_cells(change)


def part_cells(change: PartChange) -> dict[str, str]:
    """Return the ratios of a part's amounts that are known, by quantity."""
    return {
        quantity: ratio_text(amount)
        for quantity, amount in change.changes.items()
        if quantity in PART_COLUMNS and (amount.before is not None or amount.after is not None)
    }


def part_name(part: Part) -> str:
    """Return a region's name, or a function's with the file that holds its code."""
    if part.kind == "region":
        return printable(part.name)
    where = "" if part.object in (None, OWN) else f" in {printable(part.object or '')}"
    return f"{shown_symbol(part.name)}{where}"


def rest_lines(
    changes: PartChanges, *, threshold: float, sides: tuple[str, str] = ("A", "B")
) -> Iterator[str]:
    """Yield which parts are in one program only, or are not listed; `sides` names the programs."""
    kind, listed = changes.kind, [c for c in changes.matched if c.weight >= threshold]
    small = len(changes.matched) - len(listed)
    if len(listed) > MOST_PARTS:
        yield f"{amount(len(listed) - MOST_PARTS, kind)} more differ"
    if small:
        verb = "differs" if small == 1 else "differ"
        yield f"{amount(small, kind)} {verb} by less than {percent(threshold)} of the program"
    for program, side in zip(sides, (changes.only_before, changes.only_after), strict=True):
        if side:
            yield f"{kind}s only in {program}: {first_of(map(part_name, side), _MOST_NAMED)}"
    if changes.ambiguous:
        names = ", ".join(map(printable, changes.ambiguous[:_MOST_NAMED]))
        yield f"not matched, since a program has several of the name: {names}"


def _cautions(*comparisons: ProgramComparison) -> RenderableType | None:
    """Return what tells the measurements apart, but for other work, which is said first."""
    rest = [
        caution
        for comparison in comparisons
        for caution in comparison.differences[0 if comparison.is_same_work else 1 :]
    ]
    return caution_list(rest) if rest else None
