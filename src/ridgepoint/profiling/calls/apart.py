"""Count what was timed, with an engine: in a process for each number of threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.meters.first_choice import other_engine
from ridgepoint.profiling.calls.child import Task
from ridgepoint.profiling.calls.counted import Conditions, calls_to_count, count_calls
from ridgepoint.profiling.calls.in_parts import whole
from ridgepoint.profiling.calls.knobs import Knobs
from ridgepoint.profiling.calls.native import Native
from ridgepoint.profiling.calls.subject import Subject

Found = tuple[Counted, int] | CannotMeasure
"""What one call did on average, and of how many calls; or why it could not be counted."""

Results = dict[str, Counted | CannotMeasure]

_LEAST_INSTRUCTIONS_PER_S = 1e7  # a chain of misses to memory has 3e7


def count_apart(
    subjects: Sequence[Subject],
    timed: Mapping[int, Native],
    conditions: Conditions,
    *,
    counted_s: float,
    report: Callable[[str], None],
) -> dict[int, Found]:
    """Count subjects that were timed, each with its own number of threads.

    Parameters
    ----------
    subjects : sequence of Subject
    timed : mapping of int to Native
        By the subject's place.
    conditions : Conditions
        But for the threads.
    counted_s : float
        What the counted calls of one may take, natively.
    report : callable
        Is told what begins.
    """
    counts: dict[int, Found] = {}
    order = sorted(timed, key=lambda index: subjects[index].threads or 0)
    for threads, group in groupby(order, key=lambda index: subjects[index].threads):
        indices = list(group)
        here = replace(conditions, threads=threads)
        tasks = {
            i: _tasks(subjects[i], timed[i], here, counted_s=counted_s, name=f"call {i}")
            for i in indices
        }
        report(f"beginning to count {len(indices)} of {len(subjects)}")
        names = {task.name: subjects[i].name for i, own in tasks.items() for task in own}

        def begins(task: Task, names: Mapping[str, str] = names) -> None:
            report(f"counting {names[task.name]}")

        times = {own[0].name: timed[i] for i, own in tasks.items() if len(own) == 1}
        every = [task for own in tasks.values() for task in own]
        counted = _counted_enough(every, count_tasks(every, here, begins), times, here, begins)
        for index, own in tasks.items():
            counts[index] = _found([counted[task.name] for task in own], own, subjects[index])
    return counts


def _found(
    results: Sequence[Counted | CannotMeasure], tasks: Sequence[Task], call: Subject
) -> Found:
    """Return the counts of one call, from those of its tasks."""
    counted = []
    for result in results:
        if isinstance(result, CannotMeasure):
            return result
        counted.append(result)
    if call.parts is None:
        return counted[0], tasks[0].calls
    return whole(counted, call.parts), 1


def _tasks(
    call: Subject, native: Native, conditions: Conditions, *, counted_s: float, name: str
) -> list[Task]:
    """Return what to count of a subject: calls of it, or one call of each of its parts."""
    if call.parts is not None:
        return [
            Task(
                name=f"{name}, part {place}",
                function=function,
                arguments=call.arguments,
                cold=call.state == "cold",
                calls=0,
            )
            for place, function in enumerate(call.parts.functions)
        ]
    calls = calls_to_count(
        native.timed.runtime_s.median,
        data_bytes=call.arguments.nbytes,
        replicas=native.replicas,
        cold=call.state == "cold",
        counted_s=counted_s,
        conditions=conditions,
    )
    return [
        Task(
            name=name,
            function=call.handed_over,
            arguments=call.arguments,
            cold=call.state == "cold",
            calls=calls,
        )
    ]


def count_tasks(
    tasks: Sequence[Task], conditions: Conditions, begins: Callable[[Task], None]
) -> Results:
    """Count all tasks together, or each by itself where one of them ends the process.

    Raises
    ------
    MeterUnavailable
        If the counting engine does not work here.
    """
    try:
        return count_calls(tasks, conditions, begins=begins)
    except MeterUnavailable:
        raise
    except CannotMeasure as error:
        if len(tasks) == 1:
            return {tasks[0].name: error}
        return {task.name: count_tasks([task], conditions, begins)[task.name] for task in tasks}


# ---- code that is not copied counts nothing ----


def _counted_enough(
    tasks: Sequence[Task],
    counted: Results,
    times: Mapping[str, Native],
    conditions: Conditions,
    begins: Callable[[Task], None],
) -> Results:
    """Return the results, but those of Valgrind's engine where the copying engine saw too little.

    Where only the copying engine is to count they are refused.
    """
    refused = {
        task.name: _too_few(one, conditions.knobs)
        for task in tasks
        if task.name in times
        and isinstance(one := counted[task.name], Counted)
        and _is_too_few(one, times[task.name])
    }
    if not refused or conditions.engine is not None:
        return {**counted, **refused}
    left = [task for task in tasks if task.name in refused]
    others = count_tasks(left, replace(conditions, engine="engine"), begins)
    return {
        **counted,
        **{
            name: replace(result, cautions=(other_engine(refused[name].reason), *result.cautions))
            if isinstance(result, Counted)
            else result
            for name, result in others.items()
        },
    }


def _is_too_few(counted: Counted, timed: Native) -> bool:
    """Return whether the copying engine saw too few instructions to explain the time of a call."""
    if not counted.meter.startswith("native"):
        return False
    per_s = counted.counts.instructions / timed.timed.runtime_s.median
    return per_s < _LEAST_INSTRUCTIONS_PER_S


def _too_few(counted: Counted, knobs: Knobs) -> CannotMeasure:
    return CannotMeasure(
        "cannot count the calls with the copying engine",
        reason=(
            f"it saw only {counted.counts.instructions} instructions in one call, too few to "
            "keep a CPU busy for that time: most of the call is waiting, or runs code that was "
            "not copied, such as code made at run time"
        ),
        remedy=f"count with {knobs.engine}",
    )
