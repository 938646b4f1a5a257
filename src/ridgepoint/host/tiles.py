"""Leave to use AMX's tiles: Linux gives it to a process that asks, since their state is large."""

from __future__ import annotations

import ctypes
import errno
import os
import platform

_ARCH_PRCTL = 158
"""Number of the system call on x86-64: the C library has no function for it."""

_ARCH_REQ_XCOMP_PERM = 0x1023
_XFEATURE_XTILEDATA = 18
"""Documentation/arch/x86/xstate.rst of Linux, since 5.16."""

_BECAUSE = {
    errno.EINVAL: "it does not know the request; Linux does since 5.16",
    errno.EOPNOTSUPP: "it, or the hypervisor, does not support their state",
    errno.ENOSPC: "a thread's alternate signal stack is too small for their state",
}
_FORBIDDEN = "a sandbox (seccomp) or a policy forbids it"


def why_no_tiles() -> str | None:
    """Ask the kernel for leave to use tiles in this process; return why it refuses, or None.

    Threads have the leave of their process, and so have children, until they execute a program.
    """
    number = _refusal()
    if number == 0:
        return None
    because = _BECAUSE.get(number, _FORBIDDEN)
    return (
        f"the kernel gives no leave to use AMX's tiles ({os.strerror(number).lower()}): {because}"
    )


def _refusal() -> int:
    """Return the number of the kernel's error; 0: it gave leave."""
    if platform.machine() not in {"x86_64", "AMD64"} or platform.system() != "Linux":
        return errno.EINVAL
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    answer = libc.syscall(
        ctypes.c_long(_ARCH_PRCTL),
        ctypes.c_long(_ARCH_REQ_XCOMP_PERM),
        ctypes.c_long(_XFEATURE_XTILEDATA),
    )
    return 0 if answer == 0 else ctypes.get_errno()
