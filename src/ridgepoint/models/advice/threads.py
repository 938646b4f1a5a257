"""Advice on threads: some wait while others work."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.bound import bound
from ridgepoint.models.advice.subject import Advice, Subject
from ridgepoint.models.thresholds import LEAST_GAIN

# CPU time over wall time if one thread works at a time, noise included.
_ONE_BUSY = 1.05
_ONE_WORKS = "only one thread works at a time: share its work with the others, or start no others"
_UNEVEN = (
    "give all threads shares that take equal time, or smaller shares on demand, and shorten "
    "the parts in which one thread works while the others wait"
)


def on_threads(subject: Subject) -> Iterator[Advice]:
    """Yield advice if a program's threads are not all busy."""
    counted, timed = subject.measurement.counted, subject.measurement.timed
    # Processes may run one after the other: their threads do not add up.
    if counted.most_threads is None or counted.processes != 1 or subject.runtime_s is None:
        return
    assert timed is not None
    # Threads that others kept from the CPUs did not wait for each other.
    if subject.measurement.disturbances:
        return
    usable = min(
        counted.most_threads, len(subject.measurement.context.affinity), subject.machine.cores
    )
    if usable < LEAST_GAIN * timed.cores_busy:
        return
    with_all = bound(subject.placement.demand, subject.machine, cores=usable)
    gain = min(usable / timed.cores_busy, subject.allowed(float(with_all.time_s)))
    if usable > 1 and gain >= LEAST_GAIN:
        yield Advice(
            code="imbalance",
            about=subject.name,
            seen=(
                f"{timed.cores_busy:.2f} of {usable} cores were busy on average, with up to "
                f"{counted.most_threads} threads"
            ),
            what=_ONE_WORKS if timed.cores_busy < _ONE_BUSY else _UNEVEN,
            gain=gain,
        )
