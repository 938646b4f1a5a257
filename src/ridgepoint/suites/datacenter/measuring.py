"""Measure the datacenter workloads step by step: the originals, then optimised as in the paper."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.errors import CannotMeasure, ProgramFailed, RidgepointError
from ridgepoint.core.measurement import Measurement
from ridgepoint.host.process import ask
from ridgepoint.host.run import Run, run
from ridgepoint.host.standard_input import no_standard_input
from ridgepoint.meters import Meter, Selection
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.meters.source import built, count
from ridgepoint.profiling.in_turn import native_times_in_turn
from ridgepoint.profiling.native_times import NativeTimes
from ridgepoint.profiling.program import measure_program
from ridgepoint.suites.datacenter.build import compile_flags
from ridgepoint.suites.datacenter.inputs import in_files
from ridgepoint.suites.datacenter.large import (
    continued_measurement,
    continued_operations,
    grown_to,
    is_counted_in_parts,
    parts,
)
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
_TIMES_AS_LARGE = 4
"""The larger part that is counted, in the smaller one."""


def cases(
    names: Sequence[str] = (),
    *,
    threads: int = 1,
    full: bool = False,
    size: int | None = None,
    data: Path | None = None,
    pattern: str | None = None,
) -> tuple[DatacenterCase, ...]:
    """Return the cases of the workloads, one for each step.

    Parameters
    ----------
    names : sequence of str
        Names in `WORKLOADS`, each used once; empty: all.
    threads : int
    full : bool
        Whether to use the default sizes instead of the quick ones.
    size : int or None
        Size of all of them, whose sizes count the same; None: their own.
    data : Path or None
        File of data for all of them; None: made from a seed.
    pattern : str or None
        What Grep searches for; None: what occurs in its own data.

    Raises
    ------
    ValueError
        If the sizes of the workloads do not count the same, or they read different data.
    OSError
        If there is no such file.
    """
    chosen = [WORKLOADS[name] for name in dict.fromkeys(names)] or list(WORKLOADS.values())
    if size is not None:
        _require_alike("sizes count", {workload.name: workload.size_unit for workload in chosen})
    if data is not None:
        _require_alike("data are", {workload.name: workload.data or "none" for workload in chosen})
    made = tuple(
        case for workload in chosen for case in _steps(workload, threads=threads, full=full)
    )
    if size is not None:
        made = tuple(replace(case, size=size) for case in made)
    if data is not None:
        n_bytes, where = data.stat().st_size, str(data.resolve())
        made = tuple(replace(case, data=where, size=n_bytes, size_unit="bytes") for case in made)
    return tuple(
        replace(case, pattern=pattern) if case.workload == "grep" else case for case in made
    )


def _require_alike(what: str, of_names: dict[str, str]) -> None:
    kinds = set(of_names.values())
    if len(kinds) > 1:
        listed = ", ".join(f"{name}: {kind}" for name, kind in of_names.items())
        raise ValueError(f"the workloads' {what} different things ({listed})")
    if kinds == {"none"}:
        raise ValueError(f"{', '.join(of_names)} reads no data")


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
    chosen: Sequence[DatacenterCase],
    *,
    repeat: int | None = None,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[DatacenterResult, ...]:
    """Measure cases; a case that fails does not stop the others.

    Parameters
    ----------
    chosen : sequence of DatacenterCase
    repeat : int or None
        Runs of each step that are timed; None: until the measured part of each is known well.
    report : callable
        Called with a description of each step as it begins.

    Notes
    -----
    Time, floating-point work and traffic are those of the measured part, with simulated caches
    that are empty when it begins: data come from memory. The steps of a workload are timed in turn:
    what changes about the machine meanwhile changes it for all of them. Basic operations are
    counted in the source: the difference between running the measured part twice and once.
    """
    results: dict[DatacenterCase, DatacenterResult] = {}
    for case in chosen:
        if case not in results:
            steps = [other for other in chosen if _is_same_task(case, other)]
            results.update(zip(steps, _results(steps, repeat, report), strict=True))
    return tuple(results[case] for case in chosen)


def _results(
    steps: Sequence[DatacenterCase], repeat: int | None, report: Callable[[str], None]
) -> list[DatacenterResult]:
    """Return the results of the steps of a workload, whose data are made once."""
    try:
        with in_files(steps[0], report) as (first, folder):
            own = [replace(step, data=first.data) for step in steps]
            measured = list(_results_on(own, folder, repeat, report))
    except CannotMeasure as error:
        return [
            DatacenterResult(case=step, measurement=None, source=None, failures=(str(error),))
            for step in steps
        ]
    return [replace(result, case=step) for result, step in zip(measured, steps, strict=True)]


def _results_on(
    steps: Sequence[DatacenterCase],
    folder: Path,
    repeat: int | None,
    report: Callable[[str], None],
) -> Iterator[DatacenterResult]:
    """Yield results on data that are there; parts of them are written to a folder."""
    report(f"timing {steps[0].title}: {', '.join(step.step for step in steps)}")
    times = _timed_in_turn(steps, repeat)
    sources: dict[tuple[str, str], BasicOperations | RidgepointError] = {}
    for case in steps:
        report(f"counting {case}")
        measured = attempt(lambda case: _measured(case, times[case], folder), case)
        # Operations defined by the source do not depend on the compiler's optimisation.
        key = (case.form, "native" if case.variant == "native" else "")
        if key not in sources:
            report(f"counting {case} from its source")
            sources[key] = attempt(lambda case: _from_source(case, folder), case)
        source = sources[key]
        yield DatacenterResult(
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


def _is_same_task(case: DatacenterCase, other: DatacenterCase) -> bool:
    """Return whether two cases are steps of one workload: what each gains is of interest."""
    return (case.workload, case.size, case.threads) == (other.workload, other.size, other.threads)


def _timed_in_turn(
    steps: Sequence[DatacenterCase], repeat: int | None
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
        repeat=repeat,
    )
    return {**failures, **dict(zip(commands, times, strict=True))}


def _command(case: DatacenterCase, options: Sequence[str] = ()) -> list[str]:
    return command(case.workload, variant=case.variant, **_arguments(case, options))


def _arguments(case: DatacenterCase, options: Sequence[str]) -> dict[str, Any]:
    pattern = () if case.pattern is None else ("--pattern", case.pattern)
    return {
        "form": case.form,
        "size": case.size,
        "input": case.data,
        "threads": case.threads,
        "options": (*pattern, *options),
    }


def _measured(
    case: DatacenterCase, times: NativeTimes | RidgepointError, folder: Path
) -> Measurement:
    meter = first_choice(cpus=case.threads, region=REGION, all_threads=case.threads > 1, cold=True)
    asked = _command(case)
    try:
        if isinstance(times, RidgepointError):
            raise times
        if is_counted_in_parts(case):
            return _counted_in_parts(case, times, meter, folder)
        return measure_program(asked, meter=meter, output="discard", times=times)
    except ProgramFailed as error:
        raise CannotMeasure(
            f"cannot measure {case}",
            reason=_complaint(asked) or error.reason,
            remedy=f"run it by hand: {shlex.join(asked)}",
        ) from error


def _counted_in_parts(
    case: DatacenterCase, times: NativeTimes, meter: Meter, folder: Path
) -> Measurement:
    quick = WORKLOADS[case.workload].quick_size
    chosen = parts(case, folder, (quick, _TIMES_AS_LARGE * quick))
    first, second = (
        measure_program(
            _command(part.case, part.options), meter=meter, output="discard", counts_only=True
        )
        for part in chosen
    )
    return continued_measurement(
        case, chosen, (first.counted, second), times, command=_command(case)
    )


def _complaint(asked: Sequence[str]) -> str | None:
    """Return the message of a failed program, from one more run; None: it has none."""
    answer = ask(asked)
    lines = answer.complaints.strip().splitlines()
    return lines[-1] if answer.status and lines else None


def _from_source(case: DatacenterCase, folder: Path) -> BasicOperations:
    with counting_program(case) as counting:
        if not is_counted_in_parts(case):
            return operations_of(case, counting)
        usual = WORKLOADS[case.workload].default_size
        chosen = parts(case, folder, (usual, 2 * usual))
        first, second = (operations_of(part.case, counting, part.options) for part in chosen)
    return continued_operations(first, second, grown_to(case, chosen))


@contextmanager
def counting_program(case: DatacenterCase) -> Iterator[Path]:
    """Provide the program of a case, built so that it counts the operations of its source."""
    source = str(WORKLOADS[case.workload].source)
    # The last optimisation level wins; the counts depend on none.
    flags = [*compile_flags(case.workload, variant=case.variant, marked=False), "-O2"]
    with built([source], flags, say=lambda what: None, with_plain=False) as (counting, _):
        yield counting


def operations_of(
    case: DatacenterCase, counting: Path, options: Sequence[str] = ()
) -> BasicOperations:
    """Return the operations of the measured part: those of running it twice and not only once.

    Raises
    ------
    CannotMeasure
        If a run fails.
    """
    once, twice = (
        count(
            [str(counting), *arguments(case.workload, repeat=repeat, **_arguments(case, options))],
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
