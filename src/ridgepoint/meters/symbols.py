"""Names of functions in object files."""

from __future__ import annotations

import io
import lzma
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.elf import Elf, NotReadable

_DEBUG_FOLDER = Path("/usr/lib/debug")
_EXECUTABLE = 1  # PF_X of the ELF specification
_SECTION_OF_CODE = 4  # SHF_EXECINSTR
_SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("address", "<u8"),
        ("size", "<u8"),
    ]
)
_TYPES_OF_CODE = (0, 2, 10)  # STT_NOTYPE (assembler), STT_FUNC, STT_GNU_IFUNC
_MOST_NESTED = 8
_LARGEST_UNPACKED = 1 << 28
_LINK_ALIGNMENT = 4
_NOTE_HEADER = struct.Struct("<3I")
_UNREADABLE = (OSError, NotReadable, lzma.LZMAError, EOFError)

Addresses = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """The functions of one object file.

    Parameters
    ----------
    segments : tuple of (int, int, int)
        Of executable segments the offset in the file, the bytes there, and the address as the
        file states it.
    begins, ends : sequence of int
        Addresses of symbols, by their beginnings.
    names : sequence of tuple of str
        Those of one beginning and end, the first of which says most.
    """

    segments: tuple[tuple[int, int, int], ...] = ()
    begins: Sequence[int] | Addresses = ()
    ends: Sequence[int] | Addresses = ()
    names: Sequence[tuple[str, ...]] = ()

    def address_of(self, offset: int) -> int | None:
        """Return the address of a byte of the file, or None where no code is loaded from."""
        for begin, size, address in self.segments:
            if begin <= offset < begin + size:
                return address + offset - begin
        return None

    def entries(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield where in the file each function begins, and its names."""
        for begin, names in zip(map(int, self.begins), self.names, strict=True):
            for offset, size, address in self.segments:
                if address <= begin < address + size:
                    yield offset + begin - address, names

    def names_at(self, address: int) -> tuple[str, ...]:
        """Return the names of the innermost function at an address; none: it has no symbol."""
        index = bisect_right(self.begins, address) - 1
        for nearest in range(index, max(index - _MOST_NESTED, -1), -1):
            if address < self.ends[nearest]:
                return self.names[nearest]
        return ()

    def places_of(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Return for each address the place in `names` of its innermost function, or -1."""
        begins, ends = (np.array(each, dtype=np.uint64) for each in (self.begins, self.ends))
        latest = np.searchsorted(begins, addresses, side="right").astype(np.int64) - 1
        places = np.full(len(addresses), -1, dtype=np.int64)
        for nested in range(_MOST_NESTED):
            each = latest - nested
            holds = (places < 0) & (each >= 0)
            holds[holds] = addresses[holds] < ends[each[holds]]
            places[holds] = each[holds]
        return places


def read_symbols(path: str) -> Symbols:
    """Return the functions of an object file; none of one that cannot be read.

    Its own table of symbols counts; that of the file with its debug information, if there is one
    where systems keep it; a small one that a stripped file may hold, compressed; and what it
    exports.
    """
    try:
        with Path(path).open("rb") as file:
            elf = Elf(file)
            found = [
                *_table(elf, ".symtab"),
                *_of_debug_file(elf, Path(path)),
                *_packed(elf),
                *_table(elf, ".dynsym"),
            ]
    except _UNREADABLE:
        return Symbols()
    executable = elf.segments[elf.segments["flags"] & _EXECUTABLE > 0]
    segments = zip(
        *(executable[name].tolist() for name in ("offset", "file_bytes", "address")), strict=True
    )
    return _symbols(tuple(segments), found, _code_sections(elf))


def read_packed_symbols(path: str) -> Symbols:
    """Return what a stripped file holds of its own symbols (``.gnu_debugdata``); often nothing."""
    try:
        with Path(path).open("rb") as file:
            elf = Elf(file)
            return _symbols((), _packed(elf), _code_sections(elf))
    except _UNREADABLE:
        return Symbols()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """The functions of one table of symbols: where they are, and where their names begin."""

    begins: Addresses
    sizes: Addresses
    names_at: npt.NDArray[np.uint32]
    text: bytes


def _packed(elf: Elf) -> list[_Table]:
    """Return the functions of an object file within this one, compressed (MiniDebugInfo)."""
    section = elf.section(".gnu_debugdata")
    if section is None:
        return []
    try:
        content = lzma.LZMADecompressor().decompress(
            elf.content(section), max_length=_LARGEST_UNPACKED
        )
        return _table(Elf(io.BytesIO(content)), ".symtab")
    except _UNREADABLE:
        return []


def _of_debug_file(elf: Elf, path: Path) -> list[_Table]:
    """Return the functions of the file that a stripped one's debug information was put in."""
    for candidate in chain(_by_build_id(elf), _by_link(elf, path)):
        try:
            with candidate.open("rb") as file:
                return _table(Elf(file), ".symtab")
        except _UNREADABLE:
            continue
    return []


def _by_build_id(elf: Elf) -> Iterator[Path]:
    section = elf.section(".note.gnu.build-id")
    content = b"" if section is None else elf.content(section)
    if len(content) > _NOTE_HEADER.size:
        name_bytes, id_bytes, _ = _NOTE_HEADER.unpack_from(content)
        at = _NOTE_HEADER.size + -(-name_bytes // _LINK_ALIGNMENT) * _LINK_ALIGNMENT
        identity = content[at : at + id_bytes].hex()
        yield _DEBUG_FOLDER / ".build-id" / identity[:2] / f"{identity[2:]}.debug"


def _by_link(elf: Elf, path: Path) -> Iterator[Path]:
    """Yield the file that an object file names, where it is and has the checksum that it states.

    GDB's manual, "Debugging Information in Separate Files", says where to look.
    """
    section = elf.section(".gnu_debuglink")
    if section is None:
        return
    content = elf.content(section)
    name = Path(content.partition(b"\0")[0].decode("utf-8", "surrogateescape")).name
    stated = int.from_bytes(content[-_LINK_ALIGNMENT:], "little")
    folder = path.resolve().parent
    for place in (folder, folder / ".debug", _DEBUG_FOLDER / str(folder).lstrip("/")):
        candidate = place / name
        if name and candidate != path.resolve() and _checksum(candidate) == stated:
            yield candidate


def _checksum(path: Path) -> int | None:
    try:
        return zlib.crc32(path.read_bytes())
    except OSError:
        return None


def _code_sections(elf: Elf) -> list[tuple[int, int]]:
    """Return beginning and end of the sections that hold code."""
    code = elf.sections[elf.sections["flags"] & _SECTION_OF_CODE > 0]
    ends = code["address"] + code["size"]
    return list(zip(code["address"].tolist(), ends.tolist(), strict=True))


def _table(elf: Elf, section: str) -> list[_Table]:
    """Return the functions of one table of symbols; of one that is not there, none."""
    table = elf.section(section)
    if table is None or table["entry_bytes"] != _SYMBOL.itemsize:
        return []
    content = elf.content(table)
    rows: Rows = np.frombuffer(content, _SYMBOL, count=len(content) // _SYMBOL.itemsize)
    if table["link"] >= len(elf.sections):
        return []
    text = elf.content(elf.sections[table["link"]])
    is_code = np.zeros(1 << 16, np.bool_)
    is_code[: len(elf.sections)] = elf.sections["flags"] & _SECTION_OF_CODE > 0
    rows = rows[
        np.isin(rows["info"] & 15, _TYPES_OF_CODE)
        & is_code[rows["section"]]
        & (rows["name"] > 0)
        & (rows["name"] < len(text))
    ]
    return [_Table(begins=rows["address"], sizes=rows["size"], names_at=rows["name"], text=text)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Names(Sequence[tuple[str, ...]]):
    """Names that are read when they are asked for.

    Parameters
    ----------
    tables : sequence of _Table
    rows : ndarray of int64
        Of all tables one after the other, those of equal beginning and end together.
    first : ndarray of int64
        Where these begin, and at the end their number.
    """

    tables: Sequence[_Table]
    rows: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    _firsts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [len(table.begins) for table in self.tables]
        object.__setattr__(self, "_firsts", np.cumsum([0, *sizes]).tolist())

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, place: int | slice) -> tuple[str, ...] | tuple[tuple[str, ...], ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        place = range(len(self))[place]
        rows = self.rows[self.first[place] : self.first[place + 1]]
        return tuple(sorted({self._name(row) for row in rows.tolist()}, key=_plainness))

    def _name(self, row: int) -> str:
        number = bisect_right(self._firsts, row) - 1
        table = self.tables[number]
        at = int(table.names_at[row - self._firsts[number]])
        return table.text[at : table.text.find(b"\0", at)].decode("utf-8", "surrogateescape")


def _symbols(
    segments: tuple[tuple[int, int, int], ...],
    tables: Sequence[_Table],
    sections: Sequence[tuple[int, int]],
) -> Symbols:
    """Return symbols in order; one without a size reaches to the next in its section.

    ``_init`` must not have what follows it: the stubs through which libraries are called.
    """
    begins, sizes = (
        np.concatenate([np.empty(0, np.uint64), *columns])
        for columns in ([one.begins for one in tables], [one.sizes for one in tables])
    )
    if not len(begins):
        return Symbols(segments=segments)
    limits = (*sections, *((address, address + n) for _, n, address in segments))
    ends = np.where(sizes > 0, begins + sizes, _reach(begins, limits))
    rows = np.flatnonzero((sizes > 0) | ~np.isin(begins, begins[sizes > 0]))
    # Of those with one beginning the shortest comes last: it is innermost.
    rows = rows[np.lexsort((~ends[rows], begins[rows]))]
    begins, ends = begins[rows], ends[rows]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (begins[1:] != begins[:-1]) | (ends[1:] != ends[:-1])
    first = np.flatnonzero(is_first)
    return Symbols(
        segments=segments,
        begins=begins[first],
        ends=ends[first],
        names=_Names(tables=tables, rows=rows, first=np.append(first, len(rows))),
    )


def _reach(begins: Addresses, limits: Iterable[tuple[int, int]]) -> Addresses:
    """Return where symbols of these beginnings end at the latest: at the next, or at a limit."""
    ends = begins.copy()
    for begin, end in reversed(tuple(limits)):
        ends[(begins >= begin) & (begins < end)] = end
    distinct = np.unique(begins)
    following = np.append(distinct, np.iinfo(np.uint64).max)[
        np.searchsorted(distinct, begins, side="right")
    ]
    reached: Addresses = np.minimum(ends, following)
    return reached


def _plainness(name: str) -> tuple[int, int, str]:
    """Sort aliases: without leading underscores first, then the shorter."""
    return len(name) - len(name.lstrip("_")), len(name), name
