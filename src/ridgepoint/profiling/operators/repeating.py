"""Repeat a program in this process, in turn: plainly, and with its operators timed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from time import monotonic

from ridgepoint.core.collecting import not_collecting
from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.host import System, of_activity
from ridgepoint.profiling.calls.loops import FAILURES, Loop, least_sample_s, time_loop, time_rounds
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.repeats import LEAST_RUNS
from ridgepoint.profiling.sample_cautions import Remedies, sample_cautions

ATTACHED_SHARE = 0.4
"""Share of the time limit that runs with timed operators may take."""

_LEAST_ATTACHED = 3
_NO_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")
_MORE = Remedies(
    few="take at least 6 samples, and allow enough time for them: repetitions=, limit_s=",
    noisy="stop other programs, or take more samples: repetitions=",
)


def warm_up(run: Callable[[], object], options: Options) -> None:
    """Run a program twice before any run counts.

    Parameters
    ----------
    run : callable
        Runs the program once, to its end: devices have finished when it returns.
    options : Options

    Raises
    ------
    CannotMeasure
        If it raises or exits, or if one run takes longer than the time limit.
    """
    with refusing_failures(options):
        run()
        once_s, _ = time_rounds(_loop(run), 1)
    if once_s > options.limit_s:
        raise CannotMeasure(
            options.what,
            reason=f"one run takes {once_s:.3g} s, and all runs together may take "
            f"{options.limit_s:g} s",
            remedy="give it less to do, or more time: limit_s=",
        )


def timed_in_turn(
    run: Callable[[], object], attached: Callable[[], int] | None, options: Options
) -> Timed:
    """Return the time of a program with nothing attached, after `warm_up`.

    Parameters
    ----------
    run : callable
        As for `warm_up`.
    attached : callable or None
        Runs it once with its operators timed, and returns how many such runs count by now. It is
        called after each sample of plain runs, as long as there is time: what changes about the
        machine meanwhile then changes both alike. None: there is no such run.
    options : Options

    Raises
    ------
    CannotMeasure
        If it raises or exits.
    """
    system = System()
    turns = None if attached is None else _Turns(attached, options.limit_s)
    before = system.activity()
    with refusing_failures(options):
        times = time_loop(
            _loop(run),
            replicas=1,
            repetitions=options.repetitions,
            threshold_s=least_sample_s(system.reported_frequency_hz),
            limit_s=options.limit_s * (1 - ATTACHED_SHARE),
            after_each=None if turns is None else turns.take,
        )
        if turns is not None:
            turns.complete(options.repetitions or LEAST_RUNS)
    runtime = Estimate(times.wall_s)
    return Timed(
        runtime_s=runtime,
        cpu_s=Estimate(times.cpu_s),
        cautions=(
            *sample_cautions(runtime, what="the runtime", more=_MORE),
            *of_activity(before, system.activity()),
        ),
    )


def _loop(run: Callable[[], object]) -> Loop:
    def loop(rounds: int) -> None:
        for _ in range(rounds):
            run()

    return loop


class _Turns:
    """Runs with timed operators, each in its turn, as long as there is time for them.

    Parameters
    ----------
    attached : callable
        As for `timed_in_turn`.
    limit_s : float
        Time limit of all runs together, seconds.
    """

    def __init__(self, attached: Callable[[], int], limit_s: float) -> None:
        self._attached = attached
        self._left_s = ATTACHED_SHARE * limit_s
        self._last_s = 0.0
        self._count = 0

    def take(self) -> None:
        """Make a run, if there is time for it."""
        if self._count >= _LEAST_ATTACHED and self._last_s > self._left_s:
            return
        begun = monotonic()
        with not_collecting():
            self._count = self._attached()
        self._last_s = monotonic() - begun
        self._left_s -= self._last_s

    def complete(self, wanted: int) -> None:
        """Make as many runs as are wanted, if some of those before did not count."""
        while self._count < wanted and (
            self._count < _LEAST_ATTACHED or self._last_s <= self._left_s
        ):
            self.take()


@contextlib.contextmanager
def refusing_failures(options: Options) -> Iterator[None]:
    """Refuse a program that raises or exits.

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
            options.what,
            reason=f"it raised {type(error).__name__}: {_first_line(error)}",
            remedy=_remedy(error),
        ) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else "no message"


def _remedy(error: BaseException) -> str:
    message = str(error).lower()
    if isinstance(error, MemoryError) or any(said in message for said in _NO_MEMORY):
        return "use a smaller batch or model, or a device with more memory"
    return "fix the program first; nothing was measured"
