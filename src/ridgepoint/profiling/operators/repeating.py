"""Repeat a program in this process: plainly, for its time, and with its operators timed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from time import monotonic

from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed
from ridgepoint.host import System, of_activity
from ridgepoint.profiling.calls.loops import THRESHOLD_CYCLES, time_loop, time_rounds
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.repeats import LEAST_RUNS
from ridgepoint.profiling.sample_cautions import Remedies, sample_cautions

ATTACHED_SHARE = 0.4
"""Share of the time limit that runs with timed operators may take."""

_USUAL_HZ = 3e9  # where the clock is unknown: only the length of a sample depends on it
_LEAST_ATTACHED = 3
_NO_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")
_FAILURES = (Exception, SystemExit)  # all but the user's interrupt
_MORE = Remedies(
    few="take at least 6 samples, and allow enough time for them: repetitions=, limit_s=",
    noisy="stop other programs, or take more samples: repetitions=",
)


def timed_plainly(run: Callable[[], object], options: Options) -> Timed:
    """Return the time of a program with nothing attached, after two runs that do not count.

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

    def loop(rounds: int) -> None:
        for _ in range(rounds):
            run()

    system = System()
    with refusing_failures(options):
        loop(1)
        once_s, _ = time_rounds(loop, 1)
        if once_s > options.limit_s:
            raise CannotMeasure(
                options.what,
                reason=f"one run takes {once_s:.3g} s, and all runs together may take "
                f"{options.limit_s:g} s",
                remedy="give it less to do, or more time: limit_s=",
            )
        before = system.activity()
        times = time_loop(
            loop,
            replicas=1,
            repetitions=options.repetitions,
            threshold_s=THRESHOLD_CYCLES / (system.reported_frequency_hz or _USUAL_HZ),
            limit_s=options.limit_s * (1 - ATTACHED_SHARE),
        )
    runtime = Estimate(times.wall_s)
    return Timed(
        runtime_s=runtime,
        cpu_s=Estimate(times.cpu_s),
        cautions=(
            *sample_cautions(runtime, what="the runtime", more=_MORE),
            *of_activity(before, system.activity()),
        ),
    )


def attached_runs(run_s: float, options: Options) -> Iterator[int]:
    """Yield the number of each run with timed operators that there is time for.

    Parameters
    ----------
    run_s : float
        Time of one run, as far as it is known, seconds.
    options : Options
    """
    begun = monotonic()
    for number in range(options.repetitions or LEAST_RUNS):
        if number >= _LEAST_ATTACHED and (
            monotonic() - begun + run_s > ATTACHED_SHARE * options.limit_s
        ):
            return
        yield number


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
    except _FAILURES as error:
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
