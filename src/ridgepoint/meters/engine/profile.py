"""Reads what the counting engine writes: a file for each process, or for each program that it was.

A header, then sections of a tag, a size and as many bytes, little endian; what each holds is in
the functions below that read it. Sections of other tags are passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.meters.profile import (
    EXECUTED,
    INSTRUCTION,
    MOVED,
    MOVED_ELSEWHERE,
    REPEATED,
    Process,
    Profile,
)
from ridgepoint.meters.simulated.geometry import MOST_LEVELS

_MAGIC = b"RIDGEENG"
_VERSION = 1
_HEADER = struct.Struct("<8sII")
_SECTION = struct.Struct("<4sIQ")
_CAUSES = ("ended", "exec", "signal")
_MOST = 1 << 63  # counters are added in 64 bits with a sign


def read_profile(path: Path) -> Profile:
    """Read a file that the engine wrote; see `parse_profile`."""
    return parse_profile(path.read_bytes(), source=path.name)


def parse_profile(document: bytes, *, source: str) -> Profile:
    """Return what the engine wrote.

    Parameters
    ----------
    document : bytes
        The whole file.
    source : str
        Its name, for messages.

    Raises
    ------
    InvalidDocument
        If it is no such file, is cut short, or contradicts itself.
    """
    try:
        return _profile(_sections(document))
    except _Broken as error:
        raise InvalidDocument(
            f"cannot use the counts in {source!r}",
            reason=str(error),
            remedy="count the program again, with enough free space in the temporary directory",
        ) from None


class _Broken(Exception):
    """The document is not what it should be."""


def _sections(document: bytes) -> dict[str, memoryview]:
    """Return the payload of every section but the last, which says that there is no more."""
    if document[:8] != _MAGIC[: len(document)]:
        raise _Broken("it is not a file of the counting engine")
    if len(document) < _HEADER.size:
        raise _cut_short()
    _, version, _ = _HEADER.unpack_from(document)
    if version != _VERSION:
        raise _Broken(f"its format is {version}, and this version of Ridgepoint reads {_VERSION}")
    found: dict[str, memoryview] = {}
    at = _HEADER.size
    while True:
        if at + _SECTION.size > len(document):
            raise _cut_short()
        tag_bytes, _, n_bytes = _SECTION.unpack_from(document, at)
        tag = tag_bytes.decode("ascii", "replace")
        begin = at + _SECTION.size
        at = begin + -(-n_bytes // 8) * 8
        if at > len(document):
            raise _cut_short()
        if tag in found:
            raise _Broken(f"it holds two sections {tag}")
        found[tag] = memoryview(document)[begin : begin + n_bytes]
        if tag == "TAIL":
            break
    if n_bytes or at != len(document):
        raise _Broken("it goes on after its end")
    return found


def _cut_short() -> _Broken:
    return _Broken("it is cut short; the disk of the temporary directory may be full")


def _profile(sections: Mapping[str, memoryview]) -> Profile:
    levels, line_bytes = _numbers(sections, "GEOM", "<u4", n=2)
    if levels > MOST_LEVELS or (levels and not line_bytes):
        raise _Broken(f"it states {levels} caches with lines of {line_bytes} bytes")
    strings = _strings(_required(sections, "STRS"))
    banks = _banks(_numbers(sections, "BANK", "<u4"), strings)
    pending_elsewhere = _numbers(sections, "ALTP", "<u8") if "ALTP" in sections else ()
    profile = Profile(
        process=_process(_numbers(sections, "PROC", "<u8", n=8)),
        levels=levels,
        line_bytes=line_bytes,
        strings=strings,
        instructions=_rows(_required(sections, "INST"), "INST", INSTRUCTION),
        banks=banks,
        executed=_rows(_required(sections, "EXEC"), "EXEC", EXECUTED),
        repeated=_rows(sections.get("REPS"), "REPS", REPEATED),
        moved=_rows(sections.get("MOVE"), "MOVE", MOVED),
        pending_lines=_numbers(sections, "PEND", "<u8", n=1)[0] if "PEND" in sections else None,
        moved_elsewhere=_rows(sections.get("ALTN"), "ALTN", MOVED_ELSEWHERE),
        pending_elsewhere=pending_elsewhere,
        miss_curve=_miss_curve(sections["CURV"]) if "CURV" in sections else None,
    )
    _check(profile)
    return profile


def _required(sections: Mapping[str, memoryview], tag: str) -> memoryview:
    if tag not in sections:
        raise _Broken(f"it lacks its section {tag}")
    return sections[tag]


def _numbers(
    sections: Mapping[str, memoryview], tag: str, kind: str, *, n: int | None = None
) -> tuple[int, ...]:
    """Return a section of numbers alone, as many as `n` says."""
    values = tuple(_rows(_required(sections, tag), tag, np.dtype(kind)).tolist())
    if n is not None and len(values) != n:
        raise _Broken(f"its section {tag} holds {len(values)} numbers, not {n}")
    return values


def _rows(payload: memoryview | None, tag: str, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the rows of a section; none where it is absent."""
    if not payload:
        return np.empty(0, kind)
    if len(payload) % kind.itemsize:
        raise _Broken(f"its section {tag} ends within a row")
    return np.frombuffer(payload, kind)


