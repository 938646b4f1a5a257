"""Doubts about a measured machine as a whole."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.identity import Identity
from ridgepoint.core.machine import CHASE, Cache, Ceiling
from ridgepoint.core.resources import LEVELS

HUGE = 0.9
"""Share of a buffer on huge pages from which on it counts as lying there."""

_FREQUENCY_MOVED = 0.02
_FEWEST_FOR_DECILES = 2

_SLOWER = 0.9
"""A level further out moves less than this share of what the one before it does."""


def of_effort(*, quick: bool) -> Iterator[Caution]:
    """Yield a caution if the machine was measured quickly."""
    if quick:
        yield Caution(
            "quick",
            "few ceilings were measured, each with few samples",
            "measure without --quick before you rely on these numbers",
        )


def of_identity(identity: Identity) -> Iterator[Caution]:
    """Yield a caution if the CPU's identity was inferred."""
    if identity.inferred:
        yield Caution(
            "inferred-cpu",
            "; ".join((str(identity), *identity.reasons)),
            "the theory used is the one that holds for every CPU this may be; a hypervisor "
            "that passes on the host's CPU model would decide it",
        )


def of_pinning(*, pinned: bool) -> Iterator[Caution]:
    """Yield a caution if threads could not be kept on their CPUs."""
    if not pinned:
        yield Caution(
            "not-pinned",
            "this process may not choose its CPUs; the threads ran where the system put them",
            "allow sched_setaffinity (a sandbox or seccomp filter forbids it)",
        )


def of_clock(frequencies_hz: Sequence[float]) -> Iterator[Caution]:
    """Yield a caution if the core clock changed between rounds."""
    if len(frequencies_hz) < _FEWEST_FOR_DECILES:
        return
    low, high = statistics.quantiles(frequencies_hz, n=10)[0::8]
    if (high - low) / statistics.median(frequencies_hz) > _FREQUENCY_MOVED:
        yield Caution(
            "frequency-moved",
            f"the core clock varied from {low / 1e9:.2f} to {high / 1e9:.2f} GHz during the "
            "measurement",
            "fix the frequency governor, or let the machine cool and rest, and measure again",
        )


def of_limit(limit: float | None, n_cpus: int) -> Iterator[Caution]:
    """Yield a caution if a control group allows less than the CPUs there are."""
    if limit is not None and limit < n_cpus:
        yield Caution(
            "cpu-limit",
            f"a control group allows {limit:g} CPUs' worth of time on {n_cpus} CPUs",
            "the rates hold while the threads run; over longer times the limit slows them down",
        )


def of_pages(huge_shares: Sequence[float]) -> Iterator[Caution]:
    """Yield a caution if the buffers of main memory are not all on huge pages."""
    if huge_shares and min(huge_shares) < HUGE:
        yield Caution(
            "small-pages",
            f"{min(huge_shares):.0%} of a buffer in main memory is on huge pages",
            "address translation slows down random accesses, and streams a little; allow huge "
            "pages: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )


def of_caches(caches: Sequence[Cache], ceilings: Sequence[Ceiling]) -> Iterator[Caution]:
    """Yield a caution if the caches are not known, or do not behave as they are described.

    On one core, a level further out is slower to answer and moves less; where it is not, one of
    the two was measured with a size that is not its own.
    """
    if not caches:
        yield Caution(
            "caches-unknown",
            "neither /sys nor the C library describes the caches: only main memory was measured",
            "describe the caches: --cache l1=32k:8,l2=1m:8,l3=32m:16",
        )
        return
    rates = {
        ceiling.resource: ceiling.rate.median
        for ceiling in ceilings
        if ceiling.name == CHASE
        and ceiling.threads == 1
        and ceiling.part is None
        and ceiling.rate is not None
    }
    for inner, outer in itertools.pairwise(level for level in LEVELS if level in rates):
        if rates[outer] > _SLOWER * rates[inner]:
            yield Caution(
                "caches-doubtful",
                f"{outer} answers as fast as {inner}: the cache sizes that the system reports "
                "look wrong",
                "give the right sizes: --cache l1=32k:8,l2=1m:8,l3=32m:16",
            )
