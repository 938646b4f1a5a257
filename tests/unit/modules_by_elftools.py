"""What native/copying/module.c and unwind.c have to say of an ELF file, as pyelftools says it."""

from __future__ import annotations

import bisect
import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelrRelocationSection

RELATIVE, SYMBOL_64, GLOB_DAT, JUMP_SLOT, IRELATIVE = 8, 1, 6, 7, 37
FUNCTION_TYPES, NOT_CODE_TYPES = (2, 10), (1, 6)
ALLOCATED, EXECUTABLE = 2, 4
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
     ("size", "<u8")])  # fmt: skip
RELOCATION = np.dtype([("place", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])

Read = Callable[[int, int], bytes]


class Symbol(NamedTuple):
    """A row of a table of symbols."""

    name: str
    type: int
    is_defined: bool
    value: int
    size: int


class ElfFile:
    """Facts of one file, from its section headers."""

    def __init__(self, path: str | Path) -> None:
        self.elf = ELFFile(io.BytesIO(Path(path).read_bytes()))
        sections = [s for s in self.elf.iter_sections() if s["sh_size"]]
        in_code = [s for s in sections if s["sh_flags"] & ALLOCATED and s["sh_flags"] & EXECUTABLE]
        self.code = sorted((s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in in_code)
        self.stubs = sorted(
            (s["sh_addr"], s["sh_addr"] + s["sh_size"])
            for s in in_code
            if s.name.startswith(".plt")
        )
        self.segments = [s for s in self.elf.iter_segments("PT_LOAD") if s["p_memsz"]]
        self.dynamic_symbols = self._symbols("SHT_DYNSYM")
        self.fdes = self._fdes()
        self._relocate()
        self._choose_functions()

    def code_end(self, address: int) -> int | None:
        """Return the end of the section of code that holds an address."""
        at = bisect.bisect(self.code, (address, 1 << 64)) - 1
        return self.code[at][1] if at >= 0 and address < self.code[at][1] else None

    def bytes(self, address: int, n: int) -> bytes:
        """Return what the file has at an address."""
        for segment in self.segments:
            within = address - segment["p_vaddr"]
            if 0 <= within <= segment["p_filesz"] - n:
                self.elf.stream.seek(segment["p_offset"] + within)
                return bytes(self.elf.stream.read(n))
        return b""

    def word(self, address: int) -> int:
        """Return what relocation puts at an address, or else the file has there."""
        text = self.bytes(address, 8)
        return self.relocated.get(address, int.from_bytes(text, "little"))

    def _symbols(self, kind: str) -> list[Symbol]:
        found = []
        for section in self.elf.iter_sections(kind):
            names = self.elf.get_section(section["sh_link"]).data()
            for name, info, _, where, value, size in np.frombuffer(section.data(), SYMBOL).tolist():
                text = names[name : names.index(b"\0", name)].decode("latin1")
                found.append(Symbol(text, info & 15, bool(where), value, size))
        return found

    def _fdes(self) -> dict[int, FDE]:
        if self.elf.get_section_by_name(".eh_frame") is None:
            return {}
        entries = self.elf.get_dwarf_info(relocate_dwarf_sections=False).EH_CFI_entries()
        return {
            entry["initial_location"]: entry
            for entry in entries
            if isinstance(entry, FDE) and entry["address_range"]
        }

    def _relocate(self) -> None:
        self.relocated: dict[int, int] = {}
        self.imports: dict[int, str] = {}
        self.pointers: set[int] = set()
        for section in self.elf.iter_sections():
            if isinstance(section, RelrRelocationSection):
                for one in section.iter_relocations():
                    place = one["r_offset"]
                    self.relocated[place] = int.from_bytes(self.bytes(place, 8), "little")
            elif section["sh_type"] == "SHT_RELA":
                for row in np.frombuffer(section.data(), RELOCATION).tolist():
                    self._relocate_one(*row)
        self.pointers |= set(self.relocated.values())
        self.pointers = {at for at in self.pointers if self.code_end(at) is not None}

    def _relocate_one(self, place: int, kind: int, index: int, addend: int) -> None:
        if kind == RELATIVE:
            self.relocated[place] = addend
        elif kind == IRELATIVE:
            self.pointers.add(addend)
        elif kind == SYMBOL_64 and index:
            symbol = self.dynamic_symbols[index]
            if symbol.is_defined:
                self.relocated[place] = symbol.value + addend
            else:
                self.imports[place] = symbol.name
        elif kind in {GLOB_DAT, JUMP_SLOT} and index:
            self.imports[place] = self.dynamic_symbols[index].name
        if kind == JUMP_SLOT:
            self.pointers.add(int.from_bytes(self.bytes(place, 8), "little"))

    def _choose_functions(self) -> None:
        ends: dict[int, int] = {}
        self.names: dict[int, set[str]] = {}
        inside = set()
        for symbol in self.dynamic_symbols + self._symbols("SHT_SYMTAB"):
            if not symbol.is_defined or self.code_end(symbol.value) is None:
                continue
            if symbol.type in FUNCTION_TYPES and symbol.size:
                end = symbol.value + symbol.size
                ends[symbol.value] = max(ends.get(symbol.value, 0), end)
                self.names.setdefault(symbol.value, set()).add(symbol.name)
        for symbol in self.dynamic_symbols:
            if symbol.is_defined and symbol.type not in NOT_CODE_TYPES:
                inside.add(symbol.value)
        for start, fde in self.fdes.items():
            if self.code_end(start) is not None:
                ends.setdefault(start, start + fde["address_range"])
        self.functions: list[tuple[int, int]] = []
        done_to = 0
        for start in sorted(ends):
            if start < done_to:
                inside.add(start)
            else:
                done_to = min(ends[start], self.code_end(start) or 0)
                self.functions.append((start, done_to))
        inside |= {self.elf["e_entry"], *self._run_by_the_loader()}
        starts = {start for start, _ in self.functions}
        self.entries = {at for at in inside if self.code_end(at) is not None} - starts

    def _run_by_the_loader(self) -> set[int]:
        section = self.elf.get_section_by_name(".dynamic")
        tags = {tag["d_tag"]: tag["d_val"] for tag in section.iter_tags()} if section else {}
        found = {tags.get("DT_INIT", 0), tags.get("DT_FINI", 0)}
        for kind in ("DT_PREINIT_ARRAY", "DT_INIT_ARRAY", "DT_FINI_ARRAY"):
            for at in range(0, tags.get(f"{kind}SZ", 0), 8):
                found.add(self.word(tags[kind] + at))
        return found


# ---- unwind tables ----


def frames_of(code: bytes, address: int) -> dict[int, FDE]:
    """Return the FDEs of bytes of .eh_frame by the address that each begins at."""
    structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
    stream = io.BytesIO(code)
    frames = CallFrameInfo(stream, len(code), address, structs, for_eh_frame=True)
    return {one["initial_location"]: one for one in frames.get_entries() if isinstance(one, FDE)}


def rules(fde: FDE) -> list[tuple[int, object]]:
    """Return the instructions of a frame, other than those that move on, and where they hold."""
    at, found = fde["initial_location"], []
    for one in fde.instructions:
        if one.opcode in {2, 3, 4} or one.opcode & 0xC0 == 0x40:
            at += one.args[0] * fde.cie["code_alignment_factor"]
        elif one.opcode:
            found.append((at, (one.opcode, str(one.args))))
    return found


def _leb(read: Read, at: int, *, signed: bool = False) -> tuple[int, int]:
    value = shift = 0
    while True:
        (byte,) = read(at, 1)
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value - (1 << shift) if signed and byte & 64 else value, at


_FORMS = {0: "<Q", 2: "<H", 3: "<I", 4: "<Q", 10: "<h", 11: "<i", 12: "<q"}


class _Pointers:
    """Reads encoded pointers of a file, relocated as it would be."""

    def __init__(self, read: Read, relocated: dict[int, int]) -> None:
        self.read, self.relocated = read, relocated

    def form(self, at: int, encoding: int) -> tuple[int, int]:
        if encoding & 15 in {1, 9}:
            return _leb(self.read, at, signed=encoding & 15 == 9)
        form = _FORMS[encoding & 15]
        n = struct.calcsize(form)
        return struct.unpack(form, self.read(at, n))[0], at + n

    def pointer(self, at: int, encoding: int) -> tuple[int, int]:
        value, end = self.form(at, encoding)
        if encoding & 0x7F == 0:
            value = self.relocated.get(at, value)
        return value + at if value and encoding & 0x70 == 0x10 else value, end


def personality(
    read: Read, cie: int, relocated: dict[int, int]
) -> tuple[int, bool, int, int] | None:
    """Return the routine of a CIE, whether indirect, its data alignment and return register."""
    pointers = _Pointers(read, relocated)
    at, letters = cie + 9, ""
    while read(at, 1) != b"\0":
        letters += read(at, 1).decode()
        at += 1
    _, at = _leb(read, at + 1)
    align, at = _leb(read, at, signed=True)
    register, at = _leb(read, at)
    _, at = _leb(read, at)
    for letter in letters[1:]:
        (encoding,) = read(at, 1)
        at += 1
        if letter == "P":
            routine, at = pointers.pointer(at, encoding)
            return routine, bool(encoding & 128), align, register
    return None


def call_sites(
    read: Read, at: int, start: int, relocated: dict[int, int]
) -> list[tuple[int, int, int, tuple[object, ...]]]:
    """Return an exception table: start, end, landing pad (0: none), and what is caught there."""
    pointers = _Pointers(read, relocated)
    (encoding,) = read(at, 1)
    pads, at = pointers.pointer(at + 1, encoding) if encoding != 255 else (start, at + 1)
    (of_types,) = read(at, 1)
    offset, at = _leb(read, at + 1) if of_types != 255 else (0, at + 1)
    types = at + offset
    (of_sites,) = read(at, 1)
    n, at = _leb(read, at + 1)
    actions = at + n

    def type_of(index: int) -> tuple[int, bool]:
        size = struct.calcsize(_FORMS[of_types & 15])
        value, _ = pointers.pointer(types - index * size, of_types)
        return value, bool(value and of_types & 128)

    def listed(at: int) -> tuple[object, ...]:
        found = []
        while True:
            index, at = _leb(read, at)
            if not index:
                return tuple(found)
            found.append(type_of(index))

    def caught(action: int) -> tuple[object, ...]:
        found: list[object] = []
        at: int | None = actions + action - 1 if action else None
        while at is not None:
            kind, here = _leb(read, at, signed=True)
            step, _ = _leb(read, here, signed=True)
            found.append(type_of(kind) if kind > 0 else listed(types - kind - 1) if kind else None)
            at = here + step if step else None
        return tuple(found)

    sites = []
    while at < actions:
        begin, at = pointers.form(at, of_sites & 15)
        length, at = pointers.form(at, of_sites & 15)
        pad, at = pointers.form(at, of_sites & 15)
        action, at = _leb(read, at)
        sites.append(
            (start + begin, start + begin + length, pads + pad if pad else 0, caught(action))
        )
    return sites
