"""What the launcher starts as each rank: runs the program as its child, and tells the driver.

Called as ``python -m ridgepoint.cluster.agent TASK``. The answer is one message on standard error
(`ridgepoint.cluster.frames`), so that no shared file system is needed. It starts no MPI itself: a
launcher's rank can initialise MPI once, and that is the program's to do.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec

from ridgepoint import __version__
from ridgepoint.cluster import interfaces, profiling
from ridgepoint.cluster.detect import launched
from ridgepoint.cluster.frames import send
from ridgepoint.cluster.sharing import shared_caches
from ridgepoint.cluster.task import Failure, Report, Task
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import ProgramFailed, RidgepointError
from ridgepoint.host import System, hostname, usable_cpus
from ridgepoint.host.run import Output, Run, resolve, run
from ridgepoint.host.standard_input import StandardInput, own_standard_input
from ridgepoint.meters import Meter
from ridgepoint.meters.region_times import read_region_times
from ridgepoint.regions import TIMES_VARIABLE

_LOCAL_RANKS = (
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "SLURM_LOCALID",
)
_LOCAL_SIZES = (
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_LOCAL_SIZE",
    "SLURM_STEP_TASKS_PER_NODE",
)
_CHANNELS = ("PMI_FD", "HYDI_CONTROL_FD")
"""Variables in which MPICH's launcher tells the descriptor by which a rank speaks to it."""

_FOLDER = "ridgepoint-rank-"
_ABANDONED_S = 3600.0
_MOST_FUNCTIONS = 200
_LOOK_S = 0.5


def main(arguments: Sequence[str]) -> int:
    """Do a task and tell the driver; return the status for the launcher."""
    task = Task.decoded(arguments[0])
    _end_with_parent()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _stop)
    report = _blank_report(task)
    try:
        if report.ranks == task.ranks:  # else the driver says what is wrong
            report = _DOERS[task.mode](task, report)
    except RidgepointError as error:
        status = error.exit_status if isinstance(error, ProgramFailed) else None
        failure = Failure(reason=error.reason, remedy=error.remedy, status=status, at_s=time.time())
        report = msgspec.structs.replace(report, failure=failure)
    send(2, task.token, report.rank, msgspec.msgpack.encode(report))
    if report.failure is None:
        return 0
    # Not 0: the launcher then ends the others, which would wait for this one.
    return report.failure.status or 1


def _end_with_parent() -> None:
    """End this process, and what it runs, when the launcher is gone."""
    parent = os.getppid()

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=look, daemon=True).start()


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    # The program is ended on the way out; a second signal shall not break that off.
    for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _blank_report(task: Task) -> Report:
    here = launched()
    return Report(
        version=__version__,
        # Without a launcher that numbers them, every process is a rank 0 of 1.
        rank=0 if here is None else here.rank,
        ranks=1 if here is None else here.size,
        local_rank=_number(_LOCAL_RANKS),
        host=hostname(),
        cpu=System().cpu,
        cpus=usable_cpus(),
    )


def _number(names: Sequence[str]) -> int | None:
    for name in names:
        # Slurm writes 2(x3) for three nodes of two.
        text = os.environ.get(name, "").partition("(")[0]
        if text.isascii() and text.isdecimal():
            return int(text)
    return None


def _prepare(task: Task, report: Report) -> Report:
    """Build what the runs need, once on each host, and watch its idle network."""
    resolve(task.command)
    if report.local_rank not in {0, None}:
        return report
    _clear_abandoned(Path(tempfile.gettempdir()))
    lacks_profile = lacks_meter = library = None
    if task.profile:
        folder = None if task.launcher_folder is None else Path(task.launcher_folder)
        try:
            library = profiling.preloaded(folder)
        except RidgepointError as error:
            lacks_profile = (error.reason, error.remedy)
    lack = _meter(task).why_unavailable()
    if lack is not None:
        lacks_meter = (lack.reason, lack.remedy)
    return msgspec.structs.replace(
        report,
        library=library,
        lacks_profile=lacks_profile,
        lacks_meter=lacks_meter,
        idle=_idle(task),
    )


def _clear_abandoned(folder: Path) -> None:
    """Remove what agents left that were killed; MPICH's launcher ends ranks so."""
    for path in folder.glob(f"{_FOLDER}*"):
        pid = path.name.removeprefix(_FOLDER).partition("-")[0]
        with contextlib.suppress(OSError):
            is_old = time.time() - path.stat().st_mtime > _ABANDONED_S
            if is_old and not os.path.exists(f"/proc/{pid}"):
                shutil.rmtree(path, ignore_errors=True)


def _idle(task: Task) -> tuple[interfaces.Passed, float] | None:
    if not task.idle_s:
        return None
    before, started = interfaces.read(), time.perf_counter()
    time.sleep(task.idle_s)
    return interfaces.passed(before, interfaces.read()), time.perf_counter() - started


