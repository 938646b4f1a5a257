"""Executables without a C library: nothing runs in them but the code that is given."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ridgepoint.doctor.selftest.assembly import ARRAYS, DATA

TEXT = 0x40_0000
"""Where the file is mapped for execution, its headers included."""

_PAGE_BYTES = 0x1000
_LINKED = TEXT - _PAGE_BYTES  # where what the dynamic loader reads is
_HEADER_BYTES, _SEGMENT_BYTES, _SECTION_BYTES = 64, 56, 64
_CODE_OFFSET = 0x100  # behind the headers, at the beginning of a cache line
_EXECUTABLE_FILE, _X86_64, _CURRENT = 2, 62, 1
_LOAD, _DYNAMIC, _INTERP, _TABLE, _GNU_STACK = 1, 2, 3, 6, 0x6474_E551
_HASH, _STRINGS, _SYMBOLS, _STRINGS_BYTES, _SYMBOL_BYTES, _DEBUG = 4, 5, 6, 10, 11, 21
_INTERPRETER = b"/lib64/ld-linux-x86-64.so.2\0"
_READ, _WRITE, _EXECUTE = 4, 2, 1
_PROGBITS, _SYMTAB, _STRTAB, _NOBITS = 1, 2, 3, 8
_ALLOC, _WRITABLE, _EXECUTABLE = 2, 1, 4
_GLOBAL_FUNCTION = 0x12

START = TEXT + _CODE_OFFSET
"""Where a program's first instruction is: the beginning of a cache line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A row of the section table (ELF-64, figure 8), and what the file holds of it."""

    name: str
    kind: int
    flags: int = 0
    address: int = 0
    offset: int
    size: int
    link: int = 0
    info: int = 0
    align: int = 1
    entry_bytes: int = 0


def executable(
    code: bytes, *, constants: bytes, arrays_bytes: int, interpreted: bool = False
) -> bytes:
    """Return an executable for Linux on x86-64.

    Parameters
    ----------
    code : bytes
        Begins at `START`, executed from its first byte; it has to end the process itself.
    constants : bytes
        What memory holds at `DATA`, writable.
    arrays_bytes : int
        Memory that the program may use from `ARRAYS` on.
    interpreted : bool
        Whether it names the dynamic loader, which then runs before it, and preloads what it is
        asked to; else it is static.

    Raises
    ------
    ValueError
        If code or constants are longer than a page has room for.

    Notes
    -----
    Valgrind ascribes code to its file by the section table, and reads that only where a part of
    the file is mapped for writing too: hence the constants in a page of their own, and sections
    and a symbol, which the kernel needs none of.
    """
    if _CODE_OFFSET + len(code) > _PAGE_BYTES or not 0 < len(constants) <= _PAGE_BYTES:
        raise ValueError("code and constants must fit a page each")
    memory_bytes = ARRAYS - DATA + arrays_bytes
    segments = [
        _segment(_READ | _EXECUTE, 0, TEXT, (_CODE_OFFSET + len(code),) * 2),
        _segment(_READ | _WRITE, _PAGE_BYTES, DATA, (len(constants), memory_bytes)),
        struct.pack("<II6Q", _GNU_STACK, _READ | _WRITE, 0, 0, 0, 0, 0, 16),
    ]
    linked = b""
    if interpreted:
        more, linked = _linked(segments)
        segments = [*more, *segments]
    loaded = _PAGE_BYTES + len(constants) if not interpreted else 2 * _PAGE_BYTES + len(linked)
    names = b"\0_start\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, _GLOBAL_FUNCTION, 0, 1, START, len(code))
    sections = [
        _Section(
            name=".text", kind=_PROGBITS, flags=_ALLOC | _EXECUTABLE, address=START,
            offset=_CODE_OFFSET, size=len(code), align=64,
        ),
        _Section(
            name=".data", kind=_PROGBITS, flags=_ALLOC | _WRITABLE, address=DATA,
            offset=_PAGE_BYTES, size=len(constants), align=64,
        ),
        _Section(
            name=".bss", kind=_NOBITS, flags=_ALLOC | _WRITABLE, address=DATA + len(constants),
            offset=loaded, size=memory_bytes - len(constants), align=1,
        ),
        _Section(
            name=".symtab", kind=_SYMTAB, offset=loaded, size=len(symbols), link=5, info=1,
            align=8, entry_bytes=24,
        ),
        _Section(name=".strtab", kind=_STRTAB, offset=loaded + len(symbols), size=len(names)),
    ]  # fmt: skip
    table, section_names = _section_table(sections, offset=loaded + len(symbols) + len(names))
    tail = symbols + names + section_names
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",  # 64 bit, little endian, version 1, System V
        *(_EXECUTABLE_FILE, _X86_64, _CURRENT, START),
        *(2 * _PAGE_BYTES if interpreted else _HEADER_BYTES, loaded + len(tail), 0),
        *(_HEADER_BYTES, _SEGMENT_BYTES, len(segments), _SECTION_BYTES),
        *(len(sections) + 2, len(sections) + 1),
    )
    front = header if interpreted else header + b"".join(segments)
    front = (front.ljust(_CODE_OFFSET, b"\0") + code).ljust(_PAGE_BYTES, b"\0") + constants
    if interpreted:
        front = front.ljust(2 * _PAGE_BYTES, b"\0") + linked
    return front + tail + table


