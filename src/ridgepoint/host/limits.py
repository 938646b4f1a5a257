"""What control groups (v2 or v1) and this process's own limits allow.

Inside a container its own group is the root of what is mounted; outside, the limits of all
groups above hold too.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from ridgepoint.host.files import Files

# Version 1 writes "no limit" as the largest number of pages that fits.
_UNLIMITED = 1 << 60


def cpu_limit(files: Files) -> float | None:
    """Return CPUs' worth of time that control groups allow; None: no limit is set."""
    return min([*_cpu_v2(files), *_cpu_v1(files)], default=None)


def memory_left(files: Files) -> int | None:
    """Return bytes that control groups still allow; None: no limit is set."""
    return min([*_memory_v2(files), *_memory_v1(files)], default=None)


def address_space_left(files: Files) -> int | None:
    """Return bytes of address space that ``ulimit -v`` still allows; None: no limit is set."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    sizes = (files.read("proc/self/statm") or "").split()
    if limit == resource.RLIM_INFINITY or not sizes:
        return None
    return max(0, limit - int(sizes[0]) * resource.getpagesize())


def _groups(files: Files, controller: str) -> list[str]:
    """Return the paths from this process's group up to the root, for one controller."""
    for line in (files.read("proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            parts = [part for part in path.split("/") if part]
            return ["/".join(parts[:n]) for n in range(len(parts), -1, -1)]
    return [""]


def _number(files: Files, path: str) -> int | None:
    text = files.read(path)
    return int(text) if text and text.isdigit() else None


def _cpu_v2(files: Files) -> Iterator[float]:
    for group in _groups(files, ""):
        text = files.read(f"sys/fs/cgroup/{group}/cpu.max") or "max"
        quota, _, period = text.partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            yield int(quota) / int(period)


def _cpu_v1(files: Files) -> Iterator[float]:
    for group in _groups(files, "cpu"):
        base = f"sys/fs/cgroup/cpu/{group}/cpu.cfs"
        quota = _number(files, f"{base}_quota_us")
        period = _number(files, f"{base}_period_us")
        if quota and period:
            yield quota / period


def _memory_v2(files: Files) -> Iterator[int]:
    for group in _groups(files, ""):
        base = f"sys/fs/cgroup/{group}/memory"
        limit, used = _number(files, f"{base}.max"), _number(files, f"{base}.current")
        if limit is not None and used is not None:
            yield max(0, limit - used)


def _memory_v1(files: Files) -> Iterator[int]:
    for group in _groups(files, "memory"):
        base = f"sys/fs/cgroup/memory/{group}/memory"
        limit = _number(files, f"{base}.limit_in_bytes")
        used = _number(files, f"{base}.usage_in_bytes")
        if limit is not None and used is not None and limit < _UNLIMITED:
            yield max(0, limit - used)