def _process(numbers: tuple[int, ...]) -> Process:
    pid, parent_pid, cause, status, most_threads, threads, continues, _ = numbers
    if cause >= len(_CAUSES):
        raise _Broken(f"the cause that it gives is unknown: {cause}")
    return Process(
        pid=pid,
        parent_pid=parent_pid,
        cause=_CAUSES[cause],
        status=status,
        most_threads=most_threads,
        threads=threads,
        continues=bool(continues),
    )


def _strings(payload: memoryview) -> tuple[str, ...]:
    """Return the strings; the number of each is its place. The first is empty."""
    text = bytes(payload[8:]).decode("utf-8", "surrogateescape")
    *strings, rest = text.split("\0")
    stated = int.from_bytes(payload[:4], "little")
    if rest or len(strings) != stated or strings[:1] != [""]:
        raise _Broken(f"it states {stated} names and holds {len(strings)}")
    return tuple(strings)


def _banks(numbers: tuple[int, ...], strings: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names of each bank; they are written as how many, and the number of each."""
    banks: list[tuple[str, ...]] = []
    at = 1
    while at < len(numbers):
        names = numbers[at + 1 : at + 1 + numbers[at]]
        if len(names) != numbers[at] or any(name >= len(strings) for name in names):
            raise _Broken("a bank of counters names regions that do not exist")
        banks.append(tuple(strings[name] for name in names))
        at += 1 + len(names)
    if numbers[:1] != (len(banks),) or banks[:1] != [()]:
        raise _Broken(
            "the number of its banks of counters is not the one that it states, or the first "
            "is no bank"
        )
    return tuple(banks)


def _miss_curve(payload: memoryview) -> MissCurve | None:
    """Return the curve: a head of four numbers, then rows of four."""
    numbers = _rows(payload, "CURV", np.dtype(("<u8", 4))).tolist()
    if not numbers:
        raise _Broken("its miss curve has no header")
    (line_bytes, _, sampling, _), *rows = numbers
    if not rows:
        return None
    scaled = ([line_bytes * lines for lines in row] for row in rows)
    capacities, read, written, pending = (tuple(column) for column in zip(*scaled, strict=True))
    try:
        return MissCurve(
            line_bytes=line_bytes,
            capacities_bytes=capacities,
            read_bytes=read,
            write_bytes=written,
            pending_bytes=pending,
            sampling=sampling,
        )
    except ValueError as error:
        raise _Broken(f"its miss curve is impossible: {error}") from error


def _check(profile: Profile) -> None:
    """Refuse numbers that lead nowhere, and counts that cannot be."""
    instructions, n_strings = profile.instructions, len(profile.strings)
    for name in ("object", "function", "source"):
        _check_below(instructions[name], n_strings, "an instruction has a name that does not exist")
    _check_below(
        instructions["length"] - np.uint8(1), 15, "an instruction has no bytes, or too many"
    )
    missing = "an instruction was executed that does not exist"
    for rows in (profile.executed, profile.repeated, profile.moved):
        _check_below(rows["instruction"], len(instructions), missing)
    n_others = len(profile.pending_elsewhere)
    _check_below(profile.moved_elsewhere["geometry"], n_others, "other caches are missing")
    for rows in (profile.executed, profile.repeated, profile.moved, profile.moved_elsewhere):
        _check_below(rows["bank"], len(profile.banks), "a bank of counters is missing")
        for name in (rows.dtype.names or ())[2:]:
            _check_below(rows[name], _MOST, "a count is impossible")
    if len(profile.moved) and not profile.levels:
        raise _Broken("it moved lines between caches that it did not simulate")
    _check_repeated(profile)


def _check_below(values: npt.NDArray[Any], limit: int, otherwise: str) -> None:
    if values.size and int(values.max()) >= limit:
        raise _Broken(f"{otherwise} ({int(values.max())}, with {limit - 1} the last)")


def _check_repeated(profile: Profile) -> None:
    """Refuse instructions that iterated more often than they were passed."""
    if not len(profile.repeated):
        return
    repeats = np.zeros(len(profile.instructions), dtype=np.bool_)
    repeats[profile.repeated["instruction"]] = True
    rows = profile.executed[repeats[profile.executed["instruction"]]].tolist()
    passes = {(bank, instruction): n for bank, instruction, n in rows}
    for bank, instruction, iterations, ended in profile.repeated.tolist():
        if not ended <= iterations <= passes.get((bank, instruction), 0):
            raise _Broken(f"instruction {instruction} iterated more often than it was executed")
