"""What is asked of a GPU: the small protocol behind which a library talks to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ridgepoint.ceilings.gpu.kernels import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a device says of itself.

    Parameters
    ----------
    name : str
    identity : str
        What tells it from others of its kind: the address on its bus.
    capability : tuple of int
        Compute capability: (9, 0) for Hopper.
    multiprocessors : int
    resident_threads : int
        That one of them holds at once.
    l2_bytes : int or None
    memory_bytes, free_bytes : int
    memory_hz : float or None
        Clock of its memory.
    bus_bits : int or None
        Width of the path to its memory.
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
        """The compute capability as compilers call it."""
        major, minor = self.capability
        return f"sm_{major}{minor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much a device is given to do, so that everything fits into its memory.

    Parameters
    ----------
    buffer_bytes : int
        Of each of the two buffers of streams: many times what its caches hold.
    passes : int
        Of a stream through its buffer, by each of the blocks.
    blocks : int
    matrix : int
        Rows and columns.
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
        """Return how long so many repetitions took, by the device's own clock."""

    def why_wrong(self) -> str | None:
        """Return what is wrong with the result that is there now, or None."""


class Device(Protocol):
    """One GPU."""

    @property
    def facts(self) -> Facts:
        """What it is."""

    def prepare(self, task: Task, sizes: Sizes) -> Prepared:
        """Return a task, ready.

        Raises
        ------
        CannotMeasure
            If the device or its library cannot do it.
        """

    def clock_hz(self) -> float | None:
        """Return the clock of its multiprocessors right now; None: it does not tell."""

    def held_back_s(self) -> Mapping[str, float] | None:
        """Return for how long, since some start, each reason held its clock back.

        None: it does not tell.
        """
