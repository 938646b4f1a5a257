"""Every rule of NumPy's functions by name, and which arrays no rule knows."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.numpy import (
    algebra,
    elementwise,
    moving,
    products,
    reductions,
    statistics,
)
from ridgepoint.demands.operators.rule import NoRule, Rule

_UNKNOWN = ("object", "str", "bytes", "void", "StringDType")


def _of_numbers(rule: Rule) -> Rule:
    """Return a rule that does not speak of arrays of Python objects, texts and records."""

    def stated(call: Call) -> Asked:
        for one in (*call.inputs, *call.outputs):
            if one.dtype.startswith(_UNKNOWN):
                raise NoRule(f"elements of type {one.dtype} are no numbers")
        return rule(call)

    return stated


RULES: Mapping[str, Rule] = {
    f"numpy.{name}": _of_numbers(rule)
    for rules in (moving, reductions, products, algebra, statistics, elementwise)
    for name, rule in rules.RULES.items()
}
