"""The loops that make calls, how often they go round, and what they take."""

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

Arguments = tuple[object, ...]

Loop = Callable[[int], None]
"""Calls a function on each of several replicas of its arguments, so many rounds."""

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


def loop_over(function: Function, replicas: Sequence[Arguments]) -> Loop:
    """Return the loop of calls on these replicas.

    A function may bring a faster one than Python's: by a method ``loop`` of the replicas.
    """
    own = getattr(function, "loop", None)
    if callable(own):
        loop: Loop = own(replicas)
        return loop
    calls = [partial(function, *arguments) for arguments in replicas]

    def in_python(rounds: int) -> None:
        for call in chain.from_iterable(repeat(calls, rounds)):
            call()

    return in_python


def empty_loop(function: Function, loop: Loop, replicas: Sequence[Arguments]) -> Loop:
    """Return what a loop costs itself: one of an empty function, or one that calls nothing."""
    if callable(getattr(function, "loop", None)):
        return lambda rounds: loop(0)
    return loop_over(_empty, replicas)


def _empty(*_: object) -> None:
    """Do nothing."""


def time_loop(
    loop: Loop, *, replicas: int, repetitions: int, threshold_s: float, limit_s: float
) -> Times:
    """Time a loop again and again.

    Parameters
    ----------
    loop : callable
    replicas : int
        One, and their data are warm; or so many that the first one's are in no cache any more
        after the last one's.
    repetitions : int
        Samples; fewer, but three, if they would take longer than `limit_s`.
    threshold_s : float
        What a sample takes at least.
    limit_s : float
    """
    rounds, (wall_s, _) = 1, time_rounds(loop, 1)
    while wall_s < threshold_s:
        growth = min(_MOST_GROWTH, _MARGIN * threshold_s / max(wall_s, 1e-9))
        rounds = max(rounds + 1, math.ceil(rounds * growth))
        wall_s, _ = time_rounds(loop, rounds)
    affordable = max(3, int(limit_s / wall_s))
    samples = [time_rounds(loop, rounds) for _ in range(min(repetitions, affordable))]
    n = rounds * replicas
    return Times(
        wall_s=tuple(wall / n for wall, _ in samples),
        cpu_s=tuple(cpu / n for _, cpu in samples),
        calls=n,
    )


def time_rounds(loop: Loop, rounds: int) -> tuple[float, float]:
    """Return wall-clock and CPU time of so many rounds, s."""
    with without_garbage_collection():
        cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
        loop(rounds)
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
