"""Judge samples: those that show what the machine can do, and those that were disturbed.

A kernel that keeps one part of a core busy cannot run faster than that part; it can only be held
up. So noise has one side: a sample that is clearly slower than what the same kernel has reached
several times was disturbed, by a process of this machine or by a neighbour that a virtual machine
cannot see. A lone sample that is faster than all others was not: its clock was.

A neighbour on the core's other hardware thread may be there for most of the time. It shows in the
core's issue slots; where it slows a kernel down, only the samples without it count.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate

MOST_WAITED = 0.01
"""Share of its wall time that a thread may have spent not running."""

SLOW = 0.8
"""Of what was reached: below it, a sample was held up."""

SHARED = 0.94
"""Of an unshared core's issue slots: with fewer free, somebody else used the core."""

HARMED = 0.97
"""Of the median rate on an unshared core: below it, sharing slows a kernel down."""

MOST_MOVED = 0.05
"""Share by which the core clock may differ from its median over the samples."""

_ALIKE = 0.95
_ENOUGH_ALIKE = 0.2

UNSTABLE = 0.05
"""Width of the 95 % interval, over the median, from which on a ceiling is called unstable."""

BATCHES = 8
"""Of samples in a row, to tell an interval from: clocks and neighbours change slowly, so that
samples are alike that were taken soon after each other."""

ENOUGH = 10
"""Undisturbed samples that settle a ceiling."""

ENOUGH_ALONE = 5
"""Of these, samples on an unshared core."""

DOUBTFUL = 1 / 3
"""Of the samples that were not interrupted: with more of them left out, it is not clear whether
what was reached is what the machine gives, or a lucky moment."""

_LEAST = 0.1
_FEWEST_ALONE = 3

CAPABLE = 0.95
"""Of what theory says: nobody holds up what reaches that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One timed run of a kernel.

    Parameters
    ----------
    rate : float
        Rate in the ceiling's unit.
    waited : float
        Largest share of its wall time for which one of the threads did not run: preempted.
    migrated : bool
        Whether a thread changed its CPU.
    frequency_hz : float or None
        Core clock right after it; None: not measured.
    issue : float or None
        Least share of an unshared core's issue slots that was free around it; None: not measured.
    """

    rate: float
    waited: float = 0.0
    migrated: bool = False
    frequency_hz: float | None = None
    issue: float | None = None

    @property
    def was_interrupted(self) -> bool:
        """Whether a thread is known to have been preempted, or to have changed its CPU."""
        return self.waited > MOST_WAITED or self.migrated

    @property
    def was_shared(self) -> bool:
        """Whether the core of one of its threads is known to have been shared."""
        return self.issue is not None and self.issue < SHARED


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A ceiling's samples, divided into undisturbed and disturbed ones.

    Parameters
    ----------
    undisturbed : Estimate
        Estimate from undisturbed samples, in the order in which they were taken.
    disturbed : tuple of float
        Rates that were left out, in the same order.
    interrupted, moved, shared : int
        Numbers of left-out samples that are known to have been preempted or to have changed their
        CPU, that had a changed core clock, and whose core was shared.
    alone : int
        Number of undisturbed samples on a core that nobody else used.
    frequency_hz : float or None
        Median core clock of the undisturbed samples.
    attained : float or None
        Share of theory at that clock; None: not known.
    """

    undisturbed: Estimate
    disturbed: tuple[float, ...]
    interrupted: int
    moved: int
    shared: int
    alone: int
    frequency_hz: float | None
    attained: float | None

    @property
    def is_settled(self) -> bool:
        """Whether more samples would not change the result."""
        spread = self.undisturbed.relative_spread
        enough = self.undisturbed.n >= ENOUGH and self.is_unharmed
        return enough and spread is not None and spread <= UNSTABLE

    @property
    def is_unharmed(self) -> bool:
        """Whether it is known not to be lowered by neighbours on the cores."""
        enough_alone = self.alone >= min(ENOUGH_ALONE, self.undisturbed.n)
        return enough_alone or (self.attained is not None and self.attained >= CAPABLE)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about the ceiling."""
        return (*self._of_disturbance(), *self._of_sharing(), *self._of_spread())

    def _of_disturbance(self) -> tuple[Caution, ...]:
        if not self.disturbed:
            return ()
        n = len(self.disturbed) + self.undisturbed.n
        slowest = min(self.disturbed) / self.undisturbed.median
        return (
            Caution(
                "disturbed",
                f"{len(self.disturbed)} of {n} samples were left out ({self.interrupted} "
                f"preempted, {self.moved} with another core clock, {self.shared} on a shared "
                "core, the others too far from a rate that was reached several times; the "
                f"slowest at {slowest:.0%})",
                "another program ran on this machine or on its host: measure again when it is "
                "quiet",
            ),
        )

    def _of_sharing(self) -> tuple[Caution, ...]:
        if self.is_unharmed:
            return ()
        return (
            Caution(
                "shared-core",
                f"only {self.alone} of {self.undisturbed.n} samples had their cores to themselves",
                "another program on the cores' other hardware threads may slow this down: "
                "measure on dedicated cores, or when the host is less busy",
            ),
        )

    def _of_spread(self) -> tuple[Caution, ...]:
        spread, n = self.undisturbed.relative_spread, self.undisturbed.n
        if spread is not None and spread <= UNSTABLE:
            return ()
        width = "unknown" if spread is None else f"{spread:.0%} of the median"
        return (
            Caution(
                "unstable",
                f"the 95 % interval is {width} (n = {n})",
                "measure again on a quiet machine",
            ),
        )


