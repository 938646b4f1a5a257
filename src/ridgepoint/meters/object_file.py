"""Object files: the code behind an address, and whether AVX-512 is among it."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from iced_x86 import Decoder, EncodingKind

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.meters.elf import Elf, NotReadable

_EXECUTABLE = 1  # PF_X of the ELF specification
_X86_64 = (b"\2\1", b"\x3e\0")  # 64 bits, little endian; EM_X86_64


def _bytes_with(allowed: Callable[[int], bool]) -> bytes:
    """Return a class of a regular expression that holds the allowed bytes."""
    return b"[" + re.escape(bytes(byte for byte in range(256) if allowed(byte))) + b"]"


# An EVEX prefix (Intel SDM vol. 2, 2.7.1): 62, then P0 with bit 3 clear and an opcode map that
# exists, P1 with bit 2 set, and P2 with a vector length other than the reserved 11.
_EVEX = re.compile(
    b"\x62"
    + _bytes_with(lambda byte: byte & 8 == 0 and byte & 7 in {1, 2, 3, 5, 6})
    + _bytes_with(lambda byte: byte & 4 != 0)
    + _bytes_with(lambda byte: byte & 0x60 != 0x60)
)
_SYNC_BYTES = 96
_SYNC_STARTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A piece of code as it is loaded.

    Parameters
    ----------
    address : int
        Of its first byte, as the file states it (before relocation).
    code : bytes
    """

    address: int
    code: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectFile:
    """The executable segments of an ELF file, by address.

    Parameters
    ----------
    path : str
    segments : tuple of Segment
    changed_ns : int
        When its content or its name last changed, nanoseconds since 1970.
    """

    path: str
    segments: tuple[Segment, ...]
    changed_ns: int

    @classmethod
    def read(cls, path: str) -> ObjectFile:
        """Read an object file.

        Raises
        ------
        InvalidDocument
            If it cannot be read, is no ELF file, or is not for x86-64.
        """
        if (other := foreign_architecture(path)) is not None:
            raise _unreadable(path, f"it is for {other}")
        try:
            with Path(path).open("rb") as file:
                status = os.fstat(file.fileno())
                elf = Elf(file)
                loaded = [
                    (int(segment["address"]), elf.loaded(segment))
                    for segment in elf.segments
                    if segment["flags"] & _EXECUTABLE
                ]
        except (OSError, NotReadable) as error:
            raise _unreadable(path, str(error)) from error
        return cls(
            path=path,
            segments=tuple(Segment(address=at, code=code) for at, code in sorted(loaded)),
            changed_ns=max(status.st_mtime_ns, status.st_ctime_ns),
        )

    def segment_of(self, address: int) -> Segment | None:
        """Return the segment that holds an address, or None."""
        index = bisect_right(self.segments, address, key=lambda segment: segment.address) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        return segment if address < segment.address + len(segment.code) else None

    def holds_avx512(self) -> bool:
        """Return whether any of the code is AVX-512 (EVEX-encoded)."""
        return any(_holds_evex(segment.code) for segment in self.segments)


@dataclass(slots=True)
class CodeStore:
    """The object files of a run, each read once.

    An object that cannot be read, or that changed after its code was executed, is None: its
    bytes may be others than those that ran.

    Parameters
    ----------
    limit_ns : int
        When code ran of which nothing else is noted, nanoseconds since 1970.
    changed_before_ns : dict of str to int
        When code of an object ran, by its path.
    """

    limit_ns: int = 1 << 63
    changed_before_ns: dict[str, int] = field(default_factory=dict)
    _objects: dict[str, ObjectFile | None] = field(default_factory=dict)

    def executed(self, path: str, *, until_ns: int) -> None:
        """Note that code of an object ran, the earliest time counting."""
        self.changed_before_ns[path] = min(until_ns, self.changed_before_ns.get(path, until_ns))

    def get(self, path: str) -> ObjectFile | None:
        """Return an object file, or None where its bytes are not to be had."""
        if path not in self._objects:
            try:
                file: ObjectFile | None = ObjectFile.read(path)
            except InvalidDocument:
                file = None
            if file is not None and file.changed_ns >= self.changed_before_ns.get(
                path, self.limit_ns
            ):
                file = None
            self._objects[path] = file
        return self._objects[path]


def foreign_architecture(path: str) -> str | None:
    """Return the architecture of an ELF file that is not for x86-64, or None.

    A file that is no ELF file (a script) has none.

    Raises
    ------
    InvalidDocument
        If it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            begin = file.read(20)
            if not begin.startswith(b"\x7fELF") or (begin[4:6], begin[18:]) == _X86_64:
                return None
            elf = ELFFile(file)
            bits, machine = elf.elfclass, elf["e_machine"]
    except (OSError, ELFError) as error:
        raise _unreadable(path, str(error)) from error
    if (bits, machine) == (64, "EM_X86_64"):
        return None
    return f"{str(machine).removeprefix('EM_')} ({bits}-bit)"


def holds_avx512(path: str) -> bool:
    """Return whether an object file holds AVX-512 code; that it does is no proof that it runs.

    Raises
    ------
    InvalidDocument
        If it cannot be read.
    """
    return ObjectFile.read(path).holds_avx512()


def _holds_evex(code: bytes) -> bool:
    # Four bytes that look like a prefix may lie within another instruction or in data, so each
    # candidate is decoded, and must be where decoding that began well before it arrives.
    for match in _EVEX.finditer(code):
        if _decodes_as_evex(code, match.start()) and _is_boundary(code, match.start()):
            return True
    return False


def _decodes_as_evex(code: bytes, offset: int) -> bool:
    """Return whether a candidate and the seven instructions after it are all valid."""
    decoder = Decoder(64, code[offset : offset + _SYNC_BYTES])
    for index in range(8):
        instruction = decoder.decode()
        if instruction.is_invalid:
            return False
        if index == 0 and instruction.encoding != EncodingKind.EVEX:
            return False
        if not decoder.can_decode:
            break
    return True


def _is_boundary(code: bytes, offset: int) -> bool:
    """Return whether an instruction starts at an offset.

    Decoding of x86 code falls into step within a few instructions wherever it begins, so of
    several starts before the offset nearly all arrive at it if an instruction starts there,
    and nearly none if not.
    """
    starts = range(max(0, offset - _SYNC_BYTES), offset)[:_SYNC_STARTS]
    arrived = 0
    for start in starts:
        decoder = Decoder(64, code[start:offset])
        valid = True
        while valid and decoder.can_decode:
            valid = not decoder.decode().is_invalid
        arrived += valid
    return 4 * arrived >= 3 * len(starts)


def _unreadable(path: str, reason: str) -> InvalidDocument:
    return InvalidDocument(
        f"cannot read the code of {path!r}",
        reason=reason,
        remedy="give an ELF file of x86-64 that exists and is readable",
    )
