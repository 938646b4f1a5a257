"""Amounts of a program over its measurements as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ridgepoint.core.columns import count, number, rate, text
from ridgepoint.core.table import Table
from ridgepoint.models.comparing.history import History

_HISTORY = (
    text("record", "Number of the record, or its title."),
    text("measured", "When it was measured, ISO 8601, UTC."),
    text("host", "Where it was measured."),
    text("quantity", "What was measured: runtime, work, dram read, ..."),
    text("unit", "Base unit: s, flop, BOP or B; empty: a number of instructions."),
    *rate("value", "Median.").ends(),
    *number("ratio", "Value over that of the level before.").ends(),
    text("verdict", "equal, same, more, less, no difference seen or unknown."),
    text("event", "change, once or last; empty: none."),
    count("level", "Number of the level, from 0."),
)


def history_tables(histories: Sequence[History], labels: Sequence[str]) -> tuple[Table, ...]:
    """Return a row for each amount of each measurement."""
    return (Table.of("history", _HISTORY, _rows(histories, labels)),)


def _rows(histories: Sequence[History], labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    for history in histories:
        for label, moment in zip(labels, history.moments, strict=True):
            context, change = moment.program.measured.context, moment.change
            row: dict[str, Any] = {
                "record": label,
                "measured": context.started,
                "host": context.hostname,
                "quantity": history.quantity,
                "unit": history.unit,
                "value": moment.value,
                "event": moment.event,
                "level": moment.level,
            }
            if change is not None:
                row |= {
                    "ratio": change.ratio,
                    "ratio_low": change.low,
                    "ratio_high": change.high,
                    "verdict": change.verdict,
                }
            yield row


COLUMNS = {"history": _HISTORY}
"""Of each table, by its name."""
