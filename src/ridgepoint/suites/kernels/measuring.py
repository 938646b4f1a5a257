"""Run the reference suite: workloads of known work, measured warm and cold, on one core and all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Measurement, State
from ridgepoint.core.units import format_si
from ridgepoint.host import System
from ridgepoint.profiling.calls import MeterName, Subject, measure_all
from ridgepoint.profiling.calls.in_parts import Parts
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs
from ridgepoint.profiling.calls.loops import Loop, loop_over
from ridgepoint.profiling.calls.packing import Packed, pack, pack_function
from ridgepoint.suites.durations import Piece
from ridgepoint.suites.kernels import Array, Arrays, Call, Workload, find
from ridgepoint.suites.kernels.results import Case, Result
from ridgepoint.suites.kernels.sizes import Sizes, quick
from ridgepoint.suites.study import attempt

LIMIT_S = 10.0
_COUNTED_S = 0.005


class WorkloadCall:
    """The call of a workload, passed by name to the process that counts it.

    Parameters
    ----------
    name : str
    n : int
    threads : int
    rounds : int or None
        Rounds of its outermost loop; None: all of them.
    """

    def __init__(self, name: str, n: int, threads: int, rounds: int | None = None) -> None:
        self.name, self.n, self.threads, self.rounds = name, n, threads, rounds

    @cached_property
    def _prepared(self) -> Call:
        return find(self.name).prepare(self.n, threads=self.threads, rounds=self.rounds)

    def __call__(self, *arrays: Array) -> None:
        """Call it once on arrays of `Workload.make`."""
        self._prepared(*arrays)

    def __reduce__(self) -> tuple[type[WorkloadCall], tuple[str, int, int, int | None]]:
        return type(self), (self.name, self.n, self.threads, self.rounds)


class CompiledCall(WorkloadCall):
    """The call of a hand-written workload, with a loop that needs no Python between calls."""

    def loop(self, replicas: Sequence[Arrays]) -> Loop:
        """Return so many rounds of calls on replicas of the arrays."""
        return loop_over(self._prepared, replicas)


def cases(
    workloads: Sequence[Workload],
    *,
    states: Sequence[State],
    threads: Sequence[int],
    sizes: Sizes = quick,
) -> tuple[Case, ...]:
    """Return the cases of a run, workload by workload.

    Parameters
    ----------
    workloads : sequence of Workload
    states : sequence of {"warm", "cold"}
    threads : sequence of int
        Thread counts; above 1 only for workloads that can use several threads.
    sizes : callable
        Maps a workload to its sizes.
    """
    return tuple(
        Case(workload=workload.name, n=n, state=state, threads=number)
        for workload in workloads
        for number in threads
        if number == 1 or workload.parallel
        for state in states
        for n in sizes(workload)
    )


def pieces(chosen: Sequence[Case], *, how: str = "") -> tuple[Piece, ...]:
    """Return the cases as pieces of a run, whose durations are kept.

    Parameters
    ----------
    chosen : sequence of Case
    how : str
        What else decides how long they take, such as the meter.
    """
    begins = Piece(
        key=f"kernels: beginning to count{how}",
        words="beginning to count",
        kind=f"kernels: beginning to count{how}",
        size=len({case.threads for case in chosen}) or 1,
        is_shared=True,
    )
    return (
        begins,
        *(
            Piece(
                key=f"kernels: {case}{how}",
                words=str(case),
                kind=f"kernels: {case.workload}, {case.state}, {case.threads}{how}",
                size=_size(case),
            )
            for case in chosen
        ),
    )


def _size(case: Case) -> float:
    """Return what the duration of a case grows with, at most."""
    expected = find(case.workload).expected(case.n)
    return max(expected.work_flop or 0, expected.read_bytes + expected.write_bytes)


def run_suite(
    chosen: Sequence[Case],
    *,
    repetitions: int | None = None,
    meter: MeterName | None = None,
    caches: Sequence[Cache] | None = None,
    limit_s: float = LIMIT_S,
    knobs: Knobs = IN_PYTHON,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[Result, ...]:
    """Measure all cases; a case that fails does not stop the others.

    Parameters
    ----------
    chosen : sequence of Case
    repetitions : int or None
        Samples of each runtime; None: as many as its interval needs.
    meter : {"native", "engine", "perf", "auto"} or None
        The meter; see `ridgepoint.measure`.
    caches : sequence of Cache or None
        Caches to simulate; None: this host's.
    limit_s : float
        Time limit for the samples of one case, in seconds; at least three are taken.
    knobs : Knobs
        How messages name what the user can change.
    report : callable
        Called with a description of each step as it begins.

    Raises
    ------
    MeterUnavailable
        If the meter does not work here.
    """
    data: dict[tuple[str, int], Packed] = {}
    prepared = {case: attempt(lambda case: _subject(case, data), case) for case in chosen}
    subjects = {case: subject for case, subject in prepared.items() if isinstance(subject, Subject)}
    measured = measure_all(
        list(subjects.values()),
        repetitions=repetitions,
        meter=meter,
        caches=caches,
        limit_s=limit_s,
        knobs=knobs,
        counted_s=_COUNTED_S,
        report=report,
    )
    outcomes: dict[Case, Measurement | RidgepointError] = {
        case: error for case, error in prepared.items() if isinstance(error, RidgepointError)
    }
    outcomes.update(zip(subjects, measured, strict=True))
    return tuple(_result(case, outcomes[case]) for case in chosen)


def _subject(case: Case, data: dict[tuple[str, int], Packed]) -> Subject:
    """Return the call to measure; `data` is filled with its data, which many cases share."""
    workload = find(case.workload)
    kind = CompiledCall if workload.is_handwritten else WorkloadCall
    call = kind(case.workload, case.n, case.threads)
    name = str(case)
    what = f"cannot measure {name!r}"
    key = (case.workload, case.n)
    if key not in data:
        _require_memory(what, workload.data_bytes(case.n))
        data[key] = pack(what, workload.make(case.n))
    return Subject(
        name=name,
        function=call,
        arguments=data[key],
        handed_over=pack_function(what, call),
        state=case.state,
        threads=case.threads,
        parts=_parts(workload, case),
    )


def _require_memory(what: str, data_bytes: int) -> None:
    """Refuse data that do not fit into memory.

    Raises
    ------
    CannotMeasure
    """
    available_bytes = System().available_bytes
    if available_bytes is not None and data_bytes > available_bytes:
        raise CannotMeasure(
            what,
            reason=f"its data are {format_si(data_bytes, 'B')}, and "
            f"{format_si(available_bytes, 'B')} of memory are available",
            remedy="measure a smaller size",
        )


def _parts(workload: Workload, case: Case) -> Parts | None:
    """Return what is counted in place of a call; None: all of it.

    Only of cold calls: in warm ones, what the caches keep of the call before depends on all rounds.
    """
    rounds = () if workload.outer is None else workload.outer.parts(case.n)
    if workload.outer is None or not rounds or case.state != "cold":
        return None
    return Parts(
        length=workload.outer.length(case.n),
        rounds=rounds,
        functions=tuple(
            pack_function(
                f"cannot measure {str(case)!r}",
                CompiledCall(case.workload, case.n, case.threads, number),
            )
            for number in rounds
        ),
    )


def _result(case: Case, outcome: Measurement | RidgepointError) -> Result:
    expected = find(case.workload).expected(case.n)
    if isinstance(outcome, RidgepointError):
        return Result(case=case, expected=expected, measurement=None, failure=str(outcome))
    return Result(case=case, expected=expected, measurement=outcome)
