"""Functions that tests measure, in a module that another process can import."""

import ctypes
import functools
import os
import time

import numpy as np

IS_COUNTED = "RIDGEPOINT_IS_COUNTED" in os.environ


def scale(x, a, y):
    """Read 8 n byte, read 8 n more since they are to be written, write them: n flop."""
    np.multiply(x, a, out=y)


def axpy(path, x, y):
    """Call a compiled library: read 16 n byte, write 8 n: 2 n flop."""
    _axpy(path)(len(x), 1e-9, x.ctypes.data, y.ctypes.data)


@functools.cache
def _axpy(path):
    function = ctypes.CDLL(path).axpy
    function.argtypes = (ctypes.c_long, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)
    function.restype = None
    return function


@functools.cache
def _numba_axpy():
    from numba import njit

    @njit
    def add(x, y):
        for i in range(len(x)):
            y[i] += 1e-9 * x[i]

    return add


def numba_axpy(x, y):
    """Do the same by Numba."""
    _numba_axpy()(x, y)


def varies(x, calls):
    """Do one more flop per element with each call."""
    calls.append(None)
    for _ in calls:
        np.multiply(x, 1.0, out=x)


def leaves():
    """End the process where it is counted."""
    if IS_COUNTED:
        os._exit(3)


def fails():
    """Fail where it is counted."""
    if IS_COUNTED:
        raise KeyError("not set up")


def sleeps():
    """Take forever where it is counted."""
    if IS_COUNTED:
        time.sleep(1000)


def says():
    """Write more than a pipe holds where it is counted."""
    if IS_COUNTED:
        print("x" * 100_000)
