"""What operators of array libraries ask for at least, by rules on shapes and types."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import in_place
from ridgepoint.demands.operators.aten.rules import RULES as ATEN
from ridgepoint.demands.operators.inductor import RULES as INDUCTOR
from ridgepoint.demands.operators.numpy.rules import RULES as NUMPY
from ridgepoint.demands.operators.rule import NoRule, Rule

_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a rule raises where a call's arguments are others than it expects."""

__all__ = ["NoRule", "Rule", "asked_of"]


def asked_of(call: Call) -> Asked:
    """Return what a call asks for at least.

    Parameters
    ----------
    call : Call

    Returns
    -------
    Asked
        All unknown, with the reason, where there is no rule or the rule cannot tell.
    """
    rules = _rules(call.name.partition(".")[0])
    rule = rules.get(call.name) or (rules.get(call.name[:-1]) if in_place(call) else None)
    if rule is None:
        return _unknown(f"no rule says what {call.name} asks for")
    try:
        return rule(call)
    except NoRule as error:
        return _unknown(str(error))
    except _MISFITS as error:
        # Versions of a library differ in the arguments of an operator: to the user that is an
        # operator without a rule, no failure of the program.
        return _unknown(f"the rule for {call.name} does not fit its arguments ({error!r})")


def _rules(library: str) -> Mapping[str, Rule]:
    return {"aten": ATEN, "inductor": INDUCTOR, "numpy": NUMPY}.get(library, {})


def _unknown(why: str) -> Asked:
    return Asked(
        kind="unknown",
        work=None,
        read_bytes=None,
        write_bytes=None,
        workspace_bytes=None,
        unknown=why,
    )
