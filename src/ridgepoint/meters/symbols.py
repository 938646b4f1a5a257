"""Names of functions in object files."""

from __future__ import annotations

import io
import lzma
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

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
_UNREADABLE = (OSError, ELFError, lzma.LZMAError, EOFError)

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
    names : tuple of tuple of str
        Those of one beginning and end, the first of which says most.
    """

    segments: tuple[tuple[int, int, int], ...] = ()
    begins: Sequence[int] = ()
    ends: Sequence[int] = ()
    names: tuple[tuple[str, ...], ...] = ()

    def address_of(self, offset: int) -> int | None:
        """Return the address of a byte of the file, or None where no code is loaded from."""
        for begin, size, address in self.segments:
            if begin <= offset < begin + size:
                return address + offset - begin
        return None

    def entries(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield where in the file each function begins, and its names."""
        for begin, names in zip(self.begins, self.names, strict=True):
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
            elf = ELFFile(file)
            segments = tuple(
                (part["p_offset"], part["p_filesz"], part["p_vaddr"])
                for part in elf.iter_segments("PT_LOAD")
                if part["p_flags"] & _EXECUTABLE
            )
            sections = _code_sections(elf)
            found = [
                *_table(elf, ".symtab"),
                *_of_debug_file(elf, Path(path)),
                *_packed(elf),
                *_table(elf, ".dynsym"),
            ]
    except _UNREADABLE:
        return Symbols()
    return _symbols(segments, found, sections)


def read_packed_symbols(path: str) -> Symbols:
    """Return what a stripped file holds of its own symbols (``.gnu_debugdata``); often nothing."""
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            return _symbols((), _packed(elf), _code_sections(elf))
    except _UNREADABLE:
        return Symbols()


def _packed(elf: ELFFile) -> list[tuple[int, int, str]]:
    """Return the functions of an object file within this one, compressed (MiniDebugInfo)."""
    section = elf.get_section_by_name(".gnu_debugdata")
    if section is None:
        return []
    try:
        content = lzma.LZMADecompressor().decompress(section.data(), max_length=_LARGEST_UNPACKED)
        return _table(ELFFile(io.BytesIO(content)), ".symtab")
    except _UNREADABLE:
        return []


def _of_debug_file(elf: ELFFile, path: Path) -> list[tuple[int, int, str]]:
    """Return the functions of the file that a stripped one's debug information was put in."""
    for candidate in debug_files(elf, path):
        try:
            with candidate.open("rb") as file:
                return _table(ELFFile(file), ".symtab")
        except _UNREADABLE:
            continue
    return []


def debug_files(elf: ELFFile, path: Path) -> tuple[Path, ...]:
    """Return where the debug information of a stripped file may be; they need not exist."""
    return (*_by_build_id(elf), *_by_link(elf, path))


def _by_build_id(elf: ELFFile) -> Iterator[Path]:
    section = elf.get_section_by_name(".note.gnu.build-id")
    if isinstance(section, NoteSection):
        for note in section.iter_notes():
            identity = str(note["n_desc"])
            yield _DEBUG_FOLDER / ".build-id" / identity[:2] / f"{identity[2:]}.debug"


def _by_link(elf: ELFFile, path: Path) -> Iterator[Path]:
    """Yield the file that an object file names, where it is and has the checksum that it states.

    GDB's manual, "Debugging Information in Separate Files", says where to look.
    """
    section = elf.get_section_by_name(".gnu_debuglink")
    if section is None:
        return
    content = section.data()
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


def _code_sections(elf: ELFFile) -> list[tuple[int, int]]:
    """Return beginning and end of the sections that hold code."""
    return [
        (part["sh_addr"], part["sh_addr"] + part["sh_size"])
        for part in elf.iter_sections()
        if part["sh_flags"] & _SECTION_OF_CODE
    ]


def _table(elf: ELFFile, section: str) -> list[tuple[int, int, str]]:
    """Return beginning, size and name of the functions of one table of symbols."""
    table = elf.get_section_by_name(section)
    if table is None or table["sh_entsize"] != _SYMBOL.itemsize:
        return []
    rows: Rows = np.frombuffer(table.data(), _SYMBOL)
    code = [
        index
        for index, part in enumerate(elf.iter_sections())
        if part["sh_flags"] & _SECTION_OF_CODE
    ]
    rows = rows[np.isin(rows["info"] & 15, _TYPES_OF_CODE) & np.isin(rows["section"], code)]
    texts = elf.get_section(table["sh_link"]).data()
    return [
        (address, size, texts[at : texts.index(b"\0", at)].decode("utf-8", "surrogateescape"))
        for address, size, at in zip(
            rows["address"].tolist(), rows["size"].tolist(), rows["name"].tolist(), strict=True
        )
        if at
    ]


def _symbols(
    segments: tuple[tuple[int, int, int], ...],
    found: Sequence[tuple[int, int, str]],
    sections: Sequence[tuple[int, int]],
) -> Symbols:
    """Return symbols in order; one without a size reaches to the next in its section.

    ``_init`` must not have what follows it: the stubs through which libraries are called.
    """
    begins = sorted({begin for begin, _, _ in found})
    names: dict[tuple[int, int], list[str]] = {}
    sized = {begin for begin, size, _ in found if size}
    for begin, size, name in found:
        if size:
            names.setdefault((begin, begin + size), []).append(name)
        elif begin not in sized:
            after = bisect_right(begins, begin)
            limits = (*sections, *((a, a + n) for _, n, a in segments))
            limit = next((end for at, end in limits if at <= begin < end), begin)
            following = begins[after] if after < len(begins) else limit
            names.setdefault((begin, min(following, limit)), []).append(name)
    # Of those with one beginning the shortest comes last: it is innermost.
    order = sorted(names, key=lambda key: (key[0], -key[1]))
    return Symbols(
        segments=segments,
        begins=[begin for begin, _ in order],
        ends=[end for _, end in order],
        names=tuple(tuple(sorted(set(names[key]), key=_plainness)) for key in order),
    )


def _plainness(name: str) -> tuple[int, int, str]:
    """Sort aliases: without leading underscores first, then the shorter."""
    return len(name) - len(name.lstrip("_")), len(name), name
