"""What is to be counted on a host, in how many runs, and what cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from ridgepoint.meters.perf.catalogue import Event, Metric, Microarchitecture
from ridgepoint.meters.perf.groups import Counter, Group, packed
from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.sysfs import EnergyDomain, Pmu, energy_domains, pmus

PRECISIONS = ("fp64", "fp32", "fp16", "bf16")
MIX = ("instructions", "branches", "loads", "stores")
OTHER_MEMORIES = ("hbm", "mcdram", "pmem")
EVERYTHING = (
    "flop",
    *PRECISIONS,
    *MIX,
    *(f"{memory}_{way}" for memory in ("dram", *OTHER_MEMORIES) for way in ("read", "write")),
    "dram_total",
)
"""Names of all metrics; ``flop`` is of all precisions together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is counted, and how.

    Parameters
    ----------
    microarchitecture : Microarchitecture
    metrics : dict of str to tuple of Metric
        Those that can be counted; one for each kind of core.
    instances : dict of str to tuple of Pmu
        The PMUs of this host that a metric's pattern means.
    energy : tuple of EnergyDomain
    unknown : dict of str to str
        Metrics that cannot be counted, and why.
    rounds : tuple of tuple of Group
        What is counted of the program in each of its runs: one group for each kind of core.
    machine : tuple of Counter
        What is counted of the whole machine, in the first run.
    """

    microarchitecture: Microarchitecture
    metrics: dict[str, tuple[Metric, ...]]
    instances: dict[str, tuple[Pmu, ...]]
    energy: tuple[EnergyDomain, ...]
    unknown: dict[str, str]
    rounds: tuple[tuple[Group, ...], ...] = ()
    machine: Group = ()

    def counters(self, metric: Metric, events: Iterable[Event]) -> tuple[Counter, ...]:
        """Return the counters of some events of a metric, on every instance of its PMU."""
        return tuple(
            Counter(pmu=pmu, encoding=pmu.encode(event.fields), name=event.name, cost=event.cost)
            for pmu in self.instances[metric.pmu]
            for event in events
        )


def make_plan(
    host: Host,
    microarchitecture: Microarchitecture,
    *,
    wanted: Sequence[str] = EVERYTHING,
    assumed: str = "fp64",
) -> Plan:
    """Return how metrics are counted on a host.

    Parameters
    ----------
    host : Host
    microarchitecture : Microarchitecture
    wanted : sequence of str
        Names of metrics.
    assumed : str
        The precision of all work, where the CPU's events need one to be assumed.
    """
    found = pmus(host)
    instances = {
        pattern: tuple(pmu for pmu in found if pmu.is_instance_of(pattern))
        for pattern in chain(
            (metric.pmu for metric in microarchitecture.metric),
            (core.pmu for core in microarchitecture.core),
        )
    }
    metrics: dict[str, tuple[Metric, ...]] = {}
    unknown: dict[str, str] = {}
    for name in wanted:
        stated = tuple(
            metric
            for metric in microarchitecture.metrics(name)
            if metric.quality != "assumes_one_precision" or name == assumed
        )
        usable = tuple(metric for metric in stated if instances[metric.pmu])
        if usable:
            metrics[name] = usable
        elif stated:
            unknown[name] = f"the kernel shows no PMU {stated[0].pmu!r}"
        else:
            unknown[name] = f"{microarchitecture.name} has no event for it"
    plan = Plan(
        microarchitecture=microarchitecture,
        metrics=metrics,
        instances=instances,
        energy=energy_domains(host),
        unknown=unknown,
    )
    groups = [
        packed(
            _sets(plan, pmu),
            # What the watchdog holds, it holds on every core of an x86.
            counters=core.counters - host.has_watchdog,
        )
        for core in microarchitecture.core
        for pmu in instances[core.pmu]
    ]
    return replace(
        plan,
        rounds=tuple(
            tuple(group for group in together if group) for together in zip_longest(*groups)
        ),
        machine=_of_the_machine(plan),
    )


def _sets(plan: Plan, pmu: Pmu) -> list[Group]:
    """Return the counters that each metric needs of the PMU of a kind of core."""
    return [
        tuple(counter for counter in plan.counters(metric, metric.events) if counter.pmu == pmu)
        for metric in chain.from_iterable(plan.metrics.values())
        if pmu in plan.instances[metric.pmu]
    ]


def _of_the_machine(plan: Plan) -> Group:
    """Return the counters of PMUs that belong to no core, each once."""
    counters = chain.from_iterable(
        plan.counters(metric, (*metric.events, *metric.rest))
        for metric in chain.from_iterable(plan.metrics.values())
        if plan.microarchitecture.core_of(metric) is None
    )
    return tuple({counter.key: counter for counter in counters}.values())
