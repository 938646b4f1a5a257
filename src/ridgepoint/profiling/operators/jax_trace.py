"""Times of the instructions of a compiled program, from JAX's own profiler."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

_HOST_EVENTS = 2  # TraceMe level at which XLA tells of each kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run in which instructions were timed.

    Parameters
    ----------
    wall_s : float
        Of the whole run.
    time_s : mapping of str to float
        Seconds in each instruction, by its name, without instructions that it calls.
    times : mapping of str to int
        How often each ran.
    busy_s : float
        Seconds in which at least one instruction ran.
    """

    wall_s: float
    time_s: Mapping[str, float]
    times: Mapping[str, int]
    busy_s: float


@dataclass(frozen=True, slots=True)
class _Event:
    name: str
    begin_ns: float
    end_ns: float


def traced(jax: Any, run: Callable[[], object], module: str) -> Run:
    """Run a program once under JAX's profiler.

    Parameters
    ----------
    jax : module
    run : callable
        Runs the program to its end.
    module : str
        Name of the compiled program, whose instructions count.
    """
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = _HOST_EVENTS
    folder = tempfile.mkdtemp(prefix="ridgepoint-trace-")
    try:
        jax.profiler.start_trace(folder, profiler_options=options)
        try:
            begun = perf_counter()
            run()
            wall_s = perf_counter() - begun
        finally:
            jax.profiler.stop_trace()
        (file,) = Path(folder).rglob("*.xplane.pb")
        lines = list(_lines(jax.profiler.ProfileData.from_file(str(file)), module))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _run(lines, wall_s)


def _lines(data: Any, module: str) -> Iterator[list[_Event]]:
    """Yield the events of each thread or stream that are instructions of a program."""
    for plane in data.planes:
        for line in plane.lines:
            events = []
            for event in line.events:
                if event.name.startswith("end: "):
                    continue
                stats = dict(event.stats)
                if stats.get("hlo_module") == module and "hlo_op" in stats:
                    begin = float(event.start_ns)
                    name = str(stats["hlo_op"])
                    events.append(_Event(name, begin, begin + float(event.duration_ns)))
            yield events


def _run(lines: Iterable[list[_Event]], wall_s: float) -> Run:
    time_s: dict[str, float] = {}
    times: dict[str, int] = {}
    every: list[_Event] = []
    for events in lines:
        every += events
        for event, own_ns in _own(events):
            time_s[event.name] = time_s.get(event.name, 0.0) + own_ns / 1e9
            times[event.name] = times.get(event.name, 0) + 1
    return Run(wall_s=wall_s, time_s=time_s, times=times, busy_s=_covered_ns(every) / 1e9)


def _own(events: list[_Event]) -> Iterator[tuple[_Event, float]]:
    """Yield each event of a thread with its time without the events inside it."""
    inside: list[tuple[_Event, list[float]]] = []
    for event in sorted(events, key=lambda one: (one.begin_ns, -one.end_ns)):
        while inside and inside[-1][0].end_ns <= event.begin_ns:
            done, parts = inside.pop()
            yield done, max(done.end_ns - done.begin_ns - sum(parts), 0.0)
        if inside:
            inside[-1][1].append(min(event.end_ns, inside[-1][0].end_ns) - event.begin_ns)
        inside.append((event, []))
    for done, parts in inside:
        yield done, max(done.end_ns - done.begin_ns - sum(parts), 0.0)


def _covered_ns(events: list[_Event]) -> float:
    covered, until = 0.0, float("-inf")
    for event in sorted(events, key=lambda one: one.begin_ns):
        covered += max(event.end_ns - max(event.begin_ns, until), 0.0)
        until = max(until, event.end_ns)
    return covered
