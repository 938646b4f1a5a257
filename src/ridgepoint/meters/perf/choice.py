"""Which meter counts where there are two, and both on the same program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.meters import Launch, Meter, Selection, Unavailable
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.perf.session import Session

_NEEDED = ("instructions", "dram_read", "dram_write")


@dataclass(frozen=True, kw_only=True)
class AutoMeter:
    """Counts with hardware counters where they tell all that a roofline needs, else simulates.

    Parameters
    ----------
    perf : PerfMeter
    engine : Meter
    asked : str or None
        What was asked for that the engine alone can do; None: nothing.
    """

    perf: PerfMeter
    engine: Meter
    asked: str | None = None

    @cached_property
    def _lack(self) -> str | None:
        """Why the engine counts; None: the hardware does."""
        if self.asked is not None:
            return f"only this meter supports {self.asked}"
        try:
            return _inexact(self.perf.session())
        except CannotMeasure as lack:
            return lack.reason

    @property
    def chosen(self) -> Meter:
        """The meter that counts."""
        return self.perf if self._lack is None else self.engine

    @property
    def choice(self) -> Caution:
        """Which meter counts, and why."""
        why = self._lack or (
            "this CPU's own counters count work and memory traffic accurately enough"
        )
        return Caution(
            "meter-chosen",
            f"{self.name} counted: {why}",
            "choose another meter with --meter engine, perf or both",
            effect=0.0,
        )

    @property
    def name(self) -> str:
        """Name of the meter that counts."""
        return self.chosen.name

    @property
    def slowdown(self) -> str:
        """That of the meter that counts."""
        return self.chosen.slowdown

    @property
    def selection(self) -> Selection | None:
        """That of the meter that counts."""
        return self.chosen.selection

    @property
    def stand_in(self) -> Meter | None:
        """That of the meter that counts."""
        return self.chosen.stand_in

    @property
    def without_traffic(self) -> Meter | None:
        """That of the meter that counts."""
        return self.chosen.without_traffic

    def why_unavailable(self) -> Unavailable | None:
        """Return why the meter that counts cannot."""
        return self.chosen.why_unavailable()

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count with the better meter, and say which it is and why."""
        counted = self.chosen.count(command, launch=launch, caches=caches)
        return replace(counted, cautions=(self.choice, *counted.cautions))


@dataclass(frozen=True, kw_only=True)
class BothMeter:
    """Simulates, and counts with hardware counters beside it, to compare.

    Parameters
    ----------
    perf, engine : Meter
    """

    perf: Meter
    engine: Meter

    name = "both engine and perf"

    @property
    def slowdown(self) -> str:
        """The engine's; one more native run is negligible."""
        return self.engine.slowdown

    @property
    def selection(self) -> Selection | None:
        """None: both count all of the program."""
        return None

    @property
    def stand_in(self) -> Meter | None:
        """None: there is nothing to compare without both."""
        return None

    @property
    def without_traffic(self) -> Meter | None:
        """The engine's."""
        return self.engine.without_traffic

    def why_unavailable(self) -> Unavailable | None:
        """Return why one of them cannot count."""
        return self.perf.why_unavailable() or self.engine.why_unavailable()

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Return what the engine counts, with what the hardware does in `Counted.also`."""
        counted = self.engine.count(command, launch=launch, caches=caches)
        also = self.perf.count(command, launch=launch, caches=caches)
        return replace(counted, also=also)


def _inexact(session: Session) -> str | None:
    """Return what the hardware does not tell exactly enough; None: it tells all."""
    metrics = session.plan.metrics
    work = [name for name in metrics if name == "flop" or name.startswith(("fp", "bf"))]
    for name in (*work, *_NEEDED):
        if name not in metrics:
            return f"the hardware does not count {name}: {session.plan.unknown[name]}"
        for metric in metrics[name]:
            if metric.quality != "documented":
                return f"the hardware's count of {name} is {metric.quality.replace('_', ' ')}"
    with session.watching_machine():
        pass
    return next(iter(session.refused.values()), None)
