"""Measure a program: its time from native runs, its counts from one instrumented run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import MeterUnavailable, TimedOut
from ridgepoint.core.machine import Cache, Machine, caches_of
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.timed import Timed, TimedRegion
from ridgepoint.host import System, usable_cpus
from ridgepoint.host.run import Output, Run, resolve
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters import Meter, Selection
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.meters.sampling import Sampler
from ridgepoint.meters.sampling.function_clock import FunctionNotEntered
from ridgepoint.models.caches.capacity import ends_of
from ridgepoint.models.plausibility import by_slowdown
from ridgepoint.models.stays import time_within
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.counted_runs import CountedRuns, expected_time
from ridgepoint.profiling.function_timing import time_function, whole_of
from ridgepoint.profiling.repeats import Progress
from ridgepoint.profiling.timing import Native, require_success, sample_program, time_program

_ALIKE = 0.01
_SAMPLED = "function-sampled"


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
    ignore_status: bool = False,
    output: Output = "own",
    progress: Progress | None = None,
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
        None: the copying engine where it can, else Valgrind's. Where a meter does not work, what
        may stand in for it counts (callgrind for Valgrind's engine), and a caution says so.
    machine : Machine or None
        That is to bound it: its caches are simulated, if they are known and `caches` is None,
        and, by the engine, both ends of what a program gets of them where that varies.
    caches : sequence of Cache or None
        Geometry for the meter to simulate; None: the machine's, or else this host's.
    repeat : int or None
        Native runs that count; None: until the 95 % interval is within 2 % of the median (ten
        runs at least), 30 runs or 30 s.
    timeout_s : float or None
        Limit of each single run.
    limit_s : float or None
        Limit of counting altogether: a run that is not counted by then is ended, and what it
        counted so far is thrown away.
    counts_only : bool
        Leave the native runs out; the runtime is unknown then.
    functions : bool
        Find out how long it is in each function: by samples of a few more native runs. Under the
        engine it is counted once more, without caches, to see whether its runs are alike.
    ignore_status : bool
        Measure a program that exits with a status other than 0 too.
    output : {"own", "stderr", "discard"}
        Where the program's output goes in the one run that shows it.
    progress : callable or None
    when_timed : callable or None
        Called with the times when the native runs are done: counting may take long after that,
        and fail.
    when_counting : callable or None
        Called with the meter before it counts; returns the meter, and the caches to simulate in
        place of `caches`: where they depend on a machine, nobody measures it for a program that
        fails.

    Returns
    -------
    Measurement

    Raises
    ------
    CannotStart
        If there is no such program.
    ValueError
        If functions are to be timed where a part is counted alone, or nothing is timed.
    MeterUnavailable
        If the meter does not work here.
    ProgramFailed
        If the program exits with a status other than 0, or a signal ends it.
    CannotMeasure
        If a run takes longer than `timeout_s`, counting takes longer than `limit_s`, or the meter
        cannot count it.
    """
    if functions and (counts_only or (meter is not None and meter.selection is not None)):
        raise ValueError("functions can be timed only in a whole program that is timed")
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
        timed: Timed | None = None
        regions: tuple[TimedRegion, ...] = ()
        sampler: Sampler | None = None
        no_samples: tuple[Caution, ...] = ()
        part: Timed | None = None
        if not counts_only:
            # The runs in which a function is timed are runs of the program too.
            once = replace(native, repeat=1) if _is_function(meter.selection) else native
            timed, regions = time_program(once, all_threads=_has_all_threads(meter.selection))
            if functions:
                sampler, no_samples = _sampler(native, timed)
            elif meter.selection is not None and _is_function(meter.selection):
                part, timed, sampler, no_samples = _time_in(meter.selection, native, timed)
            if when_timed is not None:
                known = Timing(
                    command=tuple(command),
                    timed=timed,
                    context=context,
                    cautions=no_samples,
                    timed_regions=regions,
                    sampled=None if sampler is None else sampler.sampled((), timed),
                )
                when_timed(known)
        launch = CountedRuns(
            command=command,
            stdin=stdin,
            output=output if timed is None else "discard",
            timeout_s=timeout_s,
            limit_s=limit_s,
            native_s=None if timed is None else timed.runtime_s.median,
        )
        if when_counting is not None:
            meter, caches = when_counting(meter)
        elif caches is None:
            caches = System().caches
        report(f"counting with {meter.name}: {_how_long(meter, timed)}", timed is None)
        counted = meter.count(resolved, launch=launch, caches=caches)
        again: Counted | None = None
        not_again: tuple[Caution, ...] = ()
        if functions and meter.without_traffic is not None:
            report(f"counting again with {meter.name}, without caches", False)
            again, not_again = _counted_again(meter.without_traffic, resolved, launch)
        elif (
            _is_function(meter.selection)
            and sampler is not None
            and timed is not None
            and isinstance(meter, EngineMeter)
        ):
            report("counting the whole program, to divide its samples", False)
            everything = replace(meter.without_traffic, function=None, all_threads=False)
            every = everything.count(resolved, launch=launch, caches=()).functions
            part = time_within(sampler.sampled(every, timed), counted.functions, every)
    native_status = None if timed is None else timed.exit_status
    statuses = [run.exit_status for run in launch.runs] or [0]
    status = next((known for known in statuses if known != native_status), statuses[-1])
    if timed is None:
        require_success(command, status, ignore_status=ignore_status)
    whole = Measurement(
        command=tuple(command),
        counted=counted,
        timed=timed,
        context=context,
        cautions=(
            *doubts,
            *_status_cautions(
                native_status,
                counted=status,
                sampled=() if sampler is None else [run.exit_status for run in sampler.runs],
            ),
            *no_samples,
            *_too_fast(meter, counted, launch.runs, timed),
            *not_again,
            *(() if again is None else work_cautions(counted, again)),
        ),
        timed_regions=regions,
        sampled=(
            sampler.sampled(counted.functions, timed)
            if functions and sampler is not None and timed is not None
            else None
        ),
    )
    if meter.selection is None or counts_only:
        return whole
    if _is_function(meter.selection):
        return _with_time_in(meter.selection, whole, part)
    return _with_time_of(meter.selection, whole)


