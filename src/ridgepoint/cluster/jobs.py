"""One job: starts all ranks, gathers what they tell, and leaves none behind."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import psutil

from ridgepoint import __version__
from ridgepoint.cluster.frames import Receiver
from ridgepoint.cluster.launcher import Launcher, clean_environment
from ridgepoint.cluster.task import Report, Task
from ridgepoint.core.errors import CannotMeasure, CannotStart, ProgramFailed, reason_of
from ridgepoint.host.process import DISCARD, PIPE, Process, has_ended, start
from ridgepoint.host.run import Output, adopting_orphans, end_all
from ridgepoint.host.standard_input import StandardInput
from ridgepoint.host.watchdog import VARIABLE, watchdog

END_S = 10.0
"""Within this time all ranks must have ended once one has failed, or all have told."""

_GRACE_S = 3.0
_CHUNK = 1 << 16
_TAIL_BYTES = 1 << 14
_LOOK_S = 0.2
_RULE = re.compile(r"^[-=*\s]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Starts jobs of one launcher.

    Parameters
    ----------
    launcher : Launcher
    agent : tuple of str
        What each rank executes, but for the task.
    """

    launcher: Launcher
    agent: tuple[str, ...] = field(
        default_factory=lambda: (sys.executable, "-m", "ridgepoint.cluster.agent")
    )

    def run(
        self, task: Task, *, stdin: StandardInput, output: Output, limit_s: float | None
    ) -> tuple[Report, ...]:
        """Do a task on every rank, and return what each told, in their order.

        Parameters
        ----------
        task : Task
            Its token is made here.
        stdin : StandardInput
            Of rank 0, as launchers have it.
        output : {"own", "stderr", "discard"}
            Where what ranks write goes, and what the launcher says.
        limit_s : float or None
            For the whole job.

        Raises
        ------
        CannotStart
            If the launcher does not start.
        ProgramFailed
            If a rank's program failed; the message names the rank and its host.
        CannotMeasure
            If it takes too long, a rank could not do its task, or told nothing.
        """
        task = msgspec.structs.replace(task, token=secrets.token_hex(8))
        command = (*self.launcher.command, *self.agent, task.encoded())
        gathered = _Gathered(task=task, shown=output != "discard")
        with adopting_orphans(), _started(command, stdin, output) as process:
            gathered.listen(process, limit_s=limit_s)
        gathered.check(self.launcher)
        return tuple(gathered.reports[rank] for rank in range(task.ranks))


@contextlib.contextmanager
def _started(command: Sequence[str], stdin: StandardInput, output: Output) -> Iterator[Process]:
    """Start a launcher, and end it with all that it started."""
    watch = watchdog()
    strangers = {child.pid for child in psutil.Process().children()}
    source = stdin.open()
    try:
        process = start(
            command,
            stdin=source,
            stdout={"own": None, "stderr": 2, "discard": DISCARD}[output],
            stderr=PIPE,
            environment={**clean_environment(os.environ), VARIABLE: watch.token},
        )
    except OSError as error:
        stdin.finish()
        raise CannotStart(
            f"cannot start {command[0]!r}",
            reason=reason_of(error),
            remedy="check whether it runs by itself",
        ) from error
    finally:
        os.close(source)
    try:
        watch.note(process.pid)
        yield process
    finally:
        _end(process, strangers)
        watch.note(0)
        if process.stderr is not None:
            process.stderr.close()
        stdin.finish()


