"""What a meter counted in one run of a program, and how much of the run that is."""

from __future__ import annotations

from dataclasses import dataclass

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