def _engine(machine: Machine | None) -> Meter:
    """Return the engine; it simulates both ends of what a program gets of a machine's caches."""
    ends = () if machine is None else ends_of(machine)
    return first_choice(cpus=len(usable_cpus()), ends=ends)


def _working(meter: Meter) -> tuple[Meter, tuple[Caution, ...]]:
    """Return the meter, or what may stand in for it where it does not work.

    Raises
    ------
    MeterUnavailable
        If neither works here.
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


def _how_long(meter: Meter, timed: Timed | None) -> str:
    """Return how long counting will take, in words."""
    if timed is None:
        return f"{meter.slowdown} times as long as a native run"
    return expected_time(timed.runtime_s.median, meter.slowdown)


def _counted_again(
    meter: Meter, command: Sequence[str], launch: CountedRuns
) -> tuple[Counted | None, tuple[Caution, ...]]:
    """Return what a second counted run did, or why it is not known: the first one's counts stay."""
    try:
        return meter.count(command, launch=launch, caches=()), ()
    except TimedOut as error:
        return None, (
            Caution(
                "not-counted-again",
                f"it is not known whether two counted runs do the same work: {error.reason}",
                error.remedy,
            ),
        )


def _sampler(native: Native, timed: Timed) -> tuple[Sampler | None, tuple[Caution, ...]]:
    """Return samples of a program, or why there are none."""
    try:
        return sample_program(native, timed), ()
    except MeterUnavailable as error:
        return None, (
            Caution("no-samples", f"functions are not timed: {error.reason}", error.remedy),
        )