def _linked(others: list[bytes]) -> tuple[list[bytes], bytes]:
    """Return what the dynamic loader needs: segments, and the content of a page of their own.

    The page begins with the table of segments, for which the page of the code has no room: it is
    loaded below the code, since kernels before 5.18 look for the table in the lowest segment.
    """
    table_bytes = _SEGMENT_BYTES * (4 + len(others))
    interpreter_at = table_bytes
    strings_at = interpreter_at + len(_INTERPRETER)
    symbols_at = -(-(strings_at + 1) // 8) * 8
    hash_at = symbols_at + 24  # one symbol, which is none
    dynamic_at = hash_at + 16
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in (
            (_HASH, _LINKED + hash_at),
            (_STRINGS, _LINKED + strings_at),
            (_SYMBOLS, _LINKED + symbols_at),
            (_STRINGS_BYTES, 1),
            (_SYMBOL_BYTES, 24),
            (_DEBUG, 0),
            (0, 0),
        )
    )
    size = dynamic_at + len(dynamic)
    segments = []
    for kind, flags, at, n, alignment in (
        (_TABLE, _READ, 0, table_bytes, 8),
        (_INTERP, _READ, interpreter_at, len(_INTERPRETER), 1),
        (_LOAD, _READ | _WRITE, 0, size, _PAGE_BYTES),
        (_DYNAMIC, _READ | _WRITE, dynamic_at, len(dynamic), 8),
    ):
        places = (2 * _PAGE_BYTES + at, _LINKED + at, _LINKED + at)
        segments.append(struct.pack("<II6Q", kind, flags, *places, n, n, alignment))
    content = b"".join((*segments, *others)) + _INTERPRETER
    content = content.ljust(hash_at, b"\0") + struct.pack("<4I", 1, 1, 0, 0) + dynamic
    return segments, content


def _segment(flags: int, offset: int, address: int, sizes: tuple[int, int]) -> bytes:
    """Return a row of the segment table; sizes are those in the file and in memory."""
    return struct.pack("<II6Q", _LOAD, flags, offset, address, address, *sizes, _PAGE_BYTES)


def _section_table(sections: list[_Section], *, offset: int) -> tuple[bytes, bytes]:
    """Return the table, first row empty and names last, and the names that begin at `offset`."""
    names = b"\0"
    rows = [bytes(_SECTION_BYTES)]
    last = _Section(name=".shstrtab", kind=_STRTAB, offset=offset, size=0)
    for section in (*sections, last):
        name_offset = len(names)
        names += section.name.encode() + b"\0"
        size = len(names) if section is last else section.size
        rows.append(
            struct.pack(
                "<IIQQQQIIQQ",
                *(name_offset, section.kind, section.flags, section.address, section.offset),
                *(size, section.link, section.info, section.align, section.entry_bytes),
            )
        )
    return b"".join(rows), names
