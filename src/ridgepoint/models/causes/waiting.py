"""Causes that are waiting within the core: misses, page walks, chains, branches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.models.advice.memory import line_bytes_of, waiting_s
from ridgepoint.models.advice.subject import Subject
from ridgepoint.models.causes.cause import (
    MEASURE,
    NOTHING,
    Case,
    Cause,
    Settle,
    Standing,
    is_small,
    part_of,
)
from ridgepoint.models.explanations import CHAINED, MISSES, WALKS, chain_s, walks_s

_UNTIMED = "its time was not measured on this machine"

BUSY_CORE = 3.0
"""A core that retires this many instructions per cycle does not wait: one that waits for memory
retires less than one, one that waits for arithmetic less than three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Latency:
    """Operations that may wait for each other, and the time that they would take then."""

    code: str
    what: str
    who: str
    how: str
    seconds: float | None
    unknown: str


def waiting(case: Case) -> Iterator[Cause]:
    """Yield a cause for each latency that a program may wait for one by one."""
    subject = case.subject
    yield _judged(
        _Latency(
            code=MISSES,
            what="the latency of cache misses",
            who="its misses",
            how="if each waited for the previous one",
            seconds=waiting_s(subject),
            unknown=_why_no_latency(subject),
        ),
        case,
    )
    yield _judged(
        _Latency(
            code=WALKS,
            what="page walks (misses of the TLB)",
            who="page walks",
            how="if each miss to main memory needed one and waited for it",
            seconds=walks_s(subject),
            unknown="the latency on small pages, or its traffic, is not known",
        ),
        case,
    )
    yield _judged(
        _Latency(
            code=CHAINED,
            what="floating-point operations that wait for each other",
            who="its additions, divisions and square roots",
            how="if each waited for the previous one",
            seconds=chain_s(subject.counts, subject.machine, subject.placement.cores),
            unknown="the latency of one of its operations was not measured",
        ),
        case,
    )
    yield _branches(case)


def _judged(latency: _Latency, case: Case) -> Cause:
    seconds = latency.seconds
    share = None if seconds is None else case.share(Estimate([seconds]))
    left = None if latency.code in case.limits else case.nothing_left
    standing: Standing
    if seconds == 0:
        standing, why = "ruled out", "there are none that would take time"
    elif left is not None:
        standing, why = "ruled out", left
    elif seconds is None:
        standing, why = "unknown", latency.unknown
    elif share is None:
        standing, why = "unknown", _UNTIMED
    else:
        standing, why = _standing(latency, share, case)
    is_missing = standing == "unknown" and seconds is None
    settle = _settle(latency, case) if is_missing else NOTHING
    return Cause(
        code=latency.code,
        what=latency.what,
        standing=standing,
        why=why,
        share=share,
        sense=None if share is None else "most",
        settle=settle.text,
        again=settle.again,
    )


def _standing(latency: _Latency, share: Estimate, case: Case) -> tuple[Standing, str]:
    """Return where a latency stands of which the share is known, and why."""
    much = f"{latency.who} would take {part_of(share, case.its_time)} {latency.how}"
    if latency.code in case.limits:
        return "limits", "; ".join(filter(None, (f"{much}{_retired(case)}", case.at_work)))
    per_cycle = _per_cycle(case)
    if is_small(share):
        return "ruled out", much
    if per_cycle is not None and per_cycle >= BUSY_CORE:
        return "ruled out", f"{much}, but {_busy(per_cycle)}"
    return (
        "unknown",
        f"{much}{_retired(case)}; how many are under way at once was not counted",
    )


def _busy(per_cycle: float) -> str:
    return f"a core retires {per_cycle:.2g} instructions per cycle: it hardly waits"


def _settle(latency: _Latency, case: Case) -> Settle:
    """Return what would tell the time of a latency."""
    if latency.code != CHAINED and case.subject.traffic("dram") is None:
        return case.settled_by("--meter engine")
    return MEASURE


def _why_no_latency(subject: Subject) -> str:
    """Return what is missing of the time that serial misses take."""
    if subject.traffic("dram") is None:
        return "its traffic was not counted"
    if line_bytes_of(subject) is None:
        return "the size of a cache line is not known"
    return f"the latency of a level of {subject.machine.name} was not measured"


def _branches(case: Case) -> Cause:
    """Return the cause that no meter counts: wrong guesses, and chains of integers."""
    per_cycle, left = _per_cycle(case), case.nothing_left
    standing: Standing = "ruled out"
    if left is not None:
        why = left
    elif case.subject.counts.branches == 0:
        why = "it has no branches"
    elif per_cycle is not None and per_cycle >= BUSY_CORE:
        why = _busy(per_cycle)
    else:
        standing, why = "unknown", f"mispredicted branches are not counted{_retired(case)}"
    return Cause(
        code="branches",
        what="mispredicted branches, and integer operations that wait for each other",
        standing=standing,
        why=why,
    )


def _per_cycle(case: Case) -> float | None:
    explained = case.conclusion.explained
    # Where a count is wrong, it may be that of the instructions.
    return None if explained is None or case.is_above else explained.per_cycle


def _retired(case: Case) -> str:
    per_cycle = _per_cycle(case)
    return "" if per_cycle is None else f", and {per_cycle:.2g} instructions retire per cycle"
