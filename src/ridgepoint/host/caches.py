"""The caches that a CPU sees: from /sys, else from the C library, which asks the processor."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ridgepoint.core.machine import Cache
from ridgepoint.host.files import Files, parse_cpu_list

# A line size of 0 or none at all: 64 is every x86 and most Arm parts'.
_LINE_BYTES = 64

# Level, kind and prefix of the names that sysconf knows.
_SYSCONF = (
    (1, "data", "SC_LEVEL1_DCACHE"),
    (1, "instruction", "SC_LEVEL1_ICACHE"),
    (2, "unified", "SC_LEVEL2_CACHE"),
    (3, "unified", "SC_LEVEL3_CACHE"),
)


def caches_in_sys(files: Files, cpu: int) -> tuple[Cache, ...]:
    """Return a CPU's caches, from the core outwards; empty where /sys does not tell."""
    caches = []
    for index in files.names(f"sys/devices/system/cpu/cpu{cpu}/cache", "index[0-9]*"):
        read = {
            name: files.read(f"{index}/{name}")
            for name in ("level", "type", "size", "coherency_line_size",
                         "ways_of_associativity", "shared_cpu_list")
        }  # fmt: skip
        size = _kernel_size(read["size"])
        if not (read["level"] and read["type"] and size):
            continue
        caches.append(
            Cache(
                level=int(read["level"]),
                kind=read["type"].lower(),
                size_bytes=size,
                line_bytes=int(read["coherency_line_size"] or 0) or _LINE_BYTES,
                ways=int(read["ways_of_associativity"] or 0) or None,
                cores=max(1, len(parse_cpu_list(read["shared_cpu_list"] or ""))),
            )
        )
    return tuple(sorted(caches, key=lambda cache: (cache.level, cache.kind)))


def caches_in_sysconf() -> tuple[Cache, ...]:
    """Return the caches that the C library knows of; which CPUs share them it does not say."""
    caches = []
    for level, kind, prefix in _SYSCONF:
        size, line, ways = (_sysconf(f"{prefix}_{what}") for what in ("SIZE", "LINESIZE", "ASSOC"))
        if size:
            caches.append(
                Cache(
                    level=level,
                    kind=kind,
                    size_bytes=size,
                    line_bytes=line or _LINE_BYTES,
                    ways=ways or None,
                )
            )
    return tuple(caches)


def _sysconf(name: str) -> int:
    try:
        return max(0, os.sysconf(name))
    except (ValueError, OSError):
        return 0  # this C library has no such name


def _kernel_size(text: str | None) -> int | None:
    """Return the bytes of a size as /sys prints it: a number and K or M."""
    if not text:
        return None
    factor = {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1)
    digits = text.rstrip("KM")
    return int(digits) * factor if digits.isdigit() and int(digits) else None


def data_caches(caches: Sequence[Cache]) -> dict[int, Cache]:
    """Return the data or unified cache of each level, from the core outwards; empty: unknown."""
    by_level = {cache.level: cache for cache in caches if cache.kind != "instruction"}
    return dict(sorted(by_level.items()))