def _time_in(
    selection: Selection, native: Native, timed: Timed
) -> tuple[Timed | None, Timed, Sampler | None, tuple[Caution, ...]]:
    """Return the time in a function, and of the whole program where it was timed better.

    Where it cannot be taken, samples that tell it less exactly, and why; or why not.
    """
    try:
        return *time_function(native, selection), None, ()
    except FunctionNotEntered as error:
        # Samples would find nothing in it either.
        return None, timed, None, (_time_unknown(selection, error.reason, error.remedy),)
    except MeterUnavailable as error:
        doubt = Caution(
            _SAMPLED,
            f"the time in {selection} was estimated from samples in user mode, because it "
            f"cannot be measured at the function's beginning and end: {error.reason}",
            error.remedy,
        )
    try:
        sampler = sample_program(native, timed)
    except MeterUnavailable as error:
        remedy = f"{error.remedy}; or mark the same code as a region: --region"
        return None, timed, None, (_time_unknown(selection, error.reason, remedy),)
    # Of the whole there was one run so far, which found cold files.
    return None, whole_of(sampler.runs), sampler, (doubt,)


def _with_time_in(selection: Selection, whole: Measurement, part: Timed | None) -> Measurement:
    """Return a measurement whose runtime is that of the function that was counted alone."""
    doubts = whole.cautions
    if part is None and any(caution.code == _SAMPLED for caution in doubts):
        unknown = _time_unknown(
            selection, "no sample lies in it", "name the function that contains the loop around it"
        )
        doubts = (*(caution for caution in doubts if caution.code != _SAMPLED), unknown)
    return replace(whole, timed=part, timed_regions=(), cautions=doubts, whole=whole.timed)


def _time_unknown(selection: Selection, reason: str, remedy: str) -> Caution:
    return Caution("time-unknown", f"the time in {selection} is not known: {reason}", remedy)


def work_cautions(first: Counted, second: Counted) -> tuple[Caution, ...]:
    """Return a caution if two counted runs of a program did not do the same.

    Parameters
    ----------
    first, second : Counted
        Instructions and work may differ by a hundredth: that is less than any time is known to.
    """
    differing = [
        f"{amount:.4g} and {other:.4g} {unit}"
        for amount, other, unit in (
            (first.counts.instructions, second.counts.instructions, "instructions"),
            (first.counts.work_flop, second.counts.work_flop, "flop"),
        )
        if abs(amount - other) > _ALIKE * max(amount, other)
    ]
    if not differing:
        return ()
    return (
        Caution(
            "work-differs",
            f"two counted runs did different work: {', '.join(differing)}",
            "the result combines the work of one run with the time of others: fix random "
            "seeds, the input and the number of threads, and let threads wait without spinning "
            "(OMP_WAIT_POLICY=passive)",
        ),
    )


def _is_function(selection: Selection | None) -> bool:
    return selection is not None and selection.kind == "function"


def _has_all_threads(selection: Selection | None) -> bool:
    return selection is not None and selection.all_threads


def _with_time_of(selection: Selection, whole: Measurement) -> Measurement:
    """Return a measurement whose runtime is that of the part that was counted alone."""
    region = next(
        (
            timed_region
            for timed_region in whole.timed_regions
            if timed_region.name == selection.name
        ),
        None,
    )
    if whole.timed is not None and region is not None and region.runtime_s is not None:
        cpu_s = region.cpu_s if selection.all_threads else region.busy_s
        if cpu_s is not None:
            timed = Timed(
                runtime_s=region.runtime_s,
                cpu_s=cpu_s,
                exit_status=whole.timed.exit_status,
                cautions=(*region.cautions, *whole.disturbances),
                entries=region.entries,
            )
            return replace(whole, timed=timed, timed_regions=(), whole=whole.timed)
    if region is None:
        why = "not every native run entered it"
        remedy = "check when its marks are executed in a native run"
    else:
        why = "several processes were in it at the same time, or one ended inside it"
        remedy = "mark it in one process only"
    unknown = Caution("time-unknown", f"the time of {selection} is not known: {why}", remedy)
    return replace(whole, timed=None, timed_regions=(), cautions=(*whole.cautions, unknown))


def _status_cautions(
    native: int | None, *, counted: int, sampled: Sequence[int]
) -> tuple[Caution, ...]:
    others = [(counted, "counted"), *((code, "sampled") for code in sampled)]
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
