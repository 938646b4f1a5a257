"""The two tools that machine.py compares with, likwid-bench and carm, run on one chosen core.

What their numbers mean, as looked up in their sources and checked on their running processes:

likwid-bench (5.2) counts the bytes that the program loads and stores, as ridgepoint does, and no
write-allocates. -w gives the size of all streams together, in units of 1000, rounded down to whole
loops. It pins its thread itself, to the first CPU of the domain: the domain N holds what taskset
leaves, the memory domains do not follow taskset. Data are 1.0.

carm (1.5.1) counts loaded and stored bytes too. In the caches its loads and stores take turns in
one buffer, in DRAM there are two; both are as large together as one of likwid-bench's working
sets. Data are zeros. It times with the TSC and divides by a TSC frequency that it measures itself
as the largest of ten, with the time cut to whole ms: 0.1 to 0.4 % too high on a 2.6 GHz TSC, and
so are its rates. `Carm.run` takes that out where the kernel says what the TSC frequency is. It
takes the clock as it comes. It pins its thread itself as well, to the first CPU of the topology
that it is given. Every call of it measures the frequency for 8 s; therefore its benchmarks are
built once with --keep-artifacts, and the programs that it built are what is run again. Multiplying
with SSE does not assemble in 1.5.1 and is left out.

Both take what malloc gives, which is 4 KiB pages where transparent huge pages are on request,
while ridgepoint requests them. HUGE_PAGES has glibc request them for the peers too.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ridgepoint.core.machine import Machine

Key = tuple[str, str]
"""Resource and name of a ceiling."""

HUGE_PAGES = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432"
    ":glibc.malloc.top_pad=16777216"
}

_WIDTHS = {
    "x86": "scalar",
    "x86_sse": "128-bit",
    "x86_avx2": "256-bit",
    "x86_avx512": "512-bit",
}
_FEATURES = {"x86_sse": "sse2", "x86_avx2": "avx2", "x86_avx512": "avx512f"}
_PRECISIONS = {"f64": "fp64", "f32": "fp32"}
_RATIOS = {"1:0": "load", "0:1": "store", "1:1": "copy", "2:1": "mix 2:1"}

# What a pattern is called in likwid-bench; its "triad" has three loads, its "stream" is STREAM's.
_LIKWID_PATTERNS = {
    "load": ("load_sse", "load_avx", "load_avx512"),
    "store": ("store_sse", "store_avx", "store_avx512"),
    "copy": ("copy_sse", "copy_avx", "copy_avx512"),
    "triad": ("stream_sse", "stream_avx", "stream_avx_fma", "stream_avx512", "stream_avx512_fma"),
    "mix 2:1": (),
    "store nt": ("store_mem_sse", "store_mem_avx", "store_mem_avx512"),
    "copy nt": ("copy_mem_sse", "copy_mem_avx", "copy_mem_avx512"),
}
# Its other peaks mix multiplications and additions: no ceiling of ours is that.
_LIKWID_PEAKS = {
    ("fp64", "fma 256-bit"): ("peakflops_avx_fma",),
    ("fp64", "fma 512-bit"): ("peakflops_avx512_fma",),
    ("fp32", "fma 256-bit"): ("peakflops_sp_avx_fma",),
    ("fp32", "fma 512-bit"): ("peakflops_sp_avx512_fma",),
}


@dataclass
class Contest:
    """Ceilings that are measured right after one another, by us and by each peer.

    kernels are likwid-bench's, tried for each ceiling; carm is how carm is asked for all of them.
    """

    ceilings: tuple[Key, ...]
    size_bytes: int
    kernels: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    carm: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return what is being measured, for the progress line."""
        return " and ".join(" ".join(key) for key in self.ceilings)


def data_caches(machine: Machine) -> dict[int, int]:
    """Return the bytes of each level's data cache."""
    caches = [cache for cache in machine.caches if cache.kind != "instruction"]
    return {cache.level: cache.size_bytes for cache in caches}


