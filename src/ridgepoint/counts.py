"""What a program did: exact counts, never rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Self

from ridgepoint.resources import LEVELS, PRECISIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class FlopCount:
    """Flop of one kind of instruction.

    Parameters
    ----------
    precision : str
        One of ``fp64``, ``fp32``, ``fp16``, ``bf16``, ``fp80``.
    width_bits : int
        Vector width, 128 to 512; 0 for scalar instructions.
    fma : bool
        Whether a multiply and an add are fused (2 flop per lane).
    flop : int
        Masked lanes included: a masked lane counts as executed.
    masked_flop : int
        Of these, the flop of instructions under a mask, whose lanes may have been off.
    instructions : int
        Instructions executed.
    """

    precision: str
    width_bits: int
    fma: bool
    flop: int
    masked_flop: int = 0
    instructions: int

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {PRECISIONS}, got {self.precision!r}")
        if min(self.flop, self.masked_flop, self.instructions, self.width_bits) < 0:
            raise ValueError(f"counts must be >= 0, got {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Instructions executed, by what they do.

    Parameters
    ----------
    instructions : int
        All of them.
    branches, loads, stores : int
        Instructions that branch, read memory, write memory; one may do several.
    load_bytes, store_bytes : int
        Bytes that these read and write: the traffic between core and L1.
    non_temporal_store_bytes : int
        Of `store_bytes`, those of non-temporal stores.
    undecoded : int
        Instructions whose bytes were not to be had (code made at run time): their flop,
        loads and stores are missing from the other counts.
    flop : tuple of FlopCount
        By precision, width and kind.
    """

    instructions: int
    branches: int
    loads: int
    stores: int
    load_bytes: int
    store_bytes: int
    non_temporal_store_bytes: int = 0
    undecoded: int = 0
    flop: tuple[FlopCount, ...] = ()

    def __post_init__(self) -> None:
        for name in _COUNT_NAMES:
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be >= 0, got {getattr(self, name)!r}")

    @property
    def work(self) -> dict[str, int]:
        """Flop by precision; only precisions that occur."""
        work: dict[str, int] = {}
        for kind in self.flop:
            work[kind.precision] = work.get(kind.precision, 0) + kind.flop
        return {name: work[name] for name in PRECISIONS if work.get(name)}

    @property
    def work_flop(self) -> int:
        """Flop of every precision together; an FMA is 2."""
        return sum(kind.flop for kind in self.flop)

    @property
    def masked_flop(self) -> int:
        """Of `work_flop`, the flop of instructions under a mask."""
        return sum(kind.masked_flop for kind in self.flop)

    @classmethod
    def total(cls, parts: Iterable[Self]) -> Self:
        """Return the sum of several counts."""
        sums = dict.fromkeys(_COUNT_NAMES, 0)
        kinds: dict[tuple[str, int, bool], FlopCount] = {}
        for part in parts:
            for name in _COUNT_NAMES:
                sums[name] += getattr(part, name)
            for kind in part.flop:
                key = (kind.precision, kind.width_bits, kind.fma)
                seen = kinds.get(key)
                kinds[key] = (
                    kind
                    if seen is None
                    else replace(
                        seen,
                        flop=seen.flop + kind.flop,
                        masked_flop=seen.masked_flop + kind.masked_flop,
                        instructions=seen.instructions + kind.instructions,
                    )
                )
        return cls(**sums, flop=tuple(kinds[key] for key in sorted(kinds)))


_COUNT_NAMES = tuple(field.name for field in fields(Counts) if field.name != "flop")


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
        """Both directions; None where one is unknown."""
        return None if self.write_bytes is None else self.read_bytes + self.write_bytes

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


def _add(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


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
    """

    name: str
    object: str | None
    counts: Counts
    traffic: tuple[Traffic, ...] = ()
