"""Measure a program: its time from native runs, its counts from one instrumented run."""

from __future__ import annotations

import os
import platform
import signal
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.caution import Caution
from ridgepoint.errors import MeterUnavailable, ProgramFailed
from ridgepoint.estimate import Estimate
from ridgepoint.host import System, hostname, kernel, usable_cpus
from ridgepoint.machine import Cache
from ridgepoint.measurement import Context, Measurement, Timed
from ridgepoint.meters import Meter, Run
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.process import Output, resolve, run
from ridgepoint.meters.standard_input import StandardInput, own_standard_input

TIME_BUDGET_S = 30.0
"""Native runs are repeated for this long at most, but for the first, which is as long as it is."""

MAX_RUNS = 30
_TIGHT_RUNS = 10
_TIGHT = 0.02
_NOISY = 0.10
_SHORT_S = 0.01
_IN_KERNEL = 0.2

_TELLING_VARIABLES = (
    "GLIBC_TUNABLES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MKL_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
    "OMP_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
)

Progress = Callable[[str, bool], None]
"""Called with what begins now, and whether the program's own output is shown meanwhile."""


def measure_program(
    command: Sequence[str],
    *,
    meter: Meter | None = None,
    caches: Sequence[Cache] | None = None,
    repeat: int | None = None,
    timeout_s: float | None = None,
    counts_only: bool = False,
    ignore_status: bool = False,
    output: Output = "own",
    progress: Progress | None = None,
) -> Measurement:
    """Measure a program's runtime natively, then count its work and traffic.

    Parameters
    ----------
    command : sequence of str
        Program and arguments. It is run several times, with the same input, in this directory and
        environment; its output is shown once.
    meter : Meter or None
        None: callgrind.
    caches : sequence of Cache or None
        Geometry for the meter to simulate; None: this host's.
    repeat : int or None
        Native runs that count; None: until the 95 % interval is within 2 % of the median (ten
        runs at least), 30 runs or 30 s.
    timeout_s : float or None
        Limit of each single run.
    counts_only : bool
        Leave the native runs out; the runtime is unknown then.
    ignore_status : bool
        Measure a program that exits with a status other than 0 too.
    output : {"own", "stderr", "discard"}
        Where the program's own output goes, the once that it is shown.
    progress : callable or None

    Returns
    -------
    Measurement

    Raises
    ------
    CannotStart
        If there is no such program.
    MeterUnavailable
        If the meter does not work here.
    ProgramFailed
        If the program exits with a status other than 0, or a signal ends it.
    CannotMeasure
        If a run takes longer than `timeout_s`, or the meter cannot count it.
    """
    report = progress or (lambda what, output_is_shown: None)
    meter = meter or CallgrindMeter()
    caches = System().caches if caches is None else caches
    resolved = resolve(command)
    if (lack := meter.why_unavailable()) is not None:
        raise MeterUnavailable(
            f"cannot count with {meter.name}", reason=lack.reason, remedy=lack.remedy
        )
    context = _context()
    with own_standard_input() as stdin:
        timed = None
        if not counts_only:
            timed = _time(
                resolved,
                stdin=stdin,
                repeat=repeat,
                timeout_s=timeout_s,
                ignore_status=ignore_status,
                output=output,
                report=report,
            )
        expected = "" if timed is None else f" (natively {timed.runtime_s.median:.3g} s)"
        report(f"counting with {meter.name}{expected}: 25 to 500 times as long", counts_only)
        runs: list[Run] = []

        def launch(wrapped: Sequence[str]) -> Run:
            shown = output if counts_only else "discard"
            runs.append(run(wrapped, stdin=stdin, output=shown, timeout_s=timeout_s))
            return runs[-1]

        counted = meter.count(resolved, launch=launch, caches=caches)
    status = runs[-1].exit_status if runs else 0
    if counts_only:
        _require_success(command, status, ignore_status)
    return Measurement(
        command=tuple(command),
        counted=counted,
        timed=timed,
        context=context,
        cautions=_status_cautions(None if timed is None else timed.exit_status, status),
    )


def wants_another(samples: Sequence[float], *, elapsed_s: float, repeat: int | None) -> bool:
    """Return whether another native run is worth its time.

    Parameters
    ----------
    samples : sequence of float
        Runtimes so far, s.
    elapsed_s : float
        Time spent on native runs so far, the first one's included.
    repeat : int or None
        Runs asked for; None: as many as the interval needs.
    """
    if repeat is not None:
        return len(samples) < repeat
    if not samples:
        return True
    estimate = Estimate(samples)
    if elapsed_s + estimate.median > TIME_BUDGET_S or estimate.n >= MAX_RUNS:
        return False
    spread = estimate.relative_spread
    return estimate.n < _TIGHT_RUNS or spread is None or spread > _TIGHT


