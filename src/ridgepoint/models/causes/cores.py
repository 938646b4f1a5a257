"""Causes that are cores or ranks without work: too few, unequal, or waiting for messages."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.bound import bound
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.advice.subject import percent
from ridgepoint.models.causes.cause import Case, Cause, Standing
from ridgepoint.models.thresholds import LEAST_GAIN, SAID_OUTSIDE

_UNTIMED = "its time was not measured on this machine"


def cores(case: Case) -> Iterator[Cause]:
    """Yield the causes that leave cores without work, and of a distributed program its ranks'."""
    if case.subject.measurement.distributed is not None:
        yield from _ranks(case)
        return
    yield _few_cores(case)
    yield _imbalance(case)


def _few_cores(case: Case) -> Cause:
    """Return whether more of the machine's cores would allow more."""
    subject = case.subject
    standing, why = _more_cores(case)
    if standing == "contributes" and subject.runtime_s is None:
        why += "; its time was not measured on this machine"
    return Cause(
        code="few-cores", what="too few cores of the machine used", standing=standing, why=why
    )


def _more_cores(case: Case) -> tuple[Standing, str]:
    subject = case.subject
    used = subject.placement.cores
    allowed = min(subject.machine.cores, len(subject.measurement.context.affinity) or 1)
    shown = f"{used:.3g} of {subject.machine.cores} cores"
    if used >= allowed:
        if allowed < subject.machine.cores:
            return "ruled out", f"it used the {allowed} cores that it was allowed to use"
        return "ruled out", f"it used all {allowed} cores"
    limit = subject.placement.bound
    assert limit is not None
    with_all = bound(subject.placement.demand, subject.machine, cores=float(allowed))
    if not float(with_all.time_s):
        return "unknown", f"it used {shown}; without known work and traffic nothing bounds it"
    gain = float(limit.time_s) / float(with_all.time_s)
    seen = f"it used {shown}; the roof of {allowed} is {gain:.3g} times as high"
    return ("ruled out" if gain < LEAST_GAIN else "contributes"), seen


def _imbalance(case: Case) -> Cause:
    what = "threads that wait for each other (imbalance, serial parts)"
    measurement = case.subject.measurement
    counted, timed = measurement.counted, measurement.timed
    standing: Standing = "unknown"
    threads = counted.most_threads
    if counted.selected is not None:
        why = "which threads ran is known of whole programs only"
    elif case.runtime is None or timed is None:
        why = _UNTIMED
    elif threads == 1:
        standing, why = "ruled out", "it had one thread"
    elif threads is None or counted.processes != 1:
        why = "how many threads it had at once was not counted"
    else:
        usable = min(threads, len(measurement.context.affinity), case.subject.machine.cores)
        why = f"{timed.cores_busy:.2f} of {usable} cores were busy, with up to {threads} threads"
        if usable < LEAST_GAIN * timed.cores_busy:
            standing = "ruled out"
        elif measurement.disturbances:
            why += "; other programs used the CPUs meanwhile"
        else:
            standing = "contributes"
    return Cause(code="imbalance", what=what, standing=standing, why=why)


def _ranks(case: Case) -> Iterator[Cause]:
    """Yield what the ranks' time outside and inside MPI says."""
    split = None if case.ranks is None else case.ranks.division
    causes = (
        ("rank-imbalance", "ranks that have more to do than others", "load imbalance"),
        ("mpi", "messages: waiting for other ranks, and MPI itself", "waiting"),
    )
    for code, what, _ in causes:
        if split is None or split.runtime_s <= 0:
            why = "the time inside MPI was not measured"
            yield Cause(code=code, what=what, standing="unknown", why=why)
            continue
        seconds = split.imbalance_s if code == "rank-imbalance" else split.inside_s
        share = seconds / split.runtime_s
        standing: Standing = "contributes" if share >= SAID_OUTSIDE else "ruled out"
        if code in case.limits:
            standing = "limits"
        how = "is lost to it" if code == "rank-imbalance" else "is inside MPI beyond that"
        yield Cause(
            code=code,
            what=what,
            standing=standing,
            why=f"{percent(share)} of the slowest rank's time {how}",
            share=Estimate([share]),
            sense="took",
        )
