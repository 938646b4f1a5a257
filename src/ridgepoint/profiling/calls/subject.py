"""Calls to measure, as their user describes them."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.measurement import State
from ridgepoint.profiling.calls.foreign_arrays import with_own_data
from ridgepoint.profiling.calls.in_parts import Parts
from ridgepoint.profiling.calls.packing import Function, Packed, pack, pack_function


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """A call to measure.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    function : callable
    arguments : Packed
    handed_over : bytes
        The function, packed for the process that counts it.
    state : {"warm", "cold"}
        State of the caches.
    threads : int or None
        Thread limit for BLAS and OpenMP; None: they choose.
    parts : Parts or None
        Calls that do a part of the same work and are counted in its place, if the caches are
        cold; None: it is counted whole.
    """

    name: str
    function: Function
    arguments: Packed
    handed_over: bytes
    state: State
    threads: int | None
    parts: Parts | None = None

    @property
    def what(self) -> str:
        """The beginning of messages about this call."""
        return f"cannot measure {self.name!r}"


def subject(
    function: Function,
    *arguments: object,
    state: State = "warm",
    name: str | None = None,
    threads: int | None = None,
) -> Subject:
    """Return the call ``function(*arguments)`` as a subject to measure.

    Raises
    ------
    CannotMeasure
        If the function or an argument cannot be handed to the process that counts it; if a call
        of the function runs nothing, since it is a coroutine function or a generator function.
    TypeError
        If the function is not callable.
    ValueError
        If the state or the number of threads is impossible.
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {function!r}")
    if state not in {"warm", "cold"}:
        raise ValueError(f"state must be 'warm' or 'cold', got {state!r}")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be > 0, got {threads!r}")
    name = name or str(getattr(function, "__name__", None) or type(function).__name__)
    what = f"cannot measure {name!r}"
    _require_whole(what, function)
    function, arguments = with_own_data(function, arguments)
    return Subject(
        name=name,
        function=function,
        arguments=pack(what, arguments),
        handed_over=pack_function(what, function),
        state=state,
        threads=threads,
    )


def _require_whole(what: str, function: Function) -> None:
    """Refuse a function whose call runs no code.

    Raises
    ------
    CannotMeasure
    """
    kinds = (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
    )
    if any(is_kind(function) for is_kind in kinds):
        raise CannotMeasure(
            what,
            reason="a call of it only creates a coroutine or a generator and runs nothing",
            remedy="measure a function that runs the coroutine or generator to its end",
        )


@contextlib.contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    """Limit the threads of libraries of linear algebra in this process."""
    if threads is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads):
        yield
