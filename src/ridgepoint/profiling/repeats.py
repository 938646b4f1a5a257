"""Number of native runs: until the time is known well, or the runs have taken long enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import monotonic
from typing import TypeVar

from ridgepoint.core.estimate import Estimate

MAX_RUNS = 30
TIME_BUDGET_S = 30.0
"""Runs are repeated for this long at most, but for the first, which is as long as it is."""

LEAST_RUNS = 10
"""Fewer tell too little of how much a time varies, however alike they are."""

_TIGHT = 0.02

Result = TypeVar("Result")
Progress = Callable[[str, bool], None]
"""Called with what begins now, and whether the program's own output is shown meanwhile."""


def wants_another(
    samples: Sequence[float],
    *,
    elapsed_s: float,
    repeat: int | None,
    wanted: Sequence[Sequence[float]] | None = None,
    budget_s: float = TIME_BUDGET_S,
) -> bool:
    """Return whether another native run is worth its time.

    Parameters
    ----------
    samples : sequence of float
        Runtimes so far, s.
    elapsed_s : float
        Time spent on native runs so far, including the first one, s.
    repeat : int or None
        Number of runs asked for; None: as many as the interval needs.
    wanted : sequence of sequence of float or None
        Times that are to be known well, a sample of each per run; None: the runtimes.
    budget_s : float
        Time for all runs together.
    """
    if repeat is not None:
        return len(samples) < repeat
    if not samples:
        return True
    n = len(samples)
    if elapsed_s + median(samples) > budget_s or n >= MAX_RUNS:
        return False
    return n < LEAST_RUNS or not all(map(is_tight, [samples] if wanted is None else wanted))


def is_tight(times_s: Sequence[float]) -> bool:
    """Return whether the 95 % interval of a time is as narrow as more runs are to make it."""
    spread = Estimate(times_s).relative_spread
    return spread is not None and spread <= _TIGHT


def repeated(
    once: Callable[[], Result],
    again: Callable[[], Result],
    *,
    time_s: Callable[[Result], float],
    repeat: int | None,
    report: Progress,
    wanted: Callable[[Sequence[Result]], Sequence[Sequence[float]]] | None = None,
    budget_s: float = TIME_BUDGET_S,
) -> tuple[Result, list[Result]]:
    """Run a program natively as often as is worth the time.

    Parameters
    ----------
    once, again : callable
        Run it for the first time, and again.
    time_s : callable
        Returns how long a run took, in seconds.
    repeat : int or None
        As in `wants_another`.
    report : callable
    wanted : callable or None
        Returns the times that are to be known well, for each a sample of every run; None: that of
        the whole run.
    budget_s : float
        Time for all runs together.

    Returns
    -------
    tuple
        The first run, and the runs that count: since the first one finds cold files, it only counts
        where there is no time for others.
    """
    report("running the program", True)
    started = monotonic()
    first = once()
    elapsed_s = monotonic() - started
    if repeat == 1 or 3 * elapsed_s > budget_s:
        return first, [first]
    runs: list[Result] = []
    while not runs or wants_another(
        list(map(time_s, runs)),
        elapsed_s=elapsed_s,
        repeat=repeat,
        wanted=None if wanted is None else wanted(runs),
        budget_s=budget_s,
    ):
        report(f"timing run {len(runs) + 1}{f' of {repeat}' if repeat else ''}", False)
        runs.append(again())
        elapsed_s = monotonic() - started
    return first, runs
