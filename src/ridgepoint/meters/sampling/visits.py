"""When threads were inside of functions, from the moments at which breakpoints were reached."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ridgepoint.meters.sampling.records import Ended, Record, Sample

# A function returns to just above where its return address was, with its arguments at most.
_MOST_POPPED = 1 << 16


class Visit(NamedTuple):
    """A stay of one thread in a function and in what it calls, CLOCK_MONOTONIC [ns]."""

    begin_ns: int
    end_ns: int
    pid: int
    tid: int


@dataclass(slots=True)
class _Inside:
    begin_ns: int
    stack: int
    returns_to: int | None


@dataclass(slots=True)
class Visits:
    """Follows the threads of one run.

    Parameters
    ----------
    entries : frozenset of int
        Addresses at which the functions begin. What begins while its thread is inside belongs to
        the outermost.
    done : list of Visit
    missed : int
        Visits whose end was not seen, but the next beginning at the same depth or above.
    """

    entries: frozenset[int]
    done: list[Visit] = field(default_factory=list)
    missed: int = 0
    _inside: dict[tuple[int, int], _Inside] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Add a record of a breakpoint, or of a thread's end; others say nothing."""
        if isinstance(record, Ended):
            self._leave((record.pid, record.tid), record.time_ns)
        elif isinstance(record, Sample) and record.stack is not None:
            self._reached(record, record.stack)

    def _reached(self, hit: Sample, stack: int) -> None:
        thread = (hit.pid, hit.tid)
        inside = self._inside.get(thread)
        if inside is not None and hit.address == inside.returns_to:
            if 0 < stack - inside.stack <= _MOST_POPPED:
                self._leave(thread, hit.time_ns)
            return
        if hit.address not in self.entries:
            return
        if inside is not None and stack >= inside.stack:
            # An exception or longjmp went past its end, at some time before: until now at most.
            self.missed += 1
            self._leave(thread, hit.time_ns)
            inside = None
        if inside is None:
            self._inside[thread] = _Inside(hit.time_ns, stack, hit.on_stack)

    def _leave(self, thread: tuple[int, int], time_ns: int) -> None:
        inside = self._inside.pop(thread, None)
        if inside is not None:
            self.done.append(Visit(inside.begin_ns, time_ns, *thread))


def spans(visits: Iterable[Visit]) -> list[tuple[int, int]]:
    """Return the times in which at least one thread was inside, in order, none touching another.

    Examples
    --------
    >>> spans([Visit(0, 4, 1, 1), Visit(2, 5, 1, 2), Visit(9, 10, 1, 1)])
    [(0, 5), (9, 10)]
    """
    merged: list[tuple[int, int]] = []
    for begin, end, _, _ in sorted(visits):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def wall_s(visits: Iterable[Visit]) -> float:
    """Return the wall-clock time in which at least one thread was inside."""
    return sum(end - begin for begin, end in spans(visits)) * 1e-9


def samples_inside(samples: Sequence[Sample], visits: Sequence[Visit], *, all_threads: bool) -> int:
    """Return how many samples of a clock fell into visits.

    Parameters
    ----------
    samples : sequence of Sample
    visits : sequence of Visit
    all_threads : bool
        Whether those of any thread of the same process count; else those of the one inside.
    """
    by_thread: dict[tuple[int, int], list[Visit]] = {}
    for visit in visits:
        by_thread.setdefault((visit.pid, 0 if all_threads else visit.tid), []).append(visit)
    times = {thread: spans(visits) for thread, visits in by_thread.items()}
    begins = {thread: [begin for begin, _ in each] for thread, each in times.items()}
    inside = 0
    for sample in samples:
        thread = (sample.pid, 0 if all_threads else sample.tid)
        index = bisect_right(begins.get(thread, []), sample.time_ns) - 1
        inside += index >= 0 and sample.time_ns < times[thread][index][1]
    return inside
