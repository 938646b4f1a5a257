"""The loops that make calls: their number of rounds, and their times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, cycle, islice, pairwise, repeat

from ridgepoint.core.collecting import not_collecting
from ridgepoint.profiling.calls.packing import Function
from ridgepoint.profiling.repeats import wants_another

Arguments = tuple[object, ...]

Loop = Callable[[int], None]
"""Calls a function on each of several replicas of its arguments, so many rounds."""

THRESHOLD_CYCLES = 1e8
"""What one sample takes at least (Ofenbeck et al., section III.A): what the clock and the loop add
to it then vanishes."""

_USUAL_HZ = 3e9  # where the clock is unknown: only the length of a sample depends on it

FAILURES = (Exception, SystemExit)
"""What ends a user's function, all but the user's interrupt."""

_MOST_GROWTH = 100.0
_MARGIN = 1.1  # the next attempt shall be long enough
_LEAST_SAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Times of calls, one sample per repetition.

    Parameters
    ----------
    wall_s, cpu_s : tuple of float
        Times of one call: means over `calls`. CPU time is that of all threads of this process.
    calls : int
        Calls per sample; some samples may have one more.
    """

    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    calls: int


def least_sample_s(frequency_hz: float | None) -> float:
    """Return what one sample takes at least, in seconds, at a clock; None: it is not known."""
    return THRESHOLD_CYCLES / (frequency_hz or _USUAL_HZ)


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


def empty_loop(function: Function, replicas: Sequence[Arguments]) -> Loop:
    """Return the loop's own overhead: the time with an empty function, or without calls."""
    if callable(getattr(function, "loop", None)):
        loop = loop_over(function, replicas)
        return lambda rounds: loop(0)
    return loop_over(_empty, replicas)


def _empty(*_: object) -> None:
    """Do nothing."""


def time_calls(
    function: Function,
    replicas: Sequence[Arguments],
    *,
    call_s: float,
    repetitions: int | None,
    threshold_s: float,
    limit_s: float,
) -> Times:
    """Time calls on replicas in turn, repeatedly.

    A sample is several rounds of all replicas or, where calls take long, a part of them, the next
    part each time: either way a replica is used again only after all the others.

    Parameters
    ----------
    function : callable
    replicas : sequence of tuple
        Copies of the arguments. With a single one its data stay warm; with enough of them, the
        data of the first have left every cache by the time the last has been used.
    call_s : float
        Time of one call, as far as it is known, in seconds.
    repetitions, threshold_s, limit_s
        See `time_loop`.
    """
    n_parts = min(len(replicas), int(len(replicas) * call_s / (_MARGIN * threshold_s)))
    while n_parts > 1:
        bounds = [len(replicas) * i // n_parts for i in range(n_parts + 1)]
        sizes = [end - start for start, end in pairwise(bounds)]
        loops = [loop_over(function, replicas[start:end]) for start, end in pairwise(bounds)]
        wall_s, _ = time_rounds(loops[0], 1)
        if wall_s >= threshold_s:
            turn = islice(cycle(zip(loops, sizes, strict=True)), 1, None)
            samples = ((*time_rounds(loop, 1), calls) for loop, calls in turn)
            return _times(_enough(samples, wall_s, repetitions=repetitions, limit_s=limit_s))
        n_parts = int(n_parts * wall_s / (_MARGIN * threshold_s))
    return time_loop(
        loop_over(function, replicas),
        replicas=len(replicas),
        repetitions=repetitions,
        threshold_s=threshold_s,
        limit_s=limit_s,
    )


def time_loop(
    loop: Loop,
    *,
    replicas: int,
    repetitions: int | None,
    threshold_s: float,
    limit_s: float,
    after_each: Callable[[], None] | None = None,
) -> Times:
    """Time a loop repeatedly.

    Parameters
    ----------
    loop : callable
    replicas : int
        Number of replicas called in one round.
    repetitions : int or None
        Number of samples; None: until the 95 % interval is tight, as for runs of a program (ten at
        least, and at most `MAX_RUNS`). Fewer, but at least three, if they would take longer than
        `limit_s`.
    threshold_s : float
        Least duration of a sample, in seconds.
    limit_s : float
    after_each : callable or None
        Called after each sample, outside of its time.
    """
    rounds, (wall_s, _) = 1, time_rounds(loop, 1)
    while wall_s < threshold_s:
        growth = min(_MOST_GROWTH, _MARGIN * threshold_s / max(wall_s, 1e-9))
        rounds = max(rounds + 1, math.ceil(rounds * growth))
        wall_s, _ = time_rounds(loop, rounds)

    def sample() -> _Sample:
        times_s = time_rounds(loop, rounds)
        if after_each is not None:
            after_each()
        return (*times_s, rounds * replicas)

    samples = (sample() for _ in count())
    return _times(_enough(samples, wall_s, repetitions=repetitions, limit_s=limit_s))


_Sample = tuple[float, float, int]
"""Wall-clock time and CPU time of calls, and their number."""


def _enough(
    samples: Iterator[_Sample], sample_s: float, *, repetitions: int | None, limit_s: float
) -> list[_Sample]:
    """Return as many samples as are wanted, or as there is time for."""
    affordable = max(_LEAST_SAMPLES, int(limit_s / sample_s))
    if repetitions is not None:
        return list(islice(samples, min(repetitions, affordable)))
    taken: list[_Sample] = []
    while len(taken) < _LEAST_SAMPLES or wants_another(
        [wall_s for wall_s, _, _ in taken],
        elapsed_s=sum(wall_s for wall_s, _, _ in taken),
        repeat=None,
        wanted=[[wall_s / calls for wall_s, _, calls in taken]],
        budget_s=limit_s,
    ):
        taken.append(next(samples))
    return taken


def _times(samples: Sequence[_Sample]) -> Times:
    """Return the times of a call."""
    return Times(
        wall_s=tuple(wall_s / calls for wall_s, _, calls in samples),
        cpu_s=tuple(cpu_s / calls for _, cpu_s, calls in samples),
        calls=min(calls for _, _, calls in samples),
    )


def time_rounds(loop: Loop, rounds: int) -> tuple[float, float]:
    """Return wall-clock and CPU time of this many rounds, s."""
    with not_collecting():
        cpu_ns, wall_ns = time.process_time_ns(), time.perf_counter_ns()
        loop(rounds)
        wall_ns = time.perf_counter_ns() - wall_ns
        cpu_ns = time.process_time_ns() - cpu_ns
    return wall_ns / 1e9, cpu_ns / 1e9
