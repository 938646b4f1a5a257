"""Compare estimated traffic with exact traffic: ``python benchmarks/estimates.py [NAME ...]``.

Programs whose data are a half, about once, and several times as large as each cache are run
natively, with all of their accesses simulated, and in bursts. Of each level the table says what
was moved exactly, and between which shares of that the estimate lies.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from counted_programs import SOURCES, Program, build
from ridgepoint.cli.common import caches_of_this_host
from ridgepoint.core.counted import Counted
from ridgepoint.host.run import Run
from ridgepoint.meters.native import NativeMeter

CACHES = "l1=48k:12,l2=2m:16,l3=5m:10"
"""What a core gets of those of the server that the project is tested on."""

_CLOSE = 0.1  # an estimate is right that is no further off, or whose interval holds


def programs(folder: str) -> Iterator[Program]:
    """Yield all programs; each runs for a few tenths of a second."""
    from sys import executable

    sizes = {  # of doubles (qsort: integers; matrices: their order), and repetitions
        "daxpy": ((6000, 200_000), (64_000, 15_000), (800_000, 600)),
        "spmv": ((25_000, 4000), (60_000, 1800), (300_000, 300)),
        "stencil": ((300, 6000), (500, 2200), (1200, 250)),
        "qsort": ((100_000, 30), (800_000, 3)),
        "fft": ((1024, 20_000), (32_768, 400), (262_144, 30)),
        "sort": ((5000, 4000), (200_000, 100), (1_500_000, 10)),
        "matmul": ((256, 700), (512, 80), (1024, 10)),
        "exp": ((100_000, 150), (2_000_000, 8)),
        "svd": ((200, 15), (500, 2)),
    }
    for name, cases in sizes.items():
        for n, times in cases:
            if name == "daxpy":
                start: tuple[str, ...] = (f"{folder}/wide3",)
            elif name in {"spmv", "stencil"}:
                start = (f"{folder}/blas",)
            elif name == "qsort":
                start = (f"{folder}/kernels",)
            else:
                start = (executable, str(SOURCES / "arrays.py"))
            yield Program(f"{name} {n}", (*start, name, str(n)), times)


@dataclass
class Tally:
    """How often estimates were right, and said much."""

    cases: int = 0
    right: int = 0
    narrow: int = 0
    unknown: int = 0


def timed(command: Sequence[str]) -> Run:
    """Run a command, and return how long it took."""
    before, began_s = os.times(), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, timeout=1200)
    after, wall_s = os.times(), time.perf_counter() - began_s
    cpu_s = sum(after[2:4]) - sum(before[2:4])
    return Run(exit_status=done.returncode, wall_s=wall_s, cpu_s=cpu_s)


def counted(program: Program, *, estimates: bool) -> tuple[Run, Counted]:
    """Count a program once."""
    runs: list[Run] = []

    def launch(wrapped: Sequence[str]) -> Run:
        runs.append(timed(wrapped))
        return runs[-1]

    meter = NativeMeter(simulate=True, estimates=estimates)
    result = meter.count(
        program.command(program.repetitions), launch=launch, caches=caches_of_this_host(CACHES)
    )
    return runs[-1], result


def compare(program: Program, tally: Tally) -> None:
    """Print what one program moved, and what was estimated of it."""
    native = min(timed(program.command(program.repetitions)).cpu_s for _ in range(2))
    slow, exact = counted(program, estimates=False)
    quick, guess = counted(program, estimates=True)
    texts = []
    estimate = guess.estimate
    for part in exact.traffic[1:]:
        assert part.total_bytes is not None
        interval = None if estimate is None else estimate.at(part.level)
        found = next((one for one in guess.traffic if one.level == part.level), None)
        tally.cases += 1
        if found is None or found.total_bytes is None:
            tally.unknown += 1
            texts.append("unknown")
            continue
        value, true = found.total_bytes, max(part.total_bytes, 1)
        low = high = value
        if interval is not None:
            low, high = (
                read + written
                for read, written in zip(interval.read_bytes, interval.write_bytes, strict=True)
            )
        is_right = low <= true <= high or abs(value - true) <= _CLOSE * true
        tally.right += is_right
        tally.narrow += high - low <= 2 * _CLOSE * value
        texts.append(
            f"{true:.3g} B {value / true:.2f} ({low / true:.2f} to {high / true:.2f})"
            + ("" if is_right else " WRONG")
        )
    bursts = "all" if estimate is None else f"{estimate.bursts}, {estimate.share:.1%}"
    print(
        f"| {program.title} | {native:.2f} s | {slow.cpu_s / native:.0f}x | "
        f"{quick.cpu_s / native:.2f}x | {bursts} | {' | '.join(texts)} |",
        flush=True,
    )


def main() -> None:
    """Build, run, compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        print("| program | natively | exact | estimated | bursts | L2 | L3 | DRAM |")
        print("|---|---|---|---|---|---|---|---|")
        for program in programs(folder):
            if not asked.names or program.title.split()[0] in asked.names:
                compare(program, tally)
    print(
        f"{tally.cases} cases: {tally.right} right, {tally.unknown} unknown, "
        f"{tally.narrow} within {_CLOSE:.0%} of the estimate"
    )


if __name__ == "__main__":
    main()
