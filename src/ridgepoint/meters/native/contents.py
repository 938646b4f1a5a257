"""What processes wrote to an arena: read as ``native/copying/arena.h`` lays it out.

It takes as much memory as was written to it, and what nobody wrote is passed over.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.native import traffic as simulated

MAGIC = b"RPARENA1"

OPTION_SAMPLES, OPTION_TRAFFIC, OPTION_BURSTS, OPTION_JIT, OPTION_VERBOSE = (
    1 << bit for bit in range(5)
)
OPTION_ALL_THREADS, OPTION_LINES = 1 << 5, 1 << 6

BEGAN, FORKED, EXECS, EXEC_FAILED, LOADED, LEFT_ALONE, UNLOADED, THREAD, ENDED, USES_GS = range(
    1, 11
)
"""Kinds of events, as ``EventKind`` has them."""

_WRITTEN = (
    *("options", "modules_at", "most_modules", "events_at", "most_events", "samples_at"),
    *("most_samples", "names_at", "names_bytes", "banks_at", "most_banks", "bank_bytes"),
    *("most_counters", "period_ns", "folder_name", "copier_name", "loader_name", "traffic_at"),
    *("function_name", "claims_at", "region_name"),
)
_COUNTED = (
    *("n_modules", "n_events", "n_samples", "names_used", "n_banks", "n_counters"),
    *("n_processes", "threads_without_bank", "inside_ns", "late_ns"),
)
_COUNTED_AT, _LINE = 320, 64
HEADER = np.dtype(
    {
        "names": ["magic", *_WRITTEN, *_COUNTED],
        "formats": ["S8", *["<u8"] * (len(_WRITTEN) + len(_COUNTED))],
        "offsets": [
            *range(0, 8 + 8 * len(_WRITTEN), 8),
            *(_COUNTED_AT + _LINE * n for n in range(len(_COUNTED))),
        ],
        "itemsize": _COUNTED_AT + _LINE * len(_COUNTED),
    }
)
MODULE = np.dtype(
    [
        ("ready", "<u8"),
        ("path_name", "<u8"),
        ("copy_name", "<u8"),
        ("identity", "<u8", 2),
        ("first_counter", "<u8"),
        ("n_counters", "<u8"),
        ("process", "<u8"),
    ]
)
EVENT = np.dtype(
    [(name, "<u8") for name in ("kind", "process", "a", "b", "c", "d", "name", "name2")]
)
SAMPLE = np.dtype([("process", "<u8"), ("address", "<u8")])
BANK = np.dtype(
    [
        *((name, "<u8") for name in ("self", "process", "pid", "tid", "regions", "next")),
        *((name, "<u8") for name in ("thread", "is_free")),
        ("tiles", "V64"),
        *((name, "<u8") for name in ("in_copy", "in_original", "in_loader", "in_kernel")),
        *((name, "<u8") for name in ("elsewhere", "dropped")),
        ("slots", "<u8", 32),
        ("ring_index", "<u8"),
        ("not_simulated", "<u8"),
    ]
)
_AMOUNTS = (
    *("process", "pid", "tid", "in_copy", "in_original", "in_loader", "in_kernel"),
    *("elsewhere", "dropped", "not_simulated"),
)
COUNTERS_AT = 4096 + 2 * 65536
"""Where in a bank its counters begin."""

FIRST_PLANNED, PLANNED_UNIT, PLANNED_UNITS = 4 << 20, 1024, 48 << 10
"""Counters from the first on are planned, in units; each unit has a word that says who has it."""

_PAGE = 4096

Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module whose copy was loaded, by one process or by many.

    Parameters
    ----------
    number : int
    path : str
        Empty: code made at run time.
    copy : str
        Path of the file of its copy.
    identity : tuple of int
    first_counter, n_counters : int
    process : int or None
        Of code made at run time: who made it.
    """

    number: int
    path: str
    copy: str
    identity: tuple[int, int]
    first_counter: int
    n_counters: int
    process: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a process; what a, b, c, d are depends on the kind."""

    kind: int
    process: int
    a: int
    b: int
    c: int
    d: int
    name: str
    name2: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bank:
    """What one thread did in one set of regions, with one configuration of AMX's tiles.

    Parameters
    ----------
    process, pid, tid : int
    regions : tuple of str
        Open regions, outermost first.
    tiles : bytes
        As LDTILECFG has them; empty: not configured.
    in_copy, in_original, in_loader, in_kernel, elsewhere : int
        Samples of the thread, by where it was.
    dropped : int
        Samples whose addresses were not recorded.
    not_simulated : int
        Words of its ring that no simulated cache has seen.
    counters, counts : ndarray of uint64
        Those that are not 0, ascending.
    """

    process: int
    pid: int
    tid: int
    regions: tuple[str, ...]
    tiles: bytes
    in_copy: int
    in_original: int
    in_loader: int
    in_kernel: int
    elsewhere: int
    dropped: int
    not_simulated: int
    counters: Numbers
    counts: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All that was written to an arena.

    Parameters
    ----------
    modules : tuple of Module
    events : tuple of Event
        In the order in which they were written.
    samples : ndarray of SAMPLE
        Where time went that was not in a copy.
    banks : tuple of Bank
    processes : int
    threads_without_bank : int
    lost_events : int
        That did not fit.
    inside_ns, late_ns : int
        CPU time: of all threads while one was in what is counted alone with them all; and of
        threads that may have counted at the wrong place.
    moved : Moved or None
        None: no caches were simulated.
    regions : dict of int to tuple of str
        Names by their place, of what was moved.
    """

    modules: tuple[Module, ...]
    events: tuple[Event, ...]
    samples: npt.NDArray[np.void]
    banks: tuple[Bank, ...]
    processes: int
    threads_without_bank: int
    lost_events: int
    inside_ns: int = 0
    late_ns: int = 0
    moved: simulated.Moved | None = None
    regions: dict[int, tuple[str, ...]] = field(default_factory=dict)


