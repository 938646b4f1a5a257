"""What the copying engine costs and covers, and how exact it is, over whole programs.

    python benchmarks/copying.py [--pairs N] [NAME ...]

Each program is run natively and counted in turn, so that what neighbours do meets both; the cost
is the ratio of the least CPU times, of whole runs with start-up and end. Where work is known by
hand, it is compared; where the program's output differs, it is said. Kernels of PyTorch need
``torch``. Then what a start costs with the copies kept and without, and how fast copies are made.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.measurement import Counted
from ridgepoint.meters import Run
from ridgepoint.meters.native import NativeMeter

PROGRAMS = Path(__file__).parent / "programs"
BUILDS = (
    ("wide", "wide.c", ("gcc", "-O3", "-march=native", "-pthread")),
    ("wide3", "wide.c", ("gcc", "-O3", "-march=x86-64-v3", "-pthread")),
    ("objects", "objects.cpp", ("g++", "-O2")),
    ("blas", "../../tests/programs/blas.c", ("gcc", "-O3", "-march=x86-64-v3")),
    ("kernels", "kernels.c", ("gcc", "-O3", "-march=x86-64-v3", "-pthread")),
)


@dataclass(frozen=True)
class Program:
    """A program, and the flop that it does, if they are known by hand."""

    title: str
    command: tuple[str, ...]
    flop: int | None = None


def programs(folder: str) -> Iterator[Program]:
    """Yield all programs; each runs for about half a second."""

    def built(title: str, *command: str, flop: int | None = None) -> Program:
        return Program(title, (f"{folder}/{command[0]}", *command[1:]), flop)

    def python(title: str, script: str, *arguments: str, flop: int | None = None) -> Program:
        return Program(title, (sys.executable, str(PROGRAMS / script), *arguments), flop)

    wide = 2 * 1000 * 4_000_000
    yield built("daxpy, L1, AVX2", "wide3", "daxpy", "1000", "4000000", flop=wide)
    yield built("daxpy, L1, widest", "wide", "daxpy", "1000", "4000000", flop=wide)
    yield built("daxpy, memory", "wide", "daxpy", "1000000", "600", flop=2 * 10**6 * 600)
    yield built("dgemm, AVX2", "wide3", "dgemm", "300", "150", flop=2 * 300**3 * 150)
    yield built("dgemm, widest", "wide", "dgemm", "300", "200", flop=2 * 300**3 * 200)
    yield built("masked tail", "wide", "masked", "1003", "4000000", flop=2 * 1003 * 4_000_000)
    yield built("masked condition", "wide", "chosen", "1000", "3000000")
    yield built("8 threads", "wide", "threads", "1000", "500000", flop=8 * 2 * 1000 * 500_000)
    spmv = 2 * (3 * 300_000 - 2) * 400
    yield built("SpMV", "blas", "spmv", "300000", "400", flop=spmv)
    yield built("stencil", "blas", "stencil", "1000", "600", flop=5 * 998**2 * 600)
    yield built("qsort", "kernels", "qsort", "200000", "30", flop=0)
    yield built("C++, exceptions", "objects", "20000", "150")
    yield Program("gzip", ("gzip", "-6", "-c", "-n", f"{folder}/text"), 0)
    yield python("NumPy matmul", "arrays.py", "matmul", "1024", "20")
    yield python("NumPy FFT", "arrays.py", "fft", "262144", "60")
    yield python("NumPy SVD", "arrays.py", "svd", "300", "12")
    yield python("NumPy sort", "arrays.py", "sort", "1000000", "60")
    yield python("NumPy exp, sin", "arrays.py", "exp", "1000000", "40")
    yield python("Python loop", "arrays.py", "loop", "1000000", "8")
    if importlib.util.find_spec("torch") is not None:
        yield python("PyTorch bf16", "tensors.py", "bf16", "2048", "40", flop=2 * 2048**3 * 40)
        yield python("PyTorch fp32", "tensors.py", "fp32", "1024", "20")
        yield python("transformer", "tensors.py", "transformer", "512", "6")


def timed(command: Sequence[str]) -> tuple[Run, bytes]:
    """Run a command, and return how long it took and what it printed."""
    before, began_s = os.times(), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=600)
    after, wall_s = os.times(), time.perf_counter() - began_s
    cpu_s = sum(after[2:4]) - sum(before[2:4])
    return Run(exit_status=done.returncode, wall_s=wall_s, cpu_s=cpu_s), done.stdout


def counted(program: Program) -> tuple[Run, bytes, Counted]:
    """Count a command once."""
    runs: list[tuple[Run, bytes]] = []

    def launch(wrapped: Sequence[str]) -> Run:
        runs.append(timed(wrapped))
        return runs[-1][0]

    result = NativeMeter().count(program.command, launch=launch, caches=())
    return *runs[-1], result


def row(program: Program, pairs: int) -> float:
    """Print what counting a program costs, and return it."""
    natively: list[float] = []
    counting: list[float] = []
    same = True
    for _ in range(pairs):
        native, output = timed(program.command)
        run, counted_output, result = counted(program)
        natively.append(native.cpu_s)
        counting.append(run.cpu_s)
        same &= output == counted_output and native.exit_status == run.exit_status
    ratio = min(counting) / min(natively)
    flop = result.counts.work_flop
    if program.flop is None:
        exact = ""
    elif flop == program.flop:
        exact = "exact"
    else:
        exact = f"{flop - program.flop:+,}"
    coverage = "" if result.coverage is None else f"{result.coverage.share:.2%}"
    print(
        f"{program.title:20}{min(natively):8.2f} s{ratio:8.2f}x{coverage:>10}"
        f"{flop:>20,}  {exact:16}{'' if same else 'OUTPUT DIFFERS'}",
        flush=True,
    )
    return ratio


def main() -> None:
    """Build, run, count, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0", ONEDNN_JIT_PROFILE="2")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name, source, command in BUILDS:
            output = f"{folder}/{name}"
            subprocess.run([*command, "-o", output, str(PROGRAMS / source)], check=True)
        words = " ".join(str(k * 2654435761 % 1000003) for k in range(2_000_000))
        Path(folder, "text").write_text(words)
        print(f"{'':20}{'native':>10}{'cost':>9}{'covered':>10}{'flop':>20}")
        for program in programs(folder):
            if not asked.names or program.title in asked.names:
                ratios.append(row(program, asked.pairs))
    if ratios:
        print(f"median {statistics.median(ratios):.2f}x, worst {max(ratios):.2f}x")


if __name__ == "__main__":
    main()
