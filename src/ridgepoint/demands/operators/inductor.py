"""What kernels ask for that PyTorch's compiler generated."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.arrays import distinct_bytes
from ridgepoint.demands.operators.generated import work_of_source
from ridgepoint.demands.operators.rule import NoRule, Rule

UNKNOWN = "unknown"
FUNCTIONS = "functions"
"""Options of a call of a kernel: why its work is unknown, or None; evaluations of functions."""


def _fused(call: Call) -> Asked:
    """Bytes of a kernel follow from its arrays; its work was counted in its source, if it could be.

    An array is counted whole, though a kernel may read only a part of it.
    """
    read, written = distinct_bytes(call.inputs), distinct_bytes(call.outputs)
    why = call.options.get(UNKNOWN, "its source is not known")
    if isinstance(why, str):
        return Asked(
            kind="fused",
            work=None,
            read_bytes=read,
            write_bytes=written,
            rule="arrays of a generated kernel, each once",
            unknown=f"the work of {call.overload}, which the compiler generated: {why}",
        )
    amounts = {
        name: float(amount)
        for name, amount in call.options.items()
        if isinstance(amount, int | float) and not isinstance(amount, bool)
    }
    functions = amounts.pop(FUNCTIONS, 0.0)
    return Asked(
        kind="fused",
        work=amounts,
        read_bytes=read,
        write_bytes=written,
        functions=functions,
        rule="as counted in the source of the generated kernel",
    )


def options_of(source: str) -> dict[str, str | float | None]:
    """Return what a call of a generated kernel is given besides its arrays, for its rule.

    Parameters
    ----------
    source : str
        The kernel in C++.
    """
    try:
        work, functions = work_of_source(source)
    except NoRule as error:
        return {UNKNOWN: str(error)}
    return {UNKNOWN: None, FUNCTIONS: functions, **work}


RULES: Mapping[str, Rule] = {"inductor.fused": _fused}
