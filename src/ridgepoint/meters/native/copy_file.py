"""Reads the file that holds the copy of a module: ``native/copying/copy_file.h`` says how."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.core.errors import InvalidDocument

MAGIC = b"RPCOPY01"

CODE, OUTWARD, COUNTERS, ANCHORS, ROWS, PLACES, TURNS, ACCESSES, NAMES, LINES = range(10)
SUMS, RECORDING = 12, 13
"""Sections, as ``SectionKind`` has them."""

BLOCK, MASK, ITERATIONS, UNUSED = range(4)
"""Kinds of rows, as ``RowKind`` has them."""

_SECTIONS = 16
HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("file_bytes", "<u8"),
        ("identity", "<u8", 2),
        *((name, "<u8") for name in ("module_bytes", "lowest", "highest", "delta")),
        *((name, "<u8") for name in ("eh_frame_hdr", "flags", "n_instructions")),
        *((name, "<u8") for name in ("n_functions", "n_left_alone")),
        ("sections", [("at", "<u8"), ("n", "<u8")], _SECTIONS),
        ("first_counter", "<u8"),
    ]
)
ROW = np.dtype(
    [
        ("address", "<u8"),
        ("bytes", "<u4"),
        ("kind", "<u2"),
        ("n_accesses", "<u2"),
        ("first_access", "<u4"),
        ("shares", "<u4"),
    ]
)
PLACE = np.dtype([("at", "<u4"), ("address", "<u4")])
SUM = np.dtype([("row", "<u4"), ("term", "<i4")])
RECORDED = np.dtype([(name, "<u4") for name in ("begin", "end", "eh_frame_hdr", "first_row")])
LINE = np.dtype([("at", "<u4"), ("file", "<u4"), ("line", "<u4")])

Rows = npt.NDArray[np.void]
Integers = npt.NDArray[np.int64]
_Parts = tuple[Integers, Integers, npt.NDArray[np.int8]]

_HAS_BOTH = 4  # of the flags: counting and recording code
_SEARCHED_AS_A_WHOLE = 16  # numbers to find for each 1024 of a column, from which on it is copied
_NAME_BYTES = 256  # that are looked at at once


@dataclass(frozen=True, kw_only=True, eq=False)
class CopyFile:
    """What is known of a module by its copy.

    Parameters
    ----------
    identity : tuple of int
    lowest, highest : int
        Addresses of what is loaded of the module, as its file states them.
    rows : ndarray of ROW
        What each counter counts.
    places : ndarray of PLACE
        Where each instruction is in the code; addresses from `lowest`.
    code : ndarray of uint8
    lines : ndarray of LINE
        From which lines code comes, each row up to the next; addresses from `lowest`.
    names : ndarray of uint8
        Strings, each up to its 0.
    sums : ndarray of SUM
        Terms of rows without a counter: 1 + the row that is added, less than 0: subtracted.
    flags : int
    first_recording : int
        From which row on rows are those before once more, of code that records; 0: none are.

    Attributes
    ----------
    masks, sharers : Integers
        Rows that count masks, and those that have the counter of another one.

    Notes
    -----
    Counts come from many banks, and what all of them look up is made once.
    """

    identity: tuple[int, int]
    lowest: int
    highest: int
    rows: Rows
    places: Rows
    code: npt.NDArray[np.uint8]
    lines: Rows
    names: npt.NDArray[np.uint8]
    sums: Rows
    flags: int = 0
    first_recording: int = 0
    masks: Integers = field(init=False)
    sharers: Integers = field(init=False)

    def __post_init__(self) -> None:
        # To look at all rows takes long where there are millions of them.
        own = self.rows["kind"][: self.first_recording or None]
        object.__setattr__(self, "masks", np.flatnonzero(own == MASK))
        object.__setattr__(self, "sharers", np.flatnonzero(self.rows["shares"]))

    def places_from(
        self, addresses: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.uint32], Integers]:
        """Return the addresses of all instructions, and the first in it from each address on.

        All from `lowest`; those of instructions ascend.
        """
        own = self.places["address"]
        own = own[: len(own) // 2] if self.flags & _HAS_BOTH else own
        return own, _positions(own, addresses)

    def with_sharers(self, rows: Integers, counts: Integers) -> tuple[Integers, Integers]:
        """Return rows and their counts, and those of the rows that have a counter of others.

        Parameters
        ----------
        rows, counts : Integers
            Rows in any order, which may occur several times: they add up.

        Returns
        -------
        rows, counts : Integers
            Those of recording code are in those of the counting code.
            A row that is a difference may have 0. It never has less: a program that is killed in
            between has not done what was begun.
        """
        counted, totals = _added(rows, counts)
        shared_by, shared = _terms(counted, totals, self._shared)
        derived, differences = _added(*_terms(counted, totals, self._derived))
        found = (
            np.concatenate([counted, shared_by, derived]),
            np.concatenate([totals, shared, np.maximum(differences, 0)]),
        )
        if not self.first_recording:
            return found
        return _added(
            np.where(found[0] < self.first_recording, 0, -self.first_recording) + found[0], found[1]
        )

    @cached_property
    def _shared(self) -> _Parts:
        """Rows that have the counter of another one, as parts of that one alone."""
        sources = self.rows["shares"][self.sharers].astype(np.int64) - 1
        return self.sharers, sources, np.ones(len(sources), np.int8)

    @cached_property
    def _derived(self) -> _Parts:
        """Rows without a counter, as sums and differences of others."""
        terms = self.sums["term"].astype(np.int64)
        return self.sums["row"].astype(np.int64), np.abs(terms) - 1, np.sign(terms).astype(np.int8)

    @property
    def ring_words(self) -> Integers:
        """What recording each row writes to the ring each time; of rows that are no blocks 0."""
        recorded = self.rows[self.first_recording :]
        words = recorded["n_accesses"].astype(np.int64) + 1
        return np.where(recorded["kind"] == BLOCK, words, 0)

    def lines_at(
        self, addresses: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return the line of the code at each address, and where its path is; 0: unknown."""
        latest = np.searchsorted(self.lines["at"], addresses - np.uint64(self.lowest), side="right")
        rows = np.concatenate([np.zeros(1, LINE), self.lines])[latest]
        return rows["line"], rows["file"]

    def name(self, at: int) -> str:
        """Return the string at a place."""
        found = b""
        while at < len(self.names) and b"\0" not in found:
            found += self.names[at : at + _NAME_BYTES].tobytes()
            at += _NAME_BYTES
        return os.fsdecode(found.partition(b"\0")[0])


