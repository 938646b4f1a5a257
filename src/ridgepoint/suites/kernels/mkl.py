"""Workloads of Intel's MKL, where it is installed: by its own interfaces, without a package."""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.suites.kernels.matrices import BETA
from ridgepoint.suites.kernels.operands import Array
from ridgepoint.suites.kernels.textbook import blas, transform
from ridgepoint.suites.kernels.vectors import ALPHA
from ridgepoint.suites.kernels.workload import Call

# mkl_cblas.h and mkl_dfti.h.
_COLUMN_MAJOR, _NOT_TRANSPOSED = 102, 111
_COMPLEX, _PLACEMENT, _NOT_IN_PLACE = 32, 11, 44

_P, _I, _D = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
_LIBRARY = "libmkl_rt.so*"


@cache
def _path() -> Path | None:
    """Return where MKL is: in this environment, in oneAPI's, or where the loader looks."""
    root = os.environ.get("MKLROOT")
    folders = [Path(sys.prefix) / "lib"]
    folders += [Path(root) / "lib", Path(root) / "lib" / "intel64"] if root else []
    folders += [Path(name) for name in os.environ.get("LD_LIBRARY_PATH", "").split(":") if name]
    paths = (path for folder in folders for path in sorted(folder.glob(_LIBRARY)))
    return next(paths, None)


def _absence() -> tuple[str, str] | None:
    if _path() is not None:
        return None
    return (
        f"no {_LIBRARY} in this environment, $MKLROOT/lib or $LD_LIBRARY_PATH",
        "pip install mkl, or set MKLROOT",
    )


def _function(name: str, *types: type) -> ctypes._FuncPointer:
    """Return a function of MKL."""
    try:
        function = _library()[name]
    except (OSError, AttributeError) as error:
        raise CannotMeasure(
            "cannot use MKL", reason=str(error), remedy="install it again, with pip install mkl"
        ) from error
    function.argtypes = types
    return function


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(_path()))


def _limit(threads: int) -> None:
    _function("MKL_Set_Num_Threads", _I)(threads)


class _Call:
    """A function that is called with the addresses of arrays, among arguments that stay."""

    def __init__(
        self, function: Callable[..., object], arrange: Callable[..., tuple[object, ...]]
    ) -> None:
        self._function, self._arrange = function, arrange

    def __call__(self, *arrays: Array) -> None:
        self._function(*self._arrange(*(array.ctypes.data for array in arrays)))


def _daxpy(n: int, threads: int) -> Call:
    _limit(threads)
    function = _function("cblas_daxpy", _I, _D, _P, _I, _P, _I)
    return _Call(function, lambda x, y: (n, ALPHA, x, 1, y, 1))


def _dgemv(n: int, threads: int) -> Call:
    _limit(threads)
    function = _function("cblas_dgemv", *(_I,) * 4, _D, _P, _I, _P, _I, _D, _P, _I)
    before = (_COLUMN_MAJOR, _NOT_TRANSPOSED, n, n, 1 / n)
    return _Call(function, lambda a, x, y: (*before, a, n, x, 1, BETA, y, 1))


def _dgemm(n: int, threads: int) -> Call:
    _limit(threads)
    function = _function("cblas_dgemm", *(_I,) * 6, _D, _P, _I, _P, _I, _D, _P, _I)
    before = (_COLUMN_MAJOR, _NOT_TRANSPOSED, _NOT_TRANSPOSED, n, n, n, 1 / n)
    return _Call(function, lambda a, b, c: (*before, a, n, b, n, BETA, c, n))


def _transform(n: int, threads: int) -> Call:
    _limit(threads)
    plan = ctypes.c_void_p()
    length = ctypes.c_long(n)
    create = _function("DftiCreateDescriptor_d_1d", _P, _I, ctypes.c_long)
    failed = create(ctypes.byref(plan), _COMPLEX, length)
    failed = failed or _function("DftiSetValue", _P, _I, _I)(plan, _PLACEMENT, _NOT_IN_PLACE)
    failed = failed or _function("DftiCommitDescriptor", _P)(plan)
    if failed:
        raise CannotMeasure(
            f"cannot plan an FFT of {n} points with MKL",
            reason=f"it returned {failed}",
            remedy="choose another size",
        )
    # Freed with the last call that holds it.
    free = _function("DftiFreeDescriptor", _P)
    weakref.finalize(plan, lambda address: free(ctypes.byref(address)), ctypes.c_void_p(plan.value))
    return _Call(_function("DftiComputeForward", _P, _P, _P), lambda x, y: (plan, x, y))


WORKLOADS = (
    *blas("mkl", daxpy=_daxpy, dgemv=_dgemv, dgemm=_dgemm, absence=_absence),
    transform("mkl", compile=_transform, absence=_absence),
)
