"""Tests the meters: counts programs with each of them of which it is known what they do.

The programs are made here, machine code and all, without a compiler and without a C library, so
that nothing runs in their processes but what stands in `arithmetic` and `streams`; there, too,
it is derived how much each does. The simulated caches are small, so that arrays four times as
large are passed over in no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, Traffic, traffic_at
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.geometry import parse_geometry
from ridgepoint.core.machine import Cache
from ridgepoint.core.resources import PRECISIONS
from ridgepoint.doctor.selftest.arithmetic import arithmetic
from ridgepoint.doctor.selftest.conduct import expected_of, preloads
from ridgepoint.doctor.selftest.program import Expected, Program
from ridgepoint.doctor.selftest.results import Check, NotRun, NotTested, Selftest, Trial
from ridgepoint.doctor.selftest.streams import streams
from ridgepoint.host import System
from ridgepoint.host.run import Run, run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.host.standard_input import StandardInput, own_standard_input
from ridgepoint.meters import Meter

__all__ = [
    "CACHES",
    "Check",
    "NotRun",
    "NotTested",
    "Program",
    "Selftest",
    "Trial",
    "default_meters",
    "programs",
    "selftest",
]

CACHES = (
    *parse_geometry("l1=8k:4,l2=64k:8,l3=512k:16"),
    Cache(level=1, kind="instruction", size_bytes=8 << 10, line_bytes=64, ways=4),
)
"""What is simulated."""

TRAFFIC_TOLERANCE = 0.02
_TIMEOUT_S = 120.0


def default_meters(report: Callable[[str], None] | None = None) -> tuple[Meter, ...]:
    """Return every meter there is.

    Parameters
    ----------
    report : callable or None
        Is told what takes long before anything can be counted.
    """
    from ridgepoint.meters.callgrind import CallgrindMeter
    from ridgepoint.meters.engine import EngineMeter
    from ridgepoint.meters.native import NativeMeter

    return (
        EngineMeter(report=report),
        NativeMeter(simulate=True, report=report),
        CallgrindMeter(),
    )


def programs(caches: Sequence[Cache] = CACHES) -> tuple[Program, ...]:
    """Return the built-in programs, with arrays as long as these caches need."""
    return (*arithmetic(), *streams(caches))


def selftest(
    meters: Sequence[Meter] | None = None,
    *,
    only: Sequence[Program] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Selftest:
    """Count the built-in programs with every meter, and compare with what they do.

    Parameters
    ----------
    meters : sequence of Meter or None
        None: `default_meters`.
    only : sequence of Program or None
        Programs for `CACHES`; None: all of `programs`.
    progress : callable or None
        Is told what begins now.

    Returns
    -------
    Selftest
        A meter that refuses a program, or dies on it, is a trial that failed, not an exception.
    """
    report = progress or (lambda what: None)
    works: list[Meter] = []
    lacking: list[NotTested] = []
    for meter in default_meters(report) if meters is None else meters:
        report(f"looking for {meter.name}")
        lack = meter.why_unavailable()
        if lack is None:
            works.append(meter)
        else:
            lacking.append(NotTested(meter=meter.name, lack=lack))
    chosen = programs() if only is None else only
    flags = System().flags
    trials: list[Trial] = []
    not_run: list[NotRun] = []
    with (
        own_standard_input() as stdin,
        scratch_folder() as folder,
    ):
        for program in chosen if works else ():
            missing = [feature for feature in program.needs if feature not in flags]
            if missing:
                reason = f"this CPU has no {' and no '.join(missing)}"
                not_run.append(NotRun(program=program.name, reason=reason))
                continue
            for meter in works:
                report(f"counting '{program.name}' with {meter.name}")
                path = _written(program, Path(folder), interpreted=preloads(meter.name))
                trials.append(_trial(program, path, meter, stdin))
    return Selftest(
        caches=CACHES, trials=tuple(trials), not_tested=tuple(lacking), not_run=tuple(not_run)
    )


def _written(program: Program, folder: Path, *, interpreted: bool) -> str:
    kind = "-dynamic" if interpreted else ""
    path = folder / f"{program.name.replace(' ', '-')}{kind}"
    path.write_bytes(program.built(interpreted=interpreted))
    path.chmod(0o700)
    return str(path)


def _trial(program: Program, path: str, meter: Meter, stdin: StandardInput) -> Trial:
    runs: list[Run] = []

    def launch(wrapped: Sequence[str]) -> Run:
        runs.append(run(wrapped, stdin=stdin, output="discard", timeout_s=_TIMEOUT_S))
        return runs[-1]

    def trial(*, checks: tuple[Check, ...] = (), failure: str | None = None) -> Trial:
        return Trial(
            program=program.name,
            does=program.does,
            meter=meter.name,
            checks=checks,
            failure=failure,
        )

    try:
        counted = meter.count((path,), launch=launch, caches=CACHES)
    except CannotMeasure as error:
        return trial(failure=str(error))
    failed = [run.exit_status for run in runs if run.exit_status]
    if failed:
        return trial(failure=f"it exited with status {failed[0]}")
    if counted.partial is not None:
        return trial(failure=f"it was counted only in part: {counted.partial}")
    if preloads(meter.name):
        counted = _own(counted, path)
    return trial(checks=_checks(expected_of(program, meter.name), counted))


def _own(counted: Counted, path: str) -> Counted:
    """Return what the code of one file did: not that of the loader that ran before it."""
    functions = [function for function in counted.functions if function.object == path]
    traffic = (part for function in functions for part in function.traffic)
    return replace(
        counted,
        counts=Counts.total(function.counts for function in functions),
        traffic=Traffic.total(traffic),
    )


def _checks(expected: Expected, counted: Counted) -> tuple[Check, ...]:
    counts = counted.counts
    names = ("instructions", "branches", "loads", "stores", "non_temporal_store_bytes")
    return (
        *_work(expected, counted),
        *(
            Check(quantity=name, expected=getattr(expected, name), measured=getattr(counts, name))
            for name in names
        ),
        Check(quantity="undecoded", expected=0, measured=counts.undecoded),
        *_traffic(expected, counted),
    )


def _work(expected: Expected, counted: Counted) -> tuple[Check, ...]:
    measured = counted.counts.work
    precisions = [p for p in PRECISIONS if p in expected.work or p in measured]
    if not precisions:
        return (Check(quantity="flop", expected=0, measured=counted.counts.work_flop),)
    return tuple(
        Check(
            quantity=f"{precision}_flop",
            expected=expected.work.get(precision, 0),
            measured=measured.get(precision, 0),
        )
        for precision in precisions
    )


def _traffic(expected: Expected, counted: Counted) -> tuple[Check, ...]:
    dram = traffic_at(counted.traffic, "dram")
    read, written = (None, None) if dram is None else (dram.read_bytes, dram.write_bytes)
    pending = None if dram is None else dram.pending_write_bytes
    dirtied = None if written is None or pending is None else written + pending
    amounts = (
        ("dram_read_bytes", expected.dram_read_bytes, read),
        ("dram_write_bytes", expected.dram_write_bytes, written),
        ("dram_dirtied_bytes", expected.dram_write_bytes + expected.pending_write_bytes, dirtied),
    )
    return tuple(
        Check(quantity=quantity, expected=amount, measured=measured, tolerance=TRAFFIC_TOLERANCE)
        for quantity, amount, measured in amounts
    )
