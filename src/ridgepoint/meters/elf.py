"""Reads the headers of ELF files of 64 bits, by array.

A general library makes objects of all sections, which takes long for what many files hold.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.void]

_HEADER = np.dtype(
    [
        ("ident", "u1", 16),
        *((name, "<u2") for name in ("type", "machine")),
        ("version", "<u4"),
        *((name, "<u8") for name in ("entry", "segments_at", "sections_at")),
        ("flags", "<u4"),
        *((name, "<u2") for name in ("bytes", "segment_bytes", "n_segments")),
        *((name, "<u2") for name in ("section_bytes", "n_sections", "names")),
    ]
)
_SECTION = np.dtype(
    [
        *((name, "<u4") for name in ("name", "type")),
        *((name, "<u8") for name in ("flags", "address", "offset", "size")),
        *((name, "<u4") for name in ("link", "info")),
        *((name, "<u8") for name in ("alignment", "entry_bytes")),
    ]
)
_SEGMENT = np.dtype(
    [
        *((name, "<u4") for name in ("type", "flags")),
        *((name, "<u8") for name in ("offset", "address", "physical")),
        *((name, "<u8") for name in ("file_bytes", "bytes", "alignment")),
    ]
)
_IDENT = (0x7F, *b"ELF", 2, 1)  # 64 bits, little endian
_NO_CONTENT = 8  # SHT_NOBITS
_LOADED = 1  # PT_LOAD


class NotReadable(ValueError):
    """A file is no ELF file of 64 bits, or is damaged."""


class Elf:
    """The segments and sections of an ELF file.

    Parameters
    ----------
    file : file object
        Stays open while contents are asked for.

    Attributes
    ----------
    segments : ndarray
        Those that are loaded.
    sections : ndarray

    Raises
    ------
    NotReadable
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        header = self._rows(0, 1, _HEADER)[0]
        if tuple(header["ident"][: len(_IDENT)].tolist()) != _IDENT:
            raise NotReadable("it is not a 64-bit ELF file")
        segments = self._rows(int(header["segments_at"]), int(header["n_segments"]), _SEGMENT)
        self.segments = segments[segments["type"] == _LOADED]
        self.sections = self._rows(int(header["sections_at"]), int(header["n_sections"]), _SECTION)
        names = int(header["names"])
        self._names = self.content(self.sections[names]) if names < len(self.sections) else b""

    def section(self, name: str) -> np.void | None:
        """Return the header of the first section of a name, or None."""
        wanted = name.encode() + b"\0"
        for section in self.sections:
            if self._names.startswith(wanted, int(section["name"])):
                return section  # type: ignore[no-any-return]  # NumPy's rows are of any type
        return None

    def content(self, section: np.void) -> bytes:
        """Return the bytes of a section, as they are in the file."""
        if section["type"] == _NO_CONTENT:
            return b""
        return self._read(int(section["offset"]), int(section["size"]))

    def loaded(self, segment: np.void) -> bytes:
        """Return the bytes of a segment that are in the file."""
        return self._read(int(segment["offset"]), int(segment["file_bytes"]))

    def _rows(self, at: int, n: int, of: np.dtype[np.void]) -> Rows:
        return np.frombuffer(self._read(at, n * of.itemsize), of)

    def _read(self, at: int, n: int) -> bytes:
        try:
            self._file.seek(at)
            content = self._file.read(n)
        except (OverflowError, ValueError, MemoryError) as error:
            raise NotReadable("it is damaged") from error
        if len(content) < n:
            raise NotReadable("it is cut short")
        return content
