"""What CPUs were busy with, as the kernel counts time: this process, others, a hypervisor."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.host.files import Files

# Fields of a cpu line in /proc/stat, proc(5): user nice system idle iowait irq softirq steal.
_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ, _STEAL = 0, 1, 2, 5, 6, 7
_BUSY = (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ)
# Of /proc/PID/stat, counted from the field after the name: ppid, utime, stime.
_PARENT, _UTIME, _STIME = 1, 11, 12

_OTHERS_CPUS = 0.1
_STOLEN_CPUS = 0.02
"""CPUs, on average: what others may take without a word."""

_UNSURE_S = 0.05
"""CPU time that may be wrong: clocks tick a hundred times a second, for each CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """CPU time that was spent until a moment.

    Parameters
    ----------
    at_s : float
        The moment, of a monotonic clock.
    busy_s, steal_s : float or None
        Time of all CPUs looked at: running anything; ready to run while the hypervisor ran
        something else. None: the kernel does not report it.
    own_s : float
        CPU time of this process and its children.
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
        return max(ran, key=lambda entry: entry[2], default=None)


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
    processes, children_s = _processes(files, per_second)
    ended_s = times.user + times.system + times.children_user + times.children_system
    return Activity(
        at_s=time.monotonic(),
        busy_s=sum(f[i] for f in fields for i in _BUSY) / per_second if known else None,
        steal_s=sum(f[_STEAL] for f in fields) / per_second if known else None,
        own_s=ended_s + children_s,
        processes=processes,
    )


def of_activity(before: Activity, after: Activity) -> Iterator[Caution]:
    """Yield a caution if other processes, or the hypervisor, kept CPUs busy meanwhile."""
    elapsed_s = after.at_s - before.at_s
    others = before.others_cpus(after)
    if others is not None and others > _OTHERS_CPUS + _UNSURE_S / elapsed_s:
        busiest = before.busiest(after)
        most = ""
        if busiest is not None:
            number, name, seconds = busiest
            most = f", {name!r} (process {number}) most, for {seconds:.1f} s"
        yield Caution(
            "other-load",
            f"other processes kept {others:.2g} CPUs busy during the measurement{most}",
            "end them and measure again: they also compete for shared resources, above all for "
            "memory",
        )
    stolen = before.stolen_cpus(after)
    if stolen is not None and stolen > _STOLEN_CPUS + _UNSURE_S / elapsed_s:
        yield Caution(
            "stolen-time",
            f"the hypervisor gave {stolen:.2g} CPUs' worth of time to others during the "
            "measurement",
            "measure when the host is less busy, or on dedicated CPUs",
        )


def _processes(files: Files, per_second: int) -> tuple[dict[tuple[int, str], float], float]:
    """Return the seconds of every other process, and those of our children, which are ours."""
    usage, children_s = {}, 0.0
    for path in files.names("proc", "[0-9]*"):
        number = int(path.rsplit("/", 1)[1])
        # A process may end while we look; a name may hold spaces and parentheses.
        before, _, after = (files.read(f"{path}/stat") or "").rpartition(")")
        fields = after.split()
        if number == os.getpid() or len(fields) <= _STIME:
            continue
        seconds = (int(fields[_UTIME]) + int(fields[_STIME])) / per_second
        if int(fields[_PARENT]) == os.getpid():
            children_s += seconds
        else:
            usage[number, before.partition("(")[2]] = seconds
    return usage, children_s
