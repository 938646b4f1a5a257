"""What to doubt in counts made by the copying engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Coverage, TrafficEstimate
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.units import format_si
from ridgepoint.meters import Selection
from ridgepoint.meters.native.coverage import uncounted_in_words
from ridgepoint.meters.native.history import LeftAlone

LEAST_COVERAGE = 0.95
"""Share of the time of which less is refused, if it is surely less."""

MOST_LATE = 0.01
"""Share of the CPU time inside that threads may have counted at the wrong place; else refused."""

_COVERAGE_TO_DOUBT = 0.99
_MOST_FLOP = 64  # of one instruction that may be undecoded: a 512-bit VDPBF16PS; not of tiles
_NEGLIGIBLE = 1e-3
_ROUGHLY = 0.1  # by which estimated traffic may be off without a word
_LEVELS_KNOWN = 2  # that of L1, which is counted, and another one


def coverage(covered: Coverage | None, *, unseen_s: float = 0.0) -> Iterable[Caution]:
    """Doubt work that misses some of the time, or nobody knows how much.

    Parameters
    ----------
    covered : Coverage or None
    unseen_s : float
        CPU time in user mode of which there ought to be samples, and are none.
    """
    if covered is None or not covered.is_known or unseen_s:
        why = f"there are {0 if covered is None else covered.samples} samples"
        if unseen_s:
            why += f", and none of {format_si(unseen_s, 's', digits=2)} of its CPU time"
        yield Caution(
            "coverage-unknown",
            f"how much of the time W covers is not known: {why}",
            "let the program run longer, for half a second at least, or count with --meter engine",
        )
        return
    if covered.share >= _COVERAGE_TO_DOUBT:
        return
    missed = 1 - covered.share
    yield Caution(
        "coverage",
        f"W covers {covered.share:.1%} of the time ({covered.samples} samples); most of the rest "
        f"was in {uncounted_in_words(covered.uncounted)}",
        "take the work as a lower bound, or count with --meter engine",
        effect=missed / covered.share if covered.share else None,
        on="compute",
    )


def left_alone(modules: Sequence[LeftAlone], covered: Coverage | None) -> Iterable[Caution]:
    """Say which modules were not counted, and why; samples say how much they matter."""
    if not modules:
        return
    by_reason: dict[str, list[str]] = {}
    for module in modules:
        by_reason.setdefault(module.reason, []).append(module.path or "code made at run time")
    reasons = "; ".join(f"{', '.join(paths)}: {reason}" for reason, paths in by_reason.items())
    yield Caution(
        "modules-uncounted",
        f"the work in these files was not counted: {reasons}",
        "check whether they matter: the samples show how much of the time was counted",
        effect=None if covered is None or not covered.share else 1 / covered.share - 1,
        on="compute",
    )


def without_bank(n_threads: int) -> Iterable[Caution]:
    """Doubt the counts of threads that had to share their counters."""
    if n_threads:
        yield Caution(
            "threads-share-counters",
            f"{n_threads} threads found no free set of counters and shared one: counts that "
            "two of them made at the same moment may be lost",
            "let the program use fewer threads at a time",
        )


def threads(most: int, *, cpus: int) -> Iterable[Caution]:
    """Doubt the traffic of many threads, which are simulated a piece at a time."""
    if most < 2:
        return
    shared = f", and shared {cpus} simulated CPUs" if most > cpus else ""
    yield Caution(
        "threads-in-pieces",
        f"up to {most} threads were alive at the same time{shared}; their accesses were "
        "simulated in turns, some thousand accesses of one thread after another",
        "trust work and instructions; expect other misses where threads share data",
    )


def lost_traffic(*, words: int, is_whole: bool) -> Iterable[Caution]:
    """Doubt traffic of which something is missing."""
    if not is_whole:
        yield Caution(
            "traffic-incomplete",
            "memory, or space for the moved code, ran out while caches were simulated: some of "
            "the traffic is missing",
            "take the traffic as a lower bound; simulate fewer caches, or a part of the program",
        )
    if words:
        yield Caution(
            "addresses-lost",
            f"{words} addresses were not simulated, because a signal or the program's own "
            "sandbox interrupted them",
            "trust work and instructions; take the traffic as a lower bound",
        )


def estimated(
    estimate: TrafficEstimate | None, traffic: Sequence[Traffic], *, selection: Selection | None
) -> Iterable[Caution]:
    """Say that traffic was estimated, and where that says little."""
    if estimate is None:
        return
    of = f"{estimate.bursts} bursts, {estimate.share:.2%} of all accesses"
    if len(traffic) < _LEVELS_KNOWN:
        yield Caution(
            "traffic-too-short",
            f"the traffic is unknown: the program ended before there were enough bursts ({of})",
            "give the program more to do, or simulate all of its traffic: --traffic exact",
        )
        return
    if selection is not None:
        yield Caution(
            "traffic-estimated",
            f"the traffic of {selection} was estimated from {of}; the error of such an "
            "estimate is known for whole programs only",
            "simulate all of its traffic: --traffic exact",
        )
    for part in traffic:
        interval = estimate.at(part.level)
        if interval is None or part.write_bytes is None:
            continue
        low = interval.read_bytes[0] + interval.write_bytes[0]
        high = interval.read_bytes[1] + interval.write_bytes[1]
        total = part.read_bytes + part.write_bytes
        off = max(high - total, total - low) / max(total, 1)
        if off > _ROUGHLY:
            yield Caution(
                "traffic-hardly-known",
                f"the traffic of {part.level} was estimated from {of}, and may be "
                f"{low / max(total, 1):.2g} to {high / max(total, 1):.2g} times the value given",
                "simulate all of the traffic (--traffic exact), or let the program run longer",
                effect=off,
                on=part.level,
            )


def undecoded(counts: Counts) -> Iterable[Caution]:
    """Doubt the work if instructions that are not understood might add to it."""
    hidden = _MOST_FLOP * counts.undecoded
    if hidden <= _NEGLIGIBLE * max(counts.work_flop, counts.instructions):
        return
    yield Caution(
        "undecoded",
        f"{counts.undecoded} of {counts.instructions} instructions "
        f"({counts.undecoded / counts.instructions:.2%}) could not be decoded: their flop, "
        "loads and stores are not counted",
        "take the work as a lower bound",
        effect=None,
    )


def late(late_ns: int, inside_ns: int) -> Iterable[Caution]:
    """Doubt what threads did while another one came into what is counted, or left it."""
    if late_ns > _NEGLIGIBLE * inside_ns:
        share = late_ns / inside_ns
        yield Caution(
            "threads-late",
            f"for {share:.2%} of the CPU time it is not known whether the work of some threads "
            "belongs to the counted part: they made no system call when another thread entered "
            "or left it",
            "make the other threads wait where the counted part begins and ends, or count with "
            "--meter engine",
            effect=share,
        )


def lost_events(n_lost: int) -> Iterable[Caution]:
    """Doubt what is said of processes and threads when not all of it could be noted."""
    if n_lost:
        yield Caution(
            "events-lost",
            f"{n_lost} events (beginnings and ends of processes and threads) could not be recorded",
            "trust the counts; there may have been more processes and threads than reported",
            effect=0.0,
        )


def not_counted(paths: Sequence[str]) -> str | None:
    """Return that some programs were not counted, or None if all were."""
    if not paths:
        return None
    names = ", ".join(sorted({os.path.basename(path) or path for path in paths}))
    return (
        f"the work of programs that it executed was not counted ({names}): they are static, "
        "setuid, or refused"
    )
