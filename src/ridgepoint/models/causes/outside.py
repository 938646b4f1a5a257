"""Causes outside of the core: the kernel, waiting, start-up, other programs, the clock."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.estimate import Estimate, quotient
from ridgepoint.core.units import format_si
from ridgepoint.models.causes.cause import NOTHING, Case, Cause, Settle, Standing, ends, ranged
from ridgepoint.models.explanations import KERNEL, START, WAITING, started_s
from ridgepoint.models.thresholds import NEAR, SAID_OUTSIDE, SNAP_CORES

_UNTIMED = "its time was not measured on this machine"
# A part that takes a tenth of the time is not missed by more samples than this (0.9^30 is 4 %).
_FEW_SAMPLES = 30
# Many kernels attribute CPU time at each tick of a clock, every 10 ms at most.
_TICK_S = 0.01


def outside(case: Case) -> Iterator[Cause]:
    """Yield the causes that take time in which the program itself does not compute."""
    yield _kernel(case)
    yield _waiting(case)
    yield _start(case)
    yield _others(case)
    yield _clock(case)


def _of_time(code: str, what: str, share: Estimate, how: str, settle: Settle = NOTHING) -> Cause:
    """Return a cause that took a part of the time, by how large that is."""
    standing: Standing = "contributes"
    if ends(share)[1] < SAID_OUTSIDE:
        standing = "ruled out"
    elif share.median < SAID_OUTSIDE:
        standing = "unknown"  # by the noise alone it may be more
    elif share.median >= NEAR:
        standing = "limits"
    return Cause(
        code=code,
        what=what,
        standing=standing,
        why=how.format(ranged(share)),
        share=share,
        sense="took",
        settle=settle.text if standing != "ruled out" else "",
        again=settle.again if standing != "ruled out" else (),
    )


def _kernel(case: Case) -> Cause:
    what = "the kernel: system calls, page faults, input and output"
    timed = case.subject.measurement.timed
    if case.runtime is None or timed is None:
        return Cause(code=KERNEL, what=what, standing="unknown", why=_UNTIMED)
    if timed.system_s is None:
        return _unseen(KERNEL, what, "the time in the kernel was not measured", case)
    ticks = sum(timed.cpu_s.samples) / _TICK_S
    if ticks < _FEW_SAMPLES and not timed.system_s.median:
        why = "its CPU time is too short to tell how much of it was in the kernel"
        return _unseen(KERNEL, what, why, case, Settle(text="let it run longer"))
    busy = max(timed.cores_busy, 1.0)
    own = timed.system_s.map(lambda seconds: seconds / busy)
    share = quotient(own, case.runtime)
    share = share.map(lambda part: min(part, 1.0))
    return _of_time(KERNEL, what, share, "it spends {} of its time in the kernel")


def _waiting(case: Case) -> Cause:
    what = "waiting: input and output, locks, sleep, or a core that others use"
    measurement = case.subject.measurement
    timed = measurement.timed
    if case.runtime is None or timed is None:
        return Cause(code=WAITING, what=what, standing="unknown", why=_UNTIMED)
    busy = timed.cores_busy
    shown = f"{busy:.2f} cores were busy on average"
    if busy < 1 - SNAP_CORES:
        share = Estimate([1 - busy])
        how = f"{shown}: it did nothing for {{}} of its time at least"
        settle = _quiet(case) if measurement.disturbances else NOTHING
        return _of_time(WAITING, what, share, how, settle)
    threads = measurement.counted.most_threads
    if threads is not None and busy >= threads - SNAP_CORES:
        why = f"{shown}, as many as it had threads"
        return Cause(code=WAITING, what=what, standing="ruled out", why=why)
    if threads is None:
        return _unseen(WAITING, what, f"{shown}; of how many threads is not known", case)
    return _unseen(
        WAITING, what, f"{shown}; when none of up to {threads} threads ran is not known", case
    )


def _start(case: Case) -> Cause:
    what = "starting up: the loader, imports, preparation"
    if case.runtime is None:
        return Cause(code=START, what=what, standing="unknown", why=_UNTIMED)
    seconds = started_s(case.subject)
    if seconds is None:
        why = "when its main part begins was not sampled"
        return _unseen(START, what, why, case, case.settled_by("--functions"))
    sampled = case.subject.measurement.sampled
    assert sampled is not None
    if sampled.samples < _FEW_SAMPLES:
        why = f"too few samples tell when its main part begins: {sampled.samples}"
        return _unseen(START, what, why, case, case.settled_by("--functions"))
    # Between the last sample without it and its first one lies a period in which it may begin.
    latest = Estimate([seconds], interval=(seconds, seconds + sampled.period_s))
    share = quotient(latest, case.runtime)
    return _of_time(
        START,
        what,
        share.map(lambda part: min(part, 1.0)),
        "{} of its time goes by before its main part begins",
    )


def _others(case: Case) -> Cause:
    what = "other programs on the same CPUs, or on the same host"
    if case.runtime is None:
        return Cause(code="other-programs", what=what, standing="unknown", why=_UNTIMED)
    seen = [caution.seen for caution in case.subject.measurement.disturbances]
    if seen:
        return Cause(
            code="other-programs",
            what=what,
            standing="contributes",
            why="; ".join(seen),
            settle=_quiet(case).text,
        )
    if case.subject.measurement.distributed is not None:
        why = "what else ran on the nodes was not recorded"
        return Cause(code="other-programs", what=what, standing="unknown", why=why)
    why = "no other process, and no hypervisor, took a noticeable part of the CPUs meanwhile"
    return Cause(code="other-programs", what=what, standing="ruled out", why=why)


def _clock(case: Case) -> Cause:
    what = "a lower core clock than that of the ceilings"
    if case.runtime is None:
        return Cause(code="clock", what=what, standing="unknown", why=_UNTIMED)
    # What a system reports may be a nominal clock, or that of a core at rest.
    clocks = (
        ("the system reported", case.subject.measurement.context.frequency_hz),
        ("the ceilings were measured at", case.subject.machine.host.frequency_hz),
    )
    known = [f"{whose} {format_si(hz, 'Hz', digits=3)}" for whose, hz in clocks if hz is not None]
    why = "; ".join(("the clock was not measured while it ran", *known))
    return _unseen("clock", what, why, case)


def _unseen(code: str, what: str, why: str, case: Case, settle: Settle = NOTHING) -> Cause:
    """Return a cause that was not measured: it is ruled out only where nothing is left for it."""
    left = case.nothing_left
    if left is not None:
        return Cause(code=code, what=what, standing="ruled out", why=left)
    return Cause(
        code=code, what=what, standing="unknown", why=why, settle=settle.text, again=settle.again
    )


def _quiet(case: Case) -> Settle:
    return Settle(text=f"end the others, then: {case.settled_by().text}")
