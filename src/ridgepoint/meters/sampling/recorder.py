"""Takes samples of what this thread starts, on every CPU, while something else waits for it."""

from __future__ import annotations

import contextlib
import heapq
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.host.watchdog import watchdog
from ridgepoint.meters.sampling.event import attribute, breakpoint_attribute, online_cpus
from ridgepoint.meters.sampling.records import Record, records
from ridgepoint.meters.sampling.ring import BESIDE_PAGES, DATA_PAGES, FEW_PAGES, Ring

_LOOK_EVERY_S = 0.1
_LOOK_OFTEN_S = 0.005  # 64 KiB hold 800 samples of a breakpoint
_CLOCK = 0  # number of its event; breakpoints follow


@dataclass(slots=True)
class Recording:
    """What the kernel wrote of one run.

    Parameters
    ----------
    pieces : dict of (int, int) to list of bytes
        Whole records by CPU and event, in the order in which they were written.
    reached : int
        How often the breakpoints were reached.
    stopped : bool
        Whether they were so often that they were taken away.
    """

    pieces: dict[tuple[int, int], list[bytes]] = field(default_factory=dict)
    reached: int = 0
    stopped: bool = False

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
def recording(
    *,
    period_ns: int | None = None,
    breakpoints: Sequence[int] = (),
    most_reached: int | None = None,
) -> Iterator[Recording]:
    """Take samples of every program that this thread starts within, and of all that they start.

    Parameters
    ----------
    period_ns : int or None
        CPU time of a thread between two of its samples; None: no samples of the clock.
    breakpoints : sequence of int
        Addresses of instructions: each time that one is reached is a sample too.
    most_reached : int or None
        Breakpoints that are reached more often are taken away; None: never.

    Yields
    ------
    Recording
        Filled when the context has ended.

    Raises
    ------
    MeterUnavailable
        If the kernel allows none of it.
    """
    # A watchdog that began within would inherit the events, and where the kernel lends it those
    # of this thread, the program that begins next would get none that wake.
    watchdog()
    with contextlib.ExitStack() as stack:
        ended = threading.Event()
        rings: dict[tuple[int, int], Ring] = {}
        seen = Recording()

        def read_all() -> None:
            for key, ring in rings.items():
                if piece := ring.read():
                    seen.pieces.setdefault(key, []).append(piece)
            at_points = [ring for (_, event), ring in rings.items() if event > _CLOCK]
            seen.reached = sum(ring.n_events for ring in at_points)
            if most_reached is not None and seen.reached > most_reached and not seen.stopped:
                seen.stopped = True
                for ring in at_points:
                    ring.stop()

        def read_on() -> None:
            while not ended.wait(_LOOK_OFTEN_S if breakpoints else _LOOK_EVERY_S):
                read_all()

        for cpu in online_cpus():
            if period_ns is not None:
                asked = attribute(period_ns)
                pages = BESIDE_PAGES if breakpoints else DATA_PAGES
                rings[cpu, _CLOCK] = stack.enter_context(Ring(cpu, asked=asked, pages=pages))
            for number, address in enumerate(breakpoints, start=_CLOCK + 1):
                asked = breakpoint_attribute(address)
                rings[cpu, number] = stack.enter_context(Ring(cpu, asked=asked, pages=FEW_PAGES))
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
        with Ring(online_cpus()[0], asked=attribute(1_000_000_000)):
            return None
    except MeterUnavailable as error:
        return error
