"""The time in a function and in what it calls, from the time in each function itself."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Sampled, Timed

# What is called from elsewhere too has a part of its time elsewhere: which part is not known for
# certain, unless it is next to none.
_ALL = 0.99


def time_within(
    sampled: Sampled, selected: Sequence[FunctionCounts], every: Sequence[FunctionCounts]
) -> Timed | None:
    """Return how long a program was in a function and in what it calls.

    Parameters
    ----------
    sampled : Sampled
        Of the whole program.
    selected : sequence of FunctionCounts
        What was executed within.
    every : sequence of FunctionCounts
        What was executed in all.

    Returns
    -------
    Timed or None
        User time; None: no sample was within.

    Notes
    -----
    Each function's time is divided as its instructions are: of `memcpy`, a third of whose
    instructions were executed within, it is a third. The interval takes all or none of it.
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
