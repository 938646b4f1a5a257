"""Times of native runs of a program: the whole, its regions and its functions."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import Brief


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
        Exit status as a shell reports it; the same in every run.
    cautions : tuple of Caution
    system_s : Estimate or None
        The part of the CPU time that was spent in the kernel, one sample per run; None: unknown.
    entries : int or None
        How often the region or function was entered; None: a whole program, or not known.
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
    """Time that native runs of a program spent in one function itself, without its callees.

    Parameters
    ----------
    name : str or None
        As in `ridgepoint.core.counts.FunctionCounts`, or the symbol if it was not counted; None:
        code without a symbol.
    object : str or None
        Path of the file that holds its code; None for code made at run time.
    samples : int
        Number of samples in which a thread was in the function.
    runtime_s : Estimate
        Its part of the program's runtime in user mode, with its 95 % interval. Where several
        threads ran at once, each moment is divided among them.
    cpu_s : float
        CPU time of all threads in it, user mode.
    first_s : float or None
        Seconds from the start of a run until a sample was first in it; None: not known.
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
    """Native runs of a program that a CPU-time clock sampled at a fixed period.

    Parameters
    ----------
    runs : int
    period_s : float
        CPU time of a thread between two of its samples [s].
    samples : int
        Number of user-mode samples of all runs.
    user_s, system_s : float
        Mean CPU time of one run, as the kernel accounts it.
    functions : tuple of TimedFunction
        All functions with at least one sample, by time, descending.
    cautions : tuple of Caution
    """

    runs: int
    period_s: float
    samples: int
    user_s: float
    system_s: float
    functions: tuple[TimedFunction, ...]
    cautions: tuple[Caution, ...] = ()
