"""Workloads of Python packages: the BLAS of SciPy, pocketfft, ducc0, FFTW.

None of the calls allocates or copies an array.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from ridgepoint.suites.kernels.matrices import BETA
from ridgepoint.suites.kernels.operands import Array, allocate
from ridgepoint.suites.kernels.textbook import Absence, blas, transform, unitary_transform
from ridgepoint.suites.kernels.vectors import ALPHA
from ridgepoint.suites.kernels.workload import Call

_DEEPBIND: int = getattr(os, "RTLD_DEEPBIND", 0)  # glibc's
_SUITE = "pip install 'ridgepoint[suite]'"


def _absence(*packages: str, remedy: str = _SUITE) -> Absence:
    """Return what finds out whether packages are missing, without importing them."""

    @cache
    def absence() -> tuple[str, str] | None:
        lacking = [package for package in packages if find_spec(package) is None]
        return (f"{' and '.join(lacking)} not installed", remedy) if lacking else None

    return absence


@contextmanager
def _own_symbols() -> Iterator[None]:
    """Let extension modules that are imported meanwhile call the libraries they came with.

    MKL makes its symbols known to the whole process, among them the interfaces of BLAS and FFTW:
    what is loaded or bound after it would measure MKL under another name.
    """
    before = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | _DEEPBIND)
    try:
        yield
    finally:
        sys.setdlopenflags(before)


def _limit_blas(threads: int) -> None:
    """Let the BLAS of this process, NumPy's too, use so many threads from now on."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads, user_api="blas")


def _daxpy(n: int, threads: int) -> Call:
    with _own_symbols():
        from scipy.linalg.blas import daxpy

    _limit_blas(threads)

    def call(x: Array, y: Array) -> None:
        daxpy(x, y, n, ALPHA)

    return call


def _dgemv(n: int, threads: int) -> Call:
    with _own_symbols():
        from scipy.linalg.blas import dgemv

    _limit_blas(threads)
    alpha = 1 / n

    def call(a: Array, x: Array, y: Array) -> None:
        dgemv(alpha, a, x, BETA, y, overwrite_y=1)

    return call


def _dgemm(n: int, threads: int) -> Call:
    with _own_symbols():
        from scipy.linalg.blas import dgemm

    _limit_blas(threads)
    alpha = 1 / n

    def call(a: Array, b: Array, c: Array) -> None:
        dgemm(alpha, a, b, BETA, c, overwrite_c=1)

    return call


def _pocketfft(n: int, threads: int) -> Call:
    from scipy.fft import fft

    def call(x: Array) -> None:
        fft(x, norm="ortho", overwrite_x=True)  # its workers share many transforms, never one

    return call


def _ducc0(n: int, threads: int) -> Call:
    from ducc0.fft import c2c

    def call(x: Array, y: Array) -> None:
        c2c(x, out=y, nthreads=threads)

    return call


def _fftw(n: int, threads: int) -> Call:
    with _own_symbols():
        import pyfftw

    # Not the fastest of several plans, which need not be the same one when it is counted.
    plan = pyfftw.FFTW(
        *allocate(FFTW.operands(n), seed=0), flags=("FFTW_ESTIMATE",), threads=threads
    )

    def call(x: Array, y: Array) -> None:
        plan.update_arrays(x, y)
        plan.execute()

    return call


FFTW = transform(
    "fftw",
    compile=_fftw,
    absence=_absence("pyfftw", remedy="pip install pyfftw, which brings FFTW"),
)

WORKLOADS = (
    *blas(
        "blas", daxpy=_daxpy, dgemv=_dgemv, dgemm=_dgemm,
        absence=_absence("scipy", "threadpoolctl"),
    ),
    unitary_transform("pocketfft", compile=_pocketfft, absence=_absence("scipy")),
    transform("ducc0", compile=_ducc0, absence=_absence("ducc0")),
    FFTW,
)  # fmt: skip
