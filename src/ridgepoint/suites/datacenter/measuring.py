"""Measure the datacenter workloads step by step: the originals, then optimised as in the paper."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.errors import CannotMeasure, ProgramFailed, RidgepointError
from ridgepoint.core.measurement import Measurement
from ridgepoint.host.process import ask
from ridgepoint.host.run import Run, run
from ridgepoint.host.standard_input import no_standard_input
from ridgepoint.meters import Selection
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.meters.source import built, count
from ridgepoint.profiling.in_turn import native_times_in_turn
from ridgepoint.profiling.native_times import NativeTimes
from ridgepoint.profiling.program import measure_program
from ridgepoint.suites.datacenter.build import compile_flags
from ridgepoint.suites.datacenter.programs import REGION, WORKLOADS, Workload, arguments
from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterResult, Step
from ridgepoint.suites.datacenter.running import command
from ridgepoint.suites.study import attempt

_STEPS: tuple[tuple[Step, str, str], ...] = (
    ("original", "baseline", "original"),
    ("ILP", "optimised", "original"),
    ("prefetch", "optimised", "prefetch"),
    ("SIMD", "native", "simd"),
)


def cases(
    names: Sequence[str] = (), *, threads: int = 1, full: bool = False
) -> tuple[DatacenterCase, ...]:
    """Return the cases of the workloads, one for each step.

    Parameters
    ----------
    names : sequence of str
        Names in `WORKLOADS`, each used once; empty: all.
    threads : int
    full : bool
        Whether to use the default sizes instead of the quick ones.
    """
    chosen = [WORKLOADS[name] for name in dict.fromkeys(names)] or list(WORKLOADS.values())
    return tuple(
        case for workload in chosen for case in _steps(workload, threads=threads, full=full)
    )


def _steps(workload: Workload, *, threads: int, full: bool) -> Iterator[DatacenterCase]:
    for step, variant, form in _STEPS:
        if form in workload.forms:
            yield DatacenterCase(
                workload=workload.name,
                title=workload.title,
                is_traditional=workload.traditional,
                step=step,
                variant=variant,
                form=form,
                size=workload.default_size if full else workload.quick_size,
                size_unit=workload.size_unit,
                threads=threads,
            )


def run_datacenter(
    chosen: Sequence[DatacenterCase], *, report: Callable[[str], None] = lambda what: None
) -> tuple[DatacenterResult, ...]:
    """Measure cases; a case that fails does not stop the others.

    Parameters
    ----------
    chosen : sequence of DatacenterCase
    report : callable
        Called with a description of each step as it begins.

    Notes
    -----
    Time, floating-point work and traffic are those of the measured part, with simulated caches
    that are empty when it begins: data come from memory. The steps of a workload are timed in turn:
    what changes about the machine meanwhile changes it for all of them. Basic operations are
    counted in the source: the difference between running the measured part twice and once.
    """
    sources: dict[tuple[str, str, str], BasicOperations | RidgepointError] = {}
    timed: dict[DatacenterCase, NativeTimes | RidgepointError] = {}

    def measure(case: DatacenterCase) -> Measurement:
        return _measured(case, timed[case])

    results = []
    for case in chosen:
        steps = [other for other in chosen if _is_same_task(case, other)]
        if case not in timed:
            report(f"timing {case.title}: {', '.join(step.step for step in steps)}")
            timed.update(_timed_in_turn(steps))
        report(f"counting {case}")
        measured = attempt(measure, case)
        # Operations defined by the source do not depend on the compiler's optimisation.
        key = (case.workload, case.form, "native" if case.variant == "native" else "")
        if key not in sources:
            report(f"counting {case} from its source")
            sources[key] = attempt(_from_source, case)
        source = sources[key]
        results.append(
            DatacenterResult(
                case=case,
                measurement=measured if isinstance(measured, Measurement) else None,
                source=source if isinstance(source, BasicOperations) else None,
                failures=tuple(
                    str(outcome)
                    for outcome in (measured, source)
                    if isinstance(outcome, RidgepointError)
                ),
                is_in_turn=len(steps) > 1,
            )
        )
    return tuple(results)


def _is_same_task(case: DatacenterCase, other: DatacenterCase) -> bool:
    """Return whether two cases are steps of one workload: what each gains is of interest."""
    return (case.workload, case.size, case.threads) == (other.workload, other.size, other.threads)


def _timed_in_turn(
    steps: Sequence[DatacenterCase],
) -> dict[DatacenterCase, NativeTimes | RidgepointError]:
    """Return the times of a workload's steps, or why they have none."""
    commands: dict[DatacenterCase, list[str]] = {}
    failures: dict[DatacenterCase, RidgepointError] = {}
    for case in steps:
        line = attempt(_command, case)
        if isinstance(line, RidgepointError):
            failures[case] = line
        else:
            commands[case] = line
    times = native_times_in_turn(
        list(commands.values()),
        selection=Selection(kind="region", name=REGION, all_threads=steps[0].threads > 1),
    )
    return {**failures, **dict(zip(commands, times, strict=True))}


def _command(case: DatacenterCase) -> list[str]:
    return command(
        case.workload,
        variant=case.variant,
        form=case.form,
        size=case.size,
        threads=case.threads,
    )


def _measured(case: DatacenterCase, times: NativeTimes | RidgepointError) -> Measurement:
    meter = first_choice(cpus=case.threads, region=REGION, all_threads=case.threads > 1, cold=True)
    asked = _command(case)
    try:
        if isinstance(times, RidgepointError):
            raise times
        return measure_program(asked, meter=meter, output="discard", times=times)
    except ProgramFailed as error:
        raise CannotMeasure(
            f"cannot measure {case}",
            reason=_complaint(asked) or error.reason,
            remedy=f"run it by hand: {shlex.join(asked)}",
        ) from error


def _complaint(asked: Sequence[str]) -> str | None:
    """Return the message of a failed program, from one more run; None: it has none."""
    answer = ask(asked)
    lines = answer.complaints.strip().splitlines()
    return lines[-1] if answer.status and lines else None


def _from_source(case: DatacenterCase) -> BasicOperations:
    source = str(WORKLOADS[case.workload].source)
    # The last optimisation level wins; the counts depend on none.
    flags = [*compile_flags(case.workload, variant=case.variant, marked=False), "-O2"]
    with built([source], flags, say=lambda what: None, with_plain=False) as (counting, _):
        once, twice = (
            count(
                [
                    str(counting),
                    *arguments(
                        case.workload,
                        form=case.form,
                        size=case.size,
                        threads=case.threads,
                        repeat=repeat,
                    ),
                ],
                launch=_launch,
            )
            for repeat in (1, 2)
        )
    for done in (once, twice):
        if done.exit_status or not done.complete:
            raise CannotMeasure(
                f"cannot count {case} from its source",
                reason=f"it ended with status {done.exit_status}",
                remedy="run it by hand: ridgepoint bops",
            )
    return twice.operations - once.operations


def _launch(command: Sequence[str], environment: dict[str, str]) -> Run:
    return run(command, stdin=no_standard_input(), output="discard", environment=environment)
