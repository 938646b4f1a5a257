"""The time that a program is in a function and in what it calls: breakpoints tell when.

The processor stops at up to four addresses, the first instruction of the function and those that
it returns to, and the kernel writes the time: the program is as its user built it, and nothing
has to be privileged. Addresses have to be known before the program starts, so that it is loaded
where it would be without randomisation.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.host.run import Run
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.sampling.address_space import places
from ridgepoint.meters.sampling.recorder import recording
from ridgepoint.meters.sampling.records import Lost, Mapped, Record, Sample
from ridgepoint.meters.sampling.visits import Visits, samples_inside, wall_s
from ridgepoint.meters.symbols import Symbols, read_symbols
from ridgepoint.models.symbol_names import is_cold_part, is_parallel_body, selects

MOST_BREAKPOINTS = 4  # the debug registers of x86
_MOST_ENTRIES = 20_000
_MOST_FUNCTIONS = 3 * MOST_BREAKPOINTS
_PERIOD_NS = 973_001
_MISSED = 0.01
# What a program pays for reaching a breakpoint: 1 us on bare metal, 17 us in a virtual machine.
HIT_S = 17e-6

_ADDR_NO_RANDOMIZE = 0x0040000
_UNCHANGED = 0xFFFFFFFF
_WHAT = "cannot time the function"

Launch = Callable[[], Run]
"""Starts the program from this thread and waits for it."""


class FunctionNotEntered(MeterUnavailable):
    """No function of the name was entered in any file that the program mapped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """How long one run was in the function.

    Parameters
    ----------
    run : Run
    wall_s : float
        Time in which at least one thread was inside.
    entries : int
        How often it was entered from outside, by any thread.
    user_s : float or None
        CPU time in user mode of what counts as inside; None: not sampled.
    others_s : float
        CPU time in user mode that other threads took meanwhile, if they do not count.
    """

    run: Run
    wall_s: float
    entries: int
    user_s: float | None = None
    others_s: float = 0.0


