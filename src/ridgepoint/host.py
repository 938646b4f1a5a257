"""What this host is, as the kernel tells it: CPU, caches, limits."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ridgepoint.errors import CannotMeasure
from ridgepoint.machine import Cache


@dataclass(frozen=True)
class System:
    """The host's description under a root directory.

    Parameters
    ----------
    root : Path
        ``/``, or a captured tree in tests.
    """

    root: Path = Path("/")

    def _read(self, path: str) -> str | None:
        try:
            return (self.root / path).read_text().strip()
        except OSError:
            return None

    @cached_property
    def _cpuinfo(self) -> dict[str, str]:
        """Fields of the first processor in /proc/cpuinfo."""
        first = (self._read("proc/cpuinfo") or "").split("\n\n")[0]
        pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
        return {key.strip(): value.strip() for key, value in pairs}

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
        """Main memory that can be had now."""
        return self._meminfo("MemAvailable")

    def _meminfo(self, field: str) -> int | None:
        for line in (self._read("proc/meminfo") or "").splitlines():
            name, _, value = line.partition(":")
            if name == field:
                return int(value.split()[0]) * 1024
        return None

    @property
    def cpu_limit(self) -> float | None:
        """CPUs' worth of time that control groups (v2 or v1) allow; None: no limit is set.

        Inside a container its own group is the root of what is mounted; outside, the limits of
        all groups above hold too.
        """
        limits = [*self._limits_v2(), *self._limits_v1()]
        return min(limits, default=None)

    def _groups(self, controller: str) -> list[str]:
        """Return the paths from this process's group up to the root, for one controller."""
        for line in (self._read("proc/self/cgroup") or "").splitlines():
            _, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            if controller in controllers.split(","):
                parts = [part for part in path.split("/") if part]
                return ["/".join(parts[:n]) for n in range(len(parts), -1, -1)]
        return [""]

    def _limits_v2(self) -> Iterator[float]:
        for group in self._groups(""):
            quota, _, period = (self._read(f"sys/fs/cgroup/{group}/cpu.max") or "max").partition(
                " "
            )
            if quota.isdigit() and period.isdigit() and int(period):
                yield int(quota) / int(period)

    def _limits_v1(self) -> Iterator[float]:
        for group in self._groups("cpu"):
            base = f"sys/fs/cgroup/cpu/{group}/cpu.cfs"
            quota, period = self._read(f"{base}_quota_us"), self._read(f"{base}_period_us")
            if quota and period and quota.isdigit() and period.isdigit() and int(period):
                yield int(quota) / int(period)

    @cached_property
    def caches(self) -> tuple[Cache, ...]:
        """The first CPU's caches, from the core outwards; empty where /sys does not tell."""
        base = self.root / "sys/devices/system/cpu"
        caches = []
        for index in sorted((base / "cpu0/cache").glob("index[0-9]*")):
            read = {
                name: self._read(str(index.relative_to(self.root) / name))
                for name in ("level", "type", "size", "coherency_line_size",
                             "ways_of_associativity", "shared_cpu_list")
            }  # fmt: skip
            size = _kernel_size(read["size"])
            if not (read["level"] and read["type"] and size):
                continue
            ways = int(read["ways_of_associativity"] or 0)
            caches.append(
                Cache(
                    level=int(read["level"]),
                    kind=read["type"].lower(),
                    size_bytes=size,
                    # A line size of 0 or none at all: 64 is every x86 and most Arm parts'.
                    line_bytes=int(read["coherency_line_size"] or 0) or 64,
                    ways=ways or None,
                    cores=max(1, len(parse_cpu_list(read["shared_cpu_list"] or ""))),
                )
            )
        return tuple(sorted(caches, key=lambda cache: (cache.level, cache.kind)))

    def cache_instances(self, cache: Cache) -> int:
        """Return how many caches like this one the usable CPUs have among them."""
        return -(-len(usable_cpus()) // cache.cores)


def _kernel_size(text: str | None) -> int | None:
    """Return the bytes of a size as /sys prints it: a number and K or M."""
    if not text:
        return None
    factor = {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1)
    digits = text.rstrip("KM")
    return int(digits) * factor if digits.isdigit() and int(digits) else None


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Return the CPUs of a kernel list such as ``0-3,8``."""
    cpus: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return tuple(cpus)


def usable_cpus() -> tuple[int, ...]:
    """Return the CPUs that this process may run on."""
    return tuple(sorted(os.sched_getaffinity(0)))


def data_caches(caches: tuple[Cache, ...]) -> dict[int, Cache]:
    """Return the data or unified cache of each level.

    Raises
    ------
    CannotMeasure
        If there is none: /sys does not describe the caches.
    """
    found = {cache.level: cache for cache in caches if cache.kind != "instruction"}
    if not found:
        raise CannotMeasure(
            "cannot tell the caches of this host",
            reason="/sys/devices/system/cpu/cpu0/cache does not describe them",
            remedy="give them: --cache l1=32k:8,l2=1m:8,l3=32m:16",
        )
    return dict(sorted(found.items()))


def fingerprint(system: System, version: str) -> str:
    """Return a digest of all that must not change for measured ceilings to stay valid.

    CPU, caches, CPUs and CPU time allowed, memory, hypervisor, and the version of the kernels; not
    the host's name, which changes with every container.
    """
    facts = [
        version,
        system.cpu,
        sorted(system.flags),
        [system._cpuinfo.get(key) for key in ("cpu family", "model", "stepping", "microcode")],
        [(c.level, c.kind, c.size_bytes, c.ways, c.cores) for c in system.caches],
        usable_cpus(),
        system.cpu_limit,
        round((system.memory_bytes or 0) / 2**30),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def hostname() -> str:
    """Return this host's name."""
    return socket.gethostname()


def kernel() -> str:
    """Return the operating system's kernel and its version."""
    return f"{platform.system()} {platform.release()}"
