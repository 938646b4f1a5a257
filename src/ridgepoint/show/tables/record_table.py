"""What was kept, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from ridgepoint.core.presenting import amount
from ridgepoint.core.units import format_si
from ridgepoint.models.work import used_precisions
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import one_line, percent, printable, shown_limit

if TYPE_CHECKING:
    from ridgepoint.kept.archive import Record
    from ridgepoint.kept.merging import Merged
    from ridgepoint.models.summary import Summary


def records(records: Sequence[Record]) -> RenderableType:
    """Return what was kept, one row each.

    Parameters
    ----------
    records : sequence of Record

    Returns
    -------
    RenderableType
        Of a measurement its machine, its runtime, and what bounds it; below its command, what
        was asked for and the user's note.
    """
    right = ("id", "on", "T")
    table = plain_table("id", "kind", "kept (UTC)", "on", "T", "verdict", "what", right=right)
    for record in records:
        table.add_row(
            str(record.id),
            record.kind,
            record.created[:16].replace("T", " "),
            "" if record.machine_id is None else str(record.machine_id),
            _runtime(record.summary),
            verdict_in_short(record.summary),
            _what(record),
        )
    return table


def record_title(record: Record) -> str:
    """Return a record in one line: its number, what it is, its name."""
    label = "" if record.label is None else f", {record.label!r}"
    return printable(f"{record.kind} {record.id}{label}: {one_line(record.name)}")


def merged_lines(merged: Sequence[Merged]) -> Iterator[str]:
    """Yield what became of records of elsewhere, one line each, and how many are new."""
    for one in merged:
        what = f"{one.kind} {one.id}"
        label = "" if one.label is None else f", {one.label!r}"
        kept = "kept as" if one.is_new else "already kept as"
        line = f"{kept} {what}{label}: {one_line(one.name)}, of {one.origin}"
        if one.is_renamed:
            line += f" (another record is called {one.own_label!r})"
        yield printable(line)
    new = sum(one.is_new for one in merged)
    already = "" if new == len(merged) else f", {len(merged) - new} already kept"
    yield f"{amount(new, 'new record')}{already}"


def verdict_in_short(summary: Summary | None) -> str:
    """Return what bounds a measurement and how near it is, in a few words.

    Nothing where it is not known, or of what is no measurement.
    """
    if summary is None or summary.binding is None:
        return ""
    limit = shown_limit(summary.binding, used_precisions(summary.work_by_resource))
    if summary.efficiency is None:
        return f"{limit}, not timed"
    return f"{limit} {percent(summary.efficiency)}"


def _runtime(summary: Summary | None) -> str:
    if summary is None or summary.runtime_s is None:
        return ""
    return format_si(summary.runtime_s, "s", digits=3)


def _what(record: Record) -> Text:
    """Return the name and the command, what was asked for, and the note, each on its lines."""
    text = Text()
    for number, (line, style) in enumerate(_lines(record)):
        text.append(f"{chr(10) if number else ''}{printable(line)}", style=style)
    return text


def _lines(record: Record) -> Iterator[tuple[str, str]]:
    if record.label is not None:
        yield record.label, "bold"
    yield one_line(record.name), ""
    if record.summary is not None and record.summary.options:
        yield one_line(" ".join(record.summary.options)), ""
    elif record.summary is not None and record.summary.selected is not None:
        yield f"only {record.summary.selected}", ""
    if record.note is not None:
        yield one_line(record.note), "italic"
