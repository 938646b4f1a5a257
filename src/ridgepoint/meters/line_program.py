"""Runs the line programs of DWARF (versions 2 to 5), which say from which line code comes.

A general library takes a minute for what an interpreter of Python needs; this takes a second.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

_SPECIAL, _NS_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = 0, 1, 2, 3, 4
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2  # extended operations
_STRING, _LINE_STRP, _STRP, _UDATA = 0x08, 0x1F, 0x0E, 0x0F  # forms, DWARF 5, 7.5.6
_FIXED_FORMS = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16, 0x17: 4}
_BLOCK = 0x09
_PATH, _FOLDER = 1, 2  # DW_LNCT_*
_WITH_FORMS = 5  # version from which the header says how its tables are written

Rows = list[tuple[int, int, int]]
"""Address, file, line; line 0: code ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """What holds line programs.

    Parameters
    ----------
    line, line_strings, strings : bytes
        ``.debug_line``, ``.debug_line_str`` and ``.debug_str``; empty where there is none.
    """

    line: bytes
    line_strings: bytes = b""
    strings: bytes = b""


class _Reader:
    """Reads numbers and strings one after the other, little endian."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at

    def fixed(self, n_bytes: int) -> int:
        value = int.from_bytes(self.content[self.at : self.at + n_bytes], "little")
        self.at += n_bytes
        return value

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        begin = self.at
        value = self.unsigned()
        bits = 7 * (self.at - begin)
        return value - (1 << bits) if value >> (bits - 1) else value

    def string(self) -> bytes:
        end = self.content.index(b"\0", self.at)
        text = self.content[self.at : end]
        self.at = end + 1
        return text


@dataclass(slots=True)
class _Header:
    """What a line program says before it begins."""

    begin: int
    end: int
    least_bytes: int
    line_base: int
    line_range: int
    arguments: list[int]
    paths: list[str]


def run(sections: Sections, offset: int, folder: str) -> tuple[Rows, list[str]]:
    """Return the rows of a line program, and the paths of its files, by number.

    Parameters
    ----------
    sections : Sections
    offset : int
        Of the program in its section.
    folder : str
        In which the compiler ran.

    Raises
    ------
    ValueError, IndexError
        If it is damaged, or of an unknown version.
    """
    header = _header(sections, offset, folder)
    return _rows(sections.line, header), header.paths


def _header(sections: Sections, offset: int, folder: str) -> _Header:
    reader = _Reader(sections.line, offset)
    length, wide = reader.fixed(4), 4
    if length == 0xFFFFFFFF:
        length, wide = reader.fixed(8), 8
    end = reader.at + length
    version = reader.fixed(2)
    if not 2 <= version <= 5 or end > len(sections.line):
        raise ValueError(f"a line program of version {version}")
    if version >= _WITH_FORMS:
        reader.fixed(2)  # sizes of addresses and of segment selectors
    header_bytes = reader.fixed(wide)
    begin = reader.at + header_bytes
    least_bytes = reader.fixed(1)
    if version >= 4:
        reader.fixed(1)  # operations of an instruction: this is no VLIW
    reader.fixed(1)  # whether lines are statements at first
    line_base = int.from_bytes(reader.fixed(1).to_bytes(), "little", signed=True)
    line_range = reader.fixed(1)
    arguments = [0, *(reader.fixed(1) for _ in range(reader.fixed(1) - 1))]
    if version >= _WITH_FORMS:
        paths = _paths_by_forms(reader, sections, folder, wide)
    else:
        paths = _old_paths(reader, folder)
    return _Header(begin, end, least_bytes, line_base, line_range, arguments, paths)


def _old_paths(reader: _Reader, folder: str) -> list[str]:
    folders = [folder]
    while name := reader.string():
        folders.append(os.path.join(folder, os.fsdecode(name)))
    paths = [""]  # files count from 1
    while name := reader.string():
        index = reader.unsigned()
        reader.unsigned(), reader.unsigned()  # when it changed, and how long it is
        paths.append(os.path.join(folders[index], os.fsdecode(name)))
    return paths


def _paths_by_forms(reader: _Reader, sections: Sections, folder: str, wide: int) -> list[str]:
    names = [os.fsdecode(name) for name, _ in _entries(reader, sections, wide)]
    # The first is the folder in which the compiler ran, and the others are relative to it.
    first = folder or (names[0] if names else "")
    folders = [first, *(os.path.join(first, name) for name in names[1:])]
    return [
        os.path.join(folders[index], os.fsdecode(name))
        for name, index in _entries(reader, sections, wide)
    ]


def _entries(reader: _Reader, sections: Sections, wide: int) -> list[tuple[bytes, int]]:
    """Return name and number of the folder of each entry of a table."""
    formats = [(reader.unsigned(), reader.unsigned()) for _ in range(reader.fixed(1))]
    entries = []
    for _ in range(reader.unsigned()):
        name, index = b"", 0
        for content, form in formats:
            value = _value(reader, sections, form, wide)
            if content == _PATH and isinstance(value, bytes):
                name = value
            elif content == _FOLDER and isinstance(value, int):
                index = value
        entries.append((name, index))
    return entries


def _value(
    reader: _Reader, sections: Sections, form: int, wide: Literal[4, 8] | int
) -> bytes | int:
    if form == _STRING:
        return reader.string()
    if form in (_LINE_STRP, _STRP):
        strings = sections.line_strings if form == _LINE_STRP else sections.strings
        return _Reader(strings, reader.fixed(wide)).string()
    if form == _UDATA:
        return reader.unsigned()
    if form == _BLOCK:
        reader.at += reader.unsigned()
        return 0
    return reader.fixed(_FIXED_FORMS[form])


def _rows(content: bytes, header: _Header) -> Rows:  # noqa: PLR0912, one loop, for speed
    """Return the rows of a program: a million of its bytes take about half a second."""
    rows: Rows = []
    reader = _Reader(content, header.begin)
    n_standard = len(header.arguments)
    base, line_range, least = header.line_base, header.line_range, header.least_bytes
    address, file, line = 0, 1, 1
    at, end = header.begin, header.end
    while at < end:
        code = content[at]
        at += 1
        if code >= n_standard:
            advance, step = divmod(code - n_standard, line_range)
            address += advance * least
            line += base + step
            rows.append((address, file, line))
            continue
        if code == _NS_COPY:
            rows.append((address, file, line))
            continue
        reader.at = at
        if code == _SPECIAL:
            size = reader.unsigned()
            at = reader.at + size
            kind = content[reader.at]
            if kind == _END_SEQUENCE:
                rows.append((address, 0, 0))
                address, file, line = 0, 1, 1
            elif kind == _SET_ADDRESS:
                address = int.from_bytes(content[reader.at + 1 : at], "little")
            continue
        if code == _ADVANCE_PC:
            address += reader.unsigned() * least
        elif code == _ADVANCE_LINE:
            line += reader.signed()
        elif code == _SET_FILE:
            file = reader.unsigned()
        elif code == _CONST_ADD_PC:
            address += (255 - n_standard) // line_range * least
        elif code == _FIXED_ADVANCE_PC:
            address += reader.fixed(2)
        else:
            for _ in range(header.arguments[code]):
                reader.unsigned()
        at = reader.at
    return rows
