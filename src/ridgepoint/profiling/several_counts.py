"""Several counted runs of a program: the one that stands for all, and how alike they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted, CountedOnce
from ridgepoint.core.counts import traffic_at
from ridgepoint.core.errors import TimedOut

_ALIKE = 0.01


def count_several(
    count: Callable[[], Counted], runs: int, report: Callable[[int], None]
) -> Counted:
    """Count a program several times; `median_run` says what is returned.

    Where the time is over during a later run, the runs before it are what there is, with a caution.

    Parameters
    ----------
    count : callable
        Counts it once.
    runs : int
        Number of runs, > 0.
    report : callable
        Called with the number of every run after the first, before it begins.

    Raises
    ------
    ValueError
        If `runs` is not > 0.
    """
    if runs < 1:
        raise ValueError(f"there must be > 0 counted runs, got {runs!r}")
    counted = [count()]
    for number in range(2, runs + 1):
        report(number)
        try:
            counted.append(count())
        except TimedOut as error:
            return _with_fewer(median_run(counted), number - 1, runs, error)
    return median_run(counted)


def _with_fewer(counted: Counted, done: int, runs: int, error: TimedOut) -> Counted:
    """Return counts with a caution that some runs are missing."""
    fewer = Caution(
        "fewer-counts",
        f"{done} of {runs} counted runs were made: {error.reason}",
        error.remedy,
    )
    return replace(counted, cautions=(*counted.cautions, fewer))


def median_run(runs: Sequence[Counted]) -> Counted:
    """Return the counted run with the median of the traffic, and what each of the runs did.

    Parameters
    ----------
    runs : sequence of Counted
        At least one. Of an even number, the lower of the two middle ones is the median.
    """
    if len(runs) == 1:
        return runs[0]

    def amount(counted: Counted) -> int:
        dram = traffic_at(counted.traffic, "dram")
        return counted.counts.instructions if dram is None else dram.known_bytes

    middle = sorted(runs, key=amount)[(len(runs) - 1) // 2]
    # One of each kind: those of the run that counts, then what only other runs gave rise to.
    doubts = {caution.code: caution for run in (*runs, middle) for caution in run.cautions}
    differing = work_cautions(min(runs, key=_work), max(runs, key=_work))
    return replace(
        middle,
        runs=tuple(CountedOnce.of(run) for run in runs),
        cautions=(*doubts.values(), *differing),
    )


def _work(counted: Counted) -> tuple[int, int]:
    return counted.counts.work_flop, counted.counts.instructions


def work_cautions(first: Counted, second: Counted) -> tuple[Caution, ...]:
    """Return a caution if two counted runs of a program did different work.

    Parameters
    ----------
    first, second : Counted
        Instructions and work may differ by a hundredth: no time is known more precisely.
    """
    differing = [
        f"{amount:.4g} and {other:.4g} {unit}"
        for amount, other, unit in (
            (first.counts.instructions, second.counts.instructions, "instructions"),
            (first.counts.work_flop, second.counts.work_flop, "flop"),
        )
        if abs(amount - other) > _ALIKE * max(amount, other)
    ]
    if not differing:
        return ()
    return (
        Caution(
            "work-differs",
            f"two counted runs did different work: {', '.join(differing)}",
            "the result combines the work of one run with the time of others: fix random "
            "seeds, the input and the number of threads, and let threads wait without spinning "
            "(OMP_WAIT_POLICY=passive)",
        ),
    )
