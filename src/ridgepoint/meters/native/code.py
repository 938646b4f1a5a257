"""The code behind counters: the instructions of the blocks that ran, with their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from iced_x86 import Decoder, Instruction

from ridgepoint.meters.decode import MAX_INSTRUCTION_BYTES
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.native.copy_file import BLOCK, CopyFile
from ridgepoint.meters.object_file import CodeStore, ObjectFile
from ridgepoint.meters.profile import INSTRUCTION, Rows
from ridgepoint.meters.source_lines import read_source_lines
from ridgepoint.meters.symbols import read_symbols

UNKNOWN_CODE = 0x06
"""No instruction in 64 bit code begins with this byte."""

_APART = np.uint64(48)  # bits between what stands for the load addresses of two modules

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
    file = files.get(path) if path else None
    first = [0]
    pieces: list[tuple[int, bytes]] = []
    for address, n_bytes in zip(blocks["address"].tolist(), blocks["bytes"].tolist(), strict=True):
        code = None if file is None else _bytes_at(file, address, n_bytes)
        pieces += _copied(copy, address, n_bytes) if code is None else _split(code, address)
        first.append(len(pieces))
    instructions = np.zeros(len(pieces), INSTRUCTION)
    instructions["file_address"] = [address for address, _ in pieces]
    instructions["length"] = [len(code) for _, code in pieces]
    padded = b"".join(code.ljust(MAX_INSTRUCTION_BYTES, b"\0") for _, code in pieces)
    instructions["code"] = np.frombuffer(padded, np.uint8).reshape(-1, MAX_INSTRUCTION_BYTES)
    # Where it was loaded differs between processes: any address does that no other module has.
    instructions["address"] = instructions["file_address"]
    if path:
        instructions["address"] += np.uint64(number + 1) << _APART
        _name(instructions, path, strings)
    return ModuleCode(
        path=path,
        copy=copy,
        rows=rows,
        first=np.array(first, np.int64),
        instructions=instructions,
    )


def _bytes_at(file: ObjectFile, address: int, n_bytes: int) -> bytes | None:
    segment = file.segment_of(address)
    if segment is None:
        return None
    code = segment.code[address - segment.address : address - segment.address + n_bytes]
    return code if len(code) == n_bytes else None


def _split(code: bytes, address: int) -> Iterator[tuple[int, bytes]]:
    """Yield address and bytes of each instruction of a block."""
    decoder, instruction, at = Decoder(64, code), Instruction(), 0
    while at < len(code):
        decoder.decode_out(instruction)
        end = at + max(instruction.len, 1)
        yield address + at, code[at:end]
        at = end


def _copied(copy: CopyFile, address: int, n_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield address and bytes of each instruction of a block from its copy.

    A branch may be longer there, and a system call is something else: it does as much.
    """
    begins = _begins(copy, address, n_bytes)
    for begin, at in begins:
        code = copy.code[at : at + MAX_INSTRUCTION_BYTES].tobytes()
        instruction = Decoder(64, code).decode()
        length = instruction.len
        yield begin, bytes((UNKNOWN_CODE,)) if instruction.is_invalid else code[:length]


def _begins(copy: CopyFile, address: int, n_bytes: int) -> Iterable[tuple[int, int]]:
    """Return of the instructions of a block the addresses, and where their copies are."""
    relative = address - copy.lowest
    addresses = copy.places["address"]
    rows = np.flatnonzero((addresses >= relative) & (addresses < relative + n_bytes))
    _, first = np.unique(addresses[rows], return_index=True)
    found = copy.places[rows[first]]
    return zip((found["address"] + copy.lowest).tolist(), found["at"].tolist(), strict=True)


def _name(instructions: Rows, path: str, strings: Strings) -> None:
    """Write their functions to the instructions of an object file."""
    instructions["object"] = strings.number(path)
    addresses = instructions["file_address"]
    symbols = read_symbols(path)
    places = symbols.places_of(addresses)
    used, which = np.unique(places, return_inverse=True)
    instructions["function"] = _numbers(
        ("" if place < 0 else demangled(symbols.names[place][0]) for place in used.tolist()),
        strings,
    )[which]


def add_lines(
    instructions: Rows, path: str, wanted: npt.NDArray[np.bool_], strings: Strings
) -> None:
    """Write their source lines to some of the instructions of an object file."""
    addresses = instructions["file_address"][wanted]
    found = read_source_lines(path, np.unique(addresses))
    sources, lines = found.at(addresses)
    instructions["line"][wanted] = lines
    instructions["source"][wanted] = _numbers(found.paths or ("",), strings)[sources]


def _numbers(texts: Iterable[str], strings: Strings) -> Integers:
    return np.array([strings.number(text) for text in texts], np.int64)