def _added(rows: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Return rows, each once and ascending, and what they count together."""
    unique, place = np.unique(rows, return_inverse=True)
    totals = np.zeros(len(unique), np.int64)
    np.add.at(totals, place, counts)
    return unique, totals


def _terms(counted: Integers, totals: Integers, parts: _Parts) -> tuple[Integers, Integers]:
    """Return rows and what their sources count, times a factor; of sources that count."""
    rows, sources, factors = parts
    if not len(counted):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    is_counted = np.zeros(max(int(counted[-1]), int(sources.max(initial=0))) + 1, np.bool_)
    is_counted[counted] = True
    hit = np.flatnonzero(is_counted[sources])
    return rows[hit], totals[np.searchsorted(counted, sources[hit])] * factors[hit]


def _positions(column: npt.NDArray[Any], wanted: npt.NDArray[np.uint64]) -> Integers:
    """Return where numbers are in an ascending column, which may be long and on disk."""
    if len(wanted) * 1024 > len(column) * _SEARCHED_AS_A_WHOLE:
        return np.searchsorted(column, wanted)
    low = np.zeros(len(wanted), np.int64)
    high = np.full(len(wanted), len(column), np.int64)
    for _ in range(len(column).bit_length()):
        middle = (low + high) // 2
        is_open = low < high
        below = is_open & (column[np.minimum(middle, len(column) - 1)] < wanted)
        low = np.where(below, middle + 1, low)
        high = np.where(is_open & ~below, middle, high)
    return low


def read_copy(path: Path) -> CopyFile:
    """Read the file of a copy; its large parts stay on disk until they are looked at.

    Raises
    ------
    InvalidDocument
        If it cannot be read, is no such file, or is cut short.
    """
    try:
        content = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:  # NumPy maps no empty file
        raise _invalid(path, str(error)) from error
    if len(content) < HEADER.itemsize:
        raise _invalid(path, "it is cut short")
    header = content[: HEADER.itemsize].view(HEADER)[0]
    if header["magic"] != MAGIC:
        raise _invalid(path, "it is not a copy of a module")
    if int(header["file_bytes"]) != len(content):
        raise _invalid(path, "it is cut short")

    def section(kind: int, of: np.dtype[np.void] | type[np.uint8]) -> npt.NDArray[np.void]:
        at, n = (int(number) for number in header["sections"][kind])
        end = at + n * np.dtype(of).itemsize
        if end > len(content):
            raise _invalid(path, "a part of it is missing")
        return content[at:end].view(of)

    recorded = section(RECORDING, RECORDED)
    return CopyFile(
        identity=(int(header["identity"][0]), int(header["identity"][1])),
        lowest=int(header["lowest"]),
        highest=int(header["highest"]),
        rows=section(ROWS, ROW),
        places=section(PLACES, PLACE),
        code=section(CODE, np.uint8).view(np.uint8),
        lines=section(LINES, LINE),
        names=section(NAMES, np.uint8).view(np.uint8),
        sums=section(SUMS, SUM),
        flags=int(header["flags"]),
        first_recording=int(recorded[0]["first_row"]) if len(recorded) else 0,
    )


def _invalid(path: Path, reason: str) -> InvalidDocument:
    return InvalidDocument(
        f"cannot use the copy {str(path)!r}",
        reason=reason,
        remedy="remove the file: the copy is made again when it is needed",
    )
