"""Which kernels a machine is measured with, and how much data each level takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ridgepoint.kernels import bandwidth as streams
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.integer import Integer, IntegerOperation, integer_peak
from ridgepoint.kernels.kernel import Kernel, width_name
from ridgepoint.kernels.peak import MIXES, mix, peak
from ridgepoint.machine import Cache

_DRAM_OVER_CACHES = 4
"""DRAM is measured with this many times the last cache, so that next to nothing stays in it."""

_WIDTHS: tuple[tuple[int, str], ...] = ((128, "sse2"), (256, "avx"), (512, "avx512f"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One ceiling to be measured.

    Parameters
    ----------
    resource : str
    name : str
    threads : int
    candidates : tuple of Kernel
        The same thing in several vector widths or ratios; the fastest counts.
    extent_bytes : int
        Of each thread's buffer.
    shares : tuple of float, or None
        Bytes read and written per byte counted, for memory levels.
    """

    resource: str
    name: str
    threads: int
    candidates: tuple[Kernel, ...]
    extent_bytes: int
    shares: tuple[float, float] | None = None

    def size_bytes(self, kernel: Kernel) -> int:
        """Return the length of one of the kernel's streams in this task's buffer."""
        if not kernel.streams:
            return 0
        room = self.extent_bytes - (kernel.streams - 1) * kernel.padding_bytes
        return room // kernel.streams // kernel.quantum_bytes * kernel.quantum_bytes

    def work(self, kernel: Kernel) -> float:
        """Return the work of one repeat on one thread: flop, or bytes as a program counts."""
        return kernel.work_per_repeat + kernel.streams * self.size_bytes(kernel)


def vector_widths(has: Callable[[str], bool]) -> tuple[int, ...]:
    """Return the vector widths that a CPU with these features has, in bit."""
    return tuple(bits for bits, feature in _WIDTHS if has(feature))


def buffer_bytes(level: str, caches: dict[int, Cache], *, threads: int, instances: int) -> int:
    """Return how much data each of `threads` threads streams over to measure a level.

    Parameters
    ----------
    level : str
    caches : dict of int to Cache
        Data caches by level.
    threads : int
    instances : int
        Last-level caches that the machine has in all.

    Notes
    -----
    Three quarters of L1, so that what else a core touches fits beside it. Half of L2 and a
    quarter of L3 of each thread's part: far more than the level before, far less than the level
    itself. An L3 that is small beside L2 (exclusive ones are) takes three L2 or three quarters.
    """

    def part(cache: Cache) -> int:
        return cache.size_bytes // min(threads, cache.cores)

    last = caches[max(caches)]
    if level == "dram":
        total = _DRAM_OVER_CACHES * last.size_bytes * instances
        return max(total // threads, 64 << 20)
    number = int(level[1:])
    if number == 1:
        return part(caches[1]) * 3 // 4
    if number < max(caches):
        return part(caches[number]) // 2
    before = part(caches[number - 1])
    return max(part(last) // 4, min(3 * before, part(last) * 3 // 4))


def plan(
    caches: dict[int, Cache],
    *,
    cores: int,
    instances: int,
    has: Callable[[str], bool],
) -> tuple[Task, ...]:
    """Return every ceiling of a machine, one core and all cores."""
    widths = vector_widths(has)
    computing = _arithmetic(widths, has)
    tasks = []
    for threads in sorted({1, cores}):
        tasks += [
            Task(
                resource=resource,
                name=name,
                threads=threads,
                candidates=candidates,
                extent_bytes=WORKING_BYTES,
            )
            for resource, name, candidates in computing
        ]
        for level in (*(f"l{number}" for number in caches if number <= 3), "dram"):
            patterns = streams.DRAM_PATTERNS if level == "dram" else streams.CACHE_PATTERNS
            extent = buffer_bytes(level, caches, threads=threads, instances=instances)
            for pattern in patterns:
                kernels = tuple(streams.bandwidth(pattern, width_bits=w) for w in widths)
                tasks.append(
                    Task(
                        resource=level,
                        name=pattern.name,
                        threads=threads,
                        candidates=kernels,
                        extent_bytes=extent,
                        shares=pattern.shares(level),
                    )
                )
    return tuple(tasks)


def _arithmetic(
    widths: tuple[int, ...], has: Callable[[str], bool]
) -> list[tuple[str, str, tuple[Kernel, ...]]]:
    """Return resource, name and candidates of every ceiling that is reached in registers."""
    precisions: tuple[Literal["fp64", "fp32"], ...] = ("fp64", "fp32")
    operations: tuple[Literal["add", "mul", "fma"], ...] = ("add", "mul", "fma")
    found: list[tuple[str, str, tuple[Kernel, ...]]] = []
    for precision in precisions:
        for operation in operations if has("fma") else operations[:2]:
            for width in (0, *widths):
                kernel = peak(operation, precision=precision, width_bits=width)
                found.append((precision, kernel.name, (kernel,)))
        for width in (0, *widths) if has("fma") else ():
            mixes = tuple(mix(ratio, precision=precision, width_bits=width) for ratio in MIXES)
            found.append((precision, f"fma+add {width_name(width)}", mixes))
    return found + _integers(widths, has)


def _integers(
    widths: tuple[int, ...], has: Callable[[str], bool]
) -> list[tuple[str, str, tuple[Kernel, ...]]]:
    """Return the same of integers: scalar, and the widest vector that needs one instruction."""
    integers: tuple[Integer, ...] = ("int32", "int64")
    operations: tuple[IntegerOperation, ...] = ("add", "xor", "mul", "compare")
    found: list[tuple[str, str, tuple[Kernel, ...]]] = []
    for integer in integers:
        for operation in operations:
            for width in (0, *integer_widths(operation, integer, widths, has)[-1:]):
                if width or operation != "compare":
                    kernel = integer_peak(operation, integer=integer, width_bits=width)
                    found.append((integer, kernel.name, (kernel,)))
    return found


def integer_widths(
    operation: IntegerOperation,
    integer: Integer,
    widths: tuple[int, ...],
    has: Callable[[str], bool],
) -> tuple[int, ...]:
    """Return the vector widths in which an operation is one instruction on this CPU.

    AVX came with floating point alone: integers of 256 bit are AVX2. PMULLD is SSE4.1, PCMPGTQ
    SSE4.2, VPMULLQ AVX512DQ, below 512 bit with AVX512VL.
    """
    needed = {("mul", "int32"): "sse4.1", ("compare", "int64"): "sse4.2"}
    if (operation, integer) == ("mul", "int64"):
        # Without AVX512VL no narrower form exists.
        wide = has("avx512dq")
        return tuple(w for w in widths if wide and (w == 512 or has("avx512vl")))
    feature = needed.get((operation, integer))
    if feature is not None and not has(feature):
        return ()
    most = 256 if operation == "compare" else 512
    return tuple(w for w in widths if w <= most and (w != 256 or has("avx2")))
