"""A program over many measurements, for the terminal: a row for each, and what changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.models.comparing.history import History, Moment
from ridgepoint.show.compare_text import (
    amount_text,
    event_text,
    limit_of,
    quantity_name,
    ratio_text,
)
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.show.words import one_line, printable, shown_within


def history_table(histories: Sequence[History], labels: Sequence[str]) -> RenderableType:
    """Return a row for each measurement with its amounts, and below what changed.

    Parameters
    ----------
    histories : sequence of History
        One for each amount, all of the same measurements.
    labels : sequence of str
        Number or title of each measurement.
    """
    names = [quantity_name(history.quantity) for history in histories]
    heads = [head for name in names for head in (name, "ratio")]
    table = plain_table("record", "measured (UTC)", "host", *heads, "limited by", right=heads)
    for index, label in enumerate(labels):
        program = histories[0].moments[index].program
        cells: list[Text] = []
        for history in histories:
            moment = history.moments[index]
            style = "bold" if moment.event else ""
            cells += [Text(_amount(history, moment)), Text(_ratio(moment), style=style)]
        context = program.measured.context
        table.add_row(
            Text(printable(label)),
            Text(context.started[:16].replace("T", " ")),
            Text(printable(one_line(context.hostname))),
            *cells,
            Text(limit_of(program)),
        )
    return sections(table, _events(histories, labels))


def _amount(history: History, moment: Moment) -> str:
    value = moment.value
    if value is not None and value.n > 1:
        return shown_within(value, history.unit, digits=4)
    return amount_text(value, history.unit)


def _ratio(moment: Moment) -> str:
    return "" if moment.change is None else ratio_text(moment.change)


def _events(histories: Sequence[History], labels: Sequence[str]) -> RenderableType:
    lines = [
        Text(printable(f"{label}: {event_text(history.quantity, moment)}"))
        for history in histories
        for label, moment in zip(labels, history.moments, strict=True)
        if moment.event
    ]
    if lines:
        return Group(*lines)
    names = " and ".join(quantity_name(history.quantity) for history in histories)
    return Text(f"no change of {names} told apart from noise and tolerance")
