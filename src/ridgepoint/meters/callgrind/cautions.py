"""What to doubt in counts made by callgrind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ridgepoint.caution import Caution
from ridgepoint.counts import Counts, FunctionCounts, Traffic
from ridgepoint.meters.callgrind.geometry import Geometry
from ridgepoint.units import format_si

MOST_FLOP_PER_INSTRUCTION = 16
"""Of any instruction that Valgrind executes: a 256-bit fp32 FMA. It has no AVX-512."""

_NEGLIGIBLE = 1e-3
_SHARE_THAT_MATTERS = 0.01


def undecoded(counts: Counts) -> Iterable[Caution]:
    """Doubt the work if code that could not be decoded might add to it."""
    hidden = MOST_FLOP_PER_INSTRUCTION * counts.undecoded
    if hidden <= _NEGLIGIBLE * max(counts.work_flop, counts.instructions):
        return
    yield Caution(
        "undecoded",
        f"{counts.undecoded} of {counts.instructions} instructions "
        f"({counts.undecoded / counts.instructions:.2%}) lay in code made at run time or in files "
        f"that have changed or gone since; they hide at most {hidden} flop "
        f"({MOST_FLOP_PER_INSTRUCTION} each, the most without AVX-512) beside the "
        f"{counts.work_flop} counted, and their loads and stores",
        "take the work as a lower bound, or have the code compiled ahead of time",
    )


def wider_path(
    functions: Iterable[FunctionCounts], *, holds_avx512: Callable[[str], bool]
) -> Iterable[Caution]:
    """Doubt widths if libraries that did work could have chosen AVX-512 in a native run."""
    work: dict[str, int] = {}
    for function in functions:
        if function.object is not None:
            work[function.object] = work.get(function.object, 0) + function.counts.work_flop
    least = _SHARE_THAT_MATTERS * sum(work.values())
    wide = sorted(path for path, flop in work.items() if flop and flop >= least)
    wide = [path for path in wide if holds_avx512(path)]
    if wide:
        yield Caution(
            "avx2-path",
            "Valgrind shows programs a CPU without AVX-512, this one has it, and "
            f"{', '.join(wide)} can use it: a native run may do the flop in wider instructions",
            "trust the work; do not trust widths and instruction counts of these libraries",
        )


def non_temporal(counts: Counts) -> Iterable[Caution]:
    """Doubt the reads if stores went past the caches."""
    if counts.non_temporal_store_bytes:
        stored = format_si(counts.non_temporal_store_bytes, "B")
        yield Caution(
            "non-temporal-stores",
            f"{stored} were stored non-temporally; callgrind "
            "simulates these as ordinary stores, which read their line first",
            "subtract up to as many bytes from the memory reads",
        )


def processes(n_processes: int, *, lost: Sequence[int]) -> Iterable[Caution]:
    """Doubt the traffic of many processes, and counts that miss some."""
    if n_processes > 1:
        yield Caution(
            "simulated-apart",
            f"{n_processes} processes were counted, each with simulated caches of its own, empty "
            "at its start",
            "expect other memory traffic where processes share a cache",
        )
    if lost:
        yield Caution(
            "processes-lost",
            f"{len(lost)} processes left no counts (pid {', '.join(map(str, lost))}): they were "
            "killed, or went on as a program that Valgrind cannot follow",
            "let every process end by itself, or take the counts as a lower bound",
        )


def threads(n_threads: int) -> Iterable[Caution]:
    """Doubt the traffic of many threads."""
    if n_threads > 1:
        yield Caution(
            "threads-serialized",
            f"at least {n_threads} threads ran at the same time; Valgrind runs one at a time, and "
            "all of them on one simulated first-level cache",
            "trust work and instructions; expect other misses, and spinning that differs",
        )


def pending_writes(
    traffic: Iterable[Traffic], *, geometry: Geometry, n_processes: int
) -> Iterable[Caution]:
    """Doubt the writes if much may still have been in the caches at the end."""
    for part in traffic:
        if part.level != "dram" or part.total_bytes is None:
            continue
        written = part.write_bytes or 0
        most = min(geometry.last.size_bytes * n_processes, max(0, part.read_bytes - written))
        if most > _SHARE_THAT_MATTERS * part.total_bytes:
            yield Caution(
                "pending-writes",
                "callgrind does not say how many lines were still dirty at the end: "
                f"at most {format_si(most, 'B')}, beside {format_si(written, 'B')} written back",
                "let the program move much more than its last-level cache holds",
            )
