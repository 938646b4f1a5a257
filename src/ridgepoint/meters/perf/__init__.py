"""Counts with the CPU's own counters, through perf_event_open: natively, with real caches.

Work and instruction mix are the program's own, in user mode; memory traffic and energy are the
whole machine's while it ran. What this CPU cannot count is unknown, and says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, Traffic
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Run
from ridgepoint.meters import Launch, Meter, Selection, Unavailable
from ridgepoint.meters.perf import cautions as doubts
from ridgepoint.meters.perf.calibration import Calibration, calibrate
from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.kernel import Kernel, LinuxKernel
from ridgepoint.meters.perf.metrics import Amount, Amounts, Unknown
from ridgepoint.meters.perf.plan import PRECISIONS
from ridgepoint.meters.perf.session import Session

_COST = "work and traffic are counted by simulation, which is slow and assumes ideal caches"


@dataclass(frozen=True, slots=True, kw_only=True)
class PerfMeter:
    """Counts with hardware counters; see the module.

    Parameters
    ----------
    host : Host
    kernel : Kernel
    assumed : str
        The precision of all flop, where the CPU counts those of all precisions together.
    idle_s : float
        Watch the memory of the idle machine so long, in s, and subtract what is moved then; 0:
        nothing is subtracted.
    calibration : Calibration or None
        What kernels of known work and traffic said of this CPU; None: nothing is known of it.
    verify : bool
        Where nothing is known, first execute kernels of known work, for about a second: flop that
        this CPU counts wrongly are refused.
    """

    host: Host = field(default_factory=Host)
    kernel: Kernel = field(default_factory=LinuxKernel)
    assumed: str = "fp64"
    idle_s: float = 0.0
    calibration: Calibration | None = None
    verify: bool = False

    name = "perf"
    slowdown = "1"

    @property
    def selection(self) -> Selection | None:
        """None: everything is counted."""
        return None

    @property
    def stand_in(self) -> Meter | None:
        """None: whoever asks for the CPU's own counters wants no simulation."""
        return None

    @property
    def without_traffic(self) -> Meter | None:
        """None: it simulates nothing."""
        return None

    def session(self) -> Session:
        """Return a session that counts everything that this host can.

        Raises
        ------
        MeterUnavailable
            If it cannot count work and instructions.
        """
        session = Session.open_on(self.host, kernel=self.kernel, assumed=self.assumed)
        name = session.plan.microarchitecture.name
        if not session.has_work:
            raise MeterUnavailable(
                "cannot count work with hardware counters",
                reason=f"{name} counts no floating-point operations",
                remedy="count with the engine: --meter engine",
            )
        return session

    def why_unavailable(self) -> Unavailable | None:
        """Return why this host's counters cannot be used, or None; tries them out."""
        try:
            self.session()
        except CannotMeasure as lack:
            return Unavailable(reason=lack.reason, remedy=lack.remedy, cost=_COST)
        return None

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count a command, in as many runs as its counters need; `caches` does not matter.

        Raises
        ------
        MeterUnavailable
            If the kernel refuses what it gave before: a PMU is gone, or taken.
        CannotMeasure
            If work or instructions are not known: counters took turns with another program's,
            or a thread ran on cores that cannot count them.
        """
        session = self.session()
        calibration, idle = self._calibration(session), self._idle(session)
        runs: list[Run] = []
        for index in range(len(session.rounds)):
            with session.following_exec(index):
                runs.append(launch(command))
        what = f"cannot count {command[0]!r} with hardware counters"
        return self._counted(what, session, calibration, idle, wall_s=runs[0].wall_s)

    def count_here(self, work: Callable[[], object]) -> Counted:
        """Count what all threads of this process do while it executes `work`.

        Parameters
        ----------
        work : callable
            It is called as often as the counters need, and must do the same each time.

        Raises
        ------
        MeterUnavailable, CannotMeasure
            As `count`.
        """
        session = self.session()
        calibration, idle = self._calibration(session), self._idle(session)
        walls_s: list[float] = []
        for index in range(len(session.rounds)):
            with session.counting(index):
                started = time.perf_counter()
                work()
                walls_s.append(time.perf_counter() - started)
        what = "cannot count this process with hardware counters"
        return self._counted(what, session, calibration, idle, wall_s=walls_s[0])

    def verified(self) -> PerfMeter:
        """Return the meter with what kernels of known work say, executed now if it verifies.

        Raises
        ------
        MeterUnavailable
            If it cannot count work and instructions.
        CannotMeasure
            If the kernels cannot be compiled here.
        """
        return replace(self, calibration=self._calibration(self.session()))

    def _counted(
        self,
        what: str,
        session: Session,
        calibration: Calibration | None,
        idle: dict[str, float],
        *,
        wall_s: float,
    ) -> Counted:
        """Return what a session counted while something ran so long."""
        known = _believed(session.amounts(), calibration)
        counts = self._counts(what, known)
        traffic = _traffic(known, idle, wall_s)
        energy_j = session.energy_j()
        return Counted(
            meter=f"perf ({session.plan.microarchitecture.name})",
            counts=counts,
            traffic=traffic,
            processes=None,
            energy_j=energy_j,
            cautions=(
                *doubts.several_runs(len(session.rounds)),
                *doubts.assumed_precision(known, self.assumed),
                *doubts.quality(known, calibrated=calibration),
                *doubts.unknown(known, traffic),
                *doubts.whole_machine(session.plan, traffic, idle_s=self.idle_s),
                *doubts.other_memories(known),
                *doubts.short(energy_j, wall_s),
            ),
        )

    def _calibration(self, session: Session) -> Calibration | None:
        if self.calibration is not None or not self.verify:
            return self.calibration
        # Imported here: it loads LLVM.
        from ridgepoint.meters.perf.known_kernels import known_work

        return calibrate(known_work(session))

    def _idle(self, session: Session) -> dict[str, float]:
        """Return the bytes per second that each direction of the idle machine moves."""
        if not self.idle_s:
            return {}
        started = time.perf_counter()
        with session.watching_machine():
            time.sleep(self.idle_s)
        elapsed_s = time.perf_counter() - started
        return {
            name: amount.value / elapsed_s
            for name, amount in session.amounts().items()
            if name in {"dram_read", "dram_write"} and isinstance(amount, Amount)
        }

    def _counts(self, what: str, known: Amounts) -> Counts:
        names = [name for name in ("flop", *PRECISIONS) if name in known]
        measured = {name: known[name] for name in names if not _is_absent(known[name])}
        flop: list[FlopCount] = []
        for name, amount in measured.items():
            if isinstance(amount, Unknown):
                raise _cannot(what, name, amount)
            flop.extend(
                FlopCount(
                    precision=self.assumed if name == "flop" else name,
                    width_bits=width_bits,
                    fma=None,
                    flop=value,
                    masked_flop=None,
                    instructions=None,
                )
                for width_bits, value in amount.by_width.items()
                if value
            )
        instructions = known["instructions"]
        if isinstance(instructions, Unknown):
            raise _cannot(what, "instructions", instructions)
        return Counts(
            instructions=instructions.value,
            branches=_value(known["branches"]),
            loads=_value(known["loads"]),
            stores=_value(known["stores"]),
            load_bytes=None,
            store_bytes=None,
            non_temporal_store_bytes=None,
            flop=tuple(flop),
        )


def _believed(known: Amounts, calibration: Calibration | None) -> Amounts:
    """Return amounts without those that calibration refuses."""
    refused = {} if calibration is None else calibration.refused
    return {
        name: Unknown(reason=refused[name]) if name in refused else amount
        for name, amount in known.items()
    }


def _is_absent(amount: Amount | Unknown) -> bool:
    return isinstance(amount, Unknown) and amount.is_absent


def _value(amount: Amount | Unknown) -> int | None:
    return amount.value if isinstance(amount, Amount) else None


def _cannot(what: str, name: str, unknown: Unknown) -> CannotMeasure:
    return CannotMeasure(
        what,
        reason=f"{name} is not known: {unknown.reason}",
        remedy="measure when nothing else uses the counters, or count with --meter engine",
    )


def _traffic(known: Amounts, idle: dict[str, float], wall_s: float) -> tuple[Traffic, ...]:
    """Return the memory traffic; nothing where reads are not known."""
    read, write = (
        None if value is None else max(0, value - round(idle.get(name, 0.0) * wall_s))
        for name, value in ((name, _value(known[name])) for name in ("dram_read", "dram_write"))
    )
    if read is None:
        return ()
    return (Traffic(level="dram", read_bytes=read, write_bytes=write),)
