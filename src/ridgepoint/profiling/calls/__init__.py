"""Measure calls of a function: their time here, their work and traffic in a process of their own.

The protocol is that of Ofenbeck et al., "Applying the Roofline Model", ISPASS 2014: a loop so long
that the clock and the loop's overhead are negligible, repeated for a median and quartiles; for cold
caches the calls use replicas of the data in turn, larger together than the last-level cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.machine import Cache, Machine, caches_of
from ridgepoint.core.measurement import Context, Measurement, Protocol, State
from ridgepoint.core.notebook import shows_progress
from ridgepoint.host import System
from ridgepoint.profiling.calls.apart import Found, count_apart
from ridgepoint.profiling.calls.child import is_counted
from ridgepoint.profiling.calls.counted import Conditions
from ridgepoint.profiling.calls.hardware import Choice, MeterName, choose, count_here
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs
from ridgepoint.profiling.calls.native import Native, time_natively
from ridgepoint.profiling.calls.packing import Function
from ridgepoint.profiling.calls.subject import Subject, subject
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.only import only_measurement

if TYPE_CHECKING:
    from ridgepoint.meters.perf import PerfMeter

__all__ = ["MeterName", "Subject", "measure", "measure_all", "subject"]

COUNTED_S = 0.1


def measure(
    function: Function,
    *arguments: object,
    state: State = "warm",
    name: str | None = None,
    repetitions: int | None = None,
    threads: int | None = None,
    meter: MeterName | PerfMeter | None = None,
    machine: Machine | None = None,
    caches: Sequence[Cache] | None = None,
    memory_bytes: int | None = None,
    limit_s: float = 60.0,
    timeout_s: float | None = None,
) -> Measurement:
    """Measure a call: runtime, work and traffic of ``function(*arguments)``.

    Parameters
    ----------
    function : callable
        Function of NumPy, PyTorch, Numba, ctypes, or plain Python. It is called many times, so it
        must do the same every time; its result is discarded. It must be possible to pass it to
        another process: defined in a module or script, or self-contained.
    *arguments : object
        Its data as arrays (of NumPy, of libraries that follow the array API standard, tensors of
        PyTorch), and any other values that can be pickled. Parameters of a PyTorch module are data
        too, if the module is an argument or is the function itself.
    state : {"warm", "cold"}
        State of the caches: the same data every time, or a replica of them for each call, so many
        that none is still in a cache when it is used again.
    name : str or None
        Name in tables and figures; None: the function's own.
    repetitions : int or None
        Number of samples of the runtime; None: until its 95 % interval is within 2 % of the median,
        ten at least and 30 at most.
    threads : int or None
        Thread limit for BLAS and OpenMP; None: they choose.
    meter : {"native", "engine", "perf", "auto"} or PerfMeter or None
        The copying engine, which runs AVX-512 and AMX too; Valgrind's; the CPU's own counters, in
        this process, after kernels of known work have verified them; or the counters if they give
        all that a roofline needs. None: the copying engine, and Valgrind's for whatever the first
        refuses or does not cover.
    machine : Machine or None
        Machine that bounds the call: its caches are simulated if known and `caches` is None.
    caches : sequence of Cache or None
        Caches to simulate; None: the machine's, or else this host's.
    memory_bytes : int or None
        Memory limit of all replicas together; None: a quarter of the available memory.
    limit_s : float
        Time limit of all samples together: fewer are taken if necessary.
    timeout_s : float or None
        Time limit of the counting process.

    Returns
    -------
    Measurement
        Averages of one call; `protocol` tells how they were measured.

    Raises
    ------
    CannotMeasure
        If the function raises or exits; if one call takes longer than `limit_s`; if its data
        cannot be replicated, or not as often as cold caches need; if it cannot be counted; if
        another measurement is under way in this process.
    MeterUnavailable
        If the meter does not work here.
    ValueError
        If an option is impossible.

    Notes
    -----
    One sample is the mean of enough calls to take at least 1e8 cycles. The overhead of the loop
    is measured with an empty function, and reported, not subtracted. For cold caches
    ``bytes of data * replicas >= size * associativity`` of the last-level cache, as far as the
    memory allows.

    Work and traffic are those of calls on copies of the same data in another process, warm, or in
    caches that were emptied before and after: the difference between several calls and one call,
    divided by the difference in the number of calls. Work around the calls, and work that they do
    only once, cancels.

    References
    ----------
    .. [1] G. Ofenbeck, R. Steinmann, V. Caparros, D. G. Spampinato, M. Pueschel, "Applying the
       Roofline Model", ISPASS 2014, section III.
    """
    call = subject(function, *arguments, state=state, name=name, threads=threads)
    (result,) = measure_all(
        [call],
        repetitions=repetitions,
        meter=meter,
        caches=caches_of(machine) if caches is None else caches,
        memory_bytes=memory_bytes,
        limit_s=limit_s,
        timeout_s=timeout_s,
    )
    if isinstance(result, RidgepointError):
        raise result
    return result


@shows_progress("step", keyword="report")
def measure_all(
    subjects: Sequence[Subject],
    *,
    repetitions: int | None = None,
    meter: MeterName | PerfMeter | None = None,
    caches: Sequence[Cache] | None = None,
    memory_bytes: int | None = None,
    limit_s: float = 60.0,
    timeout_s: float | None = None,
    counted_s: float = COUNTED_S,
    knobs: Knobs = IN_PYTHON,
    report: Callable[[str], None] = lambda what: None,
) -> list[Measurement | RidgepointError]:
    """Measure many calls; see `measure`.

    Parameters
    ----------
    subjects : sequence of Subject
        Calls with the same threads are counted in one process, which saves its start; their
        functions are not told apart then.
    counted_s : float
        Native time limit of the counted calls of one subject: counting takes up to 100 times as
        long.
    knobs : Knobs
        How messages name what the user can change.
    report : callable
        Called with a description of each step as it begins. Not given: nothing, except in a
        notebook, which shows it below the cell.

    Returns
    -------
    list of Measurement or RidgepointError
        One for each subject; an error in one does not stop the others.

    Raises
    ------
    MeterUnavailable
        If the meter does not work here.
    """
    for what, value in (
        ("repetitions", repetitions),
        ("limit_s", limit_s),
        ("timeout_s", timeout_s),
        ("memory_bytes", memory_bytes),
    ):
        if value is not None and not value > 0:
            raise ValueError(f"{what} must be > 0, got {value!r}")
    if is_counted():
        raise CannotMeasure(
            "cannot measure in a process that counts",
            reason=(
                "it was started to count the calls that the script measures; it imported the "
                "script for that, and reached a measurement again"
            ),
            remedy="put the measurement below if __name__ == '__main__':",
        )
    with only_measurement():
        choice = choose(meter)
        context = context_here()
        results: dict[int, Measurement | RidgepointError] = {}
        timed: dict[int, Native] = {}
        for index, call in enumerate(subjects):
            report(f"timing {call.name}")
            try:
                timed[index] = time_natively(
                    call,
                    repetitions=repetitions,
                    limit_s=limit_s,
                    memory_bytes=memory_bytes,
                    knobs=knobs,
                )
            except CannotMeasure as error:
                results[index] = error
        counted = (
            count_apart(
                subjects,
                timed,
                Conditions(
                    caches=tuple(System().caches if caches is None else caches),
                    threads=None,
                    timeout_s=timeout_s,
                    engine=choice.engine,
                    knobs=knobs,
                ),
                counted_s=counted_s,
                report=report,
            )
            if choice.perf is None
            else _count_here(subjects, timed, choice.perf, report=report)
        )
        for index, counts in counted.items():
            results[index] = (
                counts
                if isinstance(counts, RidgepointError)
                else _measurement(subjects[index], timed[index], counts, choice, context)
            )
    return [results[index] for index in range(len(subjects))]


def _count_here(
    subjects: Sequence[Subject],
    timed: Mapping[int, Native],
    perf: PerfMeter,
    *,
    report: Callable[[str], None],
) -> dict[int, Found]:
    counted: dict[int, Found] = {}
    for index, native in timed.items():
        report(f"counting {subjects[index].name}")
        try:
            counted[index] = count_here(subjects[index], native, perf)
        except CannotMeasure as error:
            counted[index] = error
    return counted


def _measurement(
    call: Subject, native: Native, counts: tuple[Counted, int], choice: Choice, context: Context
) -> Measurement:
    counted, counted_calls = counts
    return Measurement(
        command=(call.name,),
        counted=replace(counted, cautions=(*choice.cautions, *counted.cautions)),
        timed=native.timed,
        context=context,
        cautions=native.cautions,
        protocol=Protocol(
            state=call.state,
            calls=native.times.calls,
            replicas=native.replicas,
            data_bytes=call.arguments.nbytes or None,
            overhead_s=native.overhead_s,
            counted_calls=counted_calls,
            threads=call.threads,
        ),
    )
