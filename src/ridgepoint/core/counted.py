"""What a meter counted in one run of a program, and how much of the run that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts, FunctionCounts, RegionCounts, Traffic
from ridgepoint.core.machine import Cache
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.presenting import Brief


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
    """Functions that each did too little to be listed, summed together.

    Parameters
    ----------
    functions : int
        Number of functions.
    counts : Counts
    traffic : tuple of Traffic
    """

    functions: int
    counts: Counts
    traffic: tuple[Traffic, ...] = ()


_FEWEST_SAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncounted:
    """A function that the program executed while it was not counted.

    Parameters
    ----------
    name : str
    object : str or None
        Path of the file that holds its code; None: of no known file.
    share : float
        Share of the program's time, 0 to 1.
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
        Share of the time that was spent in counted code, 0 to 1.
    samples : int
    uncounted : tuple of Uncounted
        Functions with most of the uncounted time, by share, descending.
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
    """The 95 % interval of the traffic at one level.

    Parameters
    ----------
    level : str
        As in `ridgepoint.core.counts.Traffic`.
    read_bytes, write_bytes : tuple of int
        Lower and upper end, in bytes.
    """

    level: str
    read_bytes: tuple[int, int]
    write_bytes: tuple[int, int]

    @property
    def total_bytes(self) -> tuple[int, int]:
        """Lower and upper end for both directions together, in bytes."""
        return (
            self.read_bytes[0] + self.write_bytes[0],
            self.read_bytes[1] + self.write_bytes[1],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficEstimate:
    """How traffic was estimated from parts of a run.

    Parameters
    ----------
    bursts : int
        Number of parts in which all accesses were recorded.
    share : float
        Recorded accesses, or rounds, as a share of all of them.
    levels : tuple of TrafficInterval
        From the innermost level on; empty: too few bursts, or only a part of the program was
        counted.
    of : {"accesses", "rounds"}
        What the parts are: bursts of accesses of a program, or calls that do some rounds of the
        outermost loop.
    """

    bursts: int
    share: float
    levels: tuple[TrafficInterval, ...] = ()
    of: Literal["accesses", "rounds"] = "accesses"

    def at(self, level: str) -> TrafficInterval | None:
        """Return the interval of a level; None: there is none."""
        return next((interval for interval in self.levels if interval.level == level), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedOnce:
    """What one of several counted runs of a program did in all.

    Parameters
    ----------
    flop : int
    bop : int or None
        None: the meter cannot tell.
    traffic : tuple of Traffic
    """

    flop: int
    bop: int | None
    traffic: tuple[Traffic, ...]

    @classmethod
    def of(cls, counted: Counted) -> Self:
        """Return the totals of a counted run."""
        counts, refined = counted.counts, counted.counts.basic_operations
        bop = counts.eq3_bop if refined is None else refined.total
        return cls(flop=counts.work_flop, bop=bop, traffic=counted.traffic)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Counted(Brief):
    """What a meter counted in one run of a program.

    Parameters
    ----------
    meter : str
        Name and version, for example ``callgrind (Valgrind 3.19.0)``.
    counts : Counts
        Total of all functions and processes.
    traffic : tuple of Traffic
        One per memory level that the meter knows.
    functions : tuple of FunctionCounts
        By work, then by instructions, descending.
    caches : tuple of Cache
        The caches that were simulated; empty for real caches.
    processes : int or None
        Number of processes counted; None: the meter cannot tell.
    cautions : tuple of Caution
    regions : tuple of RegionCounts
        In the order in which the program first entered them.
    alternatives : tuple of Alternative
        Traffic of the same run on other caches.
    ends : tuple of Alternative
        Traffic of the same run on the smallest and the largest share of these caches that a
        program gets, where the share varies with the machine's neighbours.
    miss_curve : MissCurve or None
        Memory traffic of the counted part over the size of a cache; None: not asked for.
    partial : str or None
        Why the counts do not cover the whole run, for example a time limit; None: they do.
    selected : str or None
        The region or function that was counted alone; None: the whole program was counted.
    most_threads : int or None
        Largest number of threads alive at once in one process; None: the meter cannot tell.
    energy_j : dict of str to float or None
        Energy in joules used during the run by each domain that the machine meters (``pkg``,
        ``ram``, ...), by all programs on it; None: not measured.
    also : Counted or None
        Counts of the same program by another meter, for comparison.
    remainder : Remainder or None
        Sum of the functions that are not in `functions`; None: there are none.
    coverage : Coverage or None
        How much of the program's time was counted; None: all of it, or unknown.
    estimate : TrafficEstimate or None
        How the traffic was estimated; None: it was not estimated.
    runs : tuple of CountedOnce
        Every counted run, in their order, of which these counts are those of the median; empty:
        there was one.
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
    runs: tuple[CountedOnce, ...] = ()

    @property
    def is_sequential(self) -> bool:
        """Whether a single thread did all the work."""
        return self.most_threads == 1 and self.processes == 1
