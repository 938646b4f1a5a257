"""Count the work of calls in a separate process, with the same code, data and size."""

from __future__ import annotations

import contextlib
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import RegionCounts
from ridgepoint.core.errors import CannotMeasure, TimedOut
from ridgepoint.core.machine import Cache
from ridgepoint.host import usable_cpus
from ridgepoint.host.run import Run, run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.host.standard_input import no_standard_input
from ridgepoint.meters import Meter
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.meters.native import NativeMeter
from ridgepoint.profiling.calls.average import (
    average_counts,
    average_functions,
    average_traffic,
    difference_of_counts,
    difference_of_traffic,
)
from ridgepoint.profiling.calls.child import (
    BEGUN,
    FEW,
    REGION,
    TASKS,
    Ending,
    Task,
    environment,
)
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs

EngineName = Literal["engine", "native"]

MOST_CALLS = 1000
_WHAT = "cannot count the calls"
_BY_SIGNAL = 128
_LOOK_S = 0.2
_USUAL_CALLS = 16  # enough for differences in the work around calls to vanish
_SHORT_S = 1e-3  # or enough calls to take this long, where that needs no replicas
_SHARE_OF_CACHE = 4  # or enough calls for their data to fill this part of the last-level cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Conditions under which calls are counted.

    Parameters
    ----------
    caches : tuple of Cache
        Caches to simulate.
    threads : int or None
        Thread limit for linear-algebra libraries; None: they choose.
    timeout_s : float or None
    engine : {"native", "engine"} or None
        The engine that counts; None: the copying engine, or the other one where that cannot.
    knobs : Knobs
        How messages name what the user can change.
    simulate : bool
        Whether caches are simulated; without them counting takes a fraction of the time.
    """

    caches: tuple[Cache, ...]
    threads: int | None
    timeout_s: float | None
    engine: EngineName | None = None
    knobs: Knobs = IN_PYTHON
    simulate: bool = True


def calls_to_count(
    call_s: float,
    *,
    data_bytes: int,
    replicas: int,
    cold: bool,
    counted_s: float,
    conditions: Conditions,
) -> int:
    """Return the number of calls to count, large for short ones so that overhead vanishes.

    Parameters
    ----------
    call_s : float
        Native time of one call, in seconds.
    data_bytes : int
        Size of the data of one call.
    replicas : int
        Number of replicas made natively: memory suffices for these, and perhaps not for more.
    cold : bool
    counted_s : float
        Native time limit of the counted calls, in seconds.
    conditions : Conditions
    """
    call_s = max(call_s, 1e-9)
    affordable = int(counted_s / call_s)
    sizes = (cache.size_bytes for cache in conditions.caches if cache.kind != "instruction")
    share = max(sizes, default=0) // _SHARE_OF_CACHE // max(data_bytes, 1)
    useful = max(_USUAL_CALLS, share if cold else int(_SHORT_S / call_s))
    calls = min(affordable, useful, MOST_CALLS, replicas if cold else MOST_CALLS)
    return max(1, calls)


def run_to_count(
    command: Sequence[str], *, timeout_s: float | None, environment: Mapping[str, str]
) -> Run:
    """Run a command wrapped by a meter, without input and output.

    Raises
    ------
    TimedOut
        If it exceeds the time limit.
    """
    stdin = no_standard_input()
    try:
        return run(
            command, stdin=stdin, output="discard", timeout_s=timeout_s, environment=environment
        )
    except TimedOut as error:
        raise TimedOut(
            _WHAT,
            reason=f"counting takes longer than {timeout_s:g} s",
            remedy="give each call less to do, or allow more time for counting: timeout_s=",
        ) from error


def count_calls(
    tasks: Sequence[Task],
    conditions: Conditions,
    *,
    begins: Callable[[Task], None] = lambda task: None,
) -> dict[str, Counted | CannotMeasure]:
    """Return the average work of one call of each task, or why it could not be counted.

    Parameters
    ----------
    tasks : sequence of Task
        With different names. They are counted in one process, one after the other, since starting
        one takes long; functions are distinguished only with a single task.
    conditions : Conditions
    begins : callable
        Called with each task as it begins, from another thread.

    Raises
    ------
    MeterUnavailable
        If the counting engine does not work here.
    CannotMeasure
        If the process ends early, or exceeds the time limit.
    """
    meter = _meter(conditions)
    with scratch_folder() as name:
        folder = Path(name)
        with (folder / TASKS).open("wb") as file:
            pickle.dump(tuple(tasks), file, protocol=5)

        exits: list[int] = []

        def launch(command: Sequence[str]) -> Run:
            if exits:  # with the other engine
                _begin_anew(tasks, folder)
            with _following(tasks, folder, begins):
                done = run_to_count(
                    command,
                    timeout_s=conditions.timeout_s,
                    environment=environment(conditions.threads),
                )
            exits.append(done.exit_status)
            return done

        command = (sys.executable, "-m", "ridgepoint.profiling.calls.child", name)
        try:
            counted = meter.count(command, launch=launch, caches=conditions.caches)
        except CannotMeasure as error:
            failures = _failures(tasks, folder)
            if len(failures) == len(tasks):  # and so nothing was counted
                return dict(failures)
            if exits and type(error) is CannotMeasure:
                _require_all_tried(tasks, folder, exits[-1])
            raise
        _require_all_tried(tasks, folder, exits[-1])
        failures = _failures(tasks, folder)
    inside = {region.name: region for region in counted.regions}
    return {
        task.name: failures.get(task.name)
        or _of_one_call(counted, task, inside, is_alone=len(tasks) == 1)
        for task in tasks
    }


@contextlib.contextmanager
def _following(
    tasks: Sequence[Task], folder: Path, begins: Callable[[Task], None]
) -> Iterator[None]:
    """Tell which task begins, by the files that the other process leaves."""
    ended = threading.Event()

    def follow() -> None:
        told = -1
        while not ended.wait(_LOOK_S):
            if not (folder / BEGUN).exists():
                continue
            at = sum((folder / task.name).exists() for task in tasks)
            if at != told and at < len(tasks):
                told = at
                begins(tasks[at])

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()


def _meter(conditions: Conditions) -> Meter:
    asked: dict[str, Any] = {
        "cpus": conditions.threads or len(usable_cpus()),
        "simulate": conditions.simulate,
        "region": REGION,
        "all_threads": True,
        "cold": conditions.simulate,
    }
    if conditions.engine is None:
        return first_choice(**asked)
    return NativeMeter(**asked) if conditions.engine == "native" else EngineMeter(**asked)


def _begin_anew(tasks: Sequence[Task], folder: Path) -> None:
    """Remove records of how calls ended in an earlier run; refuse to go on if all of them failed.

    Raises
    ------
    CannotMeasure
    """
    failures = _failures(tasks, folder)
    if len(failures) == len(tasks):
        raise failures[tasks[0].name]
    (folder / BEGUN).unlink(missing_ok=True)
    for task in tasks:
        Ending.forget(folder, task)


def _failures(tasks: Sequence[Task], folder: Path) -> dict[str, CannotMeasure]:
    """Return why tasks failed in the counting process."""
    endings = {task.name: Ending.read(folder, task) for task in tasks}
    return {
        name: CannotMeasure(_WHAT, reason=ending.reason, remedy=ending.remedy or "")
        for name, ending in endings.items()
        if ending is not None and ending.reason is not None
    }


def _require_all_tried(tasks: Sequence[Task], folder: Path, status: int) -> None:
    """Refuse a process that ended by itself before it had tried all tasks.

    Raises
    ------
    CannotMeasure
    """
    if status < _BY_SIGNAL and any(Ending.read(folder, task) is None for task in tasks):
        raise CannotMeasure(
            _WHAT,
            reason=f"the calls ended the process that counts them, with status {status}",
            remedy="let the function return; it must not call os._exit",
        )


def _of_one_call(
    counted: Counted, task: Task, inside: Mapping[str, RegionCounts], *, is_alone: bool
) -> Counted:
    few = inside[task.few]
    if not task.calls:
        return replace(
            counted,
            counts=average_counts(few.counts, FEW),
            traffic=average_traffic(few.traffic, FEW),
            functions=(),
            regions=(),
            selected=None,
        )
    many = inside[task.many]
    counts = difference_of_counts(many.counts, few.counts)
    all_calls = 2 * FEW + task.calls
    return replace(
        counted,
        counts=average_counts(counts, task.calls),
        traffic=average_traffic(difference_of_traffic(many.traffic, few.traffic), task.calls),
        functions=average_functions(counted.functions, all_calls) if is_alone else (),
        regions=(),
        selected=None,
        cautions=(
            *counted.cautions,
            *_varying(few.counts.work_flop / FEW, counts.work_flop / task.calls),
        ),
    )


def _varying(first: float, later: float) -> tuple[Caution, ...]:
    """Doubt work that differs between the first call and later ones."""
    if first == later:
        return ()
    return (
        Caution(
            "work-varies",
            f"one call did {first:.10g} flop, and other calls {later:.10g} on average: the "
            "time may be that of different work",
            "measure calls that all do the same work",
        ),
    )
