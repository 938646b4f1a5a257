"""Times of the instructions of a compiled program, from JAX's own profiler."""

from __future__ import annotations

import shutil
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
class Event:
    """An instruction at work, from its call to its end.

    Parameters
    ----------
    name : str
    begin_ns, end_ns : float
    """

    name: str
    begin_ns: float
    end_ns: float


def traced(
    jax: Any, run: Callable[[], object], module: str, *, controls: Collection[str] = ()
) -> Run:
    """Run a program once under JAX's profiler.

    Parameters
    ----------
    jax : module
    run : callable
        Runs the program to its end.
    module : str
        Name of the compiled program, whose instructions count.
    controls : collection of str
        Names of instructions that run others, whose time is not theirs: loops and branches.
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
        events = _events(jax.profiler.ProfileData.from_file(str(file)), module)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return run_of(events, wall_s, controls)


def _events(data: Any, module: str) -> list[Event]:
    """Return the events of all threads or streams that are instructions of a program.

    What an instruction leaves to other threads ends after the event of its call, in an event of
    its own that names it as its producer.
    """
    begun: list[tuple[str, float, float, object]] = []
    ended: dict[object, float] = {}
    for plane in data.planes:
        for line in plane.lines:
            for event in line.events:
                if event.name.startswith("end: "):
                    ended[dict(event.stats).get("_c")] = float(event.start_ns)
                    continue
                stats = dict(event.stats)
                if stats.get("hlo_module") == module and "hlo_op" in stats:
                    begin = float(event.start_ns)
                    end = begin + float(event.duration_ns)
                    begun.append((str(stats["hlo_op"]), begin, end, stats.get("_p")))
    return [
        Event(name, begin, max(end, ended.get(number, end) if number is not None else end))
        for name, begin, end, number in begun
    ]


def run_of(events: Iterable[Event], wall_s: float, controls: Collection[str]) -> Run:
    """Return a run from its events: the time of each instruction without those that it runs."""
    time_s: dict[str, float] = {}
    times: Counter[str] = Counter()
    leaves: list[Event] = []
    outer: list[Event] = []
    for event in events:
        times[event.name] += 1
        if event.name in controls:
            outer.append(event)
        else:
            leaves.append(event)
            took_s = (event.end_ns - event.begin_ns) / 1e9
            time_s[event.name] = time_s.get(event.name, 0.0) + took_s
    busy = _Covered(leaves)
    for event, own_ns in _own(outer, busy):
        time_s[event.name] = time_s.get(event.name, 0.0) + own_ns / 1e9
    return Run(wall_s=wall_s, time_s=time_s, times=times, busy_s=busy.total_ns / 1e9)


class _Covered:
    """Moments in which at least one of several events was under way."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._begins: list[float] = []
        self._ends: list[float] = []
        self._before: list[float] = [0.0]  # covered before each stretch
        for event in sorted(events, key=lambda one: one.begin_ns):
            if self._ends and event.begin_ns <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], event.end_ns)
            else:
                self._begins.append(event.begin_ns)
                self._ends.append(event.end_ns)
        for begin, end in zip(self._begins, self._ends, strict=True):
            self._before.append(self._before[-1] + end - begin)

    @property
    def total_ns(self) -> float:
        """Nanoseconds in all."""
        return self._before[-1]

    def until(self, moment_ns: float) -> float:
        """Return the nanoseconds before a moment."""
        at = bisect_right(self._begins, moment_ns)
        if not at:
            return 0.0
        return self._before[at] - max(self._ends[at - 1] - moment_ns, 0.0)


def _own(events: list[Event], busy: _Covered) -> Iterator[tuple[Event, float]]:
    """Yield loops and branches with their time in which nothing in them was under way."""
    around: list[tuple[Event, float]] = []  # with the own time of what was inside

    def left() -> Iterator[tuple[Event, float]]:
        event, inside_ns = around.pop()
        idle_ns = event.end_ns - event.begin_ns
        idle_ns -= busy.until(event.end_ns) - busy.until(event.begin_ns)
        yield event, max(idle_ns - inside_ns, 0.0)
        if around:
            around[-1] = around[-1][0], around[-1][1] + max(idle_ns, inside_ns)

    for event in sorted(events, key=lambda one: (one.begin_ns, -one.end_ns)):
        while around and around[-1][0].end_ns <= event.begin_ns:
            yield from left()
        around.append((event, 0.0))
    while around:
        yield from left()
