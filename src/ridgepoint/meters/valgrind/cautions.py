"""What to doubt in counts made under Valgrind, whichever of its tools counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ridgepoint.caution import Caution
from ridgepoint.counts import Counts, FunctionCounts
from ridgepoint.errors import InvalidDocument
from ridgepoint.meters.object_file import holds_avx512
from ridgepoint.meters.valgrind.host import has_avx512

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
        effect=(
            max(hidden / counts.work_flop, counts.undecoded / counts.instructions)
            if counts.work_flop
            else None
        ),
    )


def wider_path(functions: Iterable[FunctionCounts]) -> Iterable[Caution]:
    """Doubt widths if libraries that did work could have chosen AVX-512 in a native run."""
    if not has_avx512():
        return
    work: dict[str, int] = {}
    for function in functions:
        if function.object is not None:
            work[function.object] = work.get(function.object, 0) + function.counts.work_flop
    least = _SHARE_THAT_MATTERS * sum(work.values())
    wide = sorted(path for path, flop in work.items() if flop and flop >= least)
    wide = [path for path in wide if _holds_avx512(path)]
    if wide:
        yield Caution(
            "avx2-path",
            "Valgrind shows programs a CPU without AVX-512, this one has it, and "
            f"{', '.join(wide)} can use it: a native run may do the flop in wider instructions",
            "trust the work; do not trust widths and instruction counts of these libraries",
            effect=0.0,
            on="compute",
        )


def _holds_avx512(path: str) -> bool:
    try:
        return holds_avx512(path)
    except InvalidDocument:
        return False  # gone since it ran: nothing is known against it


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
