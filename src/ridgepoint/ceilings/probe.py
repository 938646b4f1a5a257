"""Tries kernels in a process of their own: a hypervisor may trap what the CPU says it has."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import resource
import select
import signal
import warnings
from collections.abc import Sequence

import numpy as np

from ridgepoint.kernels.jit import Function
from ridgepoint.kernels.kernel import Kernel
from ridgepoint.kernels.peak import WORKING_BYTES

_PATIENCE_S = 10.0
_ARRANGED_BYTES = 1 << 16
_KERNEL_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def deadly(candidates: Sequence[tuple[Kernel, Function]]) -> dict[str, str]:
    """Return which kernels end the process that executes them, and how.

    Parameters
    ----------
    candidates : sequence of (Kernel, Function)
        Compiled in this process. Call this before there are threads: it forks.

    Returns
    -------
    dict of str to str
        A kernel's IR to the name of the signal, ``SIGILL`` as a rule.
    """
    signals: dict[str, str] = {}
    begin = 0
    while begin < len(candidates):
        begin, signalled = _run_from(candidates, begin)
        if signalled is not None:
            signals[candidates[begin][0].ir] = signalled
            begin += 1
    return signals


def _run_from(candidates: Sequence[tuple[Kernel, Function]], begin: int) -> tuple[int, str | None]:
    """Execute kernels in a child; return the index at which it ended, and the signal if one did."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python warns of locks that other threads may hold; the child takes none.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        # Nothing of the parent's may run in the child: it ends without any clean-up, and its
        # death is no crash to be reported.
        try:
            faulthandler.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for kernel, function in candidates[begin:]:
                _execute(kernel, function)
                os.write(write_end, b".")
        finally:
            os._exit(0)
    os.close(write_end)
    done = 0
    while select.select([read_end], [], [], _PATIENCE_S)[0] and (chunk := os.read(read_end, 4096)):
        done += len(chunk)
    os.close(read_end)
    if done < len(candidates) - begin:
        os.kill(pid, signal.SIGKILL)  # it hangs, or has ended and waits to be asked how
    _, status = os.waitpid(pid, 0)
    signalled = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else None
    return (begin + done, signalled) if signalled else (len(candidates), None)


def _execute(kernel: Kernel, function: Function) -> None:
    """Execute one repeat over little data."""
    size = kernel.quantum_bytes if kernel.streams else 0
    room = kernel.streams * (size + kernel.padding_bytes) + WORKING_BYTES
    if kernel.fill is not None:
        size = room = _ARRANGED_BYTES
    buffer = mmap.mmap(-1, room)
    if kernel.fill is not None:
        kernel.fill(np.frombuffer(buffer, dtype=np.uint8), np.random.default_rng(0))
    _KERNEL_TYPE(function.address)(ctypes.addressof(ctypes.c_char.from_buffer(buffer)), size, 1)
