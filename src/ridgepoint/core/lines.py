"""Lines of a Python program: the time in each, and what was counted below it."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import Brief


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonLine:
    """CPU time of the threads that were in one line of a user's Python file, or below it.

    Below a line is everything that it calls and that has no line of a user's file itself: the
    interpreter, the standard library, installed packages, and their native code.

    Parameters
    ----------
    file : str
        Path of the file.
    line : int
        Number of the line, from 1.
    text : str or None
        The line itself, without its indentation; None: unknown.
    samples : int
        Number of samples in it, of all runs.
    cpu_s : Estimate
        CPU time of one run in it, with its 95 % interval: the sum of the four below.
    interpreter_s : float
        Its part in the interpreter itself.
    native_s : float
        Its part in native code: extension modules and libraries.
    system_s : float
        Its part in system calls.
    other_threads_s : float
        Its part in threads without Python frames, such as those of OpenMP and BLAS, while the
        program's only Python thread was in the line.
    executions : int or None
        How often the line began in the run in which lines were counted; None: not counted.
    counts : Counts or None
        What was executed below the line, by the threads that were in it, and by threads without
        Python frames while only one Python thread was in a line: work is the program's own, but
        among the instructions are those of the interpreter that tell the line. None: not counted.
    traffic : tuple of Traffic
        What they moved; empty: not known.
    other_threads_flop : int or None
        The part of the work that threads without Python frames did; None: not counted.
    """

    file: str
    line: int
    text: str | None
    samples: int
    cpu_s: Estimate
    interpreter_s: float
    native_s: float
    system_s: float
    other_threads_s: float
    executions: int | None = None
    counts: Counts | None = None
    traffic: tuple[Traffic, ...] = ()
    other_threads_flop: int | None = None

    @property
    def name(self) -> str:
        """File and line: ``/home/me/script.py:12``."""
        return f"{self.file}:{self.line}"

    @property
    def working_s(self) -> float:
        """CPU time of the threads that did its work: of others only if they did some of it.

        Threads of BLAS and OpenMP also take time to wait for more work.
        """
        others_s = self.other_threads_s if self.other_threads_flop else 0.0
        return self.interpreter_s + self.native_s + self.system_s + others_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """What it took to count line by line: two counted runs, with and without the lines.

    Parameters
    ----------
    events : int
        How often any line of a user's file began.
    factors : dict of str to float
        By how much the run with lines did more than the run without, by what: ``instructions``,
        ``flop``, and the bytes of each level. What one of them did not do at all is left out.
    """

    events: int
    factors: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PythonLines(Brief):
    """Time per line of Python, from native runs in which each thread was sampled, and their work.

    Parameters
    ----------
    runs : int
        Number of sampled runs.
    samples : int
        Number of samples in Python processes, of all runs.
    lines : tuple of PythonLine
        Lines with at least one sample, by time, descending.
    outside_s : float
        CPU time of one run, as the samples tell it, in no line of a user's file: the start of the
        interpreter and its end.
    unlocated_s : float
        CPU time of threads without Python frames while several Python threads ran: the line that
        began their work is not known.
    unsampled_s : float
        CPU time that no sample stands for: of other programs, and of threads and processes that
        live for less than a period of the clock.
    tracing : Tracing or None
        What counting by line changed; None: lines were not counted.
    cautions : tuple of Caution
    """

    runs: int
    samples: int
    lines: tuple[PythonLine, ...]
    outside_s: float
    unlocated_s: float
    unsampled_s: float
    tracing: Tracing | None = None
    cautions: tuple[Caution, ...] = ()