def read_contents(fd: int, *, with_banks: bool = True) -> Contents:
    """Return what was written to an arena that is open, with or without its banks.

    Whoever is killed while it appends leaves a row that says that it is not there: it is passed
    over.
    """
    header = read_header(fd)
    names = names_of(fd, header)
    modules = _rows(fd, header, "modules", MODULE)
    events = _rows(fd, header, "events", EVENT)
    samples = _rows(fd, header, "samples", SAMPLE)
    numbers = range(n_banks(header) if with_banks else 0)
    moved = None
    if header["traffic_at"]:
        moved = simulated.moved(partial(_read, fd), at=int(header["traffic_at"]))
    return Contents(
        modules=tuple(
            _module(number, row, names) for number, row in enumerate(modules) if row["ready"]
        ),
        events=tuple(_event(row, names) for row in events if row["kind"]),
        samples=samples[samples["address"] > 0],
        banks=tuple(read_bank(fd, header, number, names) for number in numbers),
        processes=int(header["n_processes"]),
        threads_without_bank=int(header["threads_without_bank"]),
        lost_events=max(0, int(header["n_events"]) - len(events)),
        inside_ns=int(header["inside_ns"]),
        late_ns=int(header["late_ns"]),
        moved=moved,
        regions={} if moved is None else _regions_of(moved, names),
    )


def _regions_of(moved: simulated.Moved, names: Names) -> dict[int, tuple[str, ...]]:
    rows = (moved.rows, moved.anywhere, moved.elsewhere)
    places = np.unique(np.concatenate([part["regions"] for part in rows])).tolist()
    return {place: _divided(names[place]) for place in places}


def _divided(regions: str) -> tuple[str, ...]:
    return tuple(regions.split("\n")) if regions else ()


