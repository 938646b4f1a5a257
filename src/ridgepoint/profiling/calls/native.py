"""Time calls in this process, warm or cold."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si
from ridgepoint.host import System, of_activity
from ridgepoint.profiling.calls.cautions import Words, time_cautions
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs
from ridgepoint.profiling.calls.loops import (
    FAILURES,
    Times,
    empty_loop,
    least_sample_s,
    loop_over,
    time_calls,
    time_rounds,
)
from ridgepoint.profiling.calls.packing import Packed
from ridgepoint.profiling.calls.replicas import plan
from ridgepoint.profiling.calls.subject import Subject, limited_threads
from ridgepoint.profiling.repeats import LEAST_RUNS
from ridgepoint.profiling.sample_cautions import Remedies

_MEMORY_SHARE = 4  # one over the share of available memory that replicas may take
_IDLE_SAMPLES = 3
_COPIES = 3  # of the data of warm calls: the source of copies, here and in the other process


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """Results of native calls.

    Parameters
    ----------
    times : Times
    overhead_s : float
        Time of one call of an empty function in the same loop.
    replicas : int
        Number of replicas of the data; 1 where the caches are warm.
    cautions : tuple of Caution
    knobs : Knobs
        How cautions name what the user can change.
    """

    times: Times
    overhead_s: float
    replicas: int
    cautions: tuple[Caution, ...]
    knobs: Knobs = IN_PYTHON

    @property
    def timed(self) -> Timed:
        """The times of one call."""
        runtime = Estimate(self.times.wall_s)
        return Timed(
            runtime_s=runtime,
            cpu_s=Estimate(self.times.cpu_s),
            cautions=tuple(
                time_cautions(runtime, overhead_s=self.overhead_s, words=_words(self.knobs))
            ),
        )


def time_natively(
    subject: Subject,
    *,
    repetitions: int | None,
    limit_s: float,
    memory_bytes: int | None,
    knobs: Knobs = IN_PYTHON,
) -> Native:
    """Time calls.

    Parameters
    ----------
    subject : Subject
    repetitions : int or None
        Number of samples; None: as many as the interval needs.
    limit_s : float
        Time limit of all samples together, in seconds.
    memory_bytes : int or None
        Memory limit of all replicas together; None: a quarter of the available memory.
    knobs : Knobs
        How messages name what the user can change.

    Raises
    ------
    CannotMeasure
        If there is no memory for replicas, or the function raises, or exceeds the time limit.
    """
    system = System()
    replicas, cautions = 1, _data_cautions(subject.arguments)
    threshold_s = least_sample_s(system.reported_frequency_hz)
    available_bytes = system.available_bytes or 0
    _require_memory(subject, available_bytes)
    with limited_threads(subject.threads):
        call_s = _try(subject, limit_s=limit_s, knobs=knobs)
        if subject.state == "cold":
            planned = plan(
                subject.what,
                subject.arguments.nbytes,
                caches=system.caches,
                memory_bytes=min(memory_bytes or available_bytes // _MEMORY_SHARE, available_bytes),
                calls_affordable=limit_s / (repetitions or LEAST_RUNS) / call_s,
                knobs=knobs,
            )
            replicas, cautions = planned.replicas, (*cautions, *planned.cautions)
        copies = [subject.arguments.unpack() for _ in range(replicas)]
        before = system.activity()
        with refusing_failures(subject.what, "when it was called again"):
            times = time_calls(
                subject.function,
                copies,
                call_s=call_s,
                repetitions=repetitions,
                threshold_s=threshold_s,
                limit_s=limit_s,
            )
        cautions = (*cautions, *of_activity(before, system.activity()))
    some = copies[: times.calls]
    nothing, rounds = empty_loop(subject.function, some), times.calls // len(some)
    idle = Estimate(time_rounds(nothing, rounds)[0] for _ in range(_IDLE_SAMPLES))
    return Native(
        times=times,
        overhead_s=idle.median / times.calls,
        replicas=replicas,
        cautions=cautions,
        knobs=knobs,
    )


@contextlib.contextmanager
def refusing_failures(what: str, when: str) -> Iterator[None]:
    """Refuse a function that returned before, and raises now.

    Raises
    ------
    CannotMeasure
    """
    try:
        yield
    except RidgepointError:
        raise
    except FAILURES as error:
        raise CannotMeasure(
            what,
            reason=f"it raised {type(error).__name__} {when}: {error}",
            remedy="let the function do the same work in every call: it is called many times",
        ) from error


def _require_memory(subject: Subject, available_bytes: int) -> None:
    """Refuse data whose copies would drive the system out of memory.

    Raises
    ------
    CannotMeasure
    """
    needed_bytes = _COPIES * subject.arguments.nbytes
    if needed_bytes > available_bytes:
        raise CannotMeasure(
            subject.what,
            reason=f"copies of its data need {format_si(needed_bytes, 'B')} of memory, and "
            f"{format_si(available_bytes, 'B')} are available",
            remedy="use less data",
        )


def _words(knobs: Knobs) -> Words:
    return Words(
        one="a call",
        around="calling it from Python takes",
        more=Remedies(
            few=f"take at least 6 samples, and allow enough time for them: {knobs.samples}",
            noisy=f"stop other programs, or take more samples: {knobs.samples}",
        ),
    )


def _try(subject: Subject, *, limit_s: float, knobs: Knobs) -> float:
    """Return the time of a second call, s: work that only a first call does is not measured."""
    try:
        loop = loop_over(subject.function, [subject.arguments.unpack()])
        loop(1)
        took_s, _ = time_rounds(loop, 1)
    except FAILURES as error:
        raise CannotMeasure(
            subject.what,
            reason=f"it raised {type(error).__name__}: {error}",
            remedy="fix the function first; nothing was measured",
        ) from error
    if took_s > limit_s:
        raise CannotMeasure(
            subject.what,
            reason=f"one call takes {took_s:.3g} s, and all calls together may take {limit_s:g} s",
            remedy=f"give the function less to do, or more time: {knobs.time}",
        )
    return took_s


def _data_cautions(arguments: Packed) -> tuple[Caution, ...]:
    if not arguments.holds_zeros_only:
        return ()
    return (
        Caution(
            "zeros",
            "one of its arrays contains only zeros, which memory and arithmetic may handle "
            "faster than other numbers",
            "fill the array with realistic numbers",
        ),
    )
