"""The reference suite: kernels whose work and compulsory traffic are known, by several codes.

They are values with callables and measure nothing themselves.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from ridgepoint.errors import CannotMeasure
from ridgepoint.workloads import fourier, grids, matrices, vectors
from ridgepoint.workloads.operands import Array, Arrays, Operand
from ridgepoint.workloads.workload import Call, Expected, Workload

__all__ = [
    "Array",
    "Arrays",
    "Call",
    "Expected",
    "Operand",
    "Workload",
    "all_workloads",
    "find",
    "missing",
]


def all_workloads() -> tuple[Workload, ...]:
    """Return those that can run here, family by family."""
    return tuple(_by_name().values())


def missing() -> dict[str, tuple[str, str]]:
    """Return those that cannot run here, by name: the reason, and what to do."""
    return {}


def find(name: str) -> Workload:
    """Return a workload by its name.

    Raises
    ------
    CannotMeasure
        If there is none of that name, or if the library that it needs is missing.
    """
    found = _by_name().get(name)
    if found is not None:
        return found
    what = f"cannot find the workload {name!r}"
    if name in missing():
        reason, remedy = missing()[name]
        raise CannotMeasure(what, reason=reason, remedy=remedy)
    near = get_close_matches(name, _by_name(), n=3, cutoff=0.5) or list(_by_name())
    raise CannotMeasure(
        what, reason="there is none of that name", remedy=f"choose one of {', '.join(near)}"
    )


@cache
def _by_name() -> dict[str, Workload]:
    modules = (vectors.WORKLOADS, matrices.WORKLOADS, fourier.WORKLOADS, grids.WORKLOADS)
    return {workload.name: workload for workloads in modules for workload in workloads}
