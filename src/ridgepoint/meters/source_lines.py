"""Source lines of code, from the debug information (DWARF) of an object file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

from ridgepoint.meters.line_program import Sections, run
from ridgepoint.meters.symbols import debug_files

_SECTIONS = (".debug_line", ".zdebug_line")
_UNREADABLE = (OSError, ELFError, DWARFError, KeyError, ValueError, IndexError)

Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceLines:
    """Where in the source the code of an object file comes from.

    Parameters
    ----------
    begins : ndarray of uint64
        Addresses, as the file states them, from which on a line is that of the code; ascending.
    sources, lines : ndarray of int64
        Of each the place in `paths`, and the line; line 0: unknown.
    paths : tuple of str
    """

    begins: Addresses = field(default_factory=lambda: np.empty(0, np.uint64))
    sources: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    lines: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    paths: tuple[str, ...] = ()

    def at(self, addresses: Addresses) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return for each address the place of its source in `paths`, and its line; 0: unknown."""
        if not len(self.begins):
            none = np.zeros(len(addresses), np.int64)
            return none, none
        latest = np.searchsorted(self.begins, addresses, side="right").astype(np.int64) - 1
        known = latest >= 0
        rows = np.maximum(latest, 0)
        return np.where(known, self.sources[rows], 0), np.where(known, self.lines[rows], 0)


def read_source_lines(path: str, addresses: Addresses) -> SourceLines:
    """Return the lines of an object file; none of one that has no debug information.

    A stripped file may have it in another one, where systems keep it.

    Parameters
    ----------
    path : str
    addresses : ndarray of uint64
        Of code, ascending: lines of other code need not be known.
    """
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            if _has_lines(elf):
                return _sorted(_rows(elf, addresses))
            others = debug_files(elf, Path(path))
    except _UNREADABLE:
        return SourceLines()
    for other in others:
        with suppress(*_UNREADABLE), other.open("rb") as file:
            elf = ELFFile(file)
            if _has_lines(elf):
                return _sorted(_rows(elf, addresses))
    return SourceLines()


def _has_lines(elf: ELFFile) -> bool:
    return any(elf.get_section_by_name(name) is not None for name in _SECTIONS)


_Row = tuple[int, str, int]
"""Address, source, line; 0: code ends there."""


def _rows(elf: ELFFile, addresses: Addresses) -> Iterator[_Row]:
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
    sections = Sections(
        line=_content(dwarf.debug_line_sec),
        line_strings=_content(dwarf.debug_line_str_sec),
        strings=_content(dwarf.debug_str_sec),
    )
    for unit in _units(dwarf, addresses):
        attributes = unit.get_top_DIE().attributes
        if (begin := attributes.get("DW_AT_stmt_list")) is None:
            continue
        folder = attributes.get("DW_AT_comp_dir")
        rows, paths = run(sections, begin.value, "" if folder is None else _text(folder.value))
        for address, file, line in rows:
            yield address, paths[file] if line else "", line


def _content(section: Any) -> bytes:
    return b"" if section is None else section.stream.getvalue()


def _units(dwarf: DWARFInfo, addresses: Addresses) -> Iterable[CompileUnit]:
    """Return the units that may hold code at these addresses; all, if the file does not say."""
    ranges = dwarf.get_aranges()
    if ranges is None or not ranges.entries:
        return dwarf.iter_CUs()
    holding = set()
    said = set()
    for entry in ranges.entries:
        said.add(entry.info_offset)
        begin, end = np.searchsorted(
            addresses, np.array([entry.begin_addr, entry.begin_addr + entry.length], np.uint64)
        )
        if begin < end:
            holding.add(entry.info_offset)
    return (
        unit for unit in dwarf.iter_CUs() if unit.cu_offset in holding or unit.cu_offset not in said
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _sorted(rows: Iterable[_Row]) -> SourceLines:
    paths: dict[str, int] = {"": 0}
    table = np.array(
        [(address, paths.setdefault(path, len(paths)), line) for address, path, line in rows],
        dtype=np.dtype([("address", "<u8"), ("source", "<i8"), ("line", "<i8")]),
    )
    # Where one sequence ends and another begins the beginning counts, and of several lines of
    # one address the last.
    table = table[np.lexsort((np.arange(len(table)), table["line"] > 0, table["address"]))]
    last = np.ones(len(table), np.bool_)
    last[:-1] = table["address"][1:] != table["address"][:-1]
    table = table[last]
    return SourceLines(
        begins=table["address"], sources=table["source"], lines=table["line"], paths=tuple(paths)
    )
