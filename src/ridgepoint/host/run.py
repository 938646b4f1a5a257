"""Run a program as its user would, and know afterwards what it took.

The program stays in this process group, so that the terminal's signals reach it; every process
that it started and left is found, since orphans fall to this process, and ended. Where this
process is killed, a watchdog ends them.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import shutil
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from ridgepoint.core.errors import CannotStart, TimedOut
from ridgepoint.host.process import PIPE, Process, shell_status, start
from ridgepoint.host.standard_input import StandardInput
from ridgepoint.host.watchdog import VARIABLE, watchdog

Output = Literal["own", "stderr", "discard"]
"""Where a program's standard output goes: where ours goes, to our standard error, or nowhere (it
is read and thrown away: a program may do less when it sees /dev/null)."""

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_NATURAL_END_S = 0.2
_GRACE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One finished run of a command.

    Parameters
    ----------
    exit_status : int
        As a shell reports it: the status, or 128 + the number of the signal that ended it.
    wall_s : float
        Wall-clock time from start to exit.
    cpu_s : float
        User and system time of the command and of its children.
    system_s : float
        The part of `cpu_s` in the kernel.
    left_behind : int
        Descendants that outlived the command and were ended.
    """

    exit_status: int
    wall_s: float
    cpu_s: float
    system_s: float = 0.0
    left_behind: int = 0


