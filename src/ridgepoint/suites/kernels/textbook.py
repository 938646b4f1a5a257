"""BLAS and FFT by libraries: their data, and the textbook's count of what they do.

How much a library really executes is for a measurement to say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ridgepoint.suites.kernels import fourier, matrices, vectors
from ridgepoint.suites.kernels.operands import Array, Operand
from ridgepoint.suites.kernels.results import Expected
from ridgepoint.suites.kernels.workload import Call, Workload

Compile = Callable[[int, int], Call]
Absence = Callable[[], tuple[str, str] | None]


def blas(
    implementation: str, *, daxpy: Compile, dgemv: Compile, dgemm: Compile, absence: Absence
) -> tuple[Workload, ...]:
    """Return the three functions of Table I of the roofline paper, by one library.

    Parameters
    ----------
    implementation : str
    daxpy, dgemv, dgemm : callable
        See `Workload.compile`: with alpha `vectors.ALPHA`, or 1/n and beta `matrices.BETA`.
        Matrices are in Fortran's order, results in the last array.
    absence : callable
    """
    return (
        Workload(
            name=f"daxpy.{implementation}",
            formula="y = a x + y",
            sizes=vectors.DAXPY_SIZES,
            quick_sizes=vectors.DAXPY_QUICK_SIZES,
            operands=vectors.vector_operands(2),
            expect=vectors.daxpy_expected,
            compile=daxpy,
            reference=vectors.daxpy_reference,
            parallel=True,
            absence=absence,
        ),
        Workload(
            name=f"dgemv.{implementation}",
            formula="y = alpha A x + beta y",
            sizes=matrices.SQUARE_SIZES,
            quick_sizes=matrices.SQUARE_QUICK_SIZES,
            operands=matrices.dgemv_operands,
            expect=matrices.dgemv_expected,
            compile=dgemv,
            reference=matrices.dgemv_reference,
            parallel=True,
            absence=absence,
        ),
        Workload(
            name=f"dgemm.{implementation}",
            formula="C = alpha A B + beta C",
            sizes=matrices.SQUARE_SIZES,
            quick_sizes=matrices.SQUARE_QUICK_SIZES,
            operands=_dgemm_operands,
            expect=_dgemm_expected,
            compile=dgemm,
            reference=_dgemm_reference,
            parallel=True,
            absence=absence,
        ),
    )


def transform(implementation: str, *, compile: Compile, absence: Absence) -> Workload:
    """Return a library's FFT from one array to another."""
    return Workload(
        name=f"fft.{implementation}",
        formula="y = FFT(x), complex",
        sizes=fourier.SIZES,
        quick_sizes=fourier.QUICK_SIZES,
        operands=fourier.transform_operands,
        expect=_transform_expected,
        compile=compile,
        reference=fourier.reference,
        parallel=True,
        absence=absence,
    )


def unitary_transform(implementation: str, *, compile: Compile, absence: Absence) -> Workload:
    """Return a library's FFT in place, divided by sqrt n: numbers stay as large as they are."""
    return Workload(
        name=f"fft.{implementation}",
        formula="x = FFT(x) / sqrt(n), complex",
        sizes=fourier.SIZES,
        quick_sizes=fourier.QUICK_SIZES,
        operands=lambda n: (Operand(shape=(n,), dtype="c16"),),
        expect=_unitary_expected,
        compile=compile,
        reference=lambda x: np.fft.fft(x, norm="ortho"),
        absence=absence,
    )


def split_radix_flop(n: int) -> int | None:
    """Return the flop of the split-radix FFT, 4 n log2 n - 6 n + 8, near what good codes do.

    None where n is no power of two, 2 or more, for which it does not hold.
    """
    if n < 2 or n & (n - 1):
        return None
    return 4 * n * (n.bit_length() - 1) - 6 * n + 8


def _dgemm_operands(n: int) -> tuple[Operand, ...]:
    return (Operand(shape=(n, n), order="F"),) * 3


def _dgemm_expected(n: int) -> Expected:
    """Return what dgemm must do: n³ FMAs, alpha and beta; all is read, C is written."""
    return Expected(work_flop=2 * n**3 + 2 * n * n, read_bytes=24 * n * n, write_bytes=8 * n * n)


def _dgemm_reference(a: Array, b: Array, c: Array) -> Array:
    result: Array = a @ b / len(a) + matrices.BETA * c
    return result


def _transform_expected(n: int) -> Expected:
    read, written = fourier.moved_bytes(n)
    return Expected(
        work_flop=split_radix_flop(n),
        read_bytes=read,
        write_bytes=written,
        pseudo_flop=fourier.pseudo_flop(n),
    )


def _unitary_expected(n: int) -> Expected:
    """Return the same in place: 2 n flop more, one array that is read and written."""
    flop = split_radix_flop(n)
    return Expected(
        work_flop=None if flop is None else flop + 2 * n,
        read_bytes=16 * n,
        write_bytes=16 * n,
        pseudo_flop=fourier.pseudo_flop(n),
    )