@dataclass(slots=True)
class FunctionClock:
    """Times runs of one program in one function, or in several of them.

    Parameters
    ----------
    pattern : str
        Name of the function, or a regular expression.
    all_threads : bool
        Whether CPU time of all threads counts while one is inside.
    """

    pattern: str
    all_threads: bool = False
    _entries: frozenset[int] = frozenset()
    _addresses: tuple[int, ...] = ()
    _has_parallel_bodies: bool = False
    _names: dict[int, str] = field(default_factory=dict)
    _object: dict[int, str] = field(default_factory=dict)

    def prepare(self, launch: Launch) -> None:
        """Find out where the function begins and where it returns to, by runs of the program.

        Raises
        ------
        MeterUnavailable
            If it cannot be timed: the kernel allows no breakpoints, or the function is not there,
            is entered too often, or is called from too many places.
        """
        candidates = self._candidates(launch)
        reached: dict[int, set[int]] = {}
        for first in range(0, len(candidates), MOST_BREAKPOINTS):
            some = candidates[first : first + MOST_BREAKPOINTS]
            for hit in self._hits(launch, some):
                if hit.address in some:
                    reached.setdefault(hit.address, set()).add(hit.on_stack or 0)
        if not reached:
            raise FunctionNotEntered(
                f"{_WHAT} {self.pattern!r}",
                reason="no function of that name was entered",
                remedy="look for its name in the table of functions: it may be inlined",
            )
        whole = {a: r for a, r in reached.items() if not is_parallel_body(self._names[a])}
        if whole and len(whole) < len(reached):
            # The bodies of its parallel regions run while it is inside, in other threads too.
            reached, self._has_parallel_bodies = whole, True
        self._entries = frozenset(reached)
        returns = {address for each in reached.values() for address in each if address}
        self._addresses = tuple(sorted(self._entries | returns))
        if len(self._addresses) > MOST_BREAKPOINTS:
            raise self._unavailable(
                f"{len(reached)} functions of that name are called from {len(returns)} places, "
                f"but a processor can stop at only {MOST_BREAKPOINTS}",
                "name a function that is called from fewer places, such as its caller",
            )

    def time(self, launch: Launch, *, sample: bool = False) -> Stay:
        """Time one more run.

        Parameters
        ----------
        launch : callable
        sample : bool
            Whether to find out its CPU time too, which makes the run 2 % slower.

        Raises
        ------
        MeterUnavailable
            If the breakpoints were not reached as before.
        """
        run, records, _ = self._recorded(
            launch, self._addresses, period_ns=_PERIOD_NS if sample else None
        )
        visits = Visits(self._entries)
        clock = []
        for record in self._own(records):
            visits.add(record)
            if isinstance(record, Sample) and record.stack is None:
                clock.append(record)
        if visits.missed > _MISSED * len(visits.done):
            raise self._unavailable(
                f"it did not return to its caller in {visits.missed} of {len(visits.done)} calls",
                "mark the same code as a region: --region",
            )
        if not visits.done:
            raise self._unavailable(
                "one run did not enter it, but others did",
                "let the program do the same work in each run",
            )
        own = samples_inside(clock, visits.done, all_threads=False)
        every = samples_inside(clock, visits.done, all_threads=True)
        inside = every if self.all_threads or self._has_parallel_bodies else own
        period_s = _PERIOD_NS * 1e-9
        return Stay(
            run=run,
            wall_s=wall_s(visits.done),
            entries=len(visits.done),
            user_s=inside * period_s if sample else None,
            others_s=(every - inside) * period_s,
        )

    def _candidates(self, launch: Launch) -> list[int]:
        """Return where functions that the name stands for begin, from what a run mapped."""
        _, records, _ = self._recorded(launch, (), period_ns=_PERIOD_NS)
        files: dict[str, Symbols] = {}
        for record in records:
            if not isinstance(record, Mapped) or not record.path.startswith("/"):
                continue
            if record.path not in files:
                files[record.path] = read_symbols(record.path)
            for offset, names in files[record.path].entries():
                address = record.address + offset - record.offset
                if not 0 <= address - record.address < record.size_bytes:
                    continue
                name = self._selected(names)
                if name is not None:
                    self._names[address] = name
                    self._object[address] = record.path
        if len(self._names) > _MOST_FUNCTIONS:
            raise self._unavailable(f"{len(self._names)} functions match it", "name one of them")
        return sorted(self._names)

    def _selected(self, names: Iterable[str]) -> str | None:
        """Return the first of a function's names that is asked for."""
        for name in names:
            plain = demangled(name.partition("@")[0] or name)
            if selects(self.pattern, plain) and not is_cold_part(name):
                return plain
        return None

    def _hits(self, launch: Launch, addresses: Sequence[int]) -> Iterator[Sample]:
        _, records, stopped = self._recorded(launch, addresses, most_reached=_MOST_ENTRIES)
        if stopped:
            raise self._unavailable(
                f"it is entered more than {_MOST_ENTRIES} times, and timing each entry takes "
                "longer than the function itself",
                "name the function that contains the loop around it",
            )
        return (one for one in self._own(records) if isinstance(one, Sample))

    def _own(self, records: Sequence[Record]) -> Iterator[Record]:
        """Yield the records but for breakpoints that other code at the same address reached."""
        elsewhere = {
            id(sample)
            for sample, place in places(records)
            if sample.stack is not None
            and sample.address in self._object
            and place.path != self._object[sample.address]
        }
        return (record for record in records if id(record) not in elsewhere)

    def _recorded(
        self,
        launch: Launch,
        addresses: Sequence[int],
        *,
        period_ns: int | None = None,
        most_reached: int | None = None,
    ) -> tuple[Run, list[Record], bool]:
        with (
            recording(
                period_ns=period_ns, breakpoints=addresses, most_reached=most_reached
            ) as seen,
            fixed_addresses(),
        ):
            run = launch()
        records = list(seen.records())
        # To learn where it begins and ends some are enough.
        if most_reached is None and any(isinstance(record, Lost) for record in records):
            raise self._unavailable(
                "records of breakpoints were lost", "leave a core to Ridgepoint: taskset"
            )
        return run, records, seen.stopped

    def _unavailable(self, reason: str, remedy: str) -> MeterUnavailable:
        return MeterUnavailable(f"{_WHAT} {self.pattern!r}", reason=reason, remedy=remedy)


@contextlib.contextmanager
def fixed_addresses() -> Iterator[None]:
    """Let programs that this thread starts be loaded where they always are.

    Raises
    ------
    MeterUnavailable
        If a sandbox forbids it.
    """
    libc = ctypes.CDLL(None)
    before = libc.personality(ctypes.c_ulong(_UNCHANGED))
    if before < 0 or libc.personality(ctypes.c_ulong(before | _ADDR_NO_RANDOMIZE)) < 0:
        raise MeterUnavailable(
            _WHAT,
            reason="its addresses cannot be fixed (personality), as containers often forbid it",
            remedy="mark the same code as a region: --region",
        )
    try:
        yield
    finally:
        libc.personality(ctypes.c_ulong(before))
