"""A program's operators as tables: each operator, and totals of modules, phases and kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ridgepoint.core.bound import Bound
from ridgepoint.core.columns import CAUTIONS, count, number, share, text
from ridgepoint.core.demand import Demand
from ridgepoint.core.documents import fields_of
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.table import Table
from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup, PlacedOperator
from ridgepoint.show.operators_text import described

_TIMES = (
    count("calls", "Calls in one run."),
    *number("time_s", "Seconds in all calls of one run.", "time", unit="s").ends(),
    share("share", "Share of the time of all operators."),
)
_PLACED = (
    number("intensity_flop_per_byte", "Work over the least bytes.", "I", unit="flop/byte"),
    number("performance_flop_per_s", "Work over the time.", "P", unit="flop/s"),
    number("least_s", "Least time of all calls on the machine.", "least time", unit="s"),
    text("limiter", "The path that needs the most time: compute, l1, l2, l3 or dram."),
    text("binding", "The single limit that needs the most time, such as dram_read."),
    number("efficiency", "Least time over the time taken: 1 is the roof."),
)
_OPERATORS = (
    text("operator", "Library and operator, such as aten.addmm."),
    text("module", "Path of the module that called it; none: the outermost."),
    text("phase", "forward, backward or optimizer."),
    text("operator_kind", "Family of the operator.", "kind"),
    text("inputs", "Shapes and types of its input arrays."),
    text("outputs", "Shapes and types of the arrays that it returns."),
    *_TIMES,
    number("work_flop", "Floating-point operations of all calls.", "W", unit="flop"),
    number("work_op", "Integer operations of all calls.", "W, integers", unit="op"),
    text("precision", "What does most of the work: fp32, bf16, int8, ..."),
    number("read_bytes", "Least bytes that all calls read.", "read", unit="byte"),
    number("write_bytes", "Least bytes that all calls write.", "written", unit="byte"),
    number("workspace_bytes", "Scratch memory of one call, as far as it is known.", unit="byte"),
    number("functions", "Evaluations of exp, log, erf and the like, which are not in the work."),
    *_PLACED,
    text(
        "explained_by",
        "What explains its time: a resource's path, calls, unexplained, above-roof, ...",
    ),
    text("rule", "How the work of one call was computed."),
    text("unknown", "Why something is not known."),
    number("counted_flop", "Work of all calls by the executed instructions.", unit="flop"),
    text("unchecked", "Why its instructions were not counted, though that was asked for."),
)
_GROUPS = (
    *_TIMES,
    share("unknown_share", "Share of the whole time that is in operators of unknown demand."),
    number("work_flop", "Known floating-point operations.", "W", unit="flop"),
    number("work_op", "Known integer operations.", "W, integers", unit="op"),
    number("read_bytes", "Least bytes read, as far as they are known.", "read", unit="byte"),
    number("write_bytes", "Least bytes written, as far as known.", "written", unit="byte"),
    *_PLACED,
)
_SAMPLES = (
    text("quantity", "What was timed: runtime, a run with operators timed, or all operators."),
    count("sample", "Number of the sample, from 1, as they were taken."),
    number("value_s", "Its value.", unit="s"),
)
COLUMNS = {
    "operators": _OPERATORS,
    "modules": (text("module", "Path, with all modules inside it; none: the whole."), *_GROUPS),
    "operator_kinds": (text("operator_kind", "Family of operators.", "kind"), *_GROUPS),
    "phases": (text("phase", "forward, backward or optimizer."), *_GROUPS),
    "operator_samples": _SAMPLES,
    "operator_cautions": CAUTIONS,
}
"""By table."""


def operators_tables(analysis: OperatorAnalysis) -> tuple[Table, ...]:
    """Return every table of a program's operators."""
    groups = {
        "modules": ("module", analysis.modules),
        "operator_kinds": ("operator_kind", analysis.kinds),
        "phases": ("phase", analysis.phases),
    }
    return (
        _table("operators", (_operator(placed) for placed in analysis.operators)),
        *(
            _table(name, ({key: group.name, **_group(group)} for group in every))
            for name, (key, every) in groups.items()
        ),
        _table("operator_samples", _samples(analysis)),
        _table(
            "operator_cautions",
            (fields_of(each, "code", "seen", "remedy") for each in analysis.doubts),
        ),
    )


def _table(name: str, rows: Iterable[Mapping[str, object]]) -> Table:
    return Table.of(name, COLUMNS[name], rows)


def _operator(placed: PlacedOperator) -> dict[str, Any]:
    operator = placed.operator
    asked, calls, call = operator.asked, operator.calls, operator.call
    totals = _group(OperatorGroup(name=operator.name, operators=(placed,)))
    del totals["unknown_share"]  # of one operator it says nothing that `unknown` does not
    work = asked.work or {}
    checked = operator.checked[0] if operator.checked else None
    return {
        "operator": operator.name,
        **fields_of(operator, "module", "phase", "unchecked"),
        "operator_kind": asked.kind,
        "inputs": ", ".join(map(described, call.inputs)),
        "outputs": ", ".join(map(described, call.outputs)),
        **totals,
        "explained_by": placed.explained_by,
        "precision": max(work, key=lambda name: work[name]) if work else None,
        **fields_of(asked, "workspace_bytes", "rule", "unknown"),
        "functions": _all(asked.functions, calls),
        "counted_flop": None if checked is None else _all(sum(checked.work.values()), calls),
        # Known of some whose work is not.
        "read_bytes": _all(asked.read_bytes, calls),
        "write_bytes": _all(asked.write_bytes, calls),
    }


def _all(one: float | None, calls: int | None) -> float | None:
    """Return an amount of all calls, by that of one; None: unknown."""
    return None if one is None or calls is None else float(one * calls)


def _group(group: OperatorGroup) -> dict[str, Any]:
    """Return the totals of some operators."""
    demand = group.demand
    return {
        **fields_of(group, "calls", "time_s", "share", "unknown_share"),
        **_amounts(demand),
        "intensity_flop_per_byte": group.intensity,
        "performance_flop_per_s": group.performance,
        **_bound(group.bound),
        "efficiency": group.efficiency,
    }


def _amounts(demand: Demand | None) -> dict[str, float | None]:
    if demand is None:
        return {}
    work = {
        unit: float(sum(float(a) for name, a in demand.amounts.items() if _unit(name) == unit))
        for unit in ("flop", "op")
    }
    return {
        "work_flop": work["flop"],
        "work_op": work["op"],
        "read_bytes": float(demand.amount("dram_read")),
        "write_bytes": float(demand.amount("dram_write")),
    }


def _unit(name: str) -> str:
    return RESOURCES[name].unit


def _bound(bound: Bound | None) -> dict[str, Any]:
    if bound is None or not bound.time_s > 0:
        return {}
    return {
        "least_s": float(bound.time_s),
        "limiter": str(bound.limiter),
        "binding": str(bound.binding),
    }


def _samples(analysis: OperatorAnalysis) -> Iterator[dict[str, object]]:
    profile = analysis.profile
    timed = {
        "runtime": () if profile.timed is None else profile.timed.runtime_s.samples,
        "with operators timed": () if profile.attached_s is None else profile.attached_s.samples,
        "operators": analysis.runs_s,
    }
    for quantity, samples in timed.items():
        for index, value in enumerate(samples, start=1):
            yield {"quantity": quantity, "sample": index, "value_s": value}
