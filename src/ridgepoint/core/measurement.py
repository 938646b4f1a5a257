"""What was seen: a program's counts and its times, with all that is needed to judge them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import (
    Counts,
    FunctionCounts,
    MissCurve,
    RegionCounts,
    Traffic,
    traffic_at,
)
from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.presenting import Brief, Presentable, amount, presenter, quoted
from ridgepoint.core.ranks import Distributed
from ridgepoint.core.units import format_si

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """The traffic of the same run on other caches, simulated beside the main ones.

    Parameters
    ----------
    caches : tuple of Cache
    traffic : tuple of Traffic
    """

    caches: tuple[Cache, ...]
    traffic: tuple[Traffic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remainder:
    """What functions did together that are not told apart, since each hardly did anything.

    Parameters
    ----------
    functions : int
        How many they are.
    counts : Counts
    traffic : tuple of Traffic
    """

    functions: int
    counts: Counts
    traffic: tuple[Traffic, ...] = ()


_FEWEST_SAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncounted:
    """A function in which a program was while it was not counted.

    Parameters
    ----------
    name : str
    object : str or None
        Path of the file that holds its code; None: of no known file.
    share : float
        Of the program's time, 0 to 1.
    """

    name: str
    object: str | None
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a program's time in user mode was in code that was counted, by samples.

    Parameters
    ----------
    share : float
        0 to 1.
    samples : int
    uncounted : tuple of Uncounted
        Where most of the rest was, by share, descending.
    """

    share: float
    samples: int
    uncounted: tuple[Uncounted, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether there are enough samples for the share to say anything."""
        return self.samples >= _FEWEST_SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficInterval:
    """Between which bytes the traffic of a level is believed to lie, with 95 %.

    Parameters
    ----------
    level : str
        As `ridgepoint.core.counts.Traffic` has it.
    read_bytes, write_bytes : tuple of int
        The least and the most.
    """

    level: str
    read_bytes: tuple[int, int]
    write_bytes: tuple[int, int]

    @property
    def total_bytes(self) -> tuple[int, int]:
        """The least and the most of both directions."""
        return (
            self.read_bytes[0] + self.write_bytes[0],
            self.read_bytes[1] + self.write_bytes[1],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficEstimate:
    """How traffic was estimated, of which only bursts were seen.

    Parameters
    ----------
    bursts : int
        In which all accesses were.
    share : float
        Of the accesses that were seen, of all.
    levels : tuple of TrafficInterval
        From the innermost on; empty: there are too few bursts, or only a part of the program was
        asked for.
    """

    bursts: int
    share: float
    levels: tuple[TrafficInterval, ...] = ()

    def at(self, level: str) -> TrafficInterval | None:
        """Return the interval of a level; None: there is none."""
        return next((interval for interval in self.levels if interval.level == level), None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Counted(Brief):
    """What a meter counted in one run of a program.

    Parameters
    ----------
    meter : str
        Name and version, for example ``callgrind (Valgrind 3.19.0)``.
    counts : Counts
        Of all functions and processes together.
    traffic : tuple of Traffic
        One per memory level that the meter knows.
    functions : tuple of FunctionCounts
        By work, then by instructions, descending.
    caches : tuple of Cache
        The geometry that was simulated; empty for real caches.
    processes : int or None
        Processes that were counted; None: the meter cannot tell.
    cautions : tuple of Caution
    regions : tuple of RegionCounts
        In the order in which the program first entered them.
    alternatives : tuple of Alternative
        The same run on other caches.
    ends : tuple of Alternative
        The same run on the least and on the most that a program gets of these caches, where that
        varies with the machine's neighbours.
    miss_curve : MissCurve or None
        Memory traffic over the size of a cache, of what was counted; None: not asked for.
    partial : str or None
        Why the counts are not of the whole run, for example a time limit; None: they are.
    selected : str or None
        The region or function that was counted alone; None: all of the program was.
    most_threads : int or None
        Threads of one process that were alive at the same time; None: the meter cannot tell.
    energy_j : dict of str to float or None
        Energy used meanwhile by each domain that the machine meters (``pkg``, ``ram``, ...), by
        all its programs; None: not measured.
    also : Counted or None
        What another meter counted of the same program, to compare.
    remainder : Remainder or None
        What the functions did that are not among `functions`; None: there is none.
    coverage : Coverage or None
        How much of its time was counted; None: all of it was, or nobody can tell.
    estimate : TrafficEstimate or None
        How the traffic was estimated; None: it was not.
    """

    meter: str
    counts: Counts
    traffic: tuple[Traffic, ...]
    functions: tuple[FunctionCounts, ...] = ()
    caches: tuple[Cache, ...] = ()
    processes: int | None = 1
    cautions: tuple[Caution, ...] = ()
    regions: tuple[RegionCounts, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    ends: tuple[Alternative, ...] = ()
    miss_curve: MissCurve | None = None
    partial: str | None = None
    selected: str | None = None
    most_threads: int | None = None
    energy_j: dict[str, float] | None = None
    also: Counted | None = None
    remainder: Remainder | None = None
    coverage: Coverage | None = None
    estimate: TrafficEstimate | None = None

    @property
    def is_sequential(self) -> bool:
        """Whether one thread did it all."""
        return self.most_threads == 1 and self.processes == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Native runs of a program, or of the region that was counted alone.

    Parameters
    ----------
    runtime_s : Estimate
        Wall-clock time from start to exit, one sample per run.
    cpu_s : Estimate
        User and system time of the program and its children, one sample per run.
    exit_status : int
        As a shell sees it; the same in every run.
    cautions : tuple of Caution
    system_s : Estimate or None
        The part of the CPU time that was spent in the kernel, one sample per run; None: unknown.
    entries : int or None
        Of a region or function: how often it was entered; None: of a whole program, or not known.
    """

    runtime_s: Estimate
    cpu_s: Estimate
    exit_status: int = 0
    cautions: tuple[Caution, ...] = ()
    system_s: Estimate | None = None
    entries: int | None = None

    @property
    def cores_busy(self) -> float:
        """CPU time over wall time: the cores that the program kept busy on average."""
        return self.cpu_s.median / self.runtime_s.median


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedRegion:
    """Native runs of a region that a program marks.

    Parameters
    ----------
    name : str
    entries : int
        How often it was entered from outside, by any thread.
    runtime_s : Estimate or None
        Wall-clock time in which at least one thread was inside, one sample per run; None: not
        known exactly.
    busy_s : Estimate
        Time inside, summed over threads, one sample per run.
    cpu_s : Estimate or None
        User and system time of all threads of the program while at least one was inside, one
        sample per run; None: not known.
    cautions : tuple of Caution
    """

    name: str
    entries: int
    runtime_s: Estimate | None
    busy_s: Estimate
    cpu_s: Estimate | None = None
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedFunction:
    """How long native runs of a program were in one function itself, not in those that it called.

    Parameters
    ----------
    name : str or None
        As `ridgepoint.core.counts.FunctionCounts` has it, or the symbol if it was not counted;
        None: code without a symbol.
    object : str or None
        Path of the file that holds its code; None for code made at run time.
    samples : int
        Moments at which a thread was found in it.
    runtime_s : Estimate
        Its part of the program's runtime in user mode, with its 95 % interval. Where several
        threads ran at once, each moment is divided among them.
    cpu_s : float
        CPU time of all threads in it, user mode.
    first_s : float or None
        Seconds after the start of a run in which it was found first; None: not known.
    """

    name: str | None
    object: str | None
    samples: int
    runtime_s: Estimate
    cpu_s: float
    first_s: float | None = None

    @property
    def relative_error(self) -> float:
        """Half the width of the 95 % interval over the time."""
        low, high = self.runtime_s.low, self.runtime_s.high
        if low is None or high is None or not self.runtime_s.median:
            return float("inf")
        return (high - low) / 2 / self.runtime_s.median


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sampled(Brief):
    """Native runs of a program in which a clock of CPU time told where it was, again and again.

    Parameters
    ----------
    runs : int
    period_s : float
        CPU time of a thread between two of its samples.
    samples : int
        Of all runs, in user mode.
    user_s, system_s : float
        CPU time of one run on average, as the kernel accounts it.
    functions : tuple of TimedFunction
        By time, descending; all in which a sample was.
    cautions : tuple of Caution
    """

    runs: int
    period_s: float
    samples: int
    user_s: float
    system_s: float
    functions: tuple[TimedFunction, ...]
    cautions: tuple[Caution, ...] = ()


State = Literal["warm", "cold"]
"""Of the caches, when a call begins: they hold its data, or none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How calls of a function were measured: the runtime and the counts are those of one call.

    Parameters
    ----------
    state : {"warm", "cold", "in place"}
        Of the caches: the same data again and again, or data that no cache holds; or as a program
        itself left them, where entries of a region in it were measured in place of calls.
    calls : int
        Calls that one sample of the runtime is the mean of.
    replicas : int
        Copies of the data, used in turn; 1 where the caches are warm.
    data_bytes : int or None
        Of the arrays of one call; None: unknown.
    overhead_s : float
        What calling an empty function takes in the same loop. It is not subtracted.
    counted_calls : int
        Calls that the counts are the mean of; 0: nothing was counted.
    threads : int or None
        That libraries of linear algebra were limited to; None: as they chose.
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
        Cores whose roofs apply; None: those that the program keeps busy.
    metric : {"flop", "bop"}
        What its work is counted in.
    options : tuple of str
        As they were given, such as ``--region sum``; without those that only say what is shown.
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
        Ridgepoint, Python and the tools that took part.
    environment : dict of str to str
        Variables that change how programs run (thread counts, CPU dispatch).
    frequency_hz : float or None
        Core clock that the system reported then; None: it does not say.
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
        Doubts that belong to neither part alone.
    timed_regions : tuple of TimedRegion
        Of a program that marks regions and was counted whole; in the order of their first entry.
    protocol : Protocol or None
        None: whole runs of a program.
    sampled : Sampled or None
        Where its time goes; None: not asked for, or not to be had.
    distributed : Distributed or None
        Of several ranks, whose sum the counts are; the runtime is that of the slowest. None: of
        one program on one machine.
    asked : Asked or None
        None: not known, of what an earlier version kept or a function measured.
    whole : Timed or None
        The whole program, where a part of it was counted and timed alone; None: it is all.
    """

    command: tuple[str, ...]
    counted: Counted
    timed: Timed | None
    context: Context
    cautions: tuple[Caution, ...] = ()
    timed_regions: tuple[TimedRegion, ...] = ()
    protocol: Protocol | None = None
    sampled: Sampled | None = None
    distributed: Distributed | None = None
    whole: Timed | None = None
    asked: Asked | None = None

    @property
    def headline(self) -> str:
        """What it is, in one line."""
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
            That bounds it; None: none does, and the report says only what was measured.
        """
        return presenter().summary(self, machine=machine)

    def plot(self, *, machine: Machine | None = None, ax: Axes | None = None) -> Figure:
        """Draw it on a machine's roofline; see `ridgepoint.plot`.

        Parameters
        ----------
        machine : Machine or None
            None: the one kept of this host.
        ax : matplotlib.axes.Axes or None
            Axes of their final size to draw on; None: new ones.
        """
        return presenter().plot(self, machine=machine, ax=ax)

    @property
    def metric(self) -> Literal["flop", "bop"]:
        """What its work was asked to be counted in."""
        return "flop" if self.asked is None else self.asked.metric

    @property
    def all_cautions(self) -> tuple[Caution, ...]:
        """Every caution, of the times, the counts and the whole."""
        timed = () if self.timed is None else self.timed.cautions
        regions = (caution for region in self.timed_regions for caution in region.cautions)
        sampled = () if self.sampled is None else self.sampled.cautions
        return (*self.cautions, *timed, *regions, *sampled, *self.counted.cautions)

    @property
    def disturbances(self) -> tuple[Caution, ...]:
        """Cautions that others had the CPUs while it was timed."""
        return tuple(
            caution
            for caution in self.all_cautions
            if caution.code in {"other-load", "stolen-time"}
        )

    def traffic_at(self, level: str) -> Traffic | None:
        """Return the traffic at a memory level, or None if it was not measured."""
        return traffic_at(self.counted.traffic, level)

    @property
    def demand(self) -> Demand:
        """Return all that is known of what the program asked for.

        A direction that was not measured is left out: the bound of what is left still holds.
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
        As of `Measurement`; functions have the names of their symbols.
    """

    command: tuple[str, ...]
    timed: Timed
    context: Context
    uncounted: Caution | None = None
    cautions: tuple[Caution, ...] = ()
    timed_regions: tuple[TimedRegion, ...] = ()
    sampled: Sampled | None = None

    @property
    def all_cautions(self) -> tuple[Caution, ...]:
        """Every caution: first that it was not counted, then those of the times."""
        return (
            *(() if self.uncounted is None else (self.uncounted,)),
            *self.cautions,
            *self.timed.cautions,
            *(caution for region in self.timed_regions for caution in region.cautions),
            *(() if self.sampled is None else self.sampled.cautions),
        )
