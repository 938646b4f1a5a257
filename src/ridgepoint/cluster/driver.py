"""Measure a distributed program: each rank's time natively, its counts from one counted run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from ridgepoint import __version__
from ridgepoint.cluster.cautions import of_program
from ridgepoint.cluster.gathering import cpu_s, distributed, runtime_s, summed
from ridgepoint.cluster.launcher import Launcher
from ridgepoint.cluster.profiling import REGION
from ridgepoint.cluster.task import MeterName, Mode, Report, Task
from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.ranks import Distributed
from ridgepoint.core.timed import Timed
from ridgepoint.host.run import Output, Run
from ridgepoint.host.standard_input import (
    StandardInput,
    no_standard_input,
    own_standard_input,
)
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.repeats import Progress, repeated
from ridgepoint.profiling.timing import time_cautions

_PREPARE_LIMIT_S = 180.0
_IDLE_S = 0.5
_ONE_THREAD = 1.1
_START_LIMIT_S = 60.0
_SLOWDOWNS = {"engine": "2 to 200", "native": "1 to 100", "perf": "1"}
"""What a launcher may take to start and end all ranks, besides the time of the program."""


class Runner(Protocol):
    """Does a task on every rank (`ridgepoint.cluster.jobs.Jobs`)."""

    @property
    def launcher(self) -> Launcher:
        """What starts the ranks."""

    def run(
        self, task: Task, *, stdin: StandardInput, output: Output, limit_s: float | None
    ) -> tuple[Report, ...]:
        """Return what each rank told, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a distributed program is measured.

    Parameters
    ----------
    command : tuple of str
        Command as each rank executes it.
    meter : {"engine", "perf"}
    caches : tuple of Cache or None
        Caches to simulate; None: each host's own. Ranks of a node share them.
    traffic : bool
        Whether caches are simulated.
    repeat : int or None
        Native runs that count; None: as many as the interval needs.
    timeout_s : float or None
        Limit of each single run.
    counts_only : bool
        Leave the native runs out, but for one that finds out whether it uses MPI.
    ignore_status : bool
    output : {"own", "stderr", "discard"}
        Where the program's output goes in the one run that shows it.
    """

    command: tuple[str, ...]
    meter: MeterName = "engine"
    caches: tuple[Cache, ...] | None = None
    traffic: bool = True
    repeat: int | None = None
    timeout_s: float | None = None
    counts_only: bool = False
    ignore_status: bool = False
    output: Output = "own"


class DistributedProgram:
    """A program that is measured on all ranks of a launcher.

    Parameters
    ----------
    plan : Plan
    runner : Runner
    progress : callable or None
    """

    def __init__(self, plan: Plan, runner: Runner, *, progress: Progress | None = None) -> None:
        self._plan, self._runner = plan, runner
        self._report = progress or (lambda what, output_is_shown: None)
        self._prepared: tuple[Report, ...] | None = None
        self._cautions: list[Caution] = []
        launcher = runner.launcher
        self._task = Task(
            token="",
            mode="prepare",
            command=plan.command,
            ranks=launcher.ranks,
            launcher_folder=launcher.folder,
            timeout_s=plan.timeout_s,
            ignore_status=plan.ignore_status,
            meter=plan.meter,
            caches=plan.caches,
            traffic=plan.traffic,
        )

    def simulate(self, caches: Sequence[Cache]) -> None:
        """Simulate these caches on every host, where they are known only after `prepare`."""
        self._task = msgspec.structs.replace(self._task, caches=tuple(caches))

    def measure(self) -> Measurement:
        """Measure it: time all ranks natively, then count them in one run.

        Returns
        -------
        Measurement
            Measurement of the whole: work and traffic summed over ranks, the time of the slowest;
            the single ranks and nodes are in ``distributed``.

        Raises
        ------
        ProgramFailed
            If a rank's program failed; the message names it.
        MeterUnavailable
            If the meter does not work on a host; the message names it.
        CannotMeasure
            If ranks cannot be started, have other versions, or take too long.
        """
        context = context_here()
        idle = [self.prepare()]
        with own_standard_input() as stdin:
            runs = self._time(stdin)
            counted = self._count(stdin, runs[0])
        idle.append(counted)
        launcher = self._runner.launcher
        whole = distributed(
            launcher=launcher.name,
            runs=runs,
            counted=counted,
            idle=idle,
            is_timed=not self._plan.counts_only,
            is_profiled=self._task.profile,
        )
        timed = None if self._plan.counts_only else _timed(runs)
        runtime = None if timed is None else timed.runtime_s.median
        return Measurement(
            command=(*launcher.shown, *self._plan.command),
            counted=_without_idle_threads(summed(counted, region=self._task.region), whole),
            timed=timed,
            context=replace(context, versions={**context.versions, "launcher": launcher.name}),
            cautions=(*self._cautions, *of_program(whole, runs, counted, runtime_s=runtime)),
            distributed=whole,
        )

    def prepare(self) -> tuple[Report, ...]:
        """See once that all hosts can do what is asked for, and build what they lack.

        Raises
        ------
        MeterUnavailable, CannotMeasure
            As `measure`.
        """
        if self._prepared is not None:
            return self._prepared
        ranks = self._runner.launcher.ranks
        self._report(f"preparing {ranks} rank{'s' * (ranks > 1)}", False)
        task = msgspec.structs.replace(self._task, idle_s=_IDLE_S)
        reports = self._runner.run(
            task, stdin=no_standard_input(), output="stderr", limit_s=_PREPARE_LIMIT_S
        )
        _require_one_version(reports)
        for report in reports:
            if report.lacks_meter is not None:
                reason, remedy = report.lacks_meter
                raise MeterUnavailable(
                    f"cannot count with {self._plan.meter} on {report.host}",
                    reason=reason,
                    remedy=remedy,
                )
        if self._plan.meter == "perf":
            self._cautions.append(
                Caution(
                    "whole-processes",
                    "hardware counters counted each process from start to exit, including the "
                    "start of MPI, and the memory traffic of the whole nodes during that time",
                    "give the program more to do, or count with --meter engine",
                )
            )
        libraries = {
            report.host: report.library for report in reports if report.library is not None
        }
        self._task = msgspec.structs.replace(self._task, libraries=libraries)
        lacking = next((report for report in reports if report.lacks_profile is not None), None)
        if lacking is not None and lacking.lacks_profile is not None:
            reason, remedy = lacking.lacks_profile
            self._task = msgspec.structs.replace(self._task, profile=False)
            self._cautions.append(
                Caution(
                    "mpi-unknown",
                    "MPI is not profiled, and each process is measured as a whole, including "
                    f"the start of MPI: {lacking.host}: {reason}",
                    remedy,
                )
            )
        self._prepared = reports
        return reports

    def _time(self, stdin: StandardInput) -> list[tuple[Report, ...]]:
        """Return native runs; the first finds cold files, and counts where it is alone."""
        plan = self._plan
        _, runs = repeated(
            lambda: self._run("time", stdin, plan.output),
            lambda: self._run("time", stdin, "discard"),
            time_s=slowest_s,
            repeat=1 if plan.counts_only else plan.repeat,
            report=self._report,
        )
        return runs

    def _count(self, stdin: StandardInput, native: Sequence[Report]) -> tuple[Report, ...]:
        task = self._task
        if any(report.profiles for report in native) and self._plan.meter == "engine":
            # Other threads of a rank mark nothing, and work for it all the same.
            task = msgspec.structs.replace(task, region=REGION, all_threads=True)
        self._task = task
        natively = max(report.wall_s or 0.0 for report in native)
        self._report(
            f"counting with {self._plan.meter} (native run: {natively:.3g} s), which takes "
            f"{_SLOWDOWNS[self._plan.meter]} times as long",
            False,
        )
        return self._run("count", stdin, "discard")

    def _run(self, mode: Mode, stdin: StandardInput, output: Output) -> tuple[Report, ...]:
        limit_s = self._plan.timeout_s
        task = msgspec.structs.replace(
            self._task, mode=mode, output=output, idle_s=_IDLE_S if mode == "count" else 0.0
        )
        return self._runner.run(
            task,
            stdin=stdin,
            output=output,
            limit_s=None if limit_s is None else limit_s + _START_LIMIT_S,
        )


def _without_idle_threads(counted: Counted, whole: Distributed) -> Counted:
    """Return counts without the doubt about threads, where they are MPI's own, which sleep."""
    busy = [
        rank.cpu_s.median / rank.runtime_s.median
        for rank in whole.ranks
        if rank.cpu_s is not None and rank.runtime_s is not None and rank.runtime_s.median > 0
    ]
    if not whole.uses_mpi or len(busy) < len(whole.ranks) or max(busy) > _ONE_THREAD:
        return counted
    kept = tuple(caution for caution in counted.cautions if caution.code != "threads-serialized")
    return replace(counted, cautions=kept)


