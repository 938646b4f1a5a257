"""The time in a function and its callees, from the time in each function itself."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Sampled, Timed

# A function called from elsewhere too spends part of its time elsewhere: how much is not known
# for certain, unless it is almost nothing.
_ALL = 0.99


def time_within(
    sampled: Sampled, selected: Sequence[FunctionCounts], every: Sequence[FunctionCounts]
) -> Timed | None:
    """Return the time that a program spent in a function and its callees.

    Parameters
    ----------
    sampled : Sampled
        Samples of the whole program.
    selected : sequence of FunctionCounts
        Functions executed within it, with the counts of that part.
    every : sequence of FunctionCounts
        Functions executed in the whole program, with all counts.

    Returns
    -------
    Timed or None
        User time; None: no sample was within it.

    Notes
    -----
    Each function's time is divided in proportion to its instructions: if a third of `memcpy`'s
    instructions were executed within, so is a third of its time. The interval covers all or none.
    """
    totals = {(function.object, function.name): function.counts.instructions for function in every}
    within = {
        (function.object, function.name): function.counts.instructions for function in selected
    }
    middle = low = high = cpu_s = 0.0
    for timed in sampled.functions:
        key = (timed.object, timed.name or "")
        total, part = totals.get(key, 0), within.get(key, 0)
        if not total or not part:
            continue
        share = min(part / total, 1.0)
        middle += share * timed.runtime_s.median
        cpu_s += share * timed.cpu_s
        low += (timed.runtime_s.low or 0.0) if share >= _ALL else 0.0
        high += timed.runtime_s.median if timed.runtime_s.high is None else timed.runtime_s.high
    if not middle:
        return None
    return Timed(
        runtime_s=Estimate([middle], interval=(min(low, middle), max(high, middle))),
        cpu_s=Estimate([cpu_s]),
    )
