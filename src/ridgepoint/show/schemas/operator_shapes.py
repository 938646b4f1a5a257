"""Shape of the report of a program's operators."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Context
from ridgepoint.core.operators import Asked, Operator, OperatorProfile, Tensor
from ridgepoint.models.advice.subject import Advice
from ridgepoint.models.operators import PlacedOperator
from ridgepoint.show.schemas.of_types import fields
from ridgepoint.show.schemas.shape import (
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    by_key,
    maybe,
    obj,
)

_TENSOR = obj("An array.", fields(Tensor, "shape", "dtype", "nbytes", "layout"))
_BOUND = obj(
    "The least time on the machine.",
    limiter=(STRING, "The path that needs the most time: compute, l1, l2, l3 or dram."),
    binding=(STRING, "The single limit that needs the most time, such as dram_read."),
    time_s=(NUMBER, "Least time of all calls."),
    times_s=(by_key(NUMBER), "Seconds that each path needs at its full rate."),
    left_out=(array(STRING), "What the machine has no roof for."),
)
_PLACED: dict[str, Described] = {
    "share": (maybe(NUMBER), "Share of the time of all operators, 0 to 1; null: not timed."),
    "intensity_flop_per_byte": (
        maybe(NUMBER),
        "Work over the least bytes; null: unknown, or no byte moves.",
    ),
    "bound": (maybe(_BOUND), "Least time; null: unknown, or nothing is asked for."),
}
_GROUP = obj(
    "Operators together.",
    {
        "name": (STRING, "Module, phase or kind; empty: the outermost module."),
        "calls": (maybe(INTEGER), "Calls in one run; null: unknown."),
        "time_s": (maybe(Estimate), "Seconds in all calls of one run; null: not timed."),
        "unknown_share": (
            maybe(NUMBER),
            "Share of the time of all operators of the program that is in those of unknown demand.",
        ),
        "demand": (
            maybe(by_key(NUMBER)),
            "Known demands by resource, all bytes at DRAM; null: none is known.",
        ),
        "performance_flop_per_s": (
            maybe(Estimate),
            "Work over the time; null: the work of some is unknown, or there is none.",
        ),
        "efficiency": (
            maybe(NUMBER),
            "Least time over the time taken, of operators that have both; null: none has.",
        ),
        **_PLACED,
    },
)
_OPERATOR = obj(
    "All calls of one operator in one module with the same shapes and types.",
    {
        "name": (STRING, "Library and operator: aten.addmm, hlo.dot, numpy.matmul."),
        **fields(Operator, "module", "phase", "calls"),
        "inputs": (array(_TENSOR), "Arrays among its arguments."),
        "outputs": (array(_TENSOR), "Arrays that it returns."),
        "asked": (
            obj(
                "What one call asks for at least; null: unknown.",
                fields(
                    Asked,
                    *("kind", "work", "read_bytes", "write_bytes", "workspace_bytes"),
                    *("functions", "rule", "unknown"),
                ),
            ),
            "What one call asks for at least.",
        ),
        **fields(Operator, "time_s"),
        **_PLACED,
        **fields(PlacedOperator, "efficiency", "explained_by"),
        **fields(Operator, "checked", "unchecked"),
    },
)
OPERATORS: dict[str, Any] = obj(
    "Every operator of a program, with what it asks for, how long it takes and what bounds it.",
    {
        **fields(OperatorProfile, "program", "library", "device", "threads"),
        "runtime_s": (maybe(Estimate), "Plain runs, with nothing attached; null: not timed."),
        "cpu_s": (maybe(Estimate), "User and system time of these; null: not timed."),
        "exit_status": (maybe(INTEGER), "Exit status of the program; null: not timed."),
        **fields(OperatorProfile, "attached_s", "parameter_bytes", "gradient_bytes"),
        **fields(OperatorProfile, "outer_bytes", "library_says", "startup_s", "processor"),
        "outside_s": (
            maybe(NUMBER),
            "Seconds of a run outside of all operators: Python, and calling them; null: unknown.",
        ),
        "machine": (maybe(STRING), "The machine that bounds it; null: none."),
        "whole": (_GROUP, "All operators together."),
        "operators": (array(_OPERATOR), "Every operator, longest first."),
        "modules": (array(_GROUP), "Every module with those inside it, by first calls."),
        "phases": (array(_GROUP), "Forward, backward and optimizer, those that there are."),
        "kinds": (array(_GROUP), "Families of operators, longest first."),
        "verdict": (array(STRING), "What holds the program back, in sentences."),
        "advice": (array(Advice), "What to do next, the largest gain first."),
        "explained": (
            by_key(NUMBER),
            "Share of the operators' time by what explains it, as `explained_by` says.",
        ),
        "call_s": (
            maybe(NUMBER),
            "Seconds that calling an operator takes, whatever it does; null: unknown.",
        ),
        "fused_s": (
            maybe(NUMBER),
            "Least seconds if all operators were one, and no array in between reached memory; "
            "null: unknown.",
        ),
        "fusion_gain": (
            maybe(NUMBER),
            "Least time of the operators over `fused_s`: at most what fusion gives; null: unknown.",
        ),
        "cautions": (array(Caution), "Doubts."),
        "context": (Context, "Where and how it was measured."),
    },
)
