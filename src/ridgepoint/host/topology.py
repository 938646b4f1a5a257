"""How CPUs hang together: cores of several threads, NUMA nodes, kinds of cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.host.files import Files, parse_cpu_list

_CPU = "sys/devices/system/cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """The CPUs that may be used, by what they share.

    Parameters
    ----------
    cores : tuple of tuple of int
        CPUs of each physical core: its hardware threads (SMT siblings).
    nodes : dict of str to tuple of int
        CPUs of each NUMA node; one node where the kernel tells of none.
    kinds : dict of str to tuple of int
        CPUs of each kind of core, the fastest first; one kind where the kernel tells of none.
    """

    cores: tuple[tuple[int, ...], ...]
    nodes: dict[str, tuple[int, ...]]
    kinds: dict[str, tuple[int, ...]]

    def one_per_core(self, cpus: Sequence[int]) -> tuple[int, ...]:
        """Return the first of each core's threads, of the cores that have any of these CPUs."""
        firsts = (tuple(cpu for cpu in core if cpu in cpus)[:1] for core in self.cores)
        return tuple(cpu for first in firsts for cpu in first)


def topology(files: Files, cpus: Sequence[int]) -> Topology:
    """Return how these CPUs hang together."""
    return Topology(
        cores=_cores(files, cpus),
        nodes=_nodes(files, cpus) or {"node 0": tuple(cpus)},
        kinds=_kinds(files, cpus) or {"core": tuple(cpus)},
    )


def _cores(files: Files, cpus: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    cores: dict[tuple[int, ...], None] = {}
    for cpu in cpus:
        siblings = parse_cpu_list(
            files.read(f"{_CPU}/cpu{cpu}/topology/thread_siblings_list") or ""
        )
        cores[tuple(sorted({cpu, *siblings} & set(cpus)))] = None
    return tuple(cores)


def _nodes(files: Files, cpus: Sequence[int]) -> dict[str, tuple[int, ...]]:
    nodes = {}
    for path in files.names("sys/devices/system/node", "node[0-9]*"):
        number = int(path.rsplit("node", 1)[1])
        members = parse_cpu_list(files.read(f"{path}/cpulist") or "")
        nodes[number] = tuple(cpu for cpu in cpus if cpu in members)
    # A node may have memory and no CPU, or none that may be used.
    return {f"node {number}": members for number, members in sorted(nodes.items()) if members}


def _kinds(files: Files, cpus: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Return kinds of cores as Intel's hybrid parts name them, or by Arm's relative capacity."""
    named = {
        name: parse_cpu_list(files.read(f"sys/devices/{path}/cpus") or "")
        for name, path in (("P-core", "cpu_core"), ("E-core", "cpu_atom"))
    }
    kinds = {name: tuple(cpu for cpu in cpus if cpu in members) for name, members in named.items()}
    if not any(kinds.values()):
        capacities = {cpu: files.read(f"{_CPU}/cpu{cpu}/cpu_capacity") or "" for cpu in cpus}
        known = sorted({int(text) for text in capacities.values() if text.isdigit()}, reverse=True)
        kinds = {
            f"capacity {capacity}": tuple(c for c in cpus if capacities[c] == str(capacity))
            for capacity in known
        }
    return {name: members for name, members in kinds.items() if members}