def _require_one_version(reports: Sequence[Report]) -> None:
    by_version: dict[str, str] = {}
    for report in reports:
        by_version.setdefault(report.version, report.host)
    if set(by_version) != {__version__}:
        versions = ", ".join(f"{version} on {host}" for version, host in sorted(by_version.items()))
        raise CannotMeasure(
            "cannot measure on these hosts",
            reason=f"they have Ridgepoint {versions}, and this process has {__version__}",
            remedy="install the same version on all of them",
        )


def slowest_s(run: Sequence[Report]) -> float:
    """Return the time of the slowest rank."""
    return max(map(runtime_s, run))


def _timed(runs: Sequence[Sequence[Report]]) -> Timed:
    """Return the time of the slowest rank and the CPU time of all, of each run."""
    runtime = Estimate(map(slowest_s, runs))
    together = [
        Run(
            exit_status=max(report.status for report in run),
            wall_s=slowest_s(run),
            cpu_s=sum(map(cpu_s, run)),
            left_behind=sum(report.left_behind for report in run),
        )
        for run in runs
    ]
    cautions = time_cautions(runtime, together)
    return Timed(
        runtime_s=runtime,
        cpu_s=Estimate(whole_run.cpu_s for whole_run in together),
        exit_status=together[0].exit_status,
        # That a run is short is said of processes.
        cautions=tuple(caution for caution in cautions if caution.code != "short"),
    )