def resolve(command: Sequence[str]) -> tuple[str, ...]:
    """Return the command with its program as a path that can be executed.

    Raises
    ------
    CannotStart
        If there is no such program, or it may not be executed.
    """
    what = f"cannot run {command[0]!r}"
    found = shutil.which(command[0])
    if found is not None:
        return (found, *command[1:])
    path = Path(command[0])
    if os.sep not in command[0]:
        if path.is_file():
            remedy = f"write ./{command[0]}"
            raise CannotStart(what, reason="it is in this directory, not in PATH", remedy=remedy)
        raise CannotStart(
            what,
            reason="no such program in PATH",
            remedy="check its name, or give its path",
        )
    if path.is_dir():
        raise CannotStart(what, reason="it is a directory", remedy="name a program in it")
    if path.exists():
        raise CannotStart(
            what, reason="it is not executable", remedy=f"chmod +x {command[0]}, if it is a program"
        )
    raise CannotStart(what, reason="no such file", remedy="check the path")


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Let orphaned descendants fall to this process, so that none is lost sight of."""
    libc = ctypes.CDLL(None)
    before = ctypes.c_int(0)
    libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def run(
    command: Sequence[str],
    *,
    stdin: StandardInput,
    output: Output,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    descriptors: Sequence[int] = (),
) -> Run:
    """Run a command to its end.

    Parameters
    ----------
    command : sequence of str
        As `resolve` returns it.
    stdin : StandardInput
    output : {"own", "stderr", "discard"}
        Standard error goes nowhere with ``discard``, else where ours goes.
    timeout_s : float or None
        Wall-clock limit; None: none.
    environment : mapping or None
        Variables besides this process's own.
    descriptors : sequence of int
        Files open here that it gets besides the standard ones.

    Returns
    -------
    Run

    Raises
    ------
    CannotStart
        If the system refuses to execute it, or shows no processes.
    TimedOut
        If it ran longer than `timeout_s`; it and its descendants are ended first.
    """
    if not os.path.exists("/proc/self/stat"):
        raise CannotStart(
            f"cannot run {command[0]!r}",
            reason="/proc is not mounted, where the system tells of processes",
            remedy="mount it: mount -t proc proc /proc",
        )
    watch = watchdog()
    with adopting_orphans(), contextlib.ExitStack() as stack:
        strangers = {child.pid for child in psutil.Process().children()}
        source = stdin.open()
        stack.callback(stdin.finish)
        started = time.perf_counter()
        try:
            variables = {**os.environ, **(environment or {}), VARIABLE: watch.token}
            process = _start(command, source, output, stack, variables, descriptors=descriptors)
        finally:
            os.close(source)
        try:
            watch.note(process.pid)
            status, usage, timed_out = _wait(process, timeout_s)
            wall_s = time.perf_counter() - started
        finally:
            # Whatever ends the wait (an interrupt above all), nothing may go on running.
            left_behind, orphans = _end_descendants(strangers)
            watch.note(0)
    if timed_out:
        raise TimedOut(
            f"cannot measure {command[0]!r}",
            reason=f"it ran longer than {timeout_s:g} s and was ended",
            remedy="give the program less to do, or a longer --timeout",
        )
    system_s = sum(each.ru_stime for each in (usage, *orphans))
    return Run(
        exit_status=status,
        wall_s=wall_s,
        cpu_s=sum(each.ru_utime for each in (usage, *orphans)) + system_s,
        system_s=system_s,
        left_behind=left_behind,
    )


def _start(
    command: Sequence[str],
    source: int,
    output: Output,
    stack: contextlib.ExitStack,
    environment: Mapping[str, str],
    *,
    descriptors: Sequence[int],
) -> Process:
    """Execute a command; where its output is discarded, `stack` gets what ends the reading."""
    stdout = {"own": None, "stderr": 2, "discard": PIPE}[output]
    stderr = PIPE if output == "discard" else None
    try:
        process = start(
            command,
            stdin=source,
            stdout=stdout,
            stderr=stderr,
            environment=environment,
            descriptors=descriptors,
        )
    except OSError as error:
        if error.errno == errno.ENOEXEC and not _is_elf(command[0]):
            # What a shell, time and execvp do with a text that names no interpreter.
            shell = ["/bin/sh", *command]
            return _start(shell, source, output, stack, environment, descriptors=descriptors)
        raise CannotStart(
            f"cannot run {command[0]!r}",
            reason=_why_not_executed(command[0], error),
            remedy="check that it is built for this machine, and which interpreter it names",
        ) from error
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            drain = threading.Thread(target=_drain, args=(pipe.fileno(),), daemon=True)
            drain.start()
            stack.callback(pipe.close)
            stack.callback(drain.join)
    return process


def _drain(fd: int) -> None:
    """Read until nobody can write any more."""
    while os.read(fd, 1 << 20):
        pass


def _is_elf(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _why_not_executed(path: str, error: OSError) -> str:
    if error.errno == errno.ENOEXEC:
        return "the kernel cannot execute it (it is built for another architecture, or damaged)"
    if error.errno == errno.ENOENT:
        return "the interpreter or loader that it names does not exist"
    return os.strerror(error.errno or 0)


def _wait(process: Process, timeout_s: float | None) -> tuple[int, resource.struct_rusage, bool]:
    """Return the exit status as a shell sees it, CPU times, and whether time ran out."""
    ended, expired = threading.Event(), threading.Event()

    def expire() -> None:
        if not ended.wait(timeout_s):
            expired.set()
            _signal_tree(process.pid, signal.SIGTERM)
            if not ended.wait(_GRACE_S):
                _signal_tree(process.pid, signal.SIGKILL)

    watch = threading.Thread(target=expire, daemon=True)
    if timeout_s is not None:
        watch.start()
    try:
        _, wait_status, usage = os.wait4(process.pid, 0)
    finally:
        ended.set()
        if timeout_s is not None:
            watch.join()
    code = os.waitstatus_to_exitcode(wait_status)
    process.returncode = code
    return shell_status(code), usage, expired.is_set()


def _signal_tree(pid: int, number: int) -> None:
    """Send a signal to a process and all its descendants, as far as they are there."""
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in [*root.children(recursive=True), root]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)


def _end_descendants(strangers: set[int]) -> tuple[int, list[resource.struct_rusage]]:
    """End every child that is not a stranger, and what it started.

    Returns
    -------
    tuple
        How many were still running, and the CPU times of those that ended by themselves.
    """
    usages = []
    deadline = time.monotonic() + _NATURAL_END_S
    while True:
        children = [c for c in psutil.Process().children() if c.pid not in strangers]
        for child in list(children):
            pid, _, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                children.remove(child)
                usages.append(usage)
        if not children or time.monotonic() > deadline:
            break
        time.sleep(0.005)
    return end_all(children, grace_s=_GRACE_S), usages


def end_all(children: Iterable[psutil.Process], *, grace_s: float) -> int:
    """End processes and what they started: asked to first, then made to; return how many."""
    running = [p for child in children for p in (child, *_descendants(child))]
    left = running
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        _, left = psutil.wait_procs(left, timeout=grace_s)
    return len(running)


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []
