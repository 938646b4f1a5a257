"""What this host is, as the kernel tells it: CPU, caches, limits."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ridgepoint.core.identity import Identity, first_processor, identify, seen_in
from ridgepoint.core.machine import Cache
from ridgepoint.core.version import release
from ridgepoint.host.activity import Activity, activity
from ridgepoint.host.caches import caches_in_sys, caches_in_sysconf
from ridgepoint.host.files import Files
from ridgepoint.host.limits import address_space_left, cpu_limit, memory_left
from ridgepoint.host.topology import Topology, topology
from ridgepoint.published.processors import processors


@dataclass(frozen=True)
class System:
    """The host's description under a root directory.

    Parameters
    ----------
    root : Path
        ``/``, or a captured tree in tests.
    """

    root: Path = Path("/")

    @property
    def _files(self) -> Files:
        return Files(self.root)

    @cached_property
    def _cpuinfo(self) -> dict[str, str]:
        """Fields of the first processor in /proc/cpuinfo."""
        return first_processor(self._files.read("proc/cpuinfo") or "")

    @property
    def cpu(self) -> str:
        """The processor's model name."""
        for key in ("model name", "cpu model", "uarch", "Processor"):
            if key in self._cpuinfo:
                return self._cpuinfo[key]
        return f"unknown {platform.machine()} CPU"

    @property
    def flags(self) -> frozenset[str]:
        """Instruction-set flags of the kernel's list."""
        return frozenset(self._cpuinfo.get("flags", self._cpuinfo.get("Features", "")).split())

    def identity(self, *, called: str | None) -> Identity:
        """Return which CPU this is, by its number and its features.

        Parameters
        ----------
        called : str or None
            LLVM's name of it; None: it has none.
        """
        sizes = {(cache.level, cache.kind): cache.size_bytes // 1024 for cache in self.caches}
        one_core = [sizes.get(key) for key in ((1, "data"), (1, "instruction"), (2, "unified"))]
        caches_kib = tuple(size for size in one_core if size) if all(one_core) else ()
        return identify(seen_in(self._cpuinfo, caches_kib=caches_kib, called=called), processors())

    @property
    def virtualized(self) -> bool | None:
        """Whether a hypervisor announces itself; None: not known on this architecture."""
        if not self.flags or platform.machine() not in {"x86_64", "AMD64"}:
            return None
        return "hypervisor" in self.flags

    @property
    def reported_frequency_hz(self) -> float | None:
        """The core clock that /proc/cpuinfo reports at this moment; None: it does not say."""
        text = self._cpuinfo.get("cpu MHz")
        return float(text) * 1e6 if text else None

    @property
    def memory_bytes(self) -> int | None:
        """Main memory in all."""
        return self._meminfo("MemTotal")

    @property
    def available_bytes(self) -> int | None:
        """Main memory that this process can have now: what is free, and what limits allow."""
        known = (
            self._meminfo("MemAvailable"),
            memory_left(self._files),
            address_space_left(self._files),
        )
        return min((size for size in known if size is not None), default=None)

    def _meminfo(self, field: str) -> int | None:
        for line in (self._files.read("proc/meminfo") or "").splitlines():
            name, _, value = line.partition(":")
            if name == field:
                return int(value.split()[0]) * 1024
        return None

    @property
    def cpu_limit(self) -> float | None:
        """CPUs' worth of time that control groups allow; None: no limit is set."""
        return cpu_limit(self._files)

    @cached_property
    def caches(self) -> tuple[Cache, ...]:
        """The first usable CPU's caches, from the core outwards; empty where nobody tells.

        The C library is asked where /sys says nothing and is this host's.
        """
        caches = caches_in_sys(self._files, usable_cpus()[0]) or caches_in_sys(self._files, 0)
        return caches or (caches_in_sysconf() if self.root == Path("/") else ())

    def cache_instances(self, cache: Cache) -> int:
        """Return how many caches like this one the usable CPUs have among them."""
        return -(-len(usable_cpus()) // cache.cores)

    @cached_property
    def topology(self) -> Topology:
        """How the usable CPUs hang together."""
        return topology(self._files, usable_cpus())

    def activity(self) -> Activity:
        """Return what the usable CPUs have done until now, and for whom."""
        return activity(self._files, usable_cpus())


def usable_cpus() -> tuple[int, ...]:
    """Return the CPUs that this process may run on."""
    return tuple(sorted(os.sched_getaffinity(0)))


def fingerprint(system: System, version: str, *, quick: bool = False) -> str:
    """Return a digest of all that must not change for measured ceilings to stay valid.

    CPU, caches, CPUs and CPU time allowed, memory, hypervisor, and the release of the kernels; not
    the host's name, which changes with every container, nor the commit between two releases. A
    quick measurement has another: it must not take a thorough one's place.
    """
    facts = [
        release(version),
        system.cpu,
        sorted(system.flags),
        [system._cpuinfo.get(key) for key in ("cpu family", "model", "stepping", "microcode")],
        [(c.level, c.kind, c.size_bytes, c.ways, c.cores) for c in system.caches],
        usable_cpus(),
        system.cpu_limit,
        round((system.memory_bytes or 0) / 2**30),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16] + "-quick" * quick


def hostname() -> str:
    """Return this host's name."""
    return socket.gethostname()


def kernel() -> str:
    """Return the operating system's kernel and its version."""
    return f"{platform.system()} {platform.release()}"