def _time(
    command: Sequence[str],
    *,
    stdin: StandardInput,
    repeat: int | None,
    timeout_s: float | None,
    ignore_status: bool,
    output: Output,
    report: Progress,
) -> Timed:
    report("running the program", True)
    first = run(command, stdin=stdin, output=output, timeout_s=timeout_s)
    _require_success(command, first.exit_status, ignore_status)
    # The first run finds cold files: it counts only where there is no time for others.
    runs = [first] if repeat == 1 or 3 * first.wall_s > TIME_BUDGET_S else []
    elapsed_s = first.wall_s
    statuses = {first.exit_status}
    left_behind = first.left_behind
    while wants_another([r.wall_s for r in runs], elapsed_s=elapsed_s, repeat=repeat):
        limit = f" of {repeat}" if repeat else ""
        report(f"timing run {len(runs) + 1}{limit}", False)
        again = run(command, stdin=stdin, output="discard", timeout_s=timeout_s)
        _require_success(command, again.exit_status, ignore_status)
        runs.append(again)
        elapsed_s += again.wall_s
        statuses.add(again.exit_status)
        left_behind = max(left_behind, again.left_behind)
    runtime = Estimate(r.wall_s for r in runs)
    return Timed(
        runtime_s=runtime,
        cpu_s=Estimate(r.cpu_s for r in runs),
        exit_status=first.exit_status,
        cautions=(*_time_cautions(runtime, statuses, left_behind), *_kernel_caution(runs)),
    )


def _require_success(command: Sequence[str], status: int, ignore_status: bool) -> None:
    what = f"cannot measure {command[0]!r}"
    if status > 128 and status - 128 in set(signal.Signals):
        raise ProgramFailed(
            what,
            reason=f"{signal.Signals(status - 128).name} ended it",
            remedy="mend the program first; nothing was measured",
            exit_status=status,
        )
    if status and not ignore_status:
        raise ProgramFailed(
            what,
            reason=f"it exited with status {status}",
            remedy="see what it says itself; to measure it all the same, add --ignore-status",
            exit_status=status,
        )


def _time_cautions(runtime: Estimate, statuses: set[int], left_behind: int) -> tuple[Caution, ...]:
    cautions = []
    spread = runtime.relative_spread
    if spread is None:
        cautions.append(
            Caution(
                "few-samples",
                f"the runtime was measured {runtime.n} time(s): too few for a 95 % interval",
                "ask for at least 6: --repeat 6",
            )
        )
    elif spread > _NOISY:
        cautions.append(
            Caution(
                "noisy",
                f"the 95 % interval of the runtime is {spread:.0%} of its median (n = {runtime.n})",
                "quiet the machine, give the program more to do, or ask for more runs: --repeat",
            )
        )
    if runtime.median < _SHORT_S:
        cautions.append(
            Caution(
                "short",
                f"it runs for {runtime.median * 1e3:.2g} ms: starting a process is much of that",
                "give it more to do",
            )
        )
    if len(statuses) > 1:
        cautions.append(
            Caution(
                "status-changes",
                f"its runs ended with different statuses: {sorted(statuses)}",
                "its runs are not alike: look for what it leaves behind from one to the next",
            )
        )
    if left_behind:
        cautions.append(
            Caution(
                "left-behind",
                f"{left_behind} of its processes outlived it and were ended; their work is not in "
                "the runtime",
                "let the program wait for what it starts",
            )
        )
    return tuple(cautions)


def _kernel_caution(runs: Sequence[Run]) -> tuple[Caution, ...]:
    """Doubt the counts of a program that lets the kernel work: no meter sees that from outside."""
    cpu_s, system_s = sum(r.cpu_s for r in runs), sum(r.system_s for r in runs)
    if cpu_s < _SHORT_S * len(runs) or system_s < _IN_KERNEL * cpu_s:
        return ()
    return (
        Caution(
            "kernel-time",
            f"{system_s / cpu_s:.0%} of its CPU time was spent in the kernel, whose instructions "
            "and traffic are not counted",
            "look at its system calls and page faults: the bound holds, but is low",
        ),
    )


def _status_cautions(native: int | None, counted: int) -> tuple[Caution, ...]:
    if native is None or native == counted:
        return ()
    return (
        Caution(
            "status-differs",
            f"it exited with status {native} natively and with {counted} when it was counted",
            "the two runs did not do the same work: do not trust this point",
        ),
    )


def _context() -> Context:
    system = System()
    return Context(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        hostname=hostname(),
        cpu=system.cpu,
        kernel=kernel(),
        affinity=usable_cpus(),
        directory=os.getcwd(),
        versions={"ridgepoint": __version__, "python": platform.python_version()},
        environment={k: os.environ[k] for k in _TELLING_VARIABLES if k in os.environ},
        frequency_hz=system.reported_frequency_hz,
    )
