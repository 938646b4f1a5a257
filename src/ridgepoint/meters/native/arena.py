"""The memory that all processes of a counted run share: made here, filled by them, read here.

It is laid out as ``native/copying/arena.h`` says: a file in memory that this process holds open
and that others open by its number here. It is as large as it may ever have to be, and takes as
much memory as was written to it: what nobody wrote is passed over when it is read.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.native import traffic as simulated

MAGIC = b"RPARENA1"

OPTION_SAMPLES, OPTION_TRAFFIC, OPTION_BURSTS, OPTION_JIT, OPTION_VERBOSE = (
    1 << bit for bit in range(5)
)

BEGAN, FORKED, EXECS, EXEC_FAILED, LOADED, LEFT_ALONE, UNLOADED, THREAD, ENDED, USES_GS = range(
    1, 11
)
"""Kinds of events, as ``EventKind`` has them."""

_WRITTEN = (
    *("options", "modules_at", "most_modules", "events_at", "most_events", "samples_at"),
    *("most_samples", "names_at", "names_bytes", "banks_at", "most_banks", "bank_bytes"),
    *("most_counters", "period_ns", "folder_name", "copier_name", "loader_name", "traffic_at"),
)
_COUNTED = (
    *("n_modules", "n_events", "n_samples", "names_used", "n_banks", "n_counters"),
    *("n_processes", "threads_without_bank"),
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
    ]
)
_AMOUNTS = (
    *("process", "pid", "tid", "in_copy", "in_original", "in_loader", "in_kernel"),
    *("elsewhere", "dropped"),
)
COUNTERS_AT = 4096 + 2 * 65536
"""Where in a bank its counters begin."""

_PAGE = 4096
_MODULES, _EVENTS, _SAMPLES, _NAMES_BYTES = 1 << 16, 1 << 20, 1 << 20, 64 << 20
_BANKS, _COUNTERS = 1 << 16, 16 << 20
_LEAST_COUNTERS = 1 << 18  # the C library, the loader and Python have fewer
_BANKS_IN_SPACE = 256  # that an address space shall hold: threads, regions, tile configurations
_PERIOD_NS = 1_000_000

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
    moved: simulated.Moved | None = None
    regions: dict[int, tuple[str, ...]] = field(default_factory=dict)


class Arena:
    """An arena that this process made; a context manager that gives it up."""

    def __init__(
        self,
        *,
        copies: Path,
        copier: Path,
        library: Path,
        options: int = OPTION_SAMPLES,
        period_ns: int = _PERIOD_NS,
        traffic: simulated.Wanted | None = None,
    ) -> None:
        """Make an empty arena.

        Parameters
        ----------
        copies : Path
            The folder of the copies.
        copier, library : Path
            The parts of the engine.
        options : int
        period_ns : int
            CPU time of a thread between two of its samples.
        traffic : Wanted or None
            The caches to simulate; `options` are to say so too.

        Raises
        ------
        OSError
            If the system gives no such file.
        """
        self._fd = os.memfd_create("ridgepoint-arena")
        try:
            self._lay_out(options, period_ns, (copies, copier, library), traffic)
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    @property
    def path(self) -> str:
        """What other processes open, as long as this one lives."""
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    def _lay_out(
        self,
        options: int,
        period_ns: int,
        paths: tuple[Path, ...],
        traffic: simulated.Wanted | None,
    ) -> None:
        counters, banks = _counters_and_banks()
        bank_bytes = _pages(COUNTERS_AT + 8 * counters)
        header = np.zeros(1, HEADER)
        at = _PAGE if traffic is None else _PAGE + simulated.room_bytes()
        for part, most, size in (
            ("modules", _MODULES, MODULE.itemsize),
            ("events", _EVENTS, EVENT.itemsize),
            ("samples", _SAMPLES, SAMPLE.itemsize),
            ("names", _NAMES_BYTES, 1),
            ("banks", banks, bank_bytes),
        ):
            header[f"{part}_at"] = at
            header["names_bytes" if part == "names" else f"most_{part}"] = most
            at += _pages(most * size)
        names = b"\0"
        for name, path in zip(("folder_name", "copier_name", "loader_name"), paths, strict=True):
            header[name] = len(names)
            names += os.fsencode(path) + b"\0"
        if traffic is not None:
            region_name = len(names) if traffic.region else 0
            names += os.fsencode(traffic.region) + b"\0"
            header["traffic_at"] = _PAGE
            head = simulated.head(traffic, at=_PAGE, region_name=region_name)
        header["magic"] = MAGIC
        header["options"], header["period_ns"] = options, period_ns
        header["bank_bytes"], header["most_counters"] = bank_bytes, counters
        header["names_used"] = len(names)
        with _largest_files():
            os.ftruncate(self._fd, at)
        _write(self._fd, names, int(header["names_at"][0]))
        if traffic is not None:
            _write(self._fd, head, _PAGE)
        _write(self._fd, header.tobytes(), 0)

    @property
    def descriptor(self) -> int:
        """Of the file."""
        return self._fd

    def read(self, banks: Sequence[Bank] | None = None) -> Contents:
        """Return what was written so far.

        Parameters
        ----------
        banks : sequence of Bank or None
            In place of those that are there now; None: these.
        """
        contents = read_contents(self._fd, with_banks=banks is None)
        return contents if banks is None else replace(contents, banks=tuple(banks))

    def banks(
        self, *, without: Container[int] = (), counts: bool = True
    ) -> Iterator[tuple[int, Bank]]:
        """Yield the number and the content of banks, but of some; without their counts if told."""
        header = _header(self._fd)
        names = _names(self._fd, header)
        for number in range(_n_banks(header)):
            if number not in without:
                yield number, _bank(self._fd, header, number, names, counts=counts)

    def bank(self, number: int) -> Bank:
        """Return a bank."""
        header = _header(self._fd)
        return _bank(self._fd, header, number, _names(self._fd, header))

    def extent_of_counters(self, number: int) -> tuple[int, int]:
        """Return where in the file the counters of a bank are, and how many bytes they have."""
        header = _header(self._fd)
        n_bytes = int(header["bank_bytes"])
        begin = int(header["banks_at"]) + number * n_bytes
        return begin + COUNTERS_AT, n_bytes - COUNTERS_AT


def read_contents(fd: int, *, with_banks: bool = True) -> Contents:
    """Return what was written to an arena that is open, with or without its banks.

    Whoever is killed while it appends leaves a row that says that it is not there: it is passed
    over.
    """
    header = _header(fd)
    names = _names(fd, header)
    modules = _rows(fd, header, "modules", MODULE)
    events = _rows(fd, header, "events", EVENT)
    samples = _rows(fd, header, "samples", SAMPLE)
    numbers = range(_n_banks(header) if with_banks else 0)
    moved = None
    if header["traffic_at"]:
        moved = simulated.moved(partial(_read, fd), at=int(header["traffic_at"]))
    return Contents(
        modules=tuple(
            _module(number, row, names) for number, row in enumerate(modules) if row["ready"]
        ),
        events=tuple(_event(row, names) for row in events if row["kind"]),
        samples=samples[samples["address"] > 0],
        banks=tuple(_bank(fd, header, number, names) for number in numbers),
        processes=int(header["n_processes"]),
        threads_without_bank=int(header["threads_without_bank"]),
        lost_events=max(0, int(header["n_events"]) - len(events)),
        moved=moved,
        regions={} if moved is None else _regions_of(moved, names),
    )


def _regions_of(moved: simulated.Moved, names: _Names) -> dict[int, tuple[str, ...]]:
    rows = (moved.rows, moved.anywhere, moved.elsewhere)
    places = np.unique(np.concatenate([part["regions"] for part in rows])).tolist()
    return {place: _divided(names[place]) for place in places}


def _divided(regions: str) -> tuple[str, ...]:
    return tuple(regions.split("\n")) if regions else ()


def _counters_and_banks() -> tuple[int, int]:
    """Return how many counters a bank has, and how many banks there may be."""
    counters, banks = _COUNTERS, _BANKS
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space != resource.RLIM_INFINITY:
        counters = max(_LEAST_COUNTERS, min(counters, space // _BANKS_IN_SPACE // 8))
    _, largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    if largest != resource.RLIM_INFINITY:
        fitting = (largest - 4 * _NAMES_BYTES) // (COUNTERS_AT + 8 * counters + _PAGE)
        banks = max(1, min(banks, fitting))
    return counters, banks


@contextmanager
def _largest_files() -> Iterator[None]:
    """Let files be as large as the system allows: the session's limit is for those on disks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _pages(n_bytes: int) -> int:
    return -(-n_bytes // _PAGE) * _PAGE


def _write(fd: int, content: bytes, at: int) -> None:
    while content:
        n = os.pwrite(fd, content, at)
        content, at = content[n:], at + n


def _read(fd: int, n_bytes: int, at: int) -> bytes:
    parts = []
    while n_bytes > 0 and (part := os.pread(fd, n_bytes, at)):
        parts.append(part)
        n_bytes, at = n_bytes - len(part), at + len(part)
    return b"".join(parts)


def _rows(fd: int, header: np.void, part: str, kind: np.dtype[Any]) -> npt.NDArray[np.void]:
    n = min(int(header[f"n_{part}"]), int(header[f"most_{part}"]))
    return np.frombuffer(_read(fd, n * kind.itemsize, int(header[f"{part}_at"])), kind)


class _Names:
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


def _module(number: int, row: np.void, names: _Names) -> Module:
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


def _event(row: np.void, names: _Names) -> Event:
    kind, process, a, b, c, d, name, name2 = (int(value) for value in row.tolist())
    return Event(
        kind=kind, process=process, a=a, b=b, c=c, d=d, name=names[name], name2=names[name2]
    )


def _header(fd: int) -> np.void:
    header: np.void = np.frombuffer(_read(fd, HEADER.itemsize, 0), HEADER)[0]
    return header


def _names(fd: int, header: np.void) -> _Names:
    return _Names(fd, int(header["names_at"]), int(header["names_bytes"]))


def _n_banks(header: np.void) -> int:
    return min(int(header["n_banks"]), int(header["most_banks"]))


def _bank(fd: int, header: np.void, number: int, names: _Names, *, counts: bool = True) -> Bank:
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
