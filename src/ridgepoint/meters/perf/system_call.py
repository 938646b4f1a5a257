"""The system call that opens an event: the C library has no function for it."""

from __future__ import annotations

import ctypes
import errno
import os
import platform

_NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
"""Of perf_event_open, by architecture."""

_CLOSE_ON_EXEC = 8  # PERF_FLAG_FD_CLOEXEC


def perf_event_open(attribute: bytes, *, pid: int, cpu: int, group: int) -> int:
    """Return the descriptor of a new event.

    Parameters
    ----------
    attribute : bytes
        A struct perf_event_attr, which tells its own size.
    pid : int
        Thread to observe; 0: the calling one; -1: all, on one CPU.
    cpu : int
        -1: any.
    group : int
        Descriptor of the leader of its group; -1: it leads one itself.

    Raises
    ------
    OSError
        If the kernel refuses.
    """
    number = _NUMBERS.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    descriptor = libc.syscall(
        ctypes.c_long(number),
        ctypes.create_string_buffer(attribute, len(attribute)),
        ctypes.c_int(pid),
        ctypes.c_int(cpu),
        ctypes.c_int(group),
        ctypes.c_ulong(_CLOSE_ON_EXEC),
    )
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(descriptor)
