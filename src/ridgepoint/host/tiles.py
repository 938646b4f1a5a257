"""Permission to use AMX tiles: Linux gives it to a process that asks, for their state is large."""

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
    errno.EINVAL: "Linux before 5.16 does not support the request",
    errno.EOPNOTSUPP: "the kernel, or the hypervisor, does not support them",
    errno.ENOSPC: "the alternate signal stack of a thread is too small for their state",
}
_FORBIDDEN = "a sandbox (seccomp) or a policy forbids it"


def why_no_tiles() -> str | None:
    """Ask the kernel to let this process use tiles; return why it refuses, or None.

    Threads have the permission of their process. Children inherit it, programs they execute do not.
    """
    number = _refusal()
    if number == 0:
        return None
    because = _BECAUSE.get(number, _FORBIDDEN)
    return (
        f"the kernel does not allow this process to use AMX ({os.strerror(number).lower()}): "
        f"{because}"
    )


def _refusal() -> int:
    """Return the number of the kernel's error; 0: it gave permission."""
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
