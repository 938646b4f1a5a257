"""Counts in rounds: of a command from its start, or of a part of this process."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.perf.catalogue import Microarchitecture, find
from ridgepoint.meters.perf.groups import Counter, Group
from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.kernel import EventRefused, Kernel, LinuxKernel, Reading
from ridgepoint.meters.perf.metrics import Amounts, amounts
from ridgepoint.meters.perf.opened import Key, Opened, fitted, opened
from ridgepoint.meters.perf.plan import EVERYTHING, PRECISIONS, Plan, make_plan
from ridgepoint.meters.perf.sysfs import pmus

_CORE_PMUS = r"cpu|cpu_core|cpu_atom|armv8_\w+|apple_\w+_pmu"
_SIMULATE = "count by simulation, which needs no counter: --meter engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Counters that fit this host's PMUs, in as many rounds as that takes.

    Parameters
    ----------
    kernel : Kernel
    host : Host
    plan : Plan
    rounds : tuple of tuple of Group
        Each is to be counted in a run of its own.

    Examples
    --------
    Count a part of this process, with the threads that it has and those that it starts::

        session = Session.open_on(Host())
        for index in range(len(session.rounds)):
            with session.counting(index):
                work()
        session.amounts()["fp64"]
    """

    kernel: Kernel
    host: Host
    plan: Plan
    rounds: tuple[tuple[Group, ...], ...]
    readings: dict[Key, Reading] = field(default_factory=dict)
    refused: dict[Key, str] = field(default_factory=dict)

    @classmethod
    def open_on(
        cls,
        host: Host,
        *,
        kernel: Kernel | None = None,
        wanted: Sequence[str] = EVERYTHING,
        assumed: str = "fp64",
    ) -> Session:
        """Return a session for a host, tried out: its groups fit.

        Parameters
        ----------
        host : Host
        kernel : Kernel or None
            None: the one that runs here.
        wanted : sequence of str
            Names of metrics; see `ridgepoint.meters.perf.plan.EVERYTHING`.
        assumed : str
            The precision of all work, where the CPU's events need one to be assumed.

        Raises
        ------
        MeterUnavailable
            If there is no PMU, nothing is known of this CPU, or the kernel refuses.
        """
        kernel = kernel or LinuxKernel()
        plan = make_plan(host, _microarchitecture(host), wanted=wanted, assumed=assumed)
        whole = [[fitted(kernel, host, group) for group in groups] for groups in plan.rounds]
        rounds: list[tuple[Group, ...]] = []
        for parts in whole:
            longest = max(map(len, parts), default=0)
            rounds.extend(
                tuple(part[index] for part in parts if index < len(part))
                for index in range(longest)
            )
        return cls(kernel=kernel, host=host, plan=plan, rounds=tuple(rounds))

    @property
    def has_work(self) -> bool:
        """Whether the work of programs can be counted here."""
        return not {"flop", *PRECISIONS}.isdisjoint(self.plan.metrics)

    @contextlib.contextmanager
    def following_exec(self, index: int) -> Iterator[None]:
        """Count what this thread starts and what that starts, each from its execution on.

        The events are opened on this thread, waiting; a child inherits them, and executing a
        program starts them there. Nothing of this process is counted.
        """
        with opened(self.kernel, self.host) as events, self._machine(index):
            for group in self.rounds[index]:
                events.add_group(group, on_exec=True)
            yield
            self.readings.update(events.read())

    @contextlib.contextmanager
    def counting(self, index: int) -> Iterator[None]:
        """Count what all threads of this process do, and what they start, until it is left.

        Threads that there are and those that they start later are counted; also the few
        thousand instructions between the start of counting and that of the block.
        """
        with opened(self.kernel, self.host) as events, self._machine(index):
            for thread in map(int, self.host.names("proc/self/task") or ("0",)):
                _add_thread(events, self.rounds[index], thread)
            events.enable()
            yield
            events.disable()
            self.readings.update(events.read())

    def _machine(self, index: int) -> contextlib.AbstractContextManager[None]:
        """Count the whole machine too, in the first round."""
        return contextlib.nullcontext() if index else self.watching_machine()

    @contextlib.contextmanager
    def watching_machine(self) -> Iterator[None]:
        """Count memory traffic and energy of the whole machine until it is left."""
        self.refused.clear()
        for counter in self.machine_counters:
            self.readings.pop(counter.key, None)
        with opened(self.kernel, self.host) as events:
            self.refused.update(events.add_machine(self.machine_counters))
            events.enable()
            yield
            events.disable()
            try:
                self.readings.update(events.read())
            except EventRefused as error:
                self.refused.update((counter.key, str(error)) for counter in self.machine_counters)

    @property
    def machine_counters(self) -> tuple[Counter, ...]:
        """Memory and energy counters of the whole machine."""
        energy = (
            Counter(pmu=domain.pmu, encoding=domain.encoding, name=f"energy-{domain.name}")
            for domain in self.plan.energy
        )
        return (*self.plan.machine, *energy)

    def amounts(self) -> Amounts:
        """Return all metrics, from the last time that each round was counted."""
        return amounts(self.plan, self.readings, self.refused)

    def energy_j(self) -> dict[str, float] | None:
        """Return the energy of each domain, over all packages; None: none was metered."""
        metered = {
            domain.name: self.readings[domain.pmu.name, domain.encoding].count * domain.joule
            for domain in self.plan.energy
            if (domain.pmu.name, domain.encoding) in self.readings
        }
        return metered or None


def _add_thread(events: Opened, groups: Sequence[Group], thread: int) -> None:
    for group in groups:
        try:
            events.add_group(group, pid=thread)
        except EventRefused as error:
            if error.errno != errno.ESRCH:  # it has just ended
                raise


def _microarchitecture(host: Host) -> Microarchitecture:
    """Return what this host's CPU can count.

    Raises
    ------
    MeterUnavailable
        If it shows no PMU, no file describes it, or its number is another CPU's.
    """
    what = "cannot use hardware counters"
    if not any(pmu.is_instance_of(_CORE_PMUS) for pmu in pmus(host)):
        where = "this virtual machine shows" if host.is_virtual else "the kernel shows"
        raise MeterUnavailable(
            what,
            reason=f"{where} no performance-monitoring unit",
            remedy="ask the provider for a PMU, or use bare metal; simulation needs no PMU",
        )
    if host.contradiction is not None:
        raise MeterUnavailable(
            what,
            reason=f"the events of this CPU are not known: {host.contradiction}",
            remedy=_SIMULATE,
        )
    microarchitecture = find(host.identity)
    if microarchitecture is None:
        raise MeterUnavailable(
            what, reason=f"no file describes the events of {host.identity}", remedy=_SIMULATE
        )
    return microarchitecture
