"""The loops that time calls, and how often they go round."""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat

from ridgepoint.harness.packing import Function

Call = Callable[[], object]
"""A function with its arguments."""

THRESHOLD_CYCLES = 1e8
"""What one sample takes at least (Ofenbeck et al., section III.A): what the clock and the loop add
to it then vanishes."""

_MOST_GROWTH = 100.0
_MARGIN = 1.1  # the next attempt shall be long enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What calls took, one sample per repetition.

    Parameters
    ----------
    wall_s, cpu_s : tuple of float
        Of one call: the mean of `calls`. CPU time is that of all threads of this process.
    calls : int
    """

    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    calls: int


def bound(function: Function, arguments: Sequence[object]) -> Call:
    """Return a call of the function on these arguments.

    A function that converts its arguments may do so beforehand, if it has a method ``bind``.
    """
    bind = getattr(function, "bind", None)
    call: Call = bind(*arguments) if callable(bind) else partial(function, *arguments)
    return call


def empty(*_: object) -> None:
    """Do nothing: calling it is what the harness itself costs."""


def time_calls(
    calls: Sequence[Call], *, repetitions: int, threshold_s: float, limit_s: float
) -> Times:
    """Time calls one after the other, again and again.

    Parameters
    ----------
    calls : sequence of callable
        One, and its data are warm; or one for each replica of the data, so many that the first
        one's are in no cache any more after the last one's.
    repetitions : int
        Samples; fewer, but three, if they would take longer than `limit_s`.
    threshold_s : float
        What a sample takes at least.
    limit_s : float
    """
    passes, (wall_s, _) = 1, _time_passes(calls, 1)
    while wall_s < threshold_s:
        growth = min(_MOST_GROWTH, _MARGIN * threshold_s / max(wall_s, 1e-9))
        passes = max(passes + 1, math.ceil(passes * growth))
        wall_s, _ = _time_passes(calls, passes)
    affordable = max(3, int(limit_s / wall_s))
    samples = [_time_passes(calls, passes) for _ in range(min(repetitions, affordable))]
    n = passes * len(calls)
    return Times(
        wall_s=tuple(wall / n for wall, _ in samples),
        cpu_s=tuple(cpu / n for _, cpu in samples),
        calls=n,
    )


def _time_passes(calls: Sequence[Call], passes: int) -> tuple[float, float]:
    """Return wall-clock and CPU time of so many passes over all calls, s."""
    rounds = chain.from_iterable(repeat(calls, passes))
    with without_garbage_collection():
        cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
        for call in rounds:
            call()
        wall_ns = time.perf_counter_ns() - wall_ns
        cpu_ns = time.process_time_ns() - cpu_ns
    return wall_ns / 1e9, cpu_ns / 1e9


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Let nothing collect garbage between calls."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
