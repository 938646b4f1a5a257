"""What each counter of a module stands for: written into its object file, read at report time."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass

import msgspec

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.locations import Place


class LineWork(msgspec.Struct, frozen=True, array_like=True):
    """What one pass of a counter means for one source line.

    Parameters
    ----------
    file : str
        Its path; empty: the compiler's own code.
    line : int
        Counted from 1; 0: none in particular.
    operations : tuple of int
        In the order of the fields of `BasicOperations`.
    """

    file: str
    line: int
    operations: tuple[int, ...]


class Site(msgspec.Struct, frozen=True, array_like=True):
    """What one counter counts: passes through a piece of a function.

    Parameters
    ----------
    function : int
        Index into the table's functions.
    work : tuple of LineWork
    """

    function: int
    work: tuple[LineWork, ...]


class SourceFunction(msgspec.Struct, frozen=True, array_like=True):
    """A function with counters.

    Parameters
    ----------
    symbol : str
        As the linker knows it.
    file : str
        Where it is written; empty: nowhere.
    line : int
        Of its beginning; 0: unknown.
    """

    symbol: str
    file: str
    line: int


class Table(msgspec.Struct, frozen=True):
    """All counters of a module.

    Parameters
    ----------
    source : str
        What was compiled.
    functions : tuple of SourceFunction
    sites : tuple of Site
        Counter by counter.
    assembly : int
        Pieces of inline assembly, which count nothing.
    """

    source: str
    functions: tuple[SourceFunction, ...]
    sites: tuple[Site, ...]
    assembly: int

    def encode(self) -> bytes:
        """Return the table as bytes, the same for the same table."""
        return zlib.compress(msgspec.json.encode(self), 9)


def decode(data: bytes) -> Table:
    """Return the table that `Table.encode` made these bytes of.

    Raises
    ------
    ValueError
        If they are damaged.
    """
    try:
        return msgspec.json.decode(zlib.decompress(data), type=Table)
    except (zlib.error, msgspec.DecodeError) as error:
        raise ValueError(f"it is damaged: {error}") from error


def digest(data: bytes) -> int:
    """Return a number of 63 bit that stands for encoded tables."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little") >> 1


@dataclass(slots=True)
class Tally:
    """Work gathered by source line, for one counter.

    Parameters
    ----------
    by_place : dict
    """

    by_place: dict[Place, BasicOperations]

    def add(self, place: Place | None, operations: BasicOperations) -> None:
        """Add what is done at a place."""
        key = place or ("", 0)
        self.by_place[key] = self.by_place.get(key, BasicOperations()) + operations

    @property
    def work(self) -> tuple[LineWork, ...]:
        """What was gathered, in the order of first appearance."""
        return tuple(
            LineWork(file, line, as_numbers(operations))
            for (file, line), operations in self.by_place.items()
        )


def as_numbers(operations: BasicOperations) -> tuple[int, ...]:
    """Return operations in the order of the fields of `BasicOperations`."""
    return tuple(getattr(operations, name) for name in BasicOperations.__slots__)


def as_operations(numbers: tuple[int, ...]) -> BasicOperations:
    """Return what `as_numbers` made numbers of."""
    return BasicOperations(**dict(zip(BasicOperations.__slots__, numbers, strict=True)))
