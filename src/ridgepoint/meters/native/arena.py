"""The memory that all processes of a counted run share: made here, filled by them, read here.

It is laid out as ``native/copying/arena.h`` says: a file in memory that this process holds open
and that others open by its number here. It is as large as it may ever have to be, and takes as
much memory as was written to it.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from ridgepoint.meters.native import traffic as simulated
from ridgepoint.meters.native.contents import (
    BANK,
    BEGAN,
    COUNTERS_AT,
    ENDED,
    EVENT,
    EXEC_FAILED,
    EXECS,
    FIRST_PLANNED,
    FORKED,
    HEADER,
    LEFT_ALONE,
    LOADED,
    MAGIC,
    MODULE,
    OPTION_ALL_THREADS,
    OPTION_BURSTS,
    OPTION_JIT,
    OPTION_LINES,
    OPTION_SAMPLES,
    OPTION_TRAFFIC,
    OPTION_VERBOSE,
    PLANNED_UNIT,
    PLANNED_UNITS,
    SAMPLE,
    THREAD,
    UNLOADED,
    USES_GS,
    Bank,
    Contents,
    Event,
    Module,
    Numbers,
    n_banks,
    names_of,
    read_bank,
    read_contents,
    read_header,
)

__all__ = [
    "BANK",
    "BEGAN",
    "COUNTERS_AT",
    "ENDED",
    "EVENT",
    "EXECS",
    "EXEC_FAILED",
    "FIRST_PLANNED",
    "FORKED",
    "HEADER",
    "LEFT_ALONE",
    "LOADED",
    "MAGIC",
    "MODULE",
    "OPTION_ALL_THREADS",
    "OPTION_BURSTS",
    "OPTION_JIT",
    "OPTION_LINES",
    "OPTION_SAMPLES",
    "OPTION_TRAFFIC",
    "OPTION_VERBOSE",
    "PLANNED_UNIT",
    "PLANNED_UNITS",
    "SAMPLE",
    "THREAD",
    "UNLOADED",
    "USES_GS",
    "Arena",
    "Bank",
    "Contents",
    "Event",
    "Module",
    "Numbers",
    "read_contents",
]

_PAGE = 4096
_MODULES, _EVENTS, _SAMPLES, _NAMES_BYTES = 1 << 16, 1 << 20, 1 << 20, 64 << 20
_BANKS, _COUNTERS = 1 << 16, FIRST_PLANNED + PLANNED_UNITS * PLANNED_UNIT
_LEAST_COUNTERS = 1 << 18  # the C library, the loader and Python have fewer
_BANKS_IN_SPACE = 256  # that an address space shall hold: threads, regions, tile configurations
_PERIOD_NS = 1_000_000


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
        region: str | None = None,
        function: str | None = None,
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
        region : str or None
            Name of the region that is counted alone.
        function : str or None
            Name or pattern of functions that are regions of their own, with what they call.

        Raises
        ------
        OSError
            If the system gives no such file.
        """
        self._fd = os.memfd_create("ridgepoint-arena")
        try:
            self._lay_out(
                options, period_ns, (copies, copier, library), traffic, (region, function)
            )
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
        alone: tuple[str | None, str | None],
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
        ):
            header[f"{part}_at"] = at
            header["names_bytes" if part == "names" else f"most_{part}"] = most
            at += _pages(most * size)
        if counters == _COUNTERS:
            header["claims_at"] = at
            at += _pages(PLANNED_UNITS * 8)
        header["banks_at"], header["most_banks"] = at, banks
        at += banks * bank_bytes
        names = b"\0"
        for place, path in zip(("folder_name", "copier_name", "loader_name"), paths, strict=True):
            header[place] = len(names)
            names += os.fsencode(path) + b"\0"
        for place, name in zip(("region_name", "function_name"), alone, strict=True):
            if name is not None:
                header[place] = len(names)
                names += os.fsencode(name) + b"\0"
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
            What they hold, if it was read before; None: read them now.
        """
        contents = read_contents(self._fd, with_banks=banks is None)
        return contents if banks is None else replace(contents, banks=tuple(banks))

    def banks(
        self, *, without: Container[int] = (), counts: bool = True
    ) -> Iterator[tuple[int, Bank]]:
        """Yield the number and the content of banks, but of some; without their counts if told."""
        header = read_header(self._fd)
        names = names_of(self._fd, header)
        for number in range(n_banks(header)):
            if number not in without:
                yield number, read_bank(self._fd, header, number, names, counts=counts)

    def bank(self, number: int) -> Bank:
        """Return a bank."""
        header = read_header(self._fd)
        return read_bank(self._fd, header, number, names_of(self._fd, header))

    def extent_of_counters(self, number: int) -> tuple[int, int]:
        """Return where in the file the counters of a bank are, and how many bytes they have."""
        header = read_header(self._fd)
        n_bytes = int(header["bank_bytes"])
        begin = int(header["banks_at"]) + number * n_bytes
        return begin + COUNTERS_AT, n_bytes - COUNTERS_AT


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
