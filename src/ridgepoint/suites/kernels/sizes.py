"""Which sizes of the workloads are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ridgepoint.core.machine import Cache
from ridgepoint.suites.kernels.workload import Workload

Sizes = Callable[[Workload], tuple[int, ...]]
"""Maps a workload to its sizes, ascending."""

Item = TypeVar("Item")

_OF_LAST_CACHE = (0.06, 0.25, 0.64, 1.44, 2.5)
"""What every round of a loop reads again, over the last cache: its intensity falls beyond 1."""

_LONGEST = 1304
"""The largest n of such loops: one call takes seconds."""

_LEAST, _MOST = 1 / 16, 4
"""Data of other workloads, over the last cache."""

_FEW = 5

# The largest n that a figure uses of a workload or family: counting takes up to 100 times as
# long as running, and all figures together should take less than ten minutes.
_LARGEST = {
    "dgemm": 1300,
    "dgemv": 2200,
    "fft": 1 << 20,
    "stencil": 2048,
    "spmv": 64_000,
    "stream": 4_096_000,
}


def quick(workload: Workload) -> tuple[int, ...]:
    """Return the sizes of a run of a few minutes."""
    return workload.quick_sizes


def full(workload: Workload) -> tuple[int, ...]:
    """Return the whole series."""
    return workload.sizes


def of_figures(caches: Sequence[Cache], *, least_bytes: float = 0) -> Sizes:
    """Return how to choose the sizes for figures.

    Parameters
    ----------
    caches : sequence of Cache
        Caches that will be simulated: the triple loops go beyond what they hold.
    least_bytes : float
        Least data of which enough replicas can be made for cold caches.
    """

    def chosen(workload: Workload) -> tuple[int, ...]:
        if workload.outer is not None:
            return _around(workload, caches)
        largest = _LARGEST.get(workload.family)
        possible = [
            n
            for n in workload.sizes
            if (largest is None or n <= largest) and workload.data_bytes(n) >= least_bytes
        ]
        return evenly(possible, _FEW)

    return chosen


def around(caches: Sequence[Cache]) -> Sizes:
    """Return how to choose sizes from data that the last cache holds to data that it does not.

    Parameters
    ----------
    caches : sequence of Cache
        Caches that will be simulated.

    Notes
    -----
    A product of matrices by three loops reads one matrix again in every round of the outermost
    loop. Its sizes are chosen by that matrix; those of other workloads from their series, by all
    of their data.
    """
    return lambda workload: _around(workload, caches)


def _around(workload: Workload, caches: Sequence[Cache]) -> tuple[int, ...]:
    last = max((c.size_bytes for c in caches if c.kind != "instruction"), default=None)
    if last is None:
        return workload.quick_sizes
    if workload.outer is not None:
        fitting = (workload.outer.size_reusing(int(share * last)) for share in _OF_LAST_CACHE)
        return tuple(sorted({min(n, _LONGEST) for n in fitting}))
    near = [n for n in workload.sizes if _LEAST * last <= workload.data_bytes(n) <= _MOST * last]
    return evenly(near, _FEW) or workload.quick_sizes


def evenly(items: Sequence[Item], most: int) -> tuple[Item, ...]:
    """Return at most so many items, evenly from the first to the last."""
    if len(items) <= most:
        return tuple(items)
    step = (len(items) - 1) / (most - 1)
    return tuple(items[round(step * index)] for index in range(most))
