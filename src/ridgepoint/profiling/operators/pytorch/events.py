"""Time what PyTorch calls by its own profiler, with nothing of Python around the calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import torch

from ridgepoint.profiling.operators.pytorch.compiled import Kernels, traced_call
from ridgepoint.profiling.operators.pytorch.matching import Event


def traced(run: Callable[[], object], device: torch.device) -> tuple[list[Event], float] | None:
    """Run a program, and return the calls that the profiler saw, and the seconds it took.

    Parameters
    ----------
    run : callable
    device : torch.device
        On a GPU the times are those between events on it; elsewhere those of the host.

    Returns
    -------
    tuple or None
        None: another profiler is at work, or this PyTorch has none that is known here.
    """
    on_gpu = device.type == "cuda"
    end = _begin(on_gpu=on_gpu)
    if end is None:
        return None
    kernels = Kernels(traced_call)
    kernels.begin()
    try:
        begun = perf_counter()
        run()
        elapsed_s = perf_counter() - begun
    finally:
        threads = end()
        kernels.end()
    return _in_order(threads, on_gpu=on_gpu), elapsed_s


def _begin(*, on_gpu: bool) -> Callable[[], Any] | None:
    """Begin a profiler, and return what ends it and gives its records of each thread; None: cannot.

    PyTorch has two profilers. This is the older one: its records are pushes and pops, from which
    nesting follows exactly, it knows shapes, and it prints nothing. Beginning and ending a record
    take 0.2 to 0.5 us, of which those of calls inside of another are in its time. It is no public
    interface, so that any version may be without it.
    """
    try:
        from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig
        from torch.autograd import _disable_profiler_legacy, _enable_profiler_legacy

        if torch._C._autograd._profiler_enabled():
            return None
        state = ProfilerState.CUDA if on_gpu else ProfilerState.CPU
        _enable_profiler_legacy(
            ProfilerConfig(state, True, False, False, False, False, _ExperimentalConfig())
        )
    except (AttributeError, ImportError, TypeError):
        return None
    end: Callable[[], Any] = _disable_profiler_legacy
    return end


class _Open:
    """A call that has begun."""

    __slots__ = ("ended", "inside", "record")

    def __init__(self, record: Any) -> None:
        self.record, self.ended = record, None
        self.inside: list[_Open] = []


def _in_order(threads: Iterable[Iterable[Any]], *, on_gpu: bool) -> list[Event]:
    """Return the records of all threads as events, in the order of their beginnings."""
    outermost: list[_Open] = []
    first: Any = None
    for records in threads:
        stack: list[_Open] = []
        for record in records:
            kind = record.kind()
            if kind == "mark" and record.name() == "__start_profile":
                first = record
            elif kind == "push":
                call = _Open(record)
                (stack[-1].inside if stack else outermost).append(call)
                stack.append(call)
            elif kind == "pop" and stack:
                stack.pop().ended = record
    if first is not None:
        outermost.sort(key=lambda call: first.cpu_elapsed_us(call.record))
    events: list[Event] = []
    for call in outermost:
        _add(call, events, on_gpu=on_gpu)
    return events


def _add(call: _Open, events: list[Event], *, on_gpu: bool) -> None:
    """Add a call and those inside of it, as far as they have ended."""
    begun, ended = call.record, call.ended
    at = len(events)
    if ended is None:
        return
    elapsed_us = begun.cuda_elapsed_us(ended) if on_gpu else begun.cpu_elapsed_us(ended)
    events.append(Event(name="", shapes=(), elapsed_s=0.0, after=0))  # its place, before those
    for inner in call.inside:
        _add(inner, events, on_gpu=on_gpu)
    events[at] = Event(
        name=begun.name(),
        shapes=tuple(tuple(shape) for shape in begun.shapes() if shape),
        elapsed_s=elapsed_us / 1e6,
        after=len(events),
    )
