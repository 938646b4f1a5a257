"""The subject of advice: a program or a part of it, with its place under a machine's roofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from ridgepoint.core.bound import bound, combined
from ridgepoint.core.counts import Counts, FunctionCounts, Traffic, traffic_at
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.models.advice.mix import mix_time_s, used_mix
from ridgepoint.models.mix import Mix
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import MOST_OF_IT


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One action to take next, with its evidence.

    Parameters
    ----------
    code : str
        Short stable identifier, for example ``"fewer-bytes"``.
    about : str
        The function, region or program concerned.
    seen : str
        The evidence, in numbers of this measurement.
    what : str
        What to do.
    gain : float or None
        Upper limit of the speed-up of the subject of `about`; None: unknown.
    """

    code: str
    about: str
    seen: str
    what: str
    gain: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program or a region with its placement.

    Parameters
    ----------
    name : str
    measurement : Measurement
        Measurement of it alone.
    placement : Placement
        Its placement, which has a bound.
    machine : Machine
    """

    name: str
    measurement: Measurement
    placement: Placement
    machine: Machine

    @property
    def counts(self) -> Counts:
        """Its counts."""
        return self.measurement.counted.counts

    @property
    def runtime_s(self) -> float | None:
        """Median runtime; None: not known, or not from this machine."""
        timed = self.measurement.timed
        if timed is None or self.doubted("other-machine"):
            return None
        return timed.runtime_s.median

    @property
    def memory_s(self) -> dict[str, float]:
        """Least time at each memory level, in seconds."""
        assert self.placement.bound is not None
        times = self.placement.bound.times_s
        return {level: float(times[level]) for level in LEVELS if level in times}

    @property
    def mix(self) -> Mix | None:
        """Its flop by kind of instruction; None: not known for certain."""
        # Libraries may choose different code under the meter and in a native run.
        if self.placement.metric != "flop":
            return None
        if self.doubted("avx2-path") or self.doubted("undecoded"):
            return None
        return used_mix(self.counts)

    @property
    def mix_s(self) -> float:
        """Least seconds for its flop with its own instructions if known, else with any."""
        assert self.placement.bound is not None
        mix = self.mix
        own = None if mix is None else mix_time_s(mix, self.machine, self.placement.cores)
        return float(self.placement.bound.times_s.get("compute", 0.0)) if own is None else own

    @property
    def own_s(self) -> float:
        """Least seconds for its traffic and its own mix of instructions."""
        return self.bound_s(self.memory_s)

    def share(self, seconds: float) -> float:
        """Return a time as a share of the runtime, or of the bound if it was not timed."""
        whole = self.runtime_s or self.own_s
        return seconds / whole if whole else 0.0

    def allowed(self, seconds: float) -> float:
        """Return the least speed-up if it takes this many seconds."""
        return (self.runtime_s or self.own_s) / seconds if seconds else float("inf")

    def bound_s(self, memory_s: Mapping[str, float], mix_s: float | None = None) -> float:
        """Return the bound with changed memory times, and `mix_s` or its own mix, in seconds."""
        return float(combined((self.mix_s if mix_s is None else mix_s, *memory_s.values())))

    def memory_with(self, changes: Mapping[str, float]) -> dict[str, float]:
        """Return the least seconds of each memory level with changed traffic."""
        amounts = {
            name: changes.get(name, amount)
            for name, amount in self.placement.demand.amounts.items()
            if RESOURCES[name].path in LEVELS
        }
        if not amounts:
            return {}
        times = bound(Demand(amounts), self.machine, cores=self.placement.cores).times_s
        return {level: float(seconds) for level, seconds in times.items()}

    def traffic(self, level: str) -> Traffic | None:
        """Return its traffic at a memory level, or None if it was not measured."""
        return self.measurement.traffic_at(level)

    def doubted(self, code: str) -> bool:
        """Return whether a caution of this code is attached to it."""
        return any(caution.code == code for caution in self.placement.cautions)

    def hottest(
        self, amount: Callable[[FunctionCounts], float | None]
    ) -> tuple[FunctionCounts, float] | None:
        """Return the function with the largest amount, and its share; None: none stands out."""
        known = [(amount(function) or 0.0, function) for function in self._functions]
        total = sum(part for part, _ in known)
        if not total:
            return None
        most, function = max(known, key=lambda pair: pair[0])
        return (function, most / total) if most >= MOST_OF_IT * total else None

    def place(
        self,
        function: FunctionCounts,
        amount: Callable[[Counts, tuple[Traffic, ...]], float | None],
    ) -> str:
        """Return a function's name, and the line with the largest amount if one stands out."""
        total = amount(function.counts, function.traffic) or 0.0
        for line in function.lines:
            if total and (amount(line.counts, line.traffic) or 0.0) >= MOST_OF_IT * total:
                return f"{function.name} ({PurePath(line.source).name}:{line.line})"
        return function.name

    @property
    def _functions(self) -> tuple[FunctionCounts, ...]:
        return self.measurement.counted.functions


def moved(traffic: Iterable[Traffic], level: str) -> float | None:
    """Return the bytes moved at a level, in both directions as far as they are known."""
    part = traffic_at(traffic, level)
    return None if part is None else part.known_bytes


def percent(share: float) -> str:
    """Return a share in percent; what is not zero never reads as zero."""
    if 0 < share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
