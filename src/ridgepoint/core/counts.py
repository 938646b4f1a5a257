"""What a program did: exact counts, never rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.resources import LEVELS, PRECISIONS

FlopKind = tuple[str, int | None, bool | None, str | None]
"""Precision, vector width, whether fused, and operation; None: the meter cannot tell."""

OPERATIONS = ("add", "mul", "fma", "div", "sqrt", "dot", "other")
"""What a floating-point instruction does with its lanes: ``add`` subtracts too, ``dot`` sums
products of several lanes, ``other`` approximates, or does several of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlopCount:
    """Flop of one kind of instruction.

    Parameters
    ----------
    precision : str
        One of ``fp64``, ``fp32``, ``fp16``, ``bf16``, ``fp80``.
    width_bits : int or None
        Vector width, 128 to 512; 0 for scalar instructions. None: the meter cannot tell.
    fma : bool or None
        Whether a multiply and an add are fused (2 flop per lane). None: the meter cannot tell.
    flop : int
        Number of flop, masked lanes included: a masked lane counts as executed.
    masked_flop : int or None
        Part of `flop` from instructions under a mask, whose lanes may have been off. None: the
        meter cannot tell.
    useful_flop : int or None
        Part of `flop` in lanes that no mask had switched off: all of it where nothing is
        masked. None: the meter cannot tell.
    instructions : int or None
        Instructions executed; None: the meter counts flop, not instructions.
    operation : str or None
        One of `OPERATIONS`. None: the meter cannot tell, or could not when this was recorded.
    """

    precision: str
    width_bits: int | None
    fma: bool | None
    flop: int
    masked_flop: int | None = 0
    useful_flop: int | None = None
    instructions: int | None
    operation: str | None = None

    def __post_init__(self) -> None:
        if self.useful_flop is None and self.masked_flop == 0:
            object.__setattr__(self, "useful_flop", self.flop)
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {PRECISIONS}, got {self.precision!r}")
        if self.operation is not None and self.operation not in OPERATIONS:
            raise ValueError(f"operation must be one of {OPERATIONS}, got {self.operation!r}")
        counts = (
            *(self.flop, self.masked_flop, self.useful_flop),
            *(self.instructions, self.width_bits),
        )
        if any(count is not None and count < 0 for count in counts):
            raise ValueError(f"counts must be >= 0, got {self!r}")

    @property
    def kind(self) -> FlopKind:
        """Precision, width, fusion and operation: the key of this count among others."""
        return self.precision, self.width_bits, self.fma, self.operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of executed instructions, by what they do.

    Parameters
    ----------
    instructions : int
        All of them.
    branches, loads, stores : int or None
        Instructions that branch, read memory or write memory; one instruction may do several.
        None: the meter cannot tell.
    load_bytes, store_bytes : int or None
        Bytes that loads and stores move, every iteration of repeated (``rep``) instructions
        included: the traffic between core and L1. None: the meter cannot tell.
    non_temporal_store_bytes : int or None
        Part of `store_bytes` from non-temporal stores. None: the meter cannot tell.
    undecoded : int
        Instructions whose bytes could not be read (code made at run time): their flop, loads
        and stores are missing from the other counts.
    flop : tuple of FlopCount
        By precision, width and kind.
    basic_operations : BasicOperations or None
        By class, counted on the executed instructions: the refined count. None: the meter cannot
        tell.
    """

    instructions: int
    branches: int | None
    loads: int | None
    stores: int | None
    load_bytes: int | None
    store_bytes: int | None
    non_temporal_store_bytes: int | None = 0
    undecoded: int = 0
    flop: tuple[FlopCount, ...] = ()
    basic_operations: BasicOperations | None = None

    def __post_init__(self) -> None:
        for name in COUNT_NAMES:
            if (count := getattr(self, name)) is not None and count < 0:
                raise ValueError(f"{name} must be >= 0, got {count!r}")

    @property
    def work(self) -> dict[str, int]:
        """Flop by precision; only precisions that occur are keys."""
        work: dict[str, int] = {}
        for kind in self.flop:
            work[kind.precision] = work.get(kind.precision, 0) + kind.flop
        return {name: work[name] for name in PRECISIONS if work.get(name)}

    @property
    def work_flop(self) -> int:
        """Flop of all precisions together; an FMA counts 2."""
        return sum(kind.flop for kind in self.flop)

    @property
    def masked_flop(self) -> int | None:
        """Part of `work_flop` from instructions under a mask; None: not known."""
        return add_known(kind.masked_flop for kind in self.flop)

    @property
    def useful_flop(self) -> int | None:
        """Part of `work_flop` in lanes that no mask had switched off; None: not known."""
        return add_known(kind.useful_flop for kind in self.flop)

    @property
    def eq3_bop(self) -> int | None:
        """Basic operations by Eq. (3): instructions - branches - loads - stores; None: not known.

        An instruction that belongs to several of these classes is subtracted several times, so
        the result may be negative.

        References
        ----------
        .. [1] L. Wang et al., "BOPS, Not FLOPS! A New Metric and Roofline Performance Model For
           Datacenter Computing", ACS/SSL-2018-2, section 4.2.2.
        """
        subtracted = add_known((self.branches, self.loads, self.stores))
        return None if subtracted is None else self.instructions - subtracted

    @property
    def l1_traffic(self) -> Traffic:
        """The traffic between core and L1.

        Raises
        ------
        ValueError
            If the bytes loaded or stored are unknown.
        """
        if self.load_bytes is None:
            raise ValueError("the bytes loaded are not known")
        return Traffic(level="l1", read_bytes=self.load_bytes, write_bytes=self.store_bytes)

    @classmethod
    def total(cls, parts: Iterable[Self]) -> Self:
        """Return the sum of several counts; unknown + anything = unknown."""
        sums: dict[str, Any] = dict.fromkeys(COUNT_NAMES, 0)
        kinds: dict[FlopKind, FlopCount] = {}
        basic: BasicOperations | None = BasicOperations()
        for part in parts:
            own = part.basic_operations
            basic = None if basic is None or own is None else basic + own
            for name in COUNT_NAMES:
                sums[name] = _add(sums[name], getattr(part, name))
            for kind in part.flop:
                seen = kinds.get(kind.kind)
                kinds[kind.kind] = (
                    kind
                    if seen is None
                    else replace(
                        seen,
                        flop=seen.flop + kind.flop,
                        masked_flop=_add(seen.masked_flop, kind.masked_flop),
                        useful_flop=_add(seen.useful_flop, kind.useful_flop),
                        instructions=_add(seen.instructions, kind.instructions),
                    )
                )
        return cls(
            **sums,
            flop=tuple(kinds[key] for key in sorted(kinds, key=_unknown_first)),
            basic_operations=basic,
        )


def _unknown_first(kind: FlopKind) -> tuple[str, int, int, str]:
    precision, width_bits, fma, operation = kind
    width = -1 if width_bits is None else width_bits
    return precision, width, -1 if fma is None else int(fma), operation or ""


def add_known(counts: Iterable[int | None]) -> int | None:
    """Return the sum of counts; None if one of them is not known."""
    total: int | None = 0
    for count in counts:
        total = _add(total, count)
    return total


COUNT_NAMES = tuple(
    field.name for field in fields(Counts) if field.name not in {"flop", "basic_operations"}
)
"""Counts that are numbers by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Bytes moved at one memory level.

    Parameters
    ----------
    level : str
        ``l1`` is between core and L1, ``l2`` between L1 and L2, ..., ``dram`` between the last
        cache and memory.
    read_bytes : int
        Towards the core; write-allocate reads included.
    write_bytes : int or None
        Away from the core; None: not measured.
    pending_write_bytes : int or None
        Dirty lines still in the cache when the program ended: neither added nor dropped.
        None: not measured.
    """

    level: str
    read_bytes: int
    write_bytes: int | None
    pending_write_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"level must be one of {LEVELS}, got {self.level!r}")
        if min(self.read_bytes, self.write_bytes or 0, self.pending_write_bytes or 0) < 0:
            raise ValueError(f"traffic must be >= 0, got {self!r}")

    @property
    def total_bytes(self) -> int | None:
        """Bytes of both directions; None if one is unknown."""
        return None if self.write_bytes is None else self.read_bytes + self.write_bytes

    @property
    def known_bytes(self) -> int:
        """Bytes of both directions, as far as they are known."""
        return self.read_bytes + (self.write_bytes or 0)

    @classmethod
    def total(cls, parts: Iterable[Self]) -> tuple[Self, ...]:
        """Return the sum per level, from the core outwards; unknown + anything = unknown."""
        by_level: dict[str, Self] = {}
        for part in parts:
            seen = by_level.get(part.level)
            by_level[part.level] = (
                part
                if seen is None
                else replace(
                    seen,
                    read_bytes=seen.read_bytes + part.read_bytes,
                    write_bytes=_add(seen.write_bytes, part.write_bytes),
                    pending_write_bytes=_add(seen.pending_write_bytes, part.pending_write_bytes),
                )
            )
        return tuple(by_level[level] for level in LEVELS if level in by_level)


def traffic_at(traffic: Iterable[Traffic], level: str) -> Traffic | None:
    """Return the traffic at a memory level, or None if it was not measured."""
    return next((part for part in traffic if part.level == level), None)


def _add(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCounts:
    """What the code of one source line did within one function.

    Parameters
    ----------
    source : str
        Path of the source file, as the debug information states it; for inlined code, it
        differs from the file of the function.
    line : int
        Line number, from 1.
    counts : Counts
    traffic : tuple of Traffic
    """

    source: str
    line: int
    counts: Counts
    traffic: tuple[Traffic, ...] = ()

    def __post_init__(self) -> None:
        if self.line < 1:
            raise ValueError(f"line must be >= 1, got {self.line!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCounts:
    """What one function did itself, without the functions that it called.

    Parameters
    ----------
    name : str
        Symbol, or the address where there is none.
    object : str or None
        Path of the file that holds its code; None for code made at run time.
    counts : Counts
    traffic : tuple of Traffic
    lines : tuple of LineCounts
        By source and line; only lines that are known, without those that did very little.
    """

    name: str
    object: str | None
    counts: Counts
    traffic: tuple[Traffic, ...] = ()
    lines: tuple[LineCounts, ...] = ()


def by_work(functions: Iterable[FunctionCounts]) -> tuple[FunctionCounts, ...]:
    """Return functions by work, then by instructions, largest first; ties by name."""

    def order(function: FunctionCounts) -> tuple[int, int, str]:
        return -function.counts.work_flop, -function.counts.instructions, function.name

    return tuple(sorted(functions, key=order))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionCounts:
    """Counts of all executions of the regions that a program marks with one name.

    Regions nest, and each also counts what runs in the regions inside it, so the counts of
    several regions may add up to more than the program's.

    Parameters
    ----------
    name : str
    inside : tuple of str
        Regions within which it was ever active, in the order in which they were first seen.
    counts : Counts
    traffic : tuple of Traffic
    """

    name: str
    inside: tuple[str, ...] = ()
    counts: Counts
    traffic: tuple[Traffic, ...] = ()
