"""The code behind counters: the instructions of the blocks that ran, with their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from iced_x86 import Decoder

from ridgepoint.meters.decode import MAX_INSTRUCTION_BYTES
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.native.copy_file import BLOCK, CopyFile
from ridgepoint.meters.object_file import CodeStore, ObjectFile
from ridgepoint.meters.profile import INSTRUCTION, Rows
from ridgepoint.meters.symbols import read_symbols

UNKNOWN_CODE = 0x06
"""No instruction in 64 bit code begins with this byte."""

_APART = np.uint64(48)  # bits between what stands for the load addresses of two modules

Addresses = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]


@dataclass(slots=True)
class Strings:
    """The strings of a run, each with its number; the first is empty."""

    numbers: dict[str, int] = field(default_factory=lambda: {"": 0})

    def number(self, text: str) -> int:
        """Return the number of a string, a new one if it was not there."""
        return self.numbers.setdefault(text, len(self.numbers))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModuleCode:
    """The code of a module that ran.

    Parameters
    ----------
    path : str
        Empty: code made at run time.
    copy : CopyFile
    rows : Integers
        Rows of the copy's blocks that ran, ascending.
    first : Integers
        Of each of these rows the place of its first instruction, and at the end their number.
    instructions : ndarray of INSTRUCTION
        Block after block.
    """

    path: str
    copy: CopyFile
    rows: Integers
    first: Integers
    instructions: Rows

    def passes(self, rows: Integers, counts: Integers) -> Integers:
        """Return how often each instruction was executed.

        Parameters
        ----------
        rows, counts : Integers
            How often blocks were, by their rows.
        """
        of_rows = np.zeros(len(self.rows), np.int64)
        np.add.at(of_rows, np.searchsorted(self.rows, rows), counts)
        return np.repeat(of_rows, np.diff(self.first))

    def places(self, addresses: npt.NDArray[np.uint64]) -> Integers:
        """Return the place of the instruction at each address; -1: it did not run."""
        order = np.argsort(self.instructions["file_address"], kind="stable")
        known = self.instructions["file_address"][order]
        at = np.minimum(np.searchsorted(known, addresses), max(len(known) - 1, 0))
        if not len(known):
            return np.full(len(addresses), -1, np.int64)
        return np.where(known[at] == addresses, order[at], -1).astype(np.int64)

    def holding(self, addresses: npt.NDArray[np.uint64]) -> Integers:
        """Return the place of the instruction that holds the byte at each address; -1: none."""
        if not len(self.instructions):
            return np.full(len(addresses), -1, np.int64)
        order = np.argsort(self.instructions["file_address"], kind="stable")
        known = self.instructions["file_address"][order]
        at = np.maximum(np.searchsorted(known, addresses, side="right") - 1, 0)
        ends = known[at] + self.instructions["length"][order[at]]
        inside = (known[at] <= addresses) & (addresses < ends)
        return np.where(inside, order[at], -1).astype(np.int64)


def module_code(
    path: str, copy: CopyFile, rows: Integers, *, number: int, strings: Strings, files: CodeStore
) -> ModuleCode:
    """Return the code of the blocks of a module that ran.

    Parameters
    ----------
    path : str
    copy : CopyFile
    rows : Integers
        Rows of the copy, ascending; those that are no blocks are left out.
    number : int
        Tells modules of a run apart.
    strings : Strings
    files : CodeStore
    """
    rows = rows[copy.rows["kind"][rows] == BLOCK]
    blocks = copy.rows[rows]
    first, begins, lengths = _split(copy, blocks)
    instructions = np.zeros(len(begins), INSTRUCTION)
    instructions["file_address"], instructions["length"] = begins, lengths
    known = _read_code(instructions, files.get(path) if path else None)
    _read_copied(instructions, ~known, copy)
    # Where it was loaded differs between processes: any address does that no other module has.
    instructions["address"] = begins
    if path:
        instructions["address"] += np.uint64(number + 1) << _APART
        _name(instructions, path, copy, strings)
    return ModuleCode(path=path, copy=copy, rows=rows, first=first, instructions=instructions)


def _split(copy: CopyFile, blocks: Rows) -> tuple[Integers, Addresses, Integers]:
    """Return where the instructions of each block begin, and their addresses and lengths."""
    begins = blocks["address"] - np.uint64(copy.lowest)
    ends = begins + blocks["bytes"]
    addresses, first = copy.places_from(begins)
    n = copy.places_from(ends)[1] - first
    offsets = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    rows = np.repeat(first - offsets[:-1], n) + np.arange(offsets[-1])
    begin = addresses[rows].astype(np.uint64)
    end = np.append(begin[1:], begin[:1])
    end[offsets[1:][n > 0] - 1] = ends[n > 0]
    return offsets, begin + np.uint64(copy.lowest), (end - begin).astype(np.int64)


def _read_code(instructions: Rows, file: ObjectFile | None) -> npt.NDArray[np.bool_]:
    """Write the bytes of instructions that a file holds; return of which."""
    known = np.zeros(len(instructions), np.bool_)
    lengths = instructions["length"].astype(np.uint64)
    for segment in () if file is None else file.segments:
        code = np.frombuffer(segment.code, np.uint8)
        at = instructions["file_address"] - np.uint64(segment.address)  # may wrap around
        inside = (at < len(code)) & (at + lengths <= len(code))
        instructions["code"][inside] = _cut(code, at[inside], lengths[inside])
        known |= inside
    return known


def _cut(code: npt.NDArray[np.uint8], at: Addresses, lengths: Addresses) -> npt.NDArray[np.uint8]:
    """Return pieces of code, each a row with zeros behind it."""
    column = np.arange(MAX_INSTRUCTION_BYTES, dtype=np.uint64)
    pieces: npt.NDArray[np.uint8] = code[np.minimum(at[:, None] + column, np.uint64(len(code) - 1))]
    pieces[column >= lengths[:, None]] = 0
    return pieces


def _read_copied(instructions: Rows, rows: npt.NDArray[np.bool_], copy: CopyFile) -> None:
    """Write the bytes of instructions that no file holds any more, as their copies have them.

    A branch may be longer there, and a system call is something else: it does as much.
    """
    if not rows.any():
        return
    at, address = copy.places["at"], copy.places["address"]
    order = np.argsort(address, kind="stable")
    wanted = instructions["file_address"][rows] - np.uint64(copy.lowest)
    places = at[order[np.searchsorted(address, wanted, sorter=order)]].tolist()
    for row, place in zip(np.flatnonzero(rows).tolist(), places, strict=True):
        code = copy.code[place : place + MAX_INSTRUCTION_BYTES].tobytes()
        instruction = Decoder(64, code).decode()
        known = bytes((UNKNOWN_CODE,)) if instruction.is_invalid else code[: instruction.len]
        instructions["length"][row] = len(known)
        padded = known.ljust(MAX_INSTRUCTION_BYTES, b"\0")
        instructions["code"][row] = np.frombuffer(padded, np.uint8)


def _name(instructions: Rows, path: str, copy: CopyFile, strings: Strings) -> None:
    """Write functions and source lines to the instructions of an object file."""
    instructions["object"] = strings.number(path)
    addresses = instructions["file_address"]
    symbols = read_symbols(path)
    places, which = np.unique(symbols.places_of(addresses), return_inverse=True)
    instructions["function"] = _numbers(
        ("" if place < 0 else demangled(symbols.names[place][0]) for place in places.tolist()),
        strings,
    )[which]
    instructions["line"], files = copy.lines_at(addresses)
    names, which = np.unique(files, return_inverse=True)
    instructions["source"] = _numbers(map(copy.name, names.tolist()), strings)[which]


def _numbers(texts: Iterable[str], strings: Strings) -> Integers:
    return np.array([strings.number(text) for text in texts], np.int64)
