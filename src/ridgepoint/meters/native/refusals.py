"""Programs that the copying engine does not count: found before the start, by what their files say.

A library is preloaded by the loader that a program names. One that names none is out of reach, and
one that runs with more rights than its user has its loader ignore what it is asked to preload.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ridgepoint.core.errors import CannotMeasure, CannotStart, InvalidDocument
from ridgepoint.host.run import resolve
from ridgepoint.meters.building import can_be_preloaded
from ridgepoint.meters.object_file import foreign_architecture

_SCRIPTS = 4  # interpreters of interpreters, as the kernel follows them
_HEAD_BYTES = 256
_SANITIZERS = ("libasan", "libtsan", "libmsan", "libubsan_standalone", "liblsan", "libclang_rt")
_BUILT_IN = ("__asan_init", "__tsan_init", "__msan_init", "__hwasan_init")
_CAPABILITIES = "security.capability"
_ENGINE = "count it with --meter engine"


def check_countable(command: Sequence[str]) -> None:
    """Refuse a command whose program cannot be counted, by name and with the reason.

    Raises
    ------
    CannotStart
        If there is no such program, or it is for another architecture.
    CannotMeasure
        If no library can be preloaded into it, or one is that stands no other.
    """
    program = _executed(resolve(command)[0])
    what = f"cannot count {command[0]!r} with the copying engine"
    try:
        other = foreign_architecture(program)
    except InvalidDocument:
        return  # executable without being readable: its loader has its own say
    if other is not None:
        raise CannotStart(
            f"cannot start {program!r} under the copying engine",
            reason=f"it is of another architecture: {other}",
            remedy="give it a program for 64-bit x86-64",
        )
    if (why := _more_rights(program)) is not None:
        raise CannotMeasure(
            what, reason=f"{program} {why}", remedy=("run the program as the user who owns it")
        )
    if (why := _out_of_reach(program)) is not None:
        raise CannotMeasure(what, reason=f"{program} {why}", remedy=_ENGINE)
    for library in _preloaded():
        if Path(library).name.startswith(_SANITIZERS):
            raise CannotMeasure(
                what,
                reason=f"LD_PRELOAD names {library}, which must be loaded before any other library",
                remedy="unset LD_PRELOAD",
            )


def _executed(program: str) -> str:
    """Return the file that the kernel executes for a program: of a script its interpreter."""
    for _ in range(_SCRIPTS):
        try:
            with open(program, "rb") as file:
                head = file.read(_HEAD_BYTES)
        except OSError:
            return program
        if head[:4] == b"\x7fELF":
            return program
        line = os.fsdecode(head[2:].split(b"\n")[0]).split() if head[:2] == b"#!" else []
        # A text that names no interpreter is a shell's: ridgepoint.host.run runs it so.
        program = line[0] if line else "/bin/sh"
    return program


def _more_rights(program: str) -> str | None:
    """Return why a program has other rights than its user, or None if it has not."""
    if os.geteuid() == 0:
        return None  # whose rights could not grow, unless the file is another user's
    try:
        status = os.stat(program)
        capabilities = _CAPABILITIES in os.listxattr(program)
    except OSError:
        return None
    if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
        return "is setuid, so the loader preloads no library into it"
    if status.st_mode & stat.S_ISGID and status.st_gid != os.getegid():
        return "is setgid, so the loader preloads no library into it"
    if capabilities:
        return "has capabilities of its own, so the loader preloads no library into it"
    return None


def _out_of_reach(program: str) -> str | None:
    """Return why nothing can be preloaded into a program, or None if it can."""
    try:
        with open(program, "rb") as file:
            elf = ELFFile(file)
            kinds = {segment["p_type"] for segment in elf.iter_segments()}
            if "PT_INTERP" not in kinds:
                return "is static, so no loader preloads a library into it"
            return _sanitized(elf)
    except (OSError, ELFError):
        return None


def _sanitized(elf: ELFFile) -> str | None:
    dynamic = elf.get_section_by_name(".dynamic")
    if isinstance(dynamic, DynamicSection):
        for tag in dynamic.iter_tags("DT_NEEDED"):
            needed = str(getattr(tag, "needed", ""))
            if needed.startswith(_SANITIZERS):
                return f"is built with a sanitizer, whose {needed} must be loaded first"
    symbols = elf.get_section_by_name(".dynsym")
    if isinstance(symbols, SymbolTableSection):
        for name in _BUILT_IN:
            if symbols.get_symbol_by_name(name):
                return f"is built with a sanitizer ({name}), which checks its own code"
    return None


def _preloaded() -> list[str]:
    """Return the libraries that the user has preloaded."""
    return os.environ.get("LD_PRELOAD", "").replace(":", " ").split()


def preload(*libraries: Path) -> str:
    """Return ``LD_PRELOAD`` with libraries before those of the user.

    Raises
    ------
    CannotMeasure
        If a path has a character that separates paths there.
    """
    for library in libraries:
        if not can_be_preloaded(library):
            raise CannotMeasure(
                "cannot preload a library into the program",
                reason=f"blanks and colons separate paths; {shlex.quote(str(library))} has some",
                remedy="name a folder without blanks and colons in RIDGEPOINT_CACHE",
            )
    return ":".join((*map(str, libraries), *_preloaded()))


def env_program() -> str:
    """Return the program that sets variables for another one: they are not meant for us."""
    return shutil.which("env") or "/usr/bin/env"
