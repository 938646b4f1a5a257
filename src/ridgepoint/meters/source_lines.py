"""Source lines of code, from the debug information that an object file itself holds (DWARF)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

_SECTION = ".debug_line"
_MOST_BYTES = 32 << 20
"""Of line programs that are read: a megabyte takes about a second."""

_FIRST_WITH_OWN_FOLDER = 5  # version of DWARF from which files and folders count from 0
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

    Parameters
    ----------
    path : str
    addresses : ndarray of uint64
        Of code, ascending: lines of other code need not be known.
    """
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            if elf.get_section_by_name(_SECTION) is None and (
                elf.get_section_by_name(".z" + _SECTION[1:]) is None
            ):
                return SourceLines()
            return _sorted(_rows(elf.get_dwarf_info(relocate_dwarf_sections=False), addresses))
    except _UNREADABLE:
        return SourceLines()


_Row = tuple[int, str, int]
"""Address, source, line; 0: code ends there."""


def _rows(dwarf: DWARFInfo, addresses: Addresses) -> Iterator[_Row]:
    left = _MOST_BYTES
    for unit in _units(dwarf, addresses):
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        left -= program.header["unit_length"]
        if left < 0:
            return
        paths: dict[int, str] = {}
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                yield state.address, "", 0
                continue
            if state.file not in paths:
                paths[state.file] = _path(program.header, state.file, _folder(unit))
            yield state.address, paths[state.file], state.line


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


def _folder(unit: CompileUnit) -> str:
    attribute = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    return "" if attribute is None else _text(attribute.value)


def _path(header: Any, index: int, folder: str) -> str:
    """Return the path of a file of a line program."""
    counts_from_0 = header["version"] >= _FIRST_WITH_OWN_FOLDER
    file = header["file_entry"][index if counts_from_0 else index - 1]
    folders = [_text(name) for name in header["include_directory"]]
    if not counts_from_0:
        folders.insert(0, "")
    return os.path.join(folder, folders[file.dir_index], _text(file.name))


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
