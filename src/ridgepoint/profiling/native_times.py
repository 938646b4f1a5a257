"""Results of a program's native runs before it is counted: its time, and that of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.core.lines import PythonLines
from ridgepoint.core.measurement import Context, Measurement, Timing
from ridgepoint.core.timed import Timed, TimedRegion
from ridgepoint.meters import Selection
from ridgepoint.meters.sampling import Sampler
from ridgepoint.meters.sampling.function_clock import FunctionNotEntered
from ridgepoint.profiling.function_timing import time_function, whole_of
from ridgepoint.profiling.line_timing import time_lines
from ridgepoint.profiling.timing import Native, sample_program, time_program

_SAMPLED = "function-sampled"


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeTimes:
    """The times of a program; all are unknown where there was no native run.

    Parameters
    ----------
    timed : Timed or None
        The whole program.
    regions : tuple of TimedRegion
    sampler : Sampler or None
        Samples of the time in each function; None: none were taken.
    part : Timed or None
        The function that is counted alone; None: there is none, or its time is not known.
    lines : PythonLines or None
        The time in each line of Python; None: not asked for, or not available.
    cautions : tuple of Caution
    """

    timed: Timed | None = None
    regions: tuple[TimedRegion, ...] = ()
    sampler: Sampler | None = None
    part: Timed | None = None
    lines: PythonLines | None = None
    cautions: tuple[Caution, ...] = ()

    @property
    def runtime_s(self) -> float | None:
        """Median runtime of the whole program; None: not timed."""
        return None if self.timed is None else self.timed.runtime_s.median

    @property
    def exit_status(self) -> int | None:
        """Exit status of the native runs; None: there was none."""
        return None if self.timed is None else self.timed.exit_status

    def timing(self, command: Sequence[str], context: Context) -> Timing:
        """Return the result for a program that was timed but is never counted."""
        assert self.timed is not None
        return Timing(
            command=tuple(command),
            timed=self.timed,
            context=context,
            cautions=self.cautions,
            timed_regions=self.regions,
            sampled=None if self.sampler is None else self.sampler.sampled((), self.timed),
            lines=self.lines,
        )


def native_times(
    native: Native,
    selection: Selection | None,
    *,
    functions: bool,
    lines: bool = False,
) -> NativeTimes:
    """Time a program, its regions, and the function that is to be counted alone.

    Parameters
    ----------
    native : Native
    selection : Selection or None
        The part that is counted alone; None: the whole program is counted.
    functions : bool
        Whether to sample the time in each function.
    lines : bool
        Whether to sample the time in each line of Python.

    Raises
    ------
    ProgramFailed
        If the program exits with a status other than 0, or a signal ends it.
    CannotMeasure
        If a run exceeds its time limit.
    """
    # The runs in which a function is timed are runs of the program too.
    once = replace(native, repeat=1) if is_function(selection) else native
    timed, regions = time_program(once, selection=selection)
    times = NativeTimes(timed=timed, regions=regions)
    if lines:
        times = _with_lines(times, native, timed)
    if functions:
        sampler, cautions = _sampler(native, timed)
        return replace(times, sampler=sampler, cautions=(*times.cautions, *cautions))
    if selection is None or not is_function(selection):
        return times
    part, timed, sampler, cautions = _time_in(selection, native, timed)
    return replace(times, part=part, timed=timed, sampler=sampler, cautions=cautions)


def is_function(selection: Selection | None) -> bool:
    """Return whether a function is counted alone."""
    return selection is not None and selection.kind == "function"


def with_time_in(selection: Selection, whole: Measurement, part: Timed | None) -> Measurement:
    """Return a measurement with the runtime of the function that was counted alone."""
    doubts = whole.cautions
    if part is None and any(caution.code == _SAMPLED for caution in doubts):
        unknown = _time_unknown(
            selection, "no sample lies in it", "name the function that contains the loop around it"
        )
        doubts = (*(caution for caution in doubts if caution.code != _SAMPLED), unknown)
    return replace(whole, timed=part, timed_regions=(), cautions=doubts, whole=whole.timed)


def with_time_of(selection: Selection, whole: Measurement) -> Measurement:
    """Return a measurement with the runtime of the part that was counted alone."""
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


def _with_lines(times: NativeTimes, native: Native, timed: Timed) -> NativeTimes:
    """Return times with those of lines, or with why there are none."""
    try:
        return replace(times, lines=time_lines(native, timed))
    except MeterUnavailable as error:
        doubt = Caution("lines-unknown", f"lines are not timed: {error.reason}", error.remedy)
        return replace(times, cautions=(doubt,))


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
    """Return the time in a function, and that of the whole program where it was timed better.

    If it cannot be timed: less exact samples and the reason, or only the reason.
    """
    try:
        return *time_function(native, selection), None, ()
    except FunctionNotEntered as error:
        # Samples would not find it either.
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
    # The whole program was run only once so far, with cold files.
    return None, whole_of(sampler.runs), sampler, (doubt,)


def _time_unknown(selection: Selection, reason: str, remedy: str) -> Caution:
    return Caution("time-unknown", f"the time in {selection} is not known: {reason}", remedy)
