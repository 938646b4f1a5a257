"""Programs that are compared as tables: every amount, of the whole and of functions and regions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ridgepoint.core.columns import flag, number, rate, share, text
from ridgepoint.core.table import Column, Table
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.parts import PartChanges
from ridgepoint.models.comparing.programs import ProgramComparison

_CHANGE: tuple[Column, ...] = (
    text("baseline", "Record that is compared with."),
    text("record", "Record that is compared."),
    text("quantity", "What is compared: runtime, work, dram read, ..."),
    text("unit", "Base unit: s, flop, BOP or B; empty: a number of instructions."),
    *rate("before", "Median before.").ends(),
    *rate("after", "Median after.").ends(),
    *number("ratio", "After over before.").ends(),
    flag("has_drift", "Whether the ends are those of a range with drift, not of a 95 % interval."),
    text("verdict", "equal, same, more, less, no difference seen or unknown."),
    text("why", "Why it is unknown, or why a difference is not counted as one."),
)
_PART: tuple[Column, ...] = (
    text("kind", "function or region."),
    text("name", "Name of the function or region."),
    text("object", "File that holds the code of a function."),
    share("of_program", "Largest difference of the part, as a share of the program's amount."),
)


def comparison_tables(comparisons: Sequence[ProgramComparison]) -> tuple[Table, ...]:
    """Return the changes of programs, and of their functions and regions."""
    return (
        Table.of("changes", COLUMNS["changes"], _changes(comparisons)),
        Table.of("parts", COLUMNS["parts"], _parts(comparisons)),
    )


def _changes(comparisons: Iterable[ProgramComparison]) -> Iterator[dict[str, Any]]:
    for comparison in comparisons:
        for change in comparison.changes.values():
            if change.before is not None or change.after is not None:
                yield {**_titles(comparison), **_cells(change)}


def _parts(comparisons: Iterable[ProgramComparison]) -> Iterator[dict[str, Any]]:
    for comparison in comparisons:
        for parts in (comparison.regions, comparison.functions):
            yield from ({**_titles(comparison), **row} for row in _rows(parts))


def _rows(parts: PartChanges) -> Iterator[dict[str, Any]]:
    for matched in parts.matched:
        for change in matched.changes.values():
            if change.before is not None or change.after is not None:
                yield {
                    "kind": parts.kind,
                    "name": matched.part.name,
                    "object": matched.part.object,
                    "of_program": matched.weight,
                    **_cells(change),
                }


def _titles(comparison: ProgramComparison) -> dict[str, Any]:
    return {"baseline": comparison.before.title, "record": comparison.after.title}


def _cells(change: Change) -> dict[str, Any]:
    return {
        "quantity": change.quantity,
        "unit": change.unit,
        "before": change.before,
        "after": change.after,
        "ratio": change.ratio,
        "ratio_low": change.low,
        "ratio_high": change.high,
        "has_drift": change.has_drift,
        "verdict": change.verdict,
        "why": change.why,
    }


COLUMNS = {"changes": _CHANGE, "parts": (*_CHANGE[:2], *_PART, *_CHANGE[2:])}
"""Of each table, by its name."""
