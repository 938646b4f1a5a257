"""Takes samples of what this thread starts, on every CPU, while something else waits for it."""

from __future__ import annotations

import contextlib
import heapq
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from ridgepoint.errors import MeterUnavailable
from ridgepoint.meters.sampling.event import online_cpus
from ridgepoint.meters.sampling.records import Record, records
from ridgepoint.meters.sampling.ring import Ring

_LOOK_EVERY_S = 0.1


@dataclass(slots=True)
class Recording:
    """What the kernel wrote of one run.

    Parameters
    ----------
    period_ns : int
        CPU time of a thread between two of its samples.
    pieces : dict of int to list of bytes
        Whole records of each CPU's buffer, in the order in which they were written.
    """

    period_ns: int
    pieces: dict[int, list[bytes]] = field(default_factory=dict)

    def records(self) -> Iterator[Record]:
        """Yield the records of all CPUs in the order of their times.

        Raises
        ------
        CannotMeasure
            If they are damaged.
        """
        # A record is written with its time and those of a CPU one after the other, but for an
        # interrupt between taking the time and writing: each buffer is sorted by itself first.
        each = (
            sorted(records(b"".join(pieces)), key=_time)
            for _, pieces in sorted(self.pieces.items())
        )
        return heapq.merge(*each, key=_time)


def _time(record: Record) -> int:
    return record.time_ns


@contextlib.contextmanager
def recording(*, period_ns: int) -> Iterator[Recording]:
    """Take samples of every program that this thread starts within, and of all that they start.

    Parameters
    ----------
    period_ns : int
        CPU time of a thread between two of its samples.

    Yields
    ------
    Recording
        Filled when the context has ended.

    Raises
    ------
    MeterUnavailable
        If the kernel allows none of it.
    """
    with contextlib.ExitStack() as stack:
        ended = threading.Event()
        rings: dict[int, Ring] = {}
        seen = Recording(period_ns)

        def read_all() -> None:
            for cpu, ring in rings.items():
                if piece := ring.read():
                    seen.pieces.setdefault(cpu, []).append(piece)

        def read_on() -> None:
            while not ended.wait(_LOOK_EVERY_S):
                read_all()

        for cpu in online_cpus():
            rings[cpu] = stack.enter_context(Ring(cpu, period_ns=period_ns))
        reader = threading.Thread(target=read_on, daemon=True)
        reader.start()
        try:
            yield seen
        finally:
            ended.set()
            reader.join()
            read_all()


def why_unavailable() -> MeterUnavailable | None:
    """Return why no program can be sampled here, or None."""
    try:
        with Ring(online_cpus()[0], period_ns=1_000_000_000):
            return None
    except MeterUnavailable as error:
        return error
