"""Meters: the effects that count what a program does, each behind the same small protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ridgepoint.core.counted import Counted
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Run

Launch = Callable[[Sequence[str]], Run]
"""Run a command line as the program itself is run: same input, directory, limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why a meter cannot work on this host.

    Parameters
    ----------
    reason : str
        What is missing.
    remedy : str
        What to do about it.
    cost : str
        What its absence costs the user.
    """

    reason: str
    remedy: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The part of a program that is counted alone.

    Parameters
    ----------
    kind : {"region", "function"}
    name : str
        Name of a region that the program marks; or a function's symbol, or a regular expression
        that symbols match.
    all_threads : bool
        Count all threads of a process while any of them is inside; otherwise only the threads
        that are inside.
    """

    kind: Literal["region", "function"]
    name: str
    all_threads: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}{' (all threads)' if self.all_threads else ''}"


class Meter(Protocol):
    """Counts what a command does, in one instrumented run."""

    @property
    def name(self) -> str:
        """Name as on the command line and in results."""

    @property
    def slowdown(self) -> str:
        """How many times as long as natively a counted run takes, in words: "2 to 200"."""

    @property
    def selection(self) -> Selection | None:
        """What is counted alone; None: everything."""

    @property
    def stand_in(self) -> Meter | None:
        """What may count in its place where it is unavailable; None: nothing does the same."""

    @property
    def without_traffic(self) -> Meter | None:
        """What counts the same faster, as it simulates no caches; None: nothing does."""

    def why_unavailable(self) -> Unavailable | None:
        """Return why this meter cannot work on this host, or None."""

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count one run of a command.

        Parameters
        ----------
        command : sequence of str
            Program and arguments; the program is a path, or a name found in ``PATH``.
        launch : callable
            Runs a command line that the meter has wrapped.
        caches : sequence of Cache
            Geometry to simulate; data or unified caches from L1 outwards, and L1 instruction.

        Raises
        ------
        CannotMeasure
            If the run could not be counted; never a guess or a zero.
        """