def _read(fd: int, n_bytes: int, at: int) -> bytes:
    parts = []
    while n_bytes > 0 and (part := os.pread(fd, n_bytes, at)):
        parts.append(part)
        n_bytes, at = n_bytes - len(part), at + len(part)
    return b"".join(parts)


def _rows(fd: int, header: np.void, part: str, kind: np.dtype[Any]) -> npt.NDArray[np.void]:
    n = min(int(header[f"n_{part}"]), int(header[f"most_{part}"]))
    return np.frombuffer(_read(fd, n * kind.itemsize, int(header[f"{part}_at"])), kind)


class Names:
    """The strings of an arena; each is read when it is asked for."""

    def __init__(self, fd: int, at: int, n_bytes: int) -> None:
        self._fd, self._at, self._end = fd, at, at + n_bytes
        self._known: dict[int, str] = {0: ""}

    def __getitem__(self, offset: int) -> str:
        if offset not in self._known:
            self._known[offset] = os.fsdecode(self._raw(self._at + offset))
        return self._known[offset]

    def _raw(self, at: int) -> bytes:
        found = b""
        while at < self._end and b"\0" not in found:
            part = _read(self._fd, min(_PAGE, self._end - at), at)
            if not part:
                break
            found, at = found + part, at + len(part)
        return found.partition(b"\0")[0]


def _module(number: int, row: np.void, names: Names) -> Module:
    process = int(row["process"])
    return Module(
        number=number,
        path=names[int(row["path_name"])],
        copy=names[int(row["copy_name"])],
        identity=(int(row["identity"][0]), int(row["identity"][1])),
        first_counter=int(row["first_counter"]),
        n_counters=int(row["n_counters"]),
        process=None if process == (1 << 64) - 1 else process,
    )


def _event(row: np.void, names: Names) -> Event:
    kind, process, a, b, c, d, name, name2 = (int(value) for value in row.tolist())
    return Event(
        kind=kind, process=process, a=a, b=b, c=c, d=d, name=names[name], name2=names[name2]
    )


def read_header(fd: int) -> np.void:
    """Return the header of an arena."""
    header: np.void = np.frombuffer(_read(fd, HEADER.itemsize, 0), HEADER)[0]
    return header


def names_of(fd: int, header: np.void) -> Names:
    """Return the strings of an arena."""
    return Names(fd, int(header["names_at"]), int(header["names_bytes"]))


def n_banks(header: np.void) -> int:
    """Return how many banks were taken."""
    return min(int(header["n_banks"]), int(header["most_banks"]))


def read_bank(fd: int, header: np.void, number: int, names: Names, *, counts: bool = True) -> Bank:
    """Return a bank, with or without what its counters hold."""
    at = int(header["banks_at"]) + number * int(header["bank_bytes"])
    head = np.frombuffer(_read(fd, BANK.itemsize, at), BANK)[0]
    most = int(header["most_counters"]) if counts else 0
    counters, values = _counts(fd, at + COUNTERS_AT, most)
    tiles = head["tiles"].tobytes()
    amounts = {name: int(head[name]) for name in _AMOUNTS}
    return Bank(
        **amounts,
        regions=_divided(names[int(head["regions"])]),
        tiles=tiles if any(tiles) else b"",
        counters=counters,
        counts=values,
    )


def _counts(fd: int, begin: int, most: int) -> tuple[Numbers, Numbers]:
    """Return the counters from a place in the file that are not 0, and their values."""
    numbers, values = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    end = begin + 8 * most
    at = begin
    while at < end:
        try:
            data = max(os.lseek(fd, at, os.SEEK_DATA), begin)
        except OSError:  # ENXIO: nothing was written from here on
            break
        if data >= end:
            break
        at = min(os.lseek(fd, data, os.SEEK_HOLE), end)
        piece = np.frombuffer(_read(fd, at - data, data), np.uint64)
        written = np.flatnonzero(piece)
        numbers.append(written.astype(np.uint64) + np.uint64((data - begin) // 8))
        values.append(piece[written])
    return np.concatenate(numbers), np.concatenate(values)