def _time(task: Task, report: Report) -> Report:
    with own_standard_input() as stdin, _Folders(task) as folders:
        watches = report.local_rank == 0
        before = interfaces.read() if watches else {}
        try:
            done = folders.run(resolve(task.command), task.output, stdin)
        except SystemExit:
            # Others notice that a rank is gone, abort, and the launcher ends all, before this
            # one could tell that it was the first.
            left_s = folders.left_s()
            if left_s is None:
                raise
            failure = Failure(
                reason="it ended without MPI_Finalize",
                remedy="see the program's own messages",
                status=1,
                at_s=left_s,
            )
            return msgspec.structs.replace(report, failure=failure)
        after = interfaces.read() if watches else {}
        _require_success(task, done.exit_status)
        return msgspec.structs.replace(
            report,
            **_of_run(done),
            profiles=tuple(profiling.read(folders.profiles)) if task.profile else (),
            regions=read_region_times(folders.regions),
            passed=interfaces.passed(before, after) if watches else None,
        )


def _count(task: Task, report: Report) -> Report:
    runs: list[Run] = []
    with own_standard_input() as stdin, _Folders(task) as folders:

        def launch(command: Sequence[str]) -> Run:
            runs.append(folders.run(command, "discard" if runs else task.output, stdin))
            return runs[-1]

        caches = System().caches if task.caches is None else task.caches
        local_size = _number(_LOCAL_SIZES) or 1
        counted = _meter(task).count(
            resolve(task.command),
            launch=launch,
            caches=shared_caches(caches, ranks=local_size, cpus=os.cpu_count() or 1),
        )
        _require_success(task, runs[-1].exit_status)
        profiles = tuple(profiling.read(folders.profiles)) if task.profile else ()
    return msgspec.structs.replace(
        report,
        **_of_run(runs[-1]),
        counted=_own(task, report, _short(counted)),
        profiles=profiles,
        idle=_idle(task) if report.local_rank == 0 else None,
    )


def _require_success(task: Task, status: int) -> None:
    if status:
        # Imported here, as the meters are: a rank that is only timed begins the sooner.
        from ridgepoint.profiling.timing import require_success

        require_success(task.command, status, ignore_status=task.ignore_status)


def _open_channels() -> list[int]:
    numbers = [number for name in _CHANNELS if (number := _number((name,))) is not None]
    return [number for number in numbers if os.path.exists(f"/proc/self/fd/{number}")]


def _of_run(done: Run) -> Mapping[str, float | int]:
    return {
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "system_s": done.system_s,
        "status": done.exit_status,
        "left_behind": done.left_behind,
    }


def _short(counted: Counted) -> Counted:
    """Return counts without lines, and without the functions that did least: they must travel."""
    kept = counted.functions[:_MOST_FUNCTIONS]
    return replace(counted, functions=tuple(replace(record, lines=()) for record in kept))


def _own(task: Task, report: Report, counted: Counted) -> Counted:
    """Return counts without what is the whole node's, but on its first rank."""
    if task.meter != "perf" or report.local_rank == 0:
        return counted
    return replace(counted, traffic=(), energy_j=None)


def _meter(task: Task) -> Meter:
    from ridgepoint.meters.engine import EngineMeter
    from ridgepoint.meters.perf import PerfMeter

    if task.meter == "perf":
        return PerfMeter()
    if task.meter == "native":
        from ridgepoint.meters.native import NativeMeter

        return NativeMeter(cpus=len(usable_cpus()), simulate=task.traffic, region=task.region)
    return EngineMeter(
        cpus=len(usable_cpus()),
        simulate=task.traffic,
        region=task.region,
        all_threads=task.all_threads,
        may_be_replaced=False,
    )


class _Folders:
    """Folders for what the program's marks and MPI's profile leave; gone afterwards."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._outer = tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-")
        self.profiles = Path(self._outer.name) / "mpi"
        self.regions = Path(self._outer.name) / "regions"

    def __enter__(self) -> _Folders:
        self.profiles.mkdir()
        self.regions.mkdir()
        return self

    def __exit__(self, *unused: object) -> None:
        self._outer.cleanup()

    def left_s(self) -> float | None:
        """Return when the program ended without MPI_Finalize, s since 1970; None: it did not."""
        written = sorted(self.profiles.glob("*.mpi"))
        if written and not all(profile.is_finalized for profile in profiling.read(self.profiles)):
            return min(path.stat().st_mtime for path in written)
        return None

    def run(self, command: Sequence[str], output: Output, stdin: StandardInput) -> Run:
        """Run a command to its end, with MPI profiled if the task says so."""
        variables = {}
        if self._task.mode == "time":
            variables[TIMES_VARIABLE] = str(self.regions)
        library = self._task.libraries.get(hostname())
        if self._task.profile and library is not None:
            variables |= profiling.environment(library, self.profiles)
        return run(
            command,
            stdin=stdin,
            output=output,
            timeout_s=self._task.timeout_s,
            environment=variables,
            descriptors=_open_channels(),
        )


_DOERS = {"prepare": _prepare, "time": _time, "count": _count}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
