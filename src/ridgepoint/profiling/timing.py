"""Time a program by native runs, and the regions that it marks."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import ProgramFailed, TimedOut
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed, TimedRegion
from ridgepoint.core.units import format_si
from ridgepoint.host import System, of_activity
from ridgepoint.host.run import Output, Run, run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.host.standard_input import StandardInput
from ridgepoint.meters.region_times import RegionTime, read_region_times
from ridgepoint.meters.sampling import Sampler
from ridgepoint.profiling.repeats import MAX_RUNS, Progress, repeated
from ridgepoint.regions import TIMES_VARIABLE

_ENOUGH_SAMPLES = 5000  # a function with a fiftieth of the time then has a hundred
_SAMPLING_BUDGET_S = 10.0
_NOISY = 0.10
_SHORT_S = 0.01
_IN_KERNEL = 0.2
_SHORT_ENTRY_S = 300e-6  # the marks in Python take less than 1 % of it
OTHERS = 0.10
"""Of the CPU time of those inside: less of other threads' is not worth a caution."""

_CPU_CLOCK_S = 10e-6  # per entry: time that reading the CPU-time clock may add
_REPEATS = (
    "let it do the same work every time: remove the files that it leaves behind, or let it "
    "overwrite them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """Settings for native runs of a program.

    Parameters
    ----------
    command : tuple of str
        As `ridgepoint.host.run.resolve` returns it.
    stdin : StandardInput
    repeat : int or None
        Number of runs that count; None: as many as the interval needs.
    timeout_s : float or None
        Time limit of each single run.
    ignore_status : bool
        Whether a status other than 0 is accepted.
    output : {"own", "stderr", "discard"}
        Where the program's output goes in the one run that shows it.
    report : callable
    """

    command: tuple[str, ...]
    stdin: StandardInput
    repeat: int | None
    timeout_s: float | None
    ignore_status: bool
    output: Output
    report: Progress

    def once(self, output: Output) -> tuple[Run, dict[str, RegionTime]]:
        """Run the program once, and return the time in the regions that it marks.

        Raises
        ------
        ProgramFailed
            If it exits with a status other than 0 (and that is not ignored), or a signal ends it.
        TimedOut
            If it exceeds the time limit.
        """
        with scratch_folder() as name:
            try:
                done = run(
                    self.command,
                    stdin=self.stdin,
                    output=output,
                    timeout_s=self.timeout_s,
                    environment={TIMES_VARIABLE: name},
                )
            except TimedOut as error:
                raise TimedOut(
                    error.what, reason=f"natively, {error.reason}", remedy=error.remedy
                ) from error
            require_success(self.command, done.exit_status, ignore_status=self.ignore_status)
            return done, read_region_times(Path(name))

    def again(self) -> tuple[Run, dict[str, RegionTime]]:
        """Run the program again after a successful run, without showing its output.

        Raises
        ------
        ProgramFailed
            If it fails this time; the message says what has changed.
        TimedOut
            If it exceeds the time limit.
        """
        try:
            return self.once("discard")
        except ProgramFailed as error:
            reason, remedy = f"its first run succeeded, but in a later run {error.reason}", _REPEATS
            if self.output == "own" and os.isatty(1):
                reason = (
                    "its first run, on the terminal, succeeded, but in a later run, whose "
                    f"output goes to a pipe, {error.reason}"
                )
                remedy = f"run it without a terminal; if that is not the cause, {_REPEATS}"
            raise ProgramFailed(
                error.what, reason=reason, remedy=remedy, exit_status=error.exit_status
            ) from error


def time_program(
    native: Native, *, all_threads: bool = False
) -> tuple[Timed, tuple[TimedRegion, ...]]:
    """Return the runtime of a program, and of the regions that it marks, from native runs.

    Parameters
    ----------
    native : Native
    all_threads : bool
        Whether work of any thread counts while one is in a region; otherwise a caution says where
        other threads worked meanwhile.
    """
    before = [System().activity()]

    def again() -> tuple[Run, dict[str, RegionTime]]:
        if len(before) == 1:  # the first run does not count
            before.append(System().activity())
        return native.again()

    first, counting = repeated(
        lambda: native.once(native.output),
        again,
        time_s=lambda done: done[0].wall_s,
        repeat=native.repeat,
        report=native.report,
    )
    runs, regions = [done for done, _ in counting], [times for _, times in counting]
    runtime = Estimate(done.wall_s for done in runs)
    timed = Timed(
        runtime_s=runtime,
        cpu_s=Estimate(done.cpu_s for done in runs),
        system_s=Estimate(done.system_s for done in runs),
        exit_status=first[0].exit_status,
        cautions=(
            *time_cautions(runtime, runs if counting[0] is first else [first[0], *runs]),
            *of_activity(before[-1], System().activity()),
            *_kernel_caution(runs),
        ),
    )
    names = [name for name in regions[0] if all(name in times for times in regions)]
    return timed, tuple(
        _timed_region(name, [times[name] for times in regions], all_threads=all_threads)
        for name in names
    )


def sample_program(native: Native, timed: Timed) -> Sampler:
    """Return samples of a program's position, from native runs besides the timed ones.

    Parameters
    ----------
    native : Native
    timed : Timed
        The timed runs: a short program is run until there are enough samples.

    Raises
    ------
    MeterUnavailable
        If the kernel allows no sampling.
    """
    sampler = Sampler(cpu_s=timed.cpu_s.median)
    elapsed_s = 0.0
    while not sampler.runs or (
        sampler.samples < _ENOUGH_SAMPLES
        and len(sampler.runs) < (native.repeat or MAX_RUNS)
        and elapsed_s + timed.runtime_s.median < _SAMPLING_BUDGET_S
    ):
        native.report(f"sampling run {len(sampler.runs) + 1}", False)
        sampler.sample(lambda: native.again()[0])
        elapsed_s += sampler.runs[-1].wall_s
    return sampler


def _timed_region(name: str, times: Sequence[RegionTime], *, all_threads: bool) -> TimedRegion:
    return TimedRegion(
        name=name,
        entries=times[0].entries,
        runtime_s=_estimate([time.wall_s for time in times]),
        busy_s=Estimate(time.busy_s for time in times),
        cpu_s=_estimate([time.cpu_s for time in times]),
        cautions=(
            *_region_cautions(name, times),
            *(() if all_threads else _other_threads_caution(name, times)),
        ),
    )


def _estimate(times_s: Sequence[float | None]) -> Estimate | None:
    """Return the estimate of times that are all known."""
    known = [time_s for time_s in times_s if time_s is not None]
    return Estimate(known) if len(known) == len(times_s) else None


def _other_threads_caution(name: str, times: Sequence[RegionTime]) -> tuple[Caution, ...]:
    """Doubt a region during which other threads worked: it holds only its own threads' work."""
    others_s = _estimate([None if t.cpu_s is None else t.cpu_s - t.busy_s for t in times])
    if others_s is None:
        return ()
    busy_s = Estimate(time.busy_s for time in times).median
    if others_s.median <= max(OTHERS * busy_s, _CPU_CLOCK_S * times[0].entries):
        return ()
    return (
        Caution(
            "region-other-threads",
            f"other threads used at least {format_si(others_s.median, 's')} of CPU time while "
            f"region {name!r} was active, in addition to the {format_si(busy_s, 's')} of the "
            "threads inside: their work is not counted in it",
            f"if that work belongs to it, count it too: --region {shlex.quote(name)} --all-threads",
        ),
    )


def _region_cautions(name: str, times: Sequence[RegionTime]) -> tuple[Caution, ...]:
    cautions = []
    if len({time.entries for time in times}) > 1:
        counts = sorted({time.entries for time in times})
        cautions.append(
            Caution(
                "region-entries-differ",
                f"region {name!r} was entered {counts[0]} to {counts[-1]} times in different runs",
                "its runs differ: do not trust its time",
            )
        )
    per_entry_s = min(time.busy_s / max(1, time.entries) for time in times)
    if per_entry_s < _SHORT_ENTRY_S:
        cautions.append(
            Caution(
                "region-short",
                f"an entry of region {name!r} takes {per_entry_s * 1e6:.2g} us; timing its "
                "marks takes 0.05 us (C) to 2 us (Python) of that, and each pair of marks "
                "inside it 1 us to 5 us",
                "mark a longer part: the loop and not its body",
            )
        )
    if any(time.wall_s is None for time in times):
        cautions.append(
            Caution(
                "region-time-unknown",
                f"the time of region {name!r} is not known exactly: several processes were in "
                "it at the same time, or one ended inside it",
                "mark the region in one process only, and leave it before the process ends",
            )
        )
    return tuple(cautions)


def require_success(command: Sequence[str], status: int, *, ignore_status: bool) -> None:
    """Refuse a program that failed.

    Raises
    ------
    ProgramFailed
        If a signal ended it, or its status is not 0 and that is not ignored.
    """
    what = f"cannot measure {command[0]!r}"
    if status > 128 and status - 128 in set(signal.Signals):
        raise ProgramFailed(
            what,
            reason=f"{signal.Signals(status - 128).name} ended it",
            remedy="fix the program first; nothing was measured",
            exit_status=status,
        )
    if status and not ignore_status:
        raise ProgramFailed(
            what,
            reason=f"it exited with status {status}",
            remedy=(
                "read the program's own messages; to measure it nevertheless, add --ignore-status"
            ),
            exit_status=status,
        )


def time_cautions(runtime: Estimate, runs: Sequence[Run]) -> tuple[Caution, ...]:
    """Return cautions about the runtime of a program.

    Parameters
    ----------
    runtime : Estimate
    runs : sequence of Run
        Runs behind the runtime, and others whose status matters.
    """
    cautions = []
    statuses = {run.exit_status for run in runs}
    left_behind = max(run.left_behind for run in runs)
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
                "stop other programs, give the program more to do, or ask for more runs: --repeat",
                effect=spread / 2,
                on="time",
            )
        )
    if runtime.median < _SHORT_S:
        cautions.append(
            Caution(
                "short",
                f"it runs for only {runtime.median * 1e3:.2g} ms, and starting a process takes "
                "much of that",
                "give the program more to do",
            )
        )
    if len(statuses) > 1:
        cautions.append(
            Caution(
                "status-changes",
                f"its runs ended with different statuses: {sorted(statuses)}",
                "its runs differ: check what it leaves behind from one run to the next",
            )
        )
    if left_behind:
        cautions.append(
            Caution(
                "left-behind",
                f"{left_behind} of its processes outlived it and were stopped; their work is "
                "not in the runtime",
                "let the program wait for the processes that it starts",
            )
        )
    return tuple(cautions)


def _kernel_caution(runs: Sequence[Run]) -> tuple[Caution, ...]:
    """Doubt the counts of a program that makes the kernel work: no meter sees that from outside."""
    cpu_s, system_s = sum(r.cpu_s for r in runs), sum(r.system_s for r in runs)
    if cpu_s < _SHORT_S * len(runs) or system_s < _IN_KERNEL * cpu_s:
        return ()
    return (
        Caution(
            "kernel-time",
            f"{system_s / cpu_s:.0%} of its CPU time was spent in the kernel, whose instructions "
            "and traffic are not counted",
            "check its system calls and page faults: the bound holds, but is too low",
        ),
    )