def _end(process: Process, strangers: set[int]) -> None:
    """End a launcher; asked to, it ends the ranks of other hosts. Then what it left here."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        has_ended(process, within_s=_GRACE_S)
    left = [child for child in psutil.Process().children() if child.pid not in strangers]
    end_all(left, grace_s=_GRACE_S)
    process.poll()


class _Gathered:
    """What came of a job until now.

    Parameters
    ----------
    task : Task
    shown : bool
        Whether what is no message goes on to our standard error.
    """

    def __init__(self, *, task: Task, shown: bool) -> None:
        self.task, self._shown = task, shown
        self.reports: dict[int, Report] = {}
        self._receiver = Receiver(task.token)
        self._tail = b""
        self._overdue = False
        self._strange: CannotMeasure | None = None
        self._status: int | None = None
        self._seen_exits = False

    def listen(self, process: Process, *, limit_s: float | None) -> None:
        """Take in what ranks tell until they have ended, or it is time to end them."""
        assert process.stderr is not None  # it is a pipe
        fd = process.stderr.fileno()
        started = time.monotonic()
        end_s = float("inf") if limit_s is None else started + limit_s
        while True:
            ready, _, _ = select.select([fd], [], [], _LOOK_S)
            if ready:
                data = os.read(fd, _CHUNK)
                self._take(data)
                if not data:
                    break
            elif process.poll() is not None:
                # A process that it left behind holds the pipe open.
                break
            if self._strange is not None:
                break
            if self._is_settled() and end_s > time.monotonic() + END_S:
                end_s = time.monotonic() + END_S
            if time.monotonic() > end_s:
                self._overdue = True
                break
        if has_ended(process, within_s=0 if self._overdue or self._strange else _GRACE_S):
            self._status = process.returncode

    def _is_settled(self) -> bool:
        """Return whether nothing more is waited for but the end."""
        all_told = len(self.reports) == self.task.ranks
        return all_told or any(report.failure is not None for report in self.reports.values())

    def _take(self, data: bytes) -> None:
        rest, messages = self._receiver.feed(data)
        self._tail = (self._tail + rest)[-_TAIL_BYTES:]
        if rest and self._shown:
            with contextlib.suppress(OSError):
                os.write(2, rest)
        for rank, message in messages:
            try:
                report = msgspec.msgpack.decode(message, type=Report)
            except (msgspec.DecodeError, UnicodeError):
                self._strange = CannotMeasure(
                    "cannot understand the ranks",
                    reason=(
                        f"the report of rank {rank} comes from another version than {__version__}"
                    ),
                    remedy="install the same version of Ridgepoint on all hosts",
                )
                return
            if report.ranks != self.task.ranks:
                self._strange = self._not_ranks(report)
                return
            self.reports[rank] = report

    def _not_ranks(self, report: Report) -> CannotMeasure:
        return CannotMeasure(
            f"cannot measure {self.task.command[0]!r} on {self.task.ranks} ranks",
            reason=f"the launcher started processes that see {report.ranks} rank(s)",
            remedy=(
                "use an MPI launcher that starts as many ranks as --mpi says: --launcher 'srun "
                "--mpi=pmix -n {ranks}'"
            ),
        )

    def check(self, launcher: Launcher) -> None:
        """Refuse a job of which not all went well.

        Raises
        ------
        ProgramFailed, CannotMeasure
        """
        if self._strange is not None:
            raise self._strange
        what = f"cannot measure {self.task.command[0]!r}"
        failed = [report for report in self.reports.values() if report.failure is not None]
        if failed:
            raise _failure(what, failed)
        missing = [rank for rank in range(self.task.ranks) if rank not in self.reports]
        if not missing:
            return
        who = _named(missing)
        message = _telling(self._tail)
        if self._overdue:
            raise CannotMeasure(
                what,
                reason=f"{who} did not end in time, and all ranks were stopped",
                remedy=(
                    "check whether the program waits for a message that never comes, or give a "
                    "longer --timeout"
                ),
            )
        known = sorted({report.host for report in self.reports.values()})
        answered = f" (those on {', '.join(known)} answered)" if known else ""
        raise CannotMeasure(
            what,
            reason=f"{who} ended without an answer{answered}"
            + (f"; {launcher.shown[0]} says: {message}" if message else ""),
            remedy=(
                "check that Ridgepoint is installed on every host, at the same path "
                f"({sys.executable}), and read the launcher's messages"
            ),
        )


def _failure(what: str, failed: Sequence[Report]) -> CannotMeasure | ProgramFailed:
    """Return the error of the rank that failed first; others fail since it is gone."""

    def order(report: Report) -> tuple[bool, bool, float]:
        assert report.failure is not None
        status = report.failure.status or 0
        # SIGTERM is how launchers end ranks; a status is what MPI's own abort ends with.
        return status == 128 + signal.SIGTERM, status < 128, report.failure.at_s

    first = min(failed, key=order)
    failure = first.failure
    assert failure is not None
    reason = f"rank {first.rank} on {first.host}: {failure.reason}"
    if failure.status is None:
        return CannotMeasure(what, reason=reason, remedy=failure.remedy)
    return ProgramFailed(what, reason=reason, remedy=failure.remedy, exit_status=failure.status)


def _named(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    more = f" and {len(ranks) - 8} more" if len(ranks) > 8 else ""
    return f"rank{'s' if len(ranks) > 1 else ''} {shown}{more}"


def _telling(tail: bytes) -> str:
    """Return what a launcher said, in one short line."""
    lines = [line.strip() for line in tail.decode(errors="replace").splitlines()]
    message = " ".join(line for line in lines if line and not _RULE.match(line))
    return message if len(message) <= 300 else f"{message[:300]}…"
