"""What CPUs were busy with, as the kernel counts time: this process, others, a hypervisor."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.host.files import Files

# Fields of a cpu line in /proc/stat, proc(5): user nice system idle iowait irq softirq steal.
_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ, _STEAL = 0, 1, 2, 5, 6, 7
_BUSY = (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ)
# Of /proc/PID/stat, counted from the field after the name: utime, stime.
_UTIME, _STIME = 11, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """CPU time that was spent until a moment.

    Parameters
    ----------
    at_s : float
        The moment, of a monotonic clock.
    busy_s, steal_s : float or None
        Of all CPUs looked at: running anything; ready to run while the hypervisor ran something
        else. None: the kernel does not tell.
    own_s : float
        Of this process and its ended children.
    processes : dict of (int, str) to float
        Seconds of every other process that can be seen, by its number and name.
    """

    at_s: float
    busy_s: float | None
    steal_s: float | None
    own_s: float
    processes: dict[tuple[int, str], float]

    def others_cpus(self, later: Activity) -> float | None:
        """Return how many CPUs other processes kept busy until a later moment, on average."""
        if self.busy_s is None or later.busy_s is None:
            return None
        others = (later.busy_s - self.busy_s) - (later.own_s - self.own_s)
        return max(0.0, others / (later.at_s - self.at_s))

    def stolen_cpus(self, later: Activity) -> float | None:
        """Return how many CPUs the hypervisor took away until a later moment, on average."""
        if self.steal_s is None or later.steal_s is None:
            return None
        return max(0.0, later.steal_s - self.steal_s) / (later.at_s - self.at_s)

    def busiest(self, later: Activity) -> tuple[int, str, float] | None:
        """Return number, name and CPU seconds of the other process that ran most since."""
        ran = [
            (number, name, seconds - self.processes.get((number, name), 0.0))
            for (number, name), seconds in later.processes.items()
        ]
        return max(ran, key=lambda each: each[2], default=None)


def activity(files: Files, cpus: Sequence[int]) -> Activity:
    """Return what these CPUs have done until now."""
    per_second = os.sysconf("SC_CLK_TCK")
    lines = {f"cpu{cpu}" for cpu in cpus}
    fields = [
        [int(text) for text in line.split()[1:]]
        for line in (files.read("proc/stat") or "").splitlines()
        if line.split(" ", 1)[0] in lines
    ]
    known = bool(fields) and all(len(values) > _STEAL for values in fields)
    times = os.times()
    return Activity(
        at_s=time.monotonic(),
        busy_s=sum(f[i] for f in fields for i in _BUSY) / per_second if known else None,
        steal_s=sum(f[_STEAL] for f in fields) / per_second if known else None,
        own_s=times.user + times.system + times.children_user + times.children_system,
        processes=_processes(files, per_second),
    )


def _processes(files: Files, per_second: int) -> dict[tuple[int, str], float]:
    found = {}
    for path in files.names("proc", "[0-9]*"):
        number = int(path.rsplit("/", 1)[1])
        # A process may end while we look; a name may hold spaces and parentheses.
        before, _, after = (files.read(f"{path}/stat") or "").rpartition(")")
        fields = after.split()
        if number != os.getpid() and len(fields) > _STIME:
            name = before.partition("(")[2]
            found[number, name] = (int(fields[_UTIME]) + int(fields[_STIME])) / per_second
    return found