def judge(samples: Sequence[Sample], *, per_cycle: float | None = None) -> Judged:
    """Divide samples into undisturbed and disturbed ones.

    Parameters
    ----------
    samples : sequence of Sample
        At least one.
    per_cycle : float or None
        Theoretical amount that all cores together do per cycle; None: not known.

    Notes
    -----
    A sample is disturbed if one of its threads did not run for more than 1 % of the time or
    changed its CPU, if its core clock was 5 % off the median one, or if its rate is below 80 % of
    what was reached, or above it. Reached is the highest rate that has a fifth of the samples (two
    at least) within 5 % below it: a clock that jumps once does not make a machine faster. Where
    samples on shared cores are slower (their median is, by 3 %), what was reached is asked of the
    others alone, and of those on shared cores only such count as come within 3 % of it. If all
    were interrupted, none is left out for that: their rates are all that is known. Where more
    than a third of the samples that were not interrupted were left out, the interval reaches over
    them too.
    """
    running = [sample for sample in samples if not sample.was_interrupted] or list(samples)
    usual = _clock(running)
    steady = [sample for sample in running if not _moved(sample, usual)]
    alone = [sample for sample in steady if not sample.was_shared]
    shared = [sample for sample in steady if sample.was_shared]
    harmed = (
        len(alone) >= _FEWEST_ALONE and bool(shared) and _median(shared) < HARMED * _median(alone)
    )
    reached = _reached([sample.rate for sample in (alone if harmed else steady)])
    kept = [
        sample
        for sample in steady
        if (HARMED if harmed and sample.was_shared else SLOW) * reached <= sample.rate <= reached
    ]
    left_out = [sample for sample in samples if sample not in kept]
    uninterrupted = [sample for sample in left_out if not sample.was_interrupted]
    moved = [sample for sample in uninterrupted if _moved(sample, usual)]
    undisturbed = _estimate(
        [sample.rate for sample in kept],
        left_out=[sample.rate for sample in uninterrupted],
    )
    clock = _clock(kept)
    return Judged(
        undisturbed=undisturbed,
        disturbed=tuple(sample.rate for sample in left_out),
        interrupted=len(left_out) - len(uninterrupted),
        moved=len(moved),
        shared=sum(sample.was_shared for sample in uninterrupted if sample not in moved),
        alone=sum(not sample.was_shared for sample in kept),
        frequency_hz=clock,
        attained=undisturbed.median / (per_cycle * clock) if per_cycle and clock else None,
    )


def _estimate(kept: Sequence[float], *, left_out: Sequence[float]) -> Estimate:
    """Return the estimate of a rate from the samples that count.

    Where many others were left out, the interval reaches over all: from what one in ten was slower
    than, to the second fastest.
    """
    estimate = Estimate(kept, batches=BATCHES)
    every = sorted([*kept, *left_out])
    if len(left_out) <= DOUBTFUL * len(every):
        return estimate
    low = min(every[int(_LEAST * len(every))], estimate.low or min(kept))
    high = max(every[-2], estimate.high or max(kept))
    return Estimate(kept, batches=BATCHES, interval=(low, high))


def _median(samples: Sequence[Sample]) -> float:
    return statistics.median(sample.rate for sample in samples)


def _clock(samples: Sequence[Sample]) -> float | None:
    known = [sample.frequency_hz for sample in samples if sample.frequency_hz is not None]
    # The lower of two: the median of an even number must be one of them, or none may be near it.
    return statistics.median_low(known) if known else None


def _moved(sample: Sample, clock: float | None) -> bool:
    if clock is None or sample.frequency_hz is None:
        return False
    return abs(sample.frequency_hz / clock - 1) > MOST_MOVED


def _reached(rates: Sequence[float]) -> float:
    needed = min(len(rates), max(2, round(_ENOUGH_ALIKE * len(rates))))
    for rate in sorted(rates, reverse=True):
        if sum(_ALIKE * rate <= other <= rate for other in rates) >= needed:
            return rate
    return max(rates)  # no two are alike: any of them may be the one that was not disturbed
