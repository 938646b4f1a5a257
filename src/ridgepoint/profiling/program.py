"""Measure a program: its time from native runs, its counts from one instrumented run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import MeterUnavailable, TimedOut
from ridgepoint.core.machine import Cache, Machine, caches_of
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.notebook import shows_progress
from ridgepoint.core.timed import Timed
from ridgepoint.host import System, usable_cpus
from ridgepoint.host.run import Output, Run, resolve
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters import Meter
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.models.caches.capacity import ends_of
from ridgepoint.models.plausibility import by_slowdown
from ridgepoint.models.stays import time_within
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.counted_runs import CountedRuns, expected_time
from ridgepoint.profiling.line_counting import count_lines
from ridgepoint.profiling.native_times import (
    NativeTimes,
    is_function,
    native_times,
    with_time_in,
    with_time_of,
)
from ridgepoint.profiling.repeats import Progress
from ridgepoint.profiling.several_counts import count_several, work_cautions
from ridgepoint.profiling.timing import Native, require_success


@shows_progress("step")
def measure_program(
    command: Sequence[str],
    *,
    meter: Meter | None = None,
    machine: Machine | None = None,
    caches: Sequence[Cache] | None = None,
    repeat: int | None = None,
    timeout_s: float | None = None,
    limit_s: float | None = None,
    counts_only: bool = False,
    functions: bool = False,
    lines: bool = False,
    ignore_status: bool = False,
    output: Output = "own",
    progress: Progress | None = None,
    times: NativeTimes | None = None,
    count_runs: int = 1,
    when_timed: Callable[[Timing], None] | None = None,
    when_counting: Callable[[Meter], tuple[Meter, Sequence[Cache]]] | None = None,
) -> Measurement:
    """Measure a program's runtime natively, then count its work and traffic.

    Parameters
    ----------
    command : sequence of str
        Program and arguments. It is run several times, with the same input, in this directory and
        environment; its output is shown once.
    meter : Meter or None
        None: the copying engine where it works, else Valgrind's. If a meter does not work, a
        substitute counts (callgrind for Valgrind's engine), and a caution says so.
    machine : Machine or None
        Machine that bounds the program: its caches are simulated, if they are known and `caches` is
        None, and, by the engine, both ends of a program's share of them where that varies.
    caches : sequence of Cache or None
        Caches for the meter to simulate; None: the machine's, or else this host's.
    repeat : int or None
        Number of native runs that count; None: until the 95 % intervals of its time and of each
        region with a tenth of it (or of the region that is counted alone) are within 2 % of the
        median (ten runs at least), 30 runs or 30 s.
    timeout_s : float or None
        Time limit of each single run.
    limit_s : float or None
        Time limit of counting altogether: a run that has not ended by then is ended, and its counts
        are discarded.
    counts_only : bool
        Whether to omit the native runs; the runtime is unknown then.
    functions : bool
        Whether to measure the time in each function, by samples of a few more native runs. The
        engine then counts a second time, without caches, to see whether runs are alike.
    lines : bool
        Whether to measure the time in each line of the user's Python files, by samples of a few
        more native runs.
    ignore_status : bool
        Whether to also measure a program that exits with a status other than 0.
    output : {"own", "stderr", "discard"}
        Where the program's output goes in the one run that shows it.
    progress : callable or None
        Called with each step as it begins, and whether the program's output is shown meanwhile.
        None: nothing, except in a notebook, which shows the step below the cell.
    times : NativeTimes or None
        Times of native runs that were made before, without regard to `repeat` and `counts_only`;
        None: the program is run now.
    count_runs : int
        Number of counted runs, > 0. Of several, the counts are those of the run with the median
        of the traffic at DRAM (of the instructions, where that is not known).
    when_timed : callable or None
        Called with the times when the native runs are done: counting may take much longer, and
        fail.
    when_counting : callable or None
        Called with the meter before it counts; returns the meter, and the caches to simulate in
        place of `caches`. If these depend on a machine, it need not be measured for a program that
        fails.

    Returns
    -------
    Measurement

    Raises
    ------
    CannotStart
        If there is no such program.
    ValueError
        If functions or lines are to be timed where a part is counted alone, or there are no
        native runs;
        or `count_runs` is not > 0.
    MeterUnavailable
        If the meter does not work here.
    ProgramFailed
        If the program exits with a status other than 0, or a signal ends it.
    CannotMeasure
        If a run exceeds `timeout_s`, counting exceeds `limit_s`, or the meter cannot count the
        program.
    """
    is_part = counts_only or (meter is not None and meter.selection is not None)
    if is_part and (functions or lines):
        what = "functions" if functions else "lines"
        raise ValueError(f"{what} can be timed only in a whole program that is timed")
    report = progress or (lambda what, output_is_shown: None)
    resolved = resolve(command)
    meter, doubts = _working(meter or _engine(machine if caches is None else None))
    caches = caches_of(machine) if caches is None else caches
    context = context_here()
    with own_standard_input() as stdin:
        native = Native(
            command=resolved,
            stdin=stdin,
            repeat=repeat,
            timeout_s=timeout_s,
            ignore_status=ignore_status,
            output=output,
            report=report,
        )
        if times is None and counts_only:
            times = NativeTimes()
        elif times is None:
            times = native_times(native, meter.selection, functions=functions, lines=lines)
        if times.timed is not None and when_timed is not None:
            when_timed(times.timing(command, context))
        launch = CountedRuns(
            command=command,
            stdin=stdin,
            output="discard" if times.timed is not None else output,
            timeout_s=timeout_s,
            limit_s=limit_s,
            native_s=times.runtime_s,
        )
        if when_counting is not None:
            meter, caches = when_counting(meter)
        elif caches is None:
            caches = System().caches
        report(f"counting with {meter.name}: {_how_long(meter, times)}", times.timed is None)
        counted = count_several(
            lambda: meter.count(resolved, launch=launch, caches=caches),
            count_runs,
            lambda number: report(f"counting with {meter.name}: run {number}", False),
        )

        def recount(other: Meter) -> Counted:
            return other.count(resolved, launch=launch, caches=())

        def recount_with(other: Meter) -> Counted:
            return other.count(resolved, launch=launch, caches=caches or ())

        repeated: tuple[Caution, ...] = ()
        if functions and meter.without_traffic is not None:
            report(f"counting again with {meter.name}, without caches", False)
            repeated = _counted_again(counted, meter.without_traffic, recount)
        elif (
            is_function(meter.selection)
            and times.sampler is not None
            and isinstance(meter, EngineMeter)
        ):
            report("counting the whole program, to divide its samples", False)
            times = _divided(times, counted, meter, recount)
        if times.lines is not None:
            report("counting again, line by line", False)
            times = replace(times, lines=count_lines(times.lines, meter, counted, recount_with))
    status = _exit_status(launch, times)
    if times.timed is None:
        require_success(command, status, ignore_status=ignore_status)
    whole = Measurement(
        command=tuple(command),
        counted=counted,
        timed=times.timed,
        context=context,
        cautions=(
            *doubts,
            *_status_cautions(times, counted=status),
            *times.cautions,
            *_too_fast(meter, counted, launch.runs, times.timed),
            *repeated,
        ),
        timed_regions=times.regions,
        sampled=(
            times.sampler.sampled(counted.functions, times.timed)
            if functions and times.sampler is not None and times.timed is not None
            else None
        ),
        lines=times.lines,
    )
    if meter.selection is None or counts_only:
        return whole
    if is_function(meter.selection):
        return with_time_in(meter.selection, whole, times.part)
    return with_time_of(meter.selection, whole)


def _divided(
    times: NativeTimes, counted: Counted, meter: EngineMeter, recount: Callable[[Meter], Counted]
) -> NativeTimes:
    """Return times with that of a function, derived from samples and the counts within it."""
    if times.timed is None or times.sampler is None:
        return times
    everything = replace(meter.without_traffic, function=None, all_threads=False)
    every = recount(everything).functions
    sampled = times.sampler.sampled(every, times.timed)
    return replace(times, part=time_within(sampled, counted.functions, every))


def _exit_status(launch: CountedRuns, times: NativeTimes) -> int:
    """Return the exit status of the counted runs; if several, one unlike the native runs'."""
    statuses = [run.exit_status for run in launch.runs] or [0]
    return next((status for status in statuses if status != times.exit_status), statuses[-1])


def _engine(machine: Machine | None) -> Meter:
    """Return the engine, set to simulate both ends of a program's share of a machine's caches."""
    ends = () if machine is None else ends_of(machine)
    return first_choice(cpus=len(usable_cpus()), ends=ends)


def _working(meter: Meter) -> tuple[Meter, tuple[Caution, ...]]:
    """Return the meter, or its substitute if it does not work.

    Raises
    ------
    MeterUnavailable
        If neither works on this host.
    """
    lack = meter.why_unavailable()
    if lack is None:
        return meter, ()
    other = meter.stand_in
    if other is None or other.why_unavailable() is not None:
        raise MeterUnavailable(
            f"cannot count with {meter.name}", reason=lack.reason, remedy=lack.remedy
        )
    doubt = Caution(
        "other-meter",
        f"{other.name} counted instead of {meter.name}, which does not work here "
        f"({lack.reason}); it takes {other.slowdown} times as long as a native run, not "
        f"{meter.slowdown}",
        lack.remedy,
    )
    return other, (doubt,)


def _too_fast(
    meter: Meter, counted: Counted, runs: Sequence[Run], timed: Timed | None
) -> tuple[Caution, ...]:
    """Doubt counts of all of a program that a meter which slows it down had too soon."""
    if timed is None or meter.selection is not None or meter.without_traffic is None:
        return ()
    if meter.name == "native":
        return ()  # nothing says how little it slows a program down
    return tuple(by_slowdown(counted, runs[0].cpu_s - runs[0].system_s, timed))


def _how_long(meter: Meter, times: NativeTimes) -> str:
    """Return the expected duration of counting, in words."""
    if times.runtime_s is None:
        return f"{meter.slowdown} times as long as a native run"
    return expected_time(times.runtime_s, meter.slowdown)


def _counted_again(
    first: Counted, meter: Meter, recount: Callable[[Meter], Counted]
) -> tuple[Caution, ...]:
    """Return what a second counted run makes doubtful of the first one, whose counts stay."""
    try:
        return work_cautions(first, recount(meter))
    except TimedOut as error:
        return (
            Caution(
                "not-counted-again",
                f"it is not known whether two counted runs do the same work: {error.reason}",
                error.remedy,
            ),
        )


def _status_cautions(times: NativeTimes, *, counted: int) -> tuple[Caution, ...]:
    native = times.exit_status
    sampled = () if times.sampler is None else times.sampler.runs
    others = [(counted, "counted"), *((run.exit_status, "sampled") for run in sampled)]
    differing = [(status, how) for status, how in others if status != native]
    if native is None or not differing:
        return ()
    status, how = differing[0]
    return (
        Caution(
            "status-differs",
            f"it exited with status {native} in the native run and with {status} when it was {how}",
            "the two runs did not do the same work: do not trust this result",
        ),
    )