def working_set(level: str, caches: dict[int, int]) -> int:
    """Return how many bytes a level is measured with on one core, as ridgepoint sizes it."""
    last = max(caches)
    if level == "dram":
        return max(4 * caches[last], 64 << 20)
    number = int(level[1:])
    if number == 1:
        return caches[1] * 3 // 4
    if number < last:
        return caches[number] // 2
    return max(caches[last] // 4, min(3 * caches[number - 1], caches[last] * 3 // 4))


def contests(caches: dict[int, int]) -> list[Contest]:
    """Return everything that ridgepoint and at least one peer measure on one core."""
    found = []
    flags = cpuinfo("flags").split()
    vectors = [isa for isa, feature in _FEATURES.items() if feature in flags]
    for operation in ("add", "mul", "fma"):
        for isa in ("x86", *vectors):
            width = _WIDTHS[isa]
            keys = tuple((resource, f"{operation} {width}") for resource in _PRECISIONS.values())
            kernels = {key: _LIKWID_PEAKS[key] for key in keys if key in _LIKWID_PEAKS}
            asked = ("-t", "arithmetic", "--instruction", operation, "-i", isa, "-d", *_PRECISIONS)
            found.append(Contest(keys, caches[1] // 2, kernels, asked))
    ratios = {pattern: ratio for ratio, pattern in _RATIOS.items()}
    for level in (*(f"l{number}" for number in sorted(caches) if number <= 3), "dram"):
        size = working_set(level, caches)
        for pattern, kernels in _LIKWID_PATTERNS.items():
            if "nt" in pattern and level != "dram":
                continue
            asked = ()
            if pattern in ratios:
                asked = ("-t", "memory", "-m", level.upper(), "-d", "f64", "-i", *vectors)
                asked += ("--mem-test-sizes", f"{size >> 10}KiB", "--ld-st-ratio", ratios[pattern])
            key = (level, pattern)
            found.append(Contest((key,), size, {key: kernels} if kernels else {}, asked))
    return found


class Likwid:
    """likwid-bench on one CPU."""

    name = "likwid-bench"

    def __init__(self, command: str, cpu: int, environment: dict[str, str]) -> None:
        self._prefix = ["taskset", "-c", str(cpu), command]
        self._environment = environment
        self._slow: set[tuple[Key, str]] = set()

    def run(self, contest: Contest) -> dict[Key, dict[str, float]]:
        """Return each kernel's rate for each ceiling, in flop/s or byte/s.

        After the first round, kernels that stayed over 5 % behind the best are left out.
        """
        found: dict[Key, dict[str, float]] = {}
        for key, kernels in contest.kernels.items():
            asked = [kernel for kernel in kernels if (key, kernel) not in self._slow]
            rates = {kernel: self._rate(key, kernel, contest.size_bytes) for kernel in asked}
            best = max(rates.values())
            self._slow |= {(key, kernel) for kernel in asked if rates[kernel] < 0.95 * best}
            found[key] = {kernel: rate for kernel, rate in rates.items() if rate}
        return found

    def _rate(self, key: Key, kernel: str, size_bytes: int) -> float:
        """Return one kernel's rate, 0 where this CPU cannot run it."""
        resource = key[0]
        seconds = "2" if resource == "dram" else "1"
        command = [
            *self._prefix, "-t", kernel, "-w", f"N:{round(size_bytes / 1e3)}kB:1", "-s", seconds
        ]  # fmt: skip
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=120,
            check=False,
        )
        line = "MFlops/s" if resource.startswith("fp") else "MByte/s"
        match = re.search(rf"^{line}:\s*([0-9.]+)", done.stdout, re.MULTILINE)
        return 1e6 * float(match[1]) if match and done.returncode == 0 else 0.0


@dataclass
class _Built:
    """One of carm's benchmark programs: the ceiling, label and work per repetition of each test."""

    program: Path
    tests: dict[str, tuple[Key, str, float]]
    tsc_hz: float


class Carm:
    """The benchmarks that carm builds, run on one CPU."""

    name = "carm"
    test_s = 1.0

    def __init__(
        self, command: str, cpu: int, environment: dict[str, str], folder: Path, machine: Machine
    ) -> None:
        self._command = command
        self._cpu = cpu
        self._environment = environment
        self._folder = folder
        self._topology = folder / "topology.toml"
        self._topology.write_text(_topology(cpu, machine))
        self._built: dict[tuple[Key, ...], _Built] = {}
        self.known_tsc_hz = tsc_hz()

    def build(self, contest: Contest) -> bool:
        """Have carm build, and run once, what it has for a contest; return whether it could."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        home = {"HOME": str(folder), "TMPDIR": str(folder)}
        command = [
            self._command, "benchmark", *contest.carm,
            *("--topology-config", str(self._topology), "--threads", "1"),
            *("--test-time", str(self.test_s), "--keep-artifacts"),
            *("--output-dir", str(folder / "results"), "--output-fmt", "jsonl", "-v", "0"),
        ]  # fmt: skip
        done = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=self._environment | home,
            timeout=300,
            check=False,
        )
        if done.returncode:
            return False
        (results,) = folder.glob("results/*/benchmarks.jsonl")
        (program,) = folder.glob("carm-benchmark-*/benchmark")
        header = (program.parent / "microbenchmarks.h").read_text()
        tests = {}
        for text in results.read_text().splitlines():
            record = json.loads(text)
            giga = record.get("performance_gops") or record["bandwidth_gbps"]
            work = giga * 1e9 * record["time_seconds"] / record["repetitions"]
            tests[record["name"]] = (_ceiling(record), record["isa"], work)
        used_hz = 1e9 * float(re.search(r"\.frequency_ghz = ([0-9.]+)f", header)[1])
        self._built[contest.ceilings] = _Built(program, tests, used_hz)
        return True

    def run(self, contest: Contest) -> dict[Key, dict[str, float]]:
        """Return each instruction set's rate for each ceiling, in flop/s or byte/s."""
        built = self._built.get(contest.ceilings)
        if built is None:
            return {}
        done = subprocess.run(
            ["taskset", "-c", str(self._cpu), str(built.program)],
            capture_output=True,
            text=True,
            env=self._environment,
            check=True,
            timeout=300,
        )
        correction = (self.known_tsc_hz or built.tsc_hz) / built.tsc_hz
        found: dict[Key, dict[str, float]] = {}
        for text in done.stdout.splitlines():
            name, milliseconds, repetitions = text.split(",")
            key, isa, work = built.tests[name]
            rate = work * int(repetitions) / (1e-3 * float(milliseconds)) * correction
            found.setdefault(key, {})[isa] = rate
        return found

    def excess(self) -> list[float]:
        """Return by how much each built program takes the TSC for faster than it is."""
        known_hz = self.known_tsc_hz
        return [built.tsc_hz / known_hz - 1 for built in self._built.values()] if known_hz else []


def _ceiling(record: dict) -> Key:
    """Return which of our ceilings one of carm's records is about."""
    if record["type"] == "arithmetic":
        return _PRECISIONS[record["data_type"]], f"{record['operation']} {_WIDTHS[record['isa']]}"
    return record["cache_level"].lower(), _RATIOS[record["load_store_ratio"]]


def _topology(cpu: int, machine: Machine) -> str:
    """Return a topology for carm whose only CPU is the chosen one."""
    sizes = [size for _, size in sorted(data_caches(machine).items())]
    sizes.append(machine.host.memory_bytes or 1 << 33)
    levels = [f'[[cache_levels]]\ninstances = 1\nsize = "{size >> 10}KiB"\n' for size in sizes]
    return f"total_cpus = 1\ncpu_offset = {cpu}\n{''.join(levels)}"


def tsc_hz() -> float | None:
    """Return the TSC's frequency as Linux knows it, None where it does not tell.

    With a constant TSC the "bogomips" are twice its frequency, not a measurement of a loop.
    """
    bogomips = cpuinfo("bogomips")
    if not bogomips or "constant_tsc" not in cpuinfo("flags").split():
        return None
    return float(bogomips) * 1e6 / 2


def cpuinfo(name: str) -> str:
    """Return what Linux says of the first CPU under a name, nothing where it says nothing."""
    text = Path("/proc/cpuinfo").read_text()
    match = re.search(rf"^{name}\s*:(.*)", text, re.MULTILINE)
    return match[1].strip() if match else ""


def best(rates: dict[str, list[float]], rounds: int) -> tuple[str, list[float]]:
    """Return the kernel with the largest median of those measured in every round."""
    whole = {label: found for label, found in rates.items() if len(found) == rounds}
    if not whole:
        return "", []
    label = max(whole, key=lambda label: statistics.median(whole[label]))
    return label, whole[label]


def environment(*, huge_pages: bool) -> dict[str, str]:
    """Return the environment that the peers run in."""
    return os.environ | (HUGE_PAGES if huge_pages else {})
