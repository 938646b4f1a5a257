"""A workload of the reference suite: its data, its code, and the expected cost of one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.suites.kernels.operands import Array, Arrays, Operand, allocate
from ridgepoint.suites.kernels.results import Expected

Call = Callable[..., None]
"""Called with the arrays of `Workload.make`, in their order."""

_TOLERANCE = 1e-9


class OuterLoop(Protocol):
    """The outermost loop of a workload, whose rounds all do the same work."""

    def length(self, n: int) -> float:
        """Return its number of rounds; the last one may be incomplete."""

    def parts(self, n: int) -> tuple[int, ...]:
        """Return the rounds of each call to count; none: it is counted whole."""

    def size_reusing(self, nbytes: int) -> int:
        """Return the n with which every round reads about so many bytes that all others read."""

    def compile(self, n: int, rounds: int) -> Call:
        """Return the call of some rounds, evenly apart."""


def _present() -> None:
    """Return None: nothing is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A piece of work of a size n. It is pickled by its name.

    Parameters
    ----------
    name : str
        ``family.implementation``.
    formula : str
        The formula that it computes.
    sizes : tuple of int
        n of the full series, ascending.
    quick_sizes : tuple of int
        n of a run of a few minutes, in which each size is also counted under a simulator.
    operands : callable
        Maps n to the arrays of one call.
    expect : callable
        Maps n to `Expected`.
    compile : callable
        Maps n and a number of threads to the `Call`.
    reference : callable
        Maps the arrays before a call to the expected content of the result array after it, with
        NumPy.
    result : int
        Index of the result array.
    parallel : bool
        Whether it can use several threads.
    is_handwritten : bool
        Whether its code is ours, compiled by LLVM, so that its work is known exactly.
    outer : OuterLoop or None
        Its outermost loop, if a part of that tells what the whole does.
    absence : callable
        Returns why it cannot run here and what to do, or None.
    """

    name: str
    formula: str
    sizes: tuple[int, ...] = field(repr=False)
    quick_sizes: tuple[int, ...] = field(repr=False)
    operands: Callable[[int], tuple[Operand, ...]] = field(repr=False)
    expect: Callable[[int], Expected] = field(repr=False)
    compile: Callable[[int, int], Call] = field(repr=False)
    reference: Callable[..., Array] = field(repr=False)
    result: int = field(default=-1, repr=False)
    parallel: bool = False
    is_handwritten: bool = False
    outer: OuterLoop | None = field(default=None, repr=False)
    absence: Callable[[], tuple[str, str] | None] = field(default=_present, repr=False)

    @property
    def family(self) -> str:
        """Name of the computation, such as ``dgemm``."""
        return self.name.partition(".")[0]

    @property
    def implementation(self) -> str:
        """Name of the implementation, such as ``naive``."""
        return self.name.partition(".")[2]

    def expected(self, n: int) -> Expected:
        """Return the work and traffic that one call of size n must have."""
        return self.expect(n)

    def data_bytes(self, n: int) -> int:
        """Return the bytes of all arrays of one call."""
        return sum(operand.nbytes for operand in self.operands(n))

    def make(self, n: int, seed: int = 0) -> Arrays:
        """Return fresh arrays for one call.

        They are allocated separately, each aligned to a cache line, and hold random numbers
        other than zero, the same for the same seed. Calls may follow each other on the same
        arrays a million times: no result overflows, vanishes or becomes denormal.
        """
        return allocate(self.operands(n), seed)

    def prepare(self, n: int, *, threads: int = 1, rounds: int | None = None) -> Call:
        """Return the callable to measure, ready to run on the arrays of `make`.

        Parameters
        ----------
        n : int
        threads : int
            Number of threads. Those of a BLAS are set for the whole process, until a call with
            another number is prepared.
        rounds : int or None
            Rounds of its outermost loop; None: all of them.

        Raises
        ------
        ValueError
            If n is not one of its sizes, if it cannot use several threads, or if no rounds of it
            can be done apart.
        CannotMeasure
            If a library that it needs is missing or refuses.
        """
        if n < 1 or threads < 1:
            raise ValueError(f"n and threads must be > 0, got {n!r} and {threads!r}")
        if threads > 1 and not self.parallel:
            raise ValueError(f"{self.name} runs in one thread, got threads={threads!r}")
        if rounds is None:
            return self.compile(n, threads)
        if self.outer is None:
            raise ValueError(f"{self.name} is only done whole, got rounds={rounds!r}")
        return self.outer.compile(n, rounds)

    def check(self, n: int, *, threads: int = 1) -> None:
        """Compare one call's result with NumPy's.

        Raises
        ------
        CannotMeasure
            If a number is off by more than 1e-9 of the largest one.
        """
        arrays = self.make(n)
        wanted = self.reference(*arrays)
        self.prepare(n, threads=threads)(*arrays)
        error = float(np.max(np.abs(arrays[self.result] - wanted)) / np.max(np.abs(wanted)))
        if not error <= _TOLERANCE:
            raise CannotMeasure(
                f"cannot trust {self.name} of size {n}",
                reason=f"its result is off by {error:.1e} of the largest number",
                remedy="report this with the output of 'ridgepoint doctor'",
            )

    def __reduce__(self) -> tuple[Callable[[str], Workload], tuple[str]]:
        from ridgepoint.suites.kernels import find

        return find, (self.name,)
