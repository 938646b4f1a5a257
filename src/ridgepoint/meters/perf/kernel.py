"""The system calls behind a counter, and why the kernel refuses one."""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import dataclass
from typing import Protocol

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.perf.attributes import Attributes
from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.system_call import perf_event_open

_ENABLE, _DISABLE = 0x2400, 0x2401  # PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE
_WHOLE_GROUP = 1  # PERF_IOC_FLAG_GROUP
_LENGTH = 3 * 8

_SIMULATE = "count by simulation, which needs no counter: --meter engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an event counted.

    Parameters
    ----------
    count : int
        As the hardware counted it: never scaled.
    enabled_ns, running_ns : int
        Time during which it was to be counted, and during which it had a counter. They differ
        where events take turns (or a thread ran on a core of another kind).
    """

    count: int
    enabled_ns: int
    running_ns: int

    @property
    def share(self) -> float:
        """Share of the time during which it was counted; 0 if it never was to be."""
        return self.running_ns / self.enabled_ns if self.enabled_ns else 0.0


class Kernel(Protocol):
    """Opens, starts, stops and reads events: the system, or a script in tests."""

    def open(self, attributes: Attributes, *, pid: int, cpu: int, group: int) -> int:
        """Return the descriptor of a new event; see `perf_event_open`.

        Raises
        ------
        OSError
            If the kernel refuses.
        """

    def enable(self, fd: int) -> None:
        """Start counting a group."""

    def disable(self, fd: int) -> None:
        """Stop counting a group."""

    def read(self, fd: int) -> Reading:
        """Return what an event counted, its inherited children included.

        Raises
        ------
        OSError
            If it can be counted no longer.
        """

    def close(self, fd: int) -> None:
        """Give an event back."""


class LinuxKernel:
    """The kernel that runs here."""

    def open(self, attributes: Attributes, *, pid: int, cpu: int, group: int) -> int:
        """Call perf_event_open; see `Kernel`."""
        return perf_event_open(bytes(attributes.packed()), pid=pid, cpu=cpu, group=group)

    def enable(self, fd: int) -> None:
        """Start counting a group."""
        fcntl.ioctl(fd, _ENABLE, _WHOLE_GROUP)

    def disable(self, fd: int) -> None:
        """Stop counting a group."""
        fcntl.ioctl(fd, _DISABLE, _WHOLE_GROUP)

    def read(self, fd: int) -> Reading:
        """Read count and times; see `Kernel`."""
        data = os.read(fd, _LENGTH)
        if len(data) != _LENGTH:
            # End of file: the event is in an error state, its PMU gone or its CPU offline.
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        words = memoryview(data).cast("Q")
        return Reading(count=words[0], enabled_ns=words[1], running_ns=words[2])

    def close(self, fd: int) -> None:
        """Give an event back."""
        os.close(fd)


class EventRefused(MeterUnavailable):
    """The kernel refuses an event.

    Parameters
    ----------
    errno : int
        The number of its error.
    """

    def __init__(self, what: str, *, reason: str, remedy: str, errno: int) -> None:
        super().__init__(what, reason=reason, remedy=remedy)
        self.errno = errno


def refusal(what: str, error: OSError, host: Host, *, whole_machine: bool = False) -> EventRefused:
    """Return an error that says why the kernel refused an event, and what to do.

    Parameters
    ----------
    what : str
        What could not be done, beginning with "cannot".
    error : OSError
    host : Host
    whole_machine : bool
        Whether all programs were to be counted, which takes more rights.
    """
    number = error.errno or 0
    reason, remedy = _explained(number, host, whole_machine=whole_machine)
    return EventRefused(what, reason=reason, remedy=remedy, errno=number)


def _explained(number: int, host: Host, *, whole_machine: bool) -> tuple[str, str]:
    if number in {errno.EACCES, errno.EPERM}:
        return _forbidden(host, whole_machine=whole_machine)
    if number in {errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.ENXIO}:
        where = "this virtual machine has" if host.is_virtual else "the kernel has"
        return f"{where} no such counter ({os.strerror(number)})", _SIMULATE
    return _OTHERS.get(number, (os.strerror(number), _SIMULATE))


def _forbidden(host: Host, *, whole_machine: bool) -> tuple[str, str]:
    needed = 0 if whole_machine else 2
    paranoid = host.paranoid
    if host.is_filtered and paranoid is not None and paranoid <= needed:
        return (
            "the container's seccomp filter forbids perf_event_open",
            "run it with --cap-add PERFMON and a seccomp profile that allows perf_event_open",
        )
    level = "unknown" if paranoid is None else paranoid
    whom = ", and counters of the whole machine need level 0" if whole_machine else ""
    return (
        f"perf_event_paranoid is {level}{whom}",
        f"sysctl kernel.perf_event_paranoid={needed} (as root), or give CAP_PERFMON",
    )


_OTHERS = {
    errno.EINVAL: (
        "the PMU cannot count it, or cannot count it together with the other events",
        f"update the kernel, or {_SIMULATE}",
    ),
    errno.EBUSY: (
        "another program uses the PMU exclusively",
        f"end that program (perf, a profiler, a monitoring daemon), or {_SIMULATE}",
    ),
    errno.EMFILE: ("too many files are open", "raise the limit: ulimit -n 4096"),
    errno.ENOSYS: ("this kernel has no perf_event_open, or a filter hides the call", _SIMULATE),
}
