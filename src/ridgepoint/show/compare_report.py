"""Comparisons as documents for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ridgepoint.core.documents import fields_of, report
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.gates import Judgement
from ridgepoint.models.comparing.history import History
from ridgepoint.models.comparing.parts import Part, PartChange, PartChanges
from ridgepoint.models.comparing.programs import Program, ProgramComparison

Judged = Sequence[tuple[ProgramComparison, Judgement]]


def comparison_report(
    comparisons: Sequence[ProgramComparison], judged: Judged = ()
) -> dict[str, Any]:
    """Return the document of programs that are compared with one.

    Parameters
    ----------
    comparisons : sequence of ProgramComparison
        At least one; all have the same program before.
    judged : sequence of (ProgramComparison, Judgement)
        What became of each gate.
    """
    fields = {
        "baseline": _program(comparisons[0].before),
        "comparisons": [_comparison(comparison) for comparison in comparisons],
        "gates": [
            {
                "record": comparison.after.title,
                "gate": judgement.gate.text,
                **fields_of(judgement, "outcome", "reason"),
            }
            for comparison, judgement in judged
        ],
    }
    return report("comparison", fields)


def _comparison(comparison: ProgramComparison) -> dict[str, Any]:
    return {
        "record": _program(comparison.after),
        "metric": comparison.metric,
        "same_work": comparison.is_same_work,
        "tolerances": comparison.tolerances,
        "changes": _changes(comparison.changes.values()),
        "functions": _parts(comparison.functions),
        "regions": _parts(comparison.regions),
        "cautions": comparison.differences,
    }


def _program(program: Program) -> dict[str, Any]:
    measured, analysis = program.measured, program.analysis
    placement = None if analysis is None else analysis.placement
    return {
        "title": program.title,
        "command": measured.command,
        **fields_of(measured.context, "started", "hostname", "cpu"),
        "machine": None if analysis is None or analysis.machine is None else analysis.machine.name,
        "limiters": () if placement is None else placement.bindings,
        **fields_of(placement, "efficiency", "intensity", "attainable_per_s"),
    }


def _changes(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [_change(change) for change in changes if change.before or change.after]


def _change(change: Change) -> dict[str, Any]:
    return {
        **fields_of(change, "quantity", "unit", "ratio", "low", "high", "has_drift"),
        **fields_of(change, "verdict", "why"),
        "before": fields_of(change.before, "median", "low", "high", "n"),
        "after": fields_of(change.after, "median", "low", "high", "n"),
    }


def _parts(parts: PartChanges) -> dict[str, Any]:
    return {
        "matched": [_part_change(change) for change in parts.matched],
        "only_before": [_part(part) for part in parts.only_before],
        "only_after": [_part(part) for part in parts.only_after],
        "ambiguous": parts.ambiguous,
    }


def _part_change(change: PartChange) -> dict[str, Any]:
    return {
        **fields_of(change.part, "name", "object"),
        "weight": change.weight,
        "changes": _changes(change.changes.values()),
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        **fields_of(part, "name", "object"),
        "amounts": {
            quantity: {"median": amount.value.median, "unit": amount.unit}
            for quantity, amount in part.amounts.items()
            if amount.value is not None
        },
    }


def history_report(histories: Sequence[History], labels: Sequence[str]) -> dict[str, Any]:
    """Return the document of amounts of a program over its measurements.

    Parameters
    ----------
    histories : sequence of History
        All of the same measurements.
    labels : sequence of str
        Number or title of each measurement.
    """
    fields = {
        "records": [
            {"label": label, **_program(moment.program)}
            for label, moment in zip(labels, histories[0].moments, strict=True)
        ],
        "histories": [
            {
                **fields_of(history, "quantity", "unit"),
                "moments": [
                    {
                        "label": label,
                        **fields_of(moment, "event", "level"),
                        "value": fields_of(moment.value, "median", "low", "high", "n"),
                        "change": None if moment.change is None else _change(moment.change),
                    }
                    for label, moment in zip(labels, history.moments, strict=True)
                ],
            }
            for history in histories
        ],
    }
    return report("history", fields)
