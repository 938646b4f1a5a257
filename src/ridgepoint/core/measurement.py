"""A program's counts and times, with all that is needed to judge them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Traffic, traffic_at
from ridgepoint.core.demand import Demand
from ridgepoint.core.lines import PythonLines
from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import Presentable, amount, presenter, quoted
from ridgepoint.core.ranks import Distributed
from ridgepoint.core.timed import Sampled, Timed, TimedRegion
from ridgepoint.core.units import format_si

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


State = Literal["warm", "cold"]
"""Of the caches, when a call begins: they hold its data, or none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How calls of a function were measured: the runtime and the counts are those of one call.

    Parameters
    ----------
    state : {"warm", "cold", "in place"}
        State of the caches: the same data every time, data that no cache holds, or whatever the
        program left there, where entries of a region were measured in place.
    calls : int
        Number of calls averaged in one sample of the runtime.
    replicas : int
        Number of copies of the data, used in turn; 1 where the caches are warm.
    data_bytes : int or None
        Size of the arrays of one call; None: unknown.
    overhead_s : float
        Time of one call of an empty function in the same loop. It is not subtracted.
    counted_calls : int
        Number of calls averaged in the counts; 0: nothing was counted.
    threads : int or None
        Thread limit for linear-algebra libraries; None: they chose.
    """

    state: State | Literal["in place"]
    calls: int
    replicas: int
    data_bytes: int | None
    overhead_s: float
    counted_calls: int
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user asked for when a program was measured.

    Parameters
    ----------
    cores : float or None
        Cores whose roofs apply; None: as many as the program keeps busy.
    metric : {"flop", "bop"}
        Unit of its work.
    options : tuple of str
        Options as given, such as ``--region sum``, without options that only select what to show.
    """

    cores: float | None = None
    metric: Literal["flop", "bop"] = "flop"
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where and how a measurement was made.

    Parameters
    ----------
    started : str
        ISO 8601, UTC.
    hostname, cpu, kernel : str
    affinity : tuple of int
        CPUs that the program was allowed to use.
    versions : dict of str to str
        Versions of Ridgepoint, Python and the tools that took part.
    environment : dict of str to str
        Variables that change how programs run (thread counts, CPU dispatch).
    frequency_hz : float or None
        Core clock that the system reported then; None: not reported.
    """

    started: str
    hostname: str
    cpu: str
    kernel: str
    affinity: tuple[int, ...]
    directory: str
    versions: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    frequency_hz: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Measurement(Presentable):
    """A program, measured.

    Parameters
    ----------
    command : tuple of str
    counted : Counted
    timed : Timed or None
        None: it was only counted.
    context : Context
    cautions : tuple of Caution
        Doubts about the measurement as a whole.
    timed_regions : tuple of TimedRegion
        Regions of a program that was counted whole, in the order of their first entry.
    protocol : Protocol or None
        None: whole runs of a program were measured.
    sampled : Sampled or None
        Where the time goes; None: not asked for, or not available.
    distributed : Distributed or None
        The ranks, whose sum the counts are; the runtime is that of the slowest rank. None: one
        program on one machine.
    lines : PythonLines or None
        The time per line of a Python program; None: not asked for, or not available.
    asked : Asked or None
        None: unknown, for a function or a record of an earlier version.
    whole : Timed or None
        The whole program, where a part of it was counted and timed alone; None: `timed` is it.
    """

    command: tuple[str, ...]
    counted: Counted
    timed: Timed | None
    context: Context
    cautions: tuple[Caution, ...] = ()
    timed_regions: tuple[TimedRegion, ...] = ()
    protocol: Protocol | None = None
    sampled: Sampled | None = None
    lines: PythonLines | None = None
    distributed: Distributed | None = None
    whole: Timed | None = None
    asked: Asked | None = None

    @property
    def headline(self) -> str:
        """Description in one line."""
        parts = [f"{format_si(self.counted.counts.work_flop, 'flop')}"]
        dram = self.traffic_at("dram")
        if dram is not None and dram.total_bytes is not None:
            parts.append(f"{format_si(dram.total_bytes, 'B')} at DRAM")
        if self.timed is None:
            parts.append("not timed")
        else:
            runtime_s = self.timed.runtime_s
            parts.append(f"{format_si(runtime_s.median, 's')} (n = {runtime_s.n})")
        if self.all_cautions:
            parts.append(amount(len(self.all_cautions), "caution"))
        return f"{quoted(shlex.join(self.command))}: {', '.join(parts)}"

    def summary(self, machine: Machine | None = None) -> str:
        """Return the report that the command line prints, as text.

        Parameters
        ----------
        machine : Machine or None
            Machine that bounds it; None: the report states only what was measured.
        """
        return presenter().summary(self, machine=machine)

    def plot(self, *, machine: Machine | None = None, ax: Axes | None = None) -> Figure:
        """Draw the measurement on a machine's roofline; see `ridgepoint.plot`.

        Parameters
        ----------
        machine : Machine or None
            None: the machine kept of this host.
        ax : matplotlib.axes.Axes or None
            Axes of their final size to draw on; None: new ones.
        """
        return presenter().plot(self, machine=machine, ax=ax)

    @property
    def metric(self) -> Literal["flop", "bop"]:
        """The unit in which its work was to be counted."""
        return "flop" if self.asked is None else self.asked.metric

    @property
    def all_cautions(self) -> tuple[Caution, ...]:
        """Every caution, of the times, the counts and the measurement as a whole."""
        timed = () if self.timed is None else self.timed.cautions
        regions = (caution for region in self.timed_regions for caution in region.cautions)
        sampled = () if self.sampled is None else self.sampled.cautions
        lines = () if self.lines is None else self.lines.cautions
        return (*self.cautions, *timed, *regions, *sampled, *lines, *self.counted.cautions)

    @property
    def disturbances(self) -> tuple[Caution, ...]:
        """Cautions that other programs used the CPUs while it was timed."""
        return _disturbances(self.all_cautions)

    def traffic_at(self, level: str) -> Traffic | None:
        """Return the traffic at a memory level, or None if it was not measured."""
        return traffic_at(self.counted.traffic, level)

    @property
    def demand(self) -> Demand:
        """Return the known part of the program's demand.

        A direction that was not measured is left out: the bound of the rest still holds.
        """
        amounts: dict[str, float] = {k: float(v) for k, v in self.counted.counts.work.items()}
        for part in self.counted.traffic:
            amounts[f"{part.level}_read"] = float(part.read_bytes)
            if part.write_bytes is not None:
                amounts[f"{part.level}_write"] = float(part.write_bytes)
        if self.distributed is not None and (sent := self.distributed.network_bytes) is not None:
            amounts["network"] = sent
        return Demand(amounts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """A program that was timed and not counted: its work and its traffic are unknown.

    Parameters
    ----------
    command : tuple of str
    timed : Timed
    context : Context
    uncounted : Caution or None
        Why it was not counted, and what to do; None: counting has not begun.
    cautions : tuple of Caution
        Doubts that do not belong to the times alone.
    timed_regions : tuple of TimedRegion
    sampled : Sampled or None
        As in `Measurement`; functions are named by their symbols.
    lines : PythonLines or None
        As in `Measurement`.
    """

    command: tuple[str, ...]
    timed: Timed
    context: Context
    uncounted: Caution | None = None
    cautions: tuple[Caution, ...] = ()
    timed_regions: tuple[TimedRegion, ...] = ()
    sampled: Sampled | None = None
    lines: PythonLines | None = None

    @property
    def all_cautions(self) -> tuple[Caution, ...]:
        """Every caution: first why the program was not counted, then those of the times."""
        return (
            *(() if self.uncounted is None else (self.uncounted,)),
            *self.cautions,
            *self.timed.cautions,
            *(caution for region in self.timed_regions for caution in region.cautions),
            *(() if self.sampled is None else self.sampled.cautions),
            *(() if self.lines is None else self.lines.cautions),
        )

    @property
    def disturbances(self) -> tuple[Caution, ...]:
        """Cautions that other programs used the CPUs while it was timed."""
        return _disturbances(self.all_cautions)


def _disturbances(cautions: tuple[Caution, ...]) -> tuple[Caution, ...]:
    codes = {"other-load", "stolen-time"}
    return tuple(caution for caution in cautions if caution.code in codes)
