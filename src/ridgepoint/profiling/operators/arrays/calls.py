"""Calls of functions of arrays as they come: counted, timed, and described without their data."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Call, Operator
from ridgepoint.demands.operators import asked_of
from ridgepoint.profiling.operators.arrays.described import Described, tensors, values_of
from ridgepoint.profiling.operators.checking import Maker

Key = tuple[object, ...]


class Recording:
    """Aggregates calls by the function that makes them, their arguments and results.

    Parameters
    ----------
    keeps : bool
        Whether the arguments of the first of equal calls are kept, to make it again.

    Notes
    -----
    Numbers among the arguments of arithmetic count by their types, since their values change no
    work; whole numbers are kept, since they can be axes and sizes.
    """

    def __init__(self, *, keeps: bool = False) -> None:
        self.run_s: list[float] = []
        self.unseen_shares: list[float] = []
        self._inside_s = self._noting_s = 0.0
        self._keeps = keeps
        self._found: dict[Key, _Found] = {}
        self._path = threading.local()

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        """Record one run of the program."""
        for found in self._found.values():
            found.begin()
        self._inside_s = self._noting_s = 0.0
        begun = perf_counter()
        yield
        run_s = perf_counter() - begun
        self.run_s.append(run_s)
        self.unseen_shares.append(1 - self._inside_s / (run_s - self._noting_s))
        for found in self._found.values():
            found.end()

    @property
    def calls(self) -> int:
        """Number of calls recorded so far."""
        return sum(found.calls + found.calls_now for found in self._found.values())

    @property
    def path(self) -> tuple[str, ...]:
        """Names of the functions around what is called now, outermost first."""
        return getattr(self._path, "names", ())

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Record calls as those of a function."""
        outer = self.path
        self._path.names = (*outer, name)
        try:
            yield
        finally:
            self._path.names = outer

    def call(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        *,
        elements: int | None = None,
    ) -> Any:
        """Call a function of plain arrays, and note the call.

        Parameters
        ----------
        name : str
            Name of the operator.
        function : callable
        arguments : tuple
        options : mapping of str to object
        elements : int or None
            Number of elements that an index names or a range selects, where that is not seen in
            the result.
        """
        begun = perf_counter()
        result = function(*arguments, **options)
        ended = perf_counter()
        time_s = ended - begun
        self._note(name, arguments, options, result, time_s=time_s, elements=elements)
        self._inside_s += time_s
        self._noting_s += perf_counter() - ended
        return result

    def _note(
        self,
        name: str,
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        result: Any,
        *,
        time_s: float,
        elements: int | None,
    ) -> None:
        described = Described(values=values_of(name))
        given = tuple([described.value(one) for one in arguments])
        named = {key: described.value(one) for key, one in options.items() if one is not None}
        if elements is not None:
            named["elements"] = elements
        outputs = tuple(described.arrays(result))
        path = ".".join(self.path)
        key = path, name, given, tuple(named.items()), outputs
        found = self._found.get(key)
        if found is None:
            given_again = partial(_dense, arguments, options) if self._keeps else None
            call = Call(
                name=name,
                arguments=tensors(given),
                options={key: tensors(one) for key, one in named.items()},
                outputs=tensors(outputs),
                overload="out" if "out" in named else "",
            )
            found = self._found[key] = _Found(call, path, given_again)
        found.calls_now += 1
        found.now_s += time_s

    def operators(self) -> tuple[Operator, ...]:
        """Return what was called, in the order of first calls."""
        return tuple(found.operator(len(self.run_s)) for found in self._found.values())

    def makers(self) -> tuple[Maker | None, ...]:
        """Return what gives each operator's arguments again, in their order; None: not kept."""
        return tuple(found.maker for found in self._found.values())

    def cautions(self) -> Iterator[Caution]:
        """Yield what is doubtful: whether runs differed."""
        runs, found = len(self.run_s), self._found.values()
        varying = sum(not one.is_alike(runs) for one in found)
        if varying:
            yield Caution(
                "work-varies",
                f"{varying} of {len(found)} operators were not called equally often in all {runs} "
                "runs: the program changes its work, or its shapes, from run to run",
                "give it the same data and state every time; the calls are those of the first run "
                "that made them",
            )


@dataclass(slots=True)
class _Found:
    """Calls that are alike."""

    call: Call
    path: str
    maker: Maker | None = None
    calls: int = 0
    calls_now: int = 0
    now_s: float = 0.0
    runs_s: list[float] = field(default_factory=list)

    def begin(self) -> None:
        self.calls_now, self.now_s = 0, 0.0

    def end(self) -> None:
        self.calls = self.calls or self.calls_now
        if self.calls_now == self.calls:
            self.runs_s.append(self.now_s)
        self.calls_now = 0

    def is_alike(self, runs: int) -> bool:
        """Return whether it was called equally often in every run."""
        return len(self.runs_s) == runs

    def operator(self, runs: int) -> Operator:
        return Operator(
            call=self.call,
            module=self.path,
            phase="forward",
            asked=asked_of(self.call),
            calls=self.calls,
            time_s=Estimate(self.runs_s) if self.is_alike(runs) else None,
        )


def _dense(
    arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Return arguments whose copies have the same layout in memory.

    Raises
    ------
    ValueError
        If one is an array with gaps.
    """
    for one in (*arguments, *options.values()):
        if isinstance(one, np.ndarray) and not (one.flags.c_contiguous or one.flags.f_contiguous):
            raise ValueError("one is an array with gaps, and a copy of it would have none")
    return arguments, options
