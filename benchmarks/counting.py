"""How exact counting is and what it costs, over kernels whose work is known by hand.

    python benchmarks/counting.py [NAME ...]

Each program is run with few and with many repetitions of its kernel, natively and under each way
of counting; the difference is the kernel's alone, without start-up. Times are CPU times. "native"
is the copying engine, "engine" Valgrind's; "moved" compares what both say of memory traffic.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.host import System, usable_cpus
from ridgepoint.measurement import Counted
from ridgepoint.meters import Meter, Run
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.process import run
from ridgepoint.meters.standard_input import own_standard_input

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "tests" / "programs" / "blas.c", ROOT / "benchmarks" / "programs" / "kernels.c")
ARRAYS = ROOT / "benchmarks" / "programs" / "arrays.py"
NATIVE_RUNS = 5


@dataclass(frozen=True)
class Kernel:
    """A kernel, its size, repetitions that are counted, more of them to be timed natively."""

    program: str
    name: str
    size: int
    flop: int | None  # per repetition, worked out by hand; None: only an estimate is known
    counted: int
    native: int

    def command(self, folder: str, repetitions: int) -> tuple[str, ...]:
        """Return the command line for some repetitions."""
        rest = (self.name, str(self.size), str(repetitions))
        if self.program == "arrays":
            return (sys.executable, str(ARRAYS), *rest)
        return (f"{folder}/{self.program}", *rest)


KERNELS = (
    Kernel("blas", "daxpy", 1_000_000, 2 * 1_000_000, 100, 200),
    Kernel("blas", "saxpy", 1_000_000, 2 * 1_000_000, 200, 400),
    Kernel("blas", "dgemv", 1000, 2 * 1000**2, 100, 400),
    Kernel("blas", "dgemm", 300, 2 * 300**3, 15, 100),
    Kernel("blas", "stencil", 1000, 5 * 998**2, 100, 200),
    Kernel("blas", "spmv", 300_000, 2 * (3 * 300_000 - 2), 50, 100),
    Kernel("kernels", "qsort", 200_000, 0, 3, 20),
    # 2 n^3; 2 n^2 for scaling by alpha and adding to C, as OpenBLAS does it; and 4 with which its
    # cblas_dgemm decides how many threads to use.
    Kernel("arrays", "matmul", 512, 2 * 512**3 + 2 * 512**2 + 4, 10, 50),
    Kernel("arrays", "fft", 65_536, None, 80, 400),
    Kernel("kernels", "threads", 250_000, 4 * 2 * 250_000, 60, 400),
)


# One thread in OpenBLAS, whose idle threads spin; and the same Python in every run.
os.environ.update(OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")


def cpu_s(command: Sequence[str]) -> float:
    """Return the median CPU time of some native runs, s."""
    with own_standard_input() as stdin:
        runs = [run(command, stdin=stdin, output="discard") for _ in range(NATIVE_RUNS)]
    return statistics.median(one.cpu_s for one in runs)


def native_s(kernel: Kernel, folder: str) -> float:
    """Return the CPU time of one repetition, s."""
    many = cpu_s(kernel.command(folder, kernel.native))
    return (many - cpu_s(kernel.command(folder, 0))) / kernel.native


def counted_once(meter: Meter, command: Sequence[str]) -> tuple[float, Counted]:
    """Return the CPU time of a counted run, s, and what was counted."""
    runs: list[Run] = []

    def launch(wrapped: Sequence[str]) -> Run:
        runs.append(run(wrapped, stdin=stdin, output="discard"))
        return runs[-1]

    with own_standard_input() as stdin:
        counted = meter.count(command, launch=launch, caches=System().caches)
    return runs[0].cpu_s, counted


@dataclass(frozen=True)
class Repetition:
    """What one repetition of a kernel takes and does under a meter."""

    cpu_s: float
    flop: float
    moved_bytes: float  # to and from memory; nan: no caches
    start_s: float  # of a run with none


def counted(meter: Meter, kernel: Kernel, folder: str) -> Repetition:
    """Count a kernel."""
    few_s, few = counted_once(meter, kernel.command(folder, 0))
    many_s, many = counted_once(meter, kernel.command(folder, kernel.counted))
    return Repetition(
        cpu_s=(many_s - few_s) / kernel.counted,
        flop=(many.counts.work_flop - few.counts.work_flop) / kernel.counted,
        moved_bytes=(moved_bytes(many) - moved_bytes(few)) / kernel.counted,
        start_s=few_s,
    )


def moved_bytes(counted: Counted) -> float:
    """Return the bytes to and from memory."""
    totals = [one.total_bytes for one in counted.traffic if one.level == "dram"]
    return float("nan") if not totals or totals[0] is None else float(totals[0])


def main(names: Sequence[str]) -> None:
    """Build, time, count, and print the tables."""
    cpus = len(usable_cpus())
    meters = {
        "native": NativeMeter(cpus=cpus),
        "engine": EngineMeter(cpus=cpus, simulate=False),
        "native, caches": NativeMeter(cpus=cpus, simulate=True),
        "engine, caches": EngineMeter(cpus=cpus),
        "callgrind": CallgrindMeter(),
    }
    titles = "".join(f"{name:>16}" for name in meters)
    print(f"{'':8}{'expected flop':>15}{'counted flop':>15}{'native run':>12}{titles}{'moved':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for source in SOURCES:
            command = ["gcc", "-O3", "-march=x86-64-v3", "-pthread", "-o"]
            subprocess.run([*command, f"{folder}/{source.stem}", str(source)], check=True)
        for kernel in KERNELS:
            if names and kernel.name not in names:
                continue
            native = native_s(kernel, folder)
            seen = {name: counted(meter, kernel, folder) for name, meter in meters.items()}
            flop = {round(one.flop) for one in seen.values()}
            ratios = "".join(f"{one.cpu_s / native:15.2f}x" for one in seen.values())
            moved = seen["native, caches"].moved_bytes / seen["engine, caches"].moved_bytes
            expected = "" if kernel.flop is None else f"{kernel.flop:,}"
            print(
                f"{kernel.name:8}{expected:>15}{' / '.join(f'{f:,}' for f in flop):>15}"
                f"{native * 1e3:10.2f}ms{ratios}{moved:8.3f}",
                flush=True,
            )
        command = [f"{folder}/kernels", "qsort", "1", "0"]
        start_ups = {name: counted_once(meter, command)[0] for name, meter in meters.items()}
        print(f"a program that does nothing: native {cpu_s(command) * 1e3:.1f} ms, CPU time of a")
        print("counted run: " + ", ".join(f"{k} {v:.2f} s" for k, v in start_ups.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
