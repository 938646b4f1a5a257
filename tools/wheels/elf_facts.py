"""What the system must provide for a compiled file, and what it says of where it was built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

MAGIC = b"\x7fELF"

_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}
_PIE = 0x08000000  # DF_1_PIE of DT_FLAGS_1: a program, though its type is that of a library
_VERSION = re.compile(r"([A-Z]+)_(\d+(?:\.\d+)+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfFacts:
    """What the loader of a system reads from a compiled file.

    Parameters
    ----------
    machine : str
        As a wheel's tag names it: ``x86_64``; else ELF's own name.
    is_program : bool
        It can be executed; otherwise it is a library, or an object to be linked.
    loader : str or None
        The path of the dynamic loader that it asks for; None: it asks for none.
    needed : tuple of str
        The libraries that it asks for.
    glibc : tuple of int or None
        The latest version of glibc whose symbols it needs; None: it needs none with a version.
    search_paths : tuple of str
        Its DT_RPATH and DT_RUNPATH.
    has_executable_stack : bool
    """

    machine: str
    is_program: bool
    loader: str | None
    needed: tuple[str, ...]
    glibc: tuple[int, ...] | None
    search_paths: tuple[str, ...]
    has_executable_stack: bool


def elf_facts(data: bytes) -> ElfFacts:
    """Return what a compiled file needs.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    try:
        return _facts(ELFFile(BytesIO(data)))
    except (ELFError, UnicodeDecodeError) as error:
        raise ValueError(f"it is no whole ELF file: {error}") from None


def _facts(elf: ELFFile) -> ElfFacts:
    segments = list(elf.iter_segments())
    loaders = [each.get_interp_name() for each in segments if each["p_type"] == "PT_INTERP"]
    stacks = [each["p_flags"] for each in segments if each["p_type"] == "PT_GNU_STACK"]
    entries = [
        entry
        for section in elf.iter_sections()
        if isinstance(section, DynamicSection)
        for entry in section.iter_tags()
    ]
    is_pie = any(each.entry.d_tag == "DT_FLAGS_1" and each.entry.d_val & _PIE for each in entries)
    kind = elf.header.e_type
    is_program = kind == "ET_EXEC" or (kind == "ET_DYN" and (bool(loaders) or is_pie))
    return ElfFacts(
        machine=_MACHINES.get(elf.header.e_machine, str(elf.header.e_machine)),
        is_program=is_program,
        loader=loaders[0] if loaders else None,
        needed=tuple(each.needed for each in entries if each.entry.d_tag == "DT_NEEDED"),
        glibc=max(_glibc_versions(elf), default=None),
        search_paths=tuple(
            getattr(each, name)
            for each in entries
            for tag, name in (("DT_RPATH", "rpath"), ("DT_RUNPATH", "runpath"))
            if each.entry.d_tag == tag
        ),
        # Without the header Linux makes the stack of x86-64 programs executable.
        has_executable_stack=kind != "ET_REL" and (not stacks or bool(stacks[0] & 1)),
    )


def _glibc_versions(elf: ELFFile) -> Iterator[tuple[int, ...]]:
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for _, needed in section.iter_versions():
                for each in needed:
                    if (version := _VERSION.fullmatch(each.name)) and version[1] == "GLIBC":
                        yield tuple(map(int, version[2].split(".")))
