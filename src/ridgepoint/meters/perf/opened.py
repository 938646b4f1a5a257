"""Events that are open: of a program, or of the whole machine."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ridgepoint.meters.perf.attributes import Attributes
from ridgepoint.meters.perf.groups import Counter, Group, halves
from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.kernel import EventRefused, Kernel, Reading, refusal
from ridgepoint.meters.perf.sysfs import Encoding

Key = tuple[str, Encoding]
Readings = Mapping[Key, Reading]
"""What each counter read, by PMU and encoding; over all threads and CPUs on which it was open."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Events that are open on one kernel.

    Parameters
    ----------
    kernel : Kernel
    host : Host
    events : list of tuple
        Each counter with its descriptor, the leader of a group first.
    leaders : list of int
    """

    kernel: Kernel
    host: Host
    events: list[tuple[Counter, int]] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)

    def add_group(
        self, group: Group, *, pid: int = 0, on_exec: bool = False, user_only: bool = True
    ) -> None:
        """Open a group on a thread, and on what it starts from now on.

        Groups are not pinned: the error state of a pinned event in a child is not seen in what
        its parent reads, while turns are (`Reading.share`). Each event is read by itself, since
        older kernels read no inherited groups.

        Raises
        ------
        EventRefused
            If the kernel refuses one.
        """
        leader = -1
        for counter in group:
            leads = leader == -1
            attributes = Attributes(
                type=counter.pmu.type,
                config=counter.encoding.config,
                config1=counter.encoding.config1,
                config2=counter.encoding.config2,
                inherit=True,
                disabled=leads,
                enable_on_exec=leads and on_exec,
                user_only=user_only,
            )
            fd = self._open(counter, attributes, pid=pid, cpu=-1, leader=leader)
            if leads:
                leader = fd
                self.leaders.append(fd)

    def add_machine(self, counters: Iterable[Counter]) -> dict[Key, str]:
        """Open counters of the whole machine, each on the CPUs that its PMU names.

        Returns
        -------
        dict of Key to str
            Those that the kernel refuses, and why; they are not open on any CPU.
        """
        refused: dict[Key, str] = {}
        for counter in counters:
            n_open = len(self.events)
            try:
                self._add_everywhere(counter)
            except EventRefused as error:
                refused[counter.key] = f"{error.reason} ({error.remedy})"
                for _, fd in self.events[n_open:]:
                    self.kernel.close(fd)
                    self.leaders.remove(fd)
                del self.events[n_open:]
        return refused

    def _add_everywhere(self, counter: Counter) -> None:
        attributes = Attributes(
            type=counter.pmu.type,
            config=counter.encoding.config,
            config1=counter.encoding.config1,
            config2=counter.encoding.config2,
            user_only=False,  # these PMUs cannot tell who asks
        )
        for cpu in counter.pmu.cpus or (0,):
            self.leaders.append(self._open(counter, attributes, pid=-1, cpu=cpu, leader=-1))

    def enable(self) -> None:
        """Start counting."""
        for fd in self.leaders:
            self.kernel.enable(fd)

    def disable(self) -> None:
        """Stop counting."""
        for fd in self.leaders:
            self.kernel.disable(fd)

    def read(self) -> dict[Key, Reading]:
        """Return what was counted.

        Raises
        ------
        EventRefused
            If a PMU is gone.
        """
        sums: dict[Key, Reading] = {}
        for counter, fd in self.events:
            try:
                one = self.kernel.read(fd)
            except OSError as error:
                what = f"cannot read {counter.name!r} of the PMU {counter.pmu.name!r} any more"
                raise refusal(what, error, self.host) from error
            seen = sums.get(counter.key)
            sums[counter.key] = one if seen is None else _sum(seen, one)
        return sums

    def close(self) -> None:
        """Give all events back."""
        for _, fd in reversed(self.events):
            self.kernel.close(fd)
        self.events.clear()
        self.leaders.clear()

    def _open(
        self, counter: Counter, attributes: Attributes, *, pid: int, cpu: int, leader: int
    ) -> int:
        try:
            fd = self.kernel.open(attributes, pid=pid, cpu=cpu, group=leader)
        except OSError as error:
            what = f"cannot count {counter.name!r} on the PMU {counter.pmu.name!r}"
            raise refusal(what, error, self.host, whole_machine=pid == -1) from error
        self.events.append((counter, fd))
        return fd


@contextlib.contextmanager
def opened(kernel: Kernel, host: Host) -> Iterator[Opened]:
    """Give a place to open events in, and close them all in the end."""
    events = Opened(kernel, host)
    try:
        yield events
    finally:
        events.close()


def fitted(kernel: Kernel, host: Host, group: Group) -> list[Group]:
    """Return a group as the kernel takes it: whole, or in parts if it is too large for the PMU.

    Raises
    ------
    EventRefused
        If the kernel refuses even a single event.
    """
    try:
        with opened(kernel, host) as trial:
            trial.add_group(group)
    except EventRefused as refused:
        if refused.errno != errno.EINVAL or len(group) == 1:
            raise
        return [part for half in halves(group) for part in fitted(kernel, host, half)]
    return [group]


def _sum(first: Reading, second: Reading) -> Reading:
    return Reading(
        count=first.count + second.count,
        enabled_ns=first.enabled_ns + second.enabled_ns,
        running_ns=first.running_ns + second.running_ns,
    )
