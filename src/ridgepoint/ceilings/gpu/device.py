"""The small protocol behind which a library talks to a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ridgepoint.ceilings.gpu.kernels import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A device's description of itself.

    Parameters
    ----------
    name : str
    identity : str
        Identifies it among others of its kind: the address on its bus.
    capability : tuple of int
        Compute capability: (9, 0) for Hopper.
    multiprocessors : int
    resident_threads : int
        Threads that one multiprocessor holds at once.
    l2_bytes : int or None
    memory_bytes, free_bytes : int
    memory_hz : float or None
        Clock of its memory; None: unknown.
    bus_bits : int or None
        Width of the path to its memory; None: unknown.
    software : tuple of str
        Driver and libraries, with their versions.
    ecc : bool or None
        Whether its memory corrects errors, which takes bandwidth of some kinds; None: unknown.
    partitioned : bool or None
        Whether it is a part of a GPU (MIG); None: unknown.
    """

    name: str
    identity: str
    capability: tuple[int, int]
    multiprocessors: int
    resident_threads: int
    l2_bytes: int | None
    memory_bytes: int
    free_bytes: int
    memory_hz: float | None = None
    bus_bits: int | None = None
    software: tuple[str, ...] = ()
    ecc: bool | None = None
    partitioned: bool | None = None

    @property
    def generation(self) -> str:
        """The compute capability as compilers write it."""
        major, minor = self.capability
        return f"sm_{major}{minor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of a device's tasks, so that everything fits into its memory.

    Parameters
    ----------
    buffer_bytes : int
        Size of each of the two buffers of streams: many times its caches.
    passes : int
        Passes of a stream through its buffer, by each of the blocks.
    blocks : int
    matrix : int
        Number of rows and columns.
    """

    buffer_bytes: int
    passes: int
    blocks: int
    matrix: int


class Prepared(Protocol):
    """A task whose data lies on the device, compiled and ready."""

    @property
    def work(self) -> int:
        """Bytes or flop of one repetition."""

    def time_s(self, repeats: int) -> float:
        """Return the time of this many repetitions by the device's own clock, in seconds."""

    def why_wrong(self) -> str | None:
        """Return what is wrong with the present result, or None."""


class Device(Protocol):
    """One GPU."""

    @property
    def facts(self) -> Facts:
        """Description of the device."""

    def prepare(self, task: Task, sizes: Sizes) -> Prepared:
        """Return a task, ready to run.

        Raises
        ------
        CannotMeasure
            If the device or its library cannot run it.
        """

    def clock_hz(self) -> float | None:
        """Return the present clock of its multiprocessors, Hz; None: it is not reported."""

    def held_back_s(self) -> Mapping[str, float] | None:
        """Return how long each reason held its clock back since some start, in seconds.

        None: it is not reported.
        """
