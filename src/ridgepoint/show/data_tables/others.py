"""Tables of commands that have one or two: ``plot``, ``bops`` and ``doctor``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.columns import count, flag, number, text
from ridgepoint.core.table import Table
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.work import WORK_UNITS
from ridgepoint.show.data_tables.documents import table_of

_POINTS = (
    text("kind", "given, or measured."),
    text("name", "Name of the point, or the command."),
    text("machine", "Machine whose roofs apply."),
    number("cores", "Cores whose roofs apply."),
    text("unit", "Unit of the work: flop or BOP."),
    *number("intensity", "Work over bytes at DRAM, in the row's unit per byte.", "I").ends(),
    *number("performance_per_s", "Performance, in the row's unit per second.", "P").ends(),
    *number("attainable_per_s", "The most that the roofs allow, in the same.").ends(),
    *number("efficiency", "Performance over the attainable: 1 is the roof.").ends(),
    text("limiter", "What bounds it, separated by ', ' where several bind equally."),
    flag("is_above_roof", "Whether it is faster than its roof allows."),
)
_CLASSES = tuple(field.name for field in fields(BasicOperations))
_OPERATIONS = (
    count("total_bop", "Basic operations.", "BOPs", unit="BOP"),
    *(
        count(f"{name}_bop", f"Those of the class {name.replace('_', ' ')}.", unit="BOP")
        for name in _CLASSES
    ),
)
_BOPS = (
    text("part", "program or function."),
    text("name", "The command or the function."),
    text("symbol", "Symbol of the function."),
    text("file", "Source file."),
    count("line", "Line where the function begins."),
    *_OPERATIONS,
    *number("runtime_s", "Runtime without counters, median.", "T", unit="s").ends(),
    number("performance_bop_per_s", "Basic operations over runtime.", "P", unit="BOP/s"),
)
_BOP_LINES = (text("file", "Source file."), count("line", "Line, from 1."), *_OPERATIONS)
_FINDINGS = (
    text("what", "Meter or precondition."),
    flag("works", "Whether it works here."),
    text("detail", "What was found."),
    text("remedy", "What to do."),
    text("cost", "What there is not without it."),
)
_CHECKS = (
    text("program", "Built-in program."),
    text("meter", "Meter that counted it."),
    text("quantity", "What was counted."),
    number("expected", "What it must be."),
    number("measured", "What was counted."),
    number("ratio", "Counted over expected."),
    number("tolerance", "Difference from 1 that the ratio may have."),
    flag("holds", "Whether it is as expected."),
    text("failure", "Why it could not be counted."),
)
_TIMES = (
    text("kernel", "Name of the loop."),
    count("size_bytes", "Size of its data.", unit="byte"),
    *number("runtime_s", "Measured time.", "T", unit="s").ends(),
    number("predicted_s", "Time that its traffic explains.", unit="s"),
    number("low_s", "The same with the largest caches that it may get.", unit="s"),
    number("high_s", "The same with the smallest caches that it may get.", unit="s"),
    number("ratio", "Predicted over measured time."),
    text("limiter", "Memory level with the longest time."),
)


def given_point_table(placed: PlacedPoint) -> Table:
    """Return the row of a given point, as `points_tables` has it."""
    row = {
        "kind": "given",
        "name": placed.point.name,
        "machine": placed.machine.name,
        "cores": placed.cores,
        "unit": WORK_UNITS[placed.metric],
        "intensity": placed.intensity,
        "performance_per_s": placed.performance,
        "attainable_per_s": placed.attainable,
        "efficiency": placed.efficiency,
        "limiter": ", ".join(placed.bindings),
        "is_above_roof": placed.is_above_roof,
    }
    return Table.of("points", _POINTS, [row])


def points_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return what a plot shows: given points on each machine, and measured programs on the first.

    Parameters
    ----------
    document : mapping
        What ``plot --json`` prints.
    """
    unit = document["unit"]
    given = [
        {"kind": "given", "unit": unit, **point, **point["bound"]} for point in document["points"]
    ]
    measured = [_measured(program, unit) for program in document["programs"]]
    return (table_of("points", _POINTS, [*given, *measured]),)


def _measured(program: Mapping[str, Any], unit: str) -> dict[str, Any]:
    metric = program["work_is"]["metric"]
    bound = program["bound"] or {}
    interval = program["intensity_interval"] or (None, None)
    return {
        "kind": "measured",
        "unit": unit,
        "name": " ".join(program["command"]),
        "machine": bound.get("machine"),
        "cores": bound.get("cores"),
        "intensity": {
            "median": program[f"intensity_{metric}_per_byte"],
            "low": interval[0],
            "high": interval[1],
        },
        "performance_per_s": program[f"performance_{metric}_per_s"],
        "attainable_per_s": bound.get(f"attainable_{metric}_per_s"),
        "efficiency": bound.get("efficiency"),
        "limiter": bound.get("bindings"),
        "is_above_roof": bound.get("above_roof"),
    }


def bops_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the program and its functions, and its lines, from what ``bops --json`` prints."""
    program = {
        "part": "program",
        "name": " ".join(document["command"]),
        **_operations(document),
        "runtime_s": document["runtime_s"],
        "performance_bop_per_s": document["bops_per_s"],
    }
    functions = [
        {**function, "part": "function", **_operations(function)}
        for function in document["functions"]
    ]
    lines = ({**line, **_operations(line)} for line in document["lines"])
    return (
        table_of("functions", _BOPS, [program, *functions]),
        table_of("lines", _BOP_LINES, lines),
    )


def _operations(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "total_bop": row["bops"],
        **{f"{name}_bop": row["classes"][name] for name in _CLASSES},
    }


def doctor_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return what ``doctor --json`` prints."""
    return (table_of("findings", _FINDINGS, document["findings"]),)


def selftest_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return every check of every program, and the times, of ``doctor --selftest --json``."""
    checks = (
        {"program": trial["program"], "meter": trial["meter"], "failure": trial["failure"], **check}
        for trial in document["trials"]
        for check in trial["checks"] or [dict[str, Any]()]
    )
    return (
        table_of("checks", _CHECKS, checks),
        table_of("times", _TIMES, document["times"]),
    )


COLUMNS = {
    "plot": {"points": _POINTS},
    "bops": {"functions": _BOPS, "lines": _BOP_LINES},
    "doctor": {"findings": _FINDINGS, "checks": _CHECKS, "times": _TIMES},
}
"""Of each table, by the command and the table's name."""
