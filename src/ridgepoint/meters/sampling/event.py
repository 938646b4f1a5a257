"""Opens events that take samples: ``perf_event_open(2)``.

They are the kernel's clock of CPU time, and breakpoints, which tell when an instruction is
reached. No counter of the processor takes part, so that both work in virtual machines too.
"""

from __future__ import annotations

import errno
import os
import struct
import time
from pathlib import Path

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.perf.system_call import perf_event_open

# The first 96 byte of perf_event_attr (PERF_ATTR_SIZE_VER3): the kernel takes the rest for 0.
_ATTRIBUTE = struct.Struct("<IIQQQQQIIQQQQIi")
_TYPE_SOFTWARE, _TYPE_BREAKPOINT = 1, 5
_CONFIG_CPU_CLOCK = 0
_SAMPLE_IP, _SAMPLE_TID, _SAMPLE_TIME = 1, 2, 4
_SAMPLE_REGISTERS, _SAMPLE_STACK = 1 << 12, 1 << 13
_EXECUTED = 4  # HW_BREAKPOINT_X
_STACK_POINTER = 1 << 7  # PERF_REG_X86_SP
_WORD_BYTES = 8
# Bits of perf_event_attr, by their place in linux/perf_event.h.
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_MMAP, _COMM, _ENABLE_ON_EXEC, _TASK = 1 << 8, 1 << 9, 1 << 12, 1 << 13
_SAMPLE_ID_ALL, _MMAP2, _COMM_EXEC, _USE_CLOCKID = 1 << 18, 1 << 23, 1 << 24, 1 << 25
_BITS = (
    _DISABLED
    | _INHERIT
    | _EXCLUDE_KERNEL  # what an unprivileged user may see
    | _EXCLUDE_HYPERVISOR
    | _MMAP
    | _COMM
    | _ENABLE_ON_EXEC
    | _TASK
    | _SAMPLE_ID_ALL
    | _MMAP2
    | _COMM_EXEC
    | _USE_CLOCKID
)
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_ONLINE = Path("/sys/devices/system/cpu/online")


def attribute(period_ns: int) -> bytes:
    """Return the ``perf_event_attr`` of the clock, asleep until what is started next executes.

    Parameters
    ----------
    period_ns : int
        CPU time of a thread between two of its samples.
    """
    return _packed(_TYPE_SOFTWARE, period=period_ns, sampled=0)


def breakpoint_attribute(address: int) -> bytes:
    """Return the ``perf_event_attr`` of a breakpoint, asleep as the clock is.

    Every time that an instruction is reached is a sample, with the stack pointer and the word that
    it points to: at a function's first instruction that is where the function will return to.

    Parameters
    ----------
    address : int
        Of the instruction, in the memory of the program that is started next.
    """
    return _packed(
        _TYPE_BREAKPOINT,
        period=1,
        sampled=_SAMPLE_REGISTERS | _SAMPLE_STACK,
        address=address,
    )


def _packed(kind: int, *, period: int, sampled: int, address: int = 0) -> bytes:
    is_breakpoint = kind == _TYPE_BREAKPOINT
    return _ATTRIBUTE.pack(
        kind,
        _ATTRIBUTE.size,
        _CONFIG_CPU_CLOCK,
        period,
        _SAMPLE_IP | _SAMPLE_TID | _SAMPLE_TIME | sampled,
        0,  # read_format
        _BITS,
        0,  # wakeup_events
        _EXECUTED if is_breakpoint else 0,
        address,
        _WORD_BYTES if is_breakpoint else 0,
        0,  # branch_sample_type
        _STACK_POINTER if sampled & _SAMPLE_REGISTERS else 0,
        _WORD_BYTES if sampled & _SAMPLE_STACK else 0,
        time.CLOCK_MONOTONIC,
    )


def open_event(cpu: int, *, asked: bytes) -> int:
    """Return the descriptor of an event on one CPU, of what this thread starts from now on.

    Parameters
    ----------
    cpu : int
    asked : bytes
        Its ``perf_event_attr``.

    The event is this thread's own, asleep, and every thread and process that it starts inherits
    it; it wakes where one of these executes a program. So nothing of this process is sampled,
    and no program has to be held until the event is there.

    Raises
    ------
    MeterUnavailable
        If the kernel refuses.
    """
    try:
        return perf_event_open(asked, pid=0, cpu=cpu, group=-1)
    except OSError as error:
        raise refusal(error.errno or 0, paranoid=_paranoid()) from error


def refusal(number: int, *, paranoid: int | None) -> MeterUnavailable:
    """Return the error that says why the kernel opens no event.

    Parameters
    ----------
    number : int
        Its errno.
    paranoid : int or None
        ``kernel.perf_event_paranoid``; None: unknown.
    """
    reason = f"perf_event_open: {os.strerror(number)}"
    remedy = "measure without --functions"
    if number in {errno.EPERM, errno.EACCES}:
        if paranoid is not None and paranoid > 2:
            reason += f", as kernel.perf_event_paranoid is {paranoid}"
            remedy = "set it to 2 or lower: sysctl kernel.perf_event_paranoid=2"
        else:
            reason += ", as containers often forbid it"
            remedy = "start the container with a seccomp profile that allows perf_event_open"
    elif number == errno.ENOSYS:
        reason += " (the kernel is built without it, or emulated)"
    elif number == errno.EMFILE:
        remedy = "raise the limit of open files: ulimit -n"
    return MeterUnavailable("cannot sample a program", reason=reason, remedy=remedy)


def _paranoid() -> int | None:
    try:
        return int(_PARANOID.read_text())
    except (OSError, ValueError):
        return None


def online_cpus() -> tuple[int, ...]:
    """Return the CPUs that a program may come to run on, whatever its affinity is at first."""
    try:
        text = _ONLINE.read_text()
    except OSError:
        return tuple(sorted(os.sched_getaffinity(0)))
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return tuple(cpus)
