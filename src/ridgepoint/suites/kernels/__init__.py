"""The reference suite: kernels of known work and compulsory traffic, in several codes.

They are values with callables and measure nothing themselves.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.suites.kernels import fourier, grids, libraries, matrices, mkl, vectors
from ridgepoint.suites.kernels.operands import Array, Arrays, Operand
from ridgepoint.suites.kernels.results import Expected
from ridgepoint.suites.kernels.workload import Call, Workload

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
    """Return the workloads that can run here, family by family."""
    return tuple(workload for workload in _by_name().values() if workload.absence() is None)


def missing() -> dict[str, tuple[str, str]]:
    """Return the workloads that cannot run here, by name, with the reason and the remedy."""
    absences = {name: workload.absence() for name, workload in _by_name().items()}
    return {name: absence for name, absence in absences.items() if absence is not None}


def find(name: str) -> Workload:
    """Return a workload by its name.

    Raises
    ------
    CannotMeasure
        If there is no workload of that name, or the library that it needs is missing.
    """
    what = f"cannot find the workload {name!r}"
    workload = _by_name().get(name)
    if workload is None:
        near = get_close_matches(name, _by_name(), n=3, cutoff=0.5) or list(_by_name())
        raise CannotMeasure(
            what,
            reason=("there is no workload of that name"),
            remedy=f"choose one of {', '.join(near)}",
        )
    if (absence := workload.absence()) is not None:
        reason, remedy = absence
        raise CannotMeasure(what, reason=reason, remedy=remedy)
    return workload


@cache
def _by_name() -> dict[str, Workload]:
    modules = (vectors, matrices, fourier, grids, libraries, mkl)
    workloads = [workload for module in modules for workload in module.WORKLOADS]
    families = list(dict.fromkeys(workload.family for workload in workloads))
    workloads.sort(key=lambda workload: families.index(workload.family))
    return {workload.name: workload for workload in workloads}
