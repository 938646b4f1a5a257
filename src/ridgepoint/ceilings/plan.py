"""Which kernels a machine is measured with, and how much data each level takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.ceilings.places import Place
from ridgepoint.kernels import bandwidth as streams
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.integer import Integer, IntegerOperation, integer_peak
from ridgepoint.kernels.kernel import Kernel, width_name
from ridgepoint.kernels.peak import MIXES, mix, peak
from ridgepoint.machine import Cache

_DRAM_OVER_CACHES = 4
"""DRAM is measured with this many times the last cache, so that next to nothing stays in it."""

_LEAST_DRAM = 64 << 20
_BEYOND_ANY_CACHE = 2 << 30
"""Bytes that main memory is measured with where the caches are not known."""

_WIDTHS: tuple[tuple[int, str], ...] = ((128, "sse2"), (256, "avx"), (512, "avx512f"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One ceiling to be measured.

    Parameters
    ----------
    resource : str
    name : str
    place : Place
    candidates : tuple of Kernel
        The same thing in several vector widths or ratios; the fastest counts.
    extent_bytes : int
        Of each thread's buffer.
    shares : tuple of float, or None
        Bytes read and written per byte counted, for memory levels.
    """

    resource: str
    name: str
    place: Place
    candidates: tuple[Kernel, ...]
    extent_bytes: int
    shares: tuple[float, float] | None = None

    def size_bytes(self, kernel: Kernel) -> int:
        """Return the length of one of the kernel's streams in this task's buffer.

        A kernel that arranges its data works on all of it.
        """
        if kernel.fill is not None:
            return self.extent_bytes
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


def buffer_bytes(level: str, caches: dict[int, Cache], place: Place) -> int:
    """Return how much data each thread of a place streams over to measure a level.

    Parameters
    ----------
    level : str
    caches : dict of int to Cache
        Data caches by level; empty: unknown.
    place : Place

    Notes
    -----
    Three quarters of L1, so that what else a core touches fits beside it. Half of L2 and a
    quarter of L3 of each thread's part: far more than the level before, far less than the level
    itself. An L3 that is small beside L2 (exclusive ones are) takes three L2 or three quarters.
    Main memory takes four times all the last caches in reach.
    """

    def part(cache: Cache) -> int:
        return cache.size_bytes // place.sharers(cache)

    if level == "dram":
        if not caches:
            return max(_BEYOND_ANY_CACHE // len(place.cpus), _LEAST_DRAM)
        last = caches[max(caches)]
        instances = -(-len(place.cpus) // place.sharers(last))
        total = _DRAM_OVER_CACHES * last.size_bytes * instances
        return max(total // len(place.cpus), _LEAST_DRAM)
    number = int(level[1:])
    if number == 1:
        return part(caches[1]) * 3 // 4
    if number < max(caches):
        return part(caches[number]) // 2
    before, last_part = part(caches[number - 1]), part(caches[number])
    return max(last_part // 4, min(3 * before, last_part * 3 // 4))


def plan(
    caches: dict[int, Cache],
    places: Sequence[Place],
    *,
    has: Callable[[str], bool],
    quick: bool = False,
) -> tuple[Task, ...]:
    """Return every ceiling of a machine, place by place.

    Parameters
    ----------
    caches : dict of int to Cache
        Data caches by level; empty: unknown, and main memory alone is measured.
    places : sequence of Place
    has : callable
        Whether the CPU has a feature, by LLVM's name.
    quick : bool
        Only the ceilings that bound most programs.
    """
    widths = vector_widths(has)
    computing = _arithmetic(widths, has)
    if quick:
        computing = [each for each in computing if _is_essential(each[1], each[2])]
    tasks = []
    for place in places:
        if not place.memory_only:
            tasks += [
                Task(
                    resource=resource,
                    name=name,
                    place=place,
                    candidates=candidates,
                    extent_bytes=WORKING_BYTES,
                )
                for resource, name, candidates in computing
            ]
        levels = () if place.memory_only else tuple(f"l{n}" for n in caches if n <= 3)
        for level in (*levels, "dram"):
            tasks += _streams(level, buffer_bytes(level, caches, place), place, widths)
    return tuple(tasks)


def _streams(level: str, extent: int, place: Place, widths: tuple[int, ...]) -> list[Task]:
    """Return the ceilings of one memory level at one place."""
    patterns = streams.DRAM_PATTERNS if level == "dram" else streams.CACHE_PATTERNS
    return [
        Task(
            resource=level,
            name=pattern.name,
            place=place,
            candidates=tuple(streams.bandwidth(pattern, width_bits=width) for width in widths),
            extent_bytes=extent,
            shares=pattern.shares(level),
        )
        for pattern in patterns
    ]


def _is_essential(name: str, kernels: tuple[Kernel, ...]) -> bool:
    """Return whether a quick measurement has a ceiling: the widest FMA and sum, scalar FMA."""
    operation = name.split(maxsplit=1)[0]
    widest = kernels[0].claim.width_bits
    return name == "fma scalar" or (operation in {"fma", "add", "dot"} and widest > 0)


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
