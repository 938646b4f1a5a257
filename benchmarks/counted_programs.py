"""The programs over which the cost of counting is told, and how they are built."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parent / "programs"
_WIDEST, _AVX2 = "-march=native", "-march=x86-64-v3"
_BUILDS = (
    ("wide", "wide.c", ("gcc", "-O3", _WIDEST, "-pthread")),
    ("wide3", "wide.c", ("gcc", "-O3", _AVX2, "-pthread")),
    ("objects", "objects.cpp", ("g++", "-O2")),
    ("blas", "../../tests/programs/blas.c", ("gcc", "-O3", _AVX2)),
    ("kernels", "kernels.c", ("gcc", "-O3", _AVX2, "-pthread")),
)


@dataclass(frozen=True)
class Program:
    """A program that does the same again and again, for about half a second.

    Parameters
    ----------
    title : str
    line : tuple of str
        Its command line but for the last argument: how often.
    repetitions : int
    flop : int or None
        Of one repetition, worked out by hand; None: not known.
    few : int
        Repetitions under Valgrind; 0: it does not run there.
    repeats : bool
        Whether the command line takes the number of repetitions at all.
    """

    title: str
    line: tuple[str, ...]
    repetitions: int
    flop: int | None = None
    few: int = 0
    repeats: bool = True

    def command(self, repetitions: int) -> tuple[str, ...]:
        """Return the command line for some repetitions."""
        return (*self.line, str(repetitions)) if self.repeats else self.line


def build(folder: str) -> None:
    """Compile all of them into a folder, and write what they read."""
    for name, source, command in _BUILDS:
        output = f"{folder}/{name}"
        subprocess.run([*command, "-o", output, str(SOURCES / source)], check=True)
    words = " ".join(str(k * 2654435761 % 1000003) for k in range(2_000_000))
    Path(folder, "text").write_text(words)


def programs(folder: str) -> Iterator[Program]:
    """Yield them all, those with PyTorch only where it is."""

    def built(
        title: str, line: str, repetitions: int, flop: int | None = None, few: int = 0
    ) -> Program:
        name, *arguments = line.split()
        return Program(title, (f"{folder}/{name}", *arguments), repetitions, flop, few)

    def python(
        title: str, line: str, repetitions: int, flop: int | None = None, few: int = 0
    ) -> Program:
        script, *arguments = line.split()
        command = (sys.executable, str(SOURCES / script), *arguments)
        return Program(title, command, repetitions, flop, few)

    yield built("daxpy, L1, AVX2", "wide3 daxpy 1000", 4_000_000, 2 * 1000, 40_000)
    yield built("daxpy, L1, widest", "wide daxpy 1000", 4_000_000, 2 * 1000)
    yield built("daxpy, memory, AVX2", "wide3 daxpy 1000000", 600, 2 * 10**6, 30)
    yield built("dgemm, AVX2", "wide3 dgemm 300", 150, 2 * 300**3, 3)
    yield built("dgemm, widest", "wide dgemm 300", 200, 2 * 300**3)
    yield built("masked tail", "wide masked 1003", 4_000_000, 2 * 1003)
    yield built("masked condition", "wide chosen 1000", 3_000_000)
    yield built("8 threads", "wide3 threads 1000", 500_000, 8 * 2 * 1000, 2000)
    yield built("SpMV", "blas spmv 300000", 400, 2 * (3 * 300_000 - 2), 20)
    yield built("stencil", "blas stencil 1000", 600, 5 * 998**2, 20)
    yield built("qsort", "kernels qsort 200000", 30, 0, 1)
    yield built("C++, exceptions", "objects 20000", 150, None, 5)
    gzip = ("gzip", "-6", "-c", "-n", f"{folder}/text")
    yield Program("gzip", gzip, 1, 0, 1, repeats=False)
    yield python("NumPy matmul", "arrays.py matmul 1024", 20, None, 1)
    yield python("NumPy FFT", "arrays.py fft 262144", 60, None, 3)
    yield python("NumPy SVD", "arrays.py svd 300", 12, None, 1)
    yield python("NumPy sort", "arrays.py sort 1000000", 60, None, 2)
    yield python("NumPy exp, sin", "arrays.py exp 1000000", 40, None, 2)
    yield python("Python loop", "arrays.py loop 1000000", 8, None, 1)
    if importlib.util.find_spec("torch") is not None:
        yield python("PyTorch bf16", "tensors.py bf16 2048", 40, 2 * 2048**3)
        yield python("PyTorch fp32", "tensors.py fp32 1024", 20)
        yield python("transformer", "tensors.py transformer 512", 6)
