"""What to doubt in counts made under Valgrind, whichever of its tools counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts, FunctionCounts
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.meters.object_file import holds_avx512
from ridgepoint.meters.valgrind.host import has_avx512, has_low_precision

MOST_FLOP_PER_INSTRUCTION = 16
"""Of any instruction that Valgrind executes: a 256-bit fp32 FMA. It has no AVX-512."""

_NEGLIGIBLE = 1e-3
_SHARE_THAT_MATTERS = 0.01
_SHARE_WITHOUT_FLOP = 0.2  # of instructions: the loader and the C library have AVX-512 code too


def undecoded(counts: Counts) -> Iterable[Caution]:
    """Doubt the work if code that could not be decoded might add to it."""
    hidden = MOST_FLOP_PER_INSTRUCTION * counts.undecoded
    if hidden <= _NEGLIGIBLE * max(counts.work_flop, counts.instructions):
        return
    yield Caution(
        "undecoded",
        f"{counts.undecoded} of {counts.instructions} instructions "
        f"({counts.undecoded / counts.instructions:.2%}) were in code made at run time or in "
        f"files that have since changed or disappeared; they hide at most {hidden} flop "
        f"({MOST_FLOP_PER_INSTRUCTION} each, the most without AVX-512) in addition to the "
        f"{counts.work_flop} counted, and their loads and stores",
        "take the work as a lower bound, or compile the code ahead of time",
        effect=(
            max(hidden / counts.work_flop, counts.undecoded / counts.instructions)
            if counts.work_flop
            else None
        ),
    )


def wider_path(functions: Sequence[FunctionCounts]) -> Iterable[Caution]:
    """Doubt widths if libraries that did work could have chosen AVX-512 in a native run.

    In a program that does no flop these are the libraries of many of its instructions.
    """
    if not has_avx512():
        return
    flop: dict[str, int] = {}
    instructions: dict[str, int] = {}
    for function in functions:
        if (path := function.object) is not None:
            flop[path] = flop.get(path, 0) + function.counts.work_flop
            instructions[path] = instructions.get(path, 0) + function.counts.instructions
    if any(flop.values()):
        wide = _at_least(_SHARE_THAT_MATTERS, flop)
    else:
        wide = _at_least(_SHARE_WITHOUT_FLOP, instructions)
    wide = [path for path in wide if _holds_avx512(path)]
    if not wide:
        return
    trusted = "the work"
    effect: float | None = 0.0
    if not any(flop.values()):
        trusted = "the absence of flop"
    elif has_low_precision():
        # bf16 that Valgrind's CPU computes as fp32 may natively be done in tiles of AMX.
        effect = None
        trusted = (
            "work in fp64 and fp32 only: work that bf16, fp16 and int8 units do natively, AMX "
            "above all, is counted as something else"
        )
    yield Caution(
        "avx2-path",
        "Valgrind shows programs a CPU without AVX-512, while this CPU has it and "
        f"{', '.join(wide)} can use it: a native run may do the same work in wider instructions",
        f"trust {trusted}; do not trust the vector widths and instruction counts of these "
        "libraries",
        effect=effect,
        on="compute",
    )


def _at_least(share: float, amounts: Mapping[str, int]) -> list[str]:
    """Return the files that did a share of the whole."""
    least = share * sum(amounts.values())
    return sorted(path for path, amount in amounts.items() if amount and amount >= least)


def _holds_avx512(path: str) -> bool:
    try:
        return holds_avx512(path)
    except InvalidDocument:
        return False  # gone since it ran: nothing is known against it


def lost_processes(pids: Sequence[int]) -> Iterable[Caution]:
    """Doubt counts that miss some processes."""
    if pids:
        yield Caution(
            "processes-lost",
            f"{len(pids)} processes left no counts (pid {', '.join(map(str, pids))}): they "
            "were killed, or continued as a program that Valgrind cannot follow",
            "let every process exit by itself, or take the counts as a lower bound",
        )
