"""Time a program by native runs, and the regions that it marks."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import ProgramFailed, RidgepointError, TimedOut
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Timed, TimedRegion
from ridgepoint.host import System, of_activity
from ridgepoint.host.run import Output, Run, run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.host.standard_input import StandardInput
from ridgepoint.meters import Selection
from ridgepoint.meters.region_times import RegionTime, read_region_times
from ridgepoint.meters.sampling import Sampler
from ridgepoint.profiling.region_timing import timed_regions, wanted_times
from ridgepoint.profiling.repeats import MAX_RUNS, TIME_BUDGET_S, Progress, repeated
from ridgepoint.profiling.sample_cautions import Remedies, sample_cautions
from ridgepoint.regions import TIMES_VARIABLE

_ENOUGH_SAMPLES = 5000  # a function with a fiftieth of the time then has a hundred
_SAMPLING_BUDGET_S = 10.0
_SHORT_S = 0.01
_IN_KERNEL = 0.2
_MORE = Remedies(
    few="ask for at least 6: --repeat 6",
    noisy="stop other programs, give the program more to do, or ask for more runs: --repeat",
)
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

    def once(
        self, output: Output, variables: Mapping[str, str] | None = None
    ) -> tuple[Run, dict[str, RegionTime]]:
        """Run the program once, and return the time in the regions that it marks.

        Parameters
        ----------
        output : {"own", "stderr", "discard"}
        variables : mapping or None
            More of its environment.

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
                    environment={TIMES_VARIABLE: name, **(variables or {})},
                )
            except TimedOut as error:
                raise TimedOut(
                    error.what, reason=f"natively, {error.reason}", remedy=error.remedy
                ) from error
            require_success(self.command, done.exit_status, ignore_status=self.ignore_status)
            return done, read_region_times(Path(name))

    def again(
        self, variables: Mapping[str, str] | None = None
    ) -> tuple[Run, dict[str, RegionTime]]:
        """Run the program again after a successful run, without showing its output.

        Parameters
        ----------
        variables : mapping or None
            More of its environment.

        Raises
        ------
        ProgramFailed
            If it fails this time; the message says what has changed.
        TimedOut
            If it exceeds the time limit.
        """
        try:
            return self.once("discard", variables)
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


_Done = tuple[Run, dict[str, RegionTime]]
"""A native run, and the times in the regions that it marks."""

_Times = tuple[Timed, tuple[TimedRegion, ...]]


def time_program(native: Native, *, selection: Selection | None = None) -> _Times:
    """Return the runtime of a program, and of the regions that it marks, from native runs.

    Parameters
    ----------
    native : Native
    selection : Selection or None
        The part that is measured alone. If it is a region, runs are repeated until its time is
        known well, whatever the rest of the program takes.

    Raises
    ------
    ProgramFailed, TimedOut
        As `Native.once`.
    """
    (times,) = time_in_turn([native], selection=selection)
    if isinstance(times, RidgepointError):
        raise times
    return times


def time_in_turn(
    natives: Sequence[Native], *, selection: Selection | None = None, needs_all: bool = False
) -> list[_Times | RidgepointError]:
    """Return the times of programs that are to be compared, from runs in turn.

    Parameters
    ----------
    natives : sequence of Native
        Programs; the number of runs and the progress are those of the first.
    selection : Selection or None
        The part that is measured alone in all of them, as for `time_program`.
    needs_all : bool
        Whether the first failure is raised at once.

    Returns
    -------
    list
        For each program its times, or why it has none; one that fails does not stop the others,
        unless all are needed.

    Notes
    -----
    A round runs each program once, and every other round runs them in the opposite order: whatever
    changes about the machine meanwhile changes it for all of them alike. There are as many rounds
    as the program with the widest interval needs, and the time for them is as long as it were for
    one after the other.
    """
    if not natives:
        return []
    rounds = _Rounds(natives, needs_all=needs_all)
    before = [System().activity()]

    def again() -> dict[int, _Done]:
        if len(before) == 1:  # the first run does not count
            before.append(System().activity())
        return rounds.run(lambda native: native.again())

    first, counting = repeated(
        lambda: rounds.run(lambda native: native.once(native.output)),
        again,
        time_s=lambda done: sum(run.wall_s for run, _ in done.values()),
        repeat=natives[0].repeat,
        report=natives[0].report,
        wanted=lambda runs: [
            times_s
            for index in runs[0]
            if index not in rounds.failures
            for times_s in wanted_times([done[index] for done in runs], selection)
        ],
        budget_s=TIME_BUDGET_S * len(natives),
    )
    disturbances = tuple(of_activity(before[-1], System().activity()))
    return [
        rounds.failures[index]
        if index in rounds.failures
        else _times(
            first[index],
            [done[index] for done in counting],
            selection=selection,
            disturbances=disturbances,
        )
        for index in range(len(natives))
    ]


class _Rounds:
    """Runs of several programs in turn; a program that failed is left out from then on."""

    def __init__(self, natives: Sequence[Native], *, needs_all: bool) -> None:
        self.failures: dict[int, RidgepointError] = {}
        self._needs_all = needs_all
        self._natives = natives
        self._order = list(range(len(natives)))

    def run(self, launch: Callable[[Native], _Done]) -> dict[int, _Done]:
        done = {}
        for index in self._order:
            if index not in self.failures:
                try:
                    done[index] = launch(self._natives[index])
                except RidgepointError as error:
                    if self._needs_all:
                        raise
                    self.failures[index] = error
        self._order.reverse()
        return done


def _times(
    first: _Done,
    counting: Sequence[_Done],
    *,
    selection: Selection | None,
    disturbances: Sequence[Caution],
) -> _Times:
    runs = [run for run, _ in counting]
    runtime = Estimate(run.wall_s for run in runs)
    timed = Timed(
        runtime_s=runtime,
        cpu_s=Estimate(run.cpu_s for run in runs),
        system_s=Estimate(run.system_s for run in runs),
        exit_status=first[0].exit_status,
        cautions=(
            *time_cautions(runtime, runs if counting[0] is first else [first[0], *runs]),
            *disturbances,
            *_kernel_caution(runs),
        ),
    )
    return timed, timed_regions([times for _, times in counting], selection)


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
    cautions = list(sample_cautions(runtime, what="the runtime", more=_MORE))
    statuses = {run.exit_status for run in runs}
    left_behind = max(run.left_behind for run in runs)
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
