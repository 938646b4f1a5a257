"""Start processes, ask them and end them: whatever this package executes, it starts here."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

Process = subprocess.Popen[bytes]
Stream = int | IO[bytes] | None
"""A file or a descriptor, `PIPE` or `DISCARD`; None: that of this process."""

PIPE, DISCARD = subprocess.PIPE, subprocess.DEVNULL


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a program wrote, and how it ended.

    Parameters
    ----------
    status : int
        As a shell sees it: 128 + the number of the signal that ended it.
    output, complaints : str
        What it wrote to standard output and standard error; bytes that are not UTF-8 are replaced.
    """

    status: int
    output: str
    complaints: str


def start(
    command: Sequence[str],
    *,
    stdin: Stream = DISCARD,
    stdout: Stream = None,
    stderr: Stream = None,
    environment: Mapping[str, str] | None = None,
    descriptors: Sequence[int] = (),
) -> Process:
    """Start a process in the group of this one, so that the terminal's signals reach it, too.

    Parameters
    ----------
    command : sequence of str
    stdin, stdout, stderr : Stream
    environment : mapping or None
        All its variables; None: those of this process.
    descriptors : sequence of int
        Files open here that it gets besides the standard ones.

    Raises
    ------
    OSError
        If the system refuses to execute it.
    """
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=environment,
        pass_fds=descriptors,
    )


@contextmanager
def in_session(
    command: Sequence[str],
    *,
    stdin: Stream = DISCARD,
    stdout: Stream = None,
    stderr: Stream = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    grace_s: float = 0.0,
) -> Iterator[Process]:
    """Run a process in a session of its own, which ends with this block however it is left.

    Parameters
    ----------
    command : sequence of str
    stdin, stdout, stderr, environment
        As for `start`.
    folder : Path or None
        Where it runs; None: where this process does.
    grace_s : float
        How long it may take to end when it is asked to; 0: it is not asked.

    Raises
    ------
    OSError
        If the system refuses to execute it.
    """
    with subprocess.Popen(  # which closes its pipes
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=environment,
        cwd=folder,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            _end_session(process, grace_s)


def ask(
    command: Sequence[str],
    *,
    text: str | None = None,
    limit_s: float | None = None,
    grace_s: float = 0.0,
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Run a process to its end and return what it wrote.

    Where it takes too long or this is interrupted, it is ended with all that it started.

    Parameters
    ----------
    command : sequence of str
    text : str or None
        Its standard input; None: it has none.
    limit_s : float or None
        After which it is ended; None: it may take as long as it takes.
    grace_s, environment
        As for `in_session`.

    Raises
    ------
    TimeoutError
        If it took longer.
    OSError
        If the system refuses to execute it.
    """
    given = None if text is None else text.encode(errors="surrogateescape")
    with in_session(
        command,
        stdin=DISCARD if given is None else PIPE,
        stdout=PIPE,
        stderr=PIPE,
        environment=environment,
        grace_s=grace_s,
    ) as process:
        try:
            output, complaints = process.communicate(given, limit_s)
        except subprocess.TimeoutExpired:
            reason = f"it has not ended within {limit_s:g} s"
            raise TimeoutError(errno.ETIMEDOUT, reason) from None
    return Answer(
        status=shell_status(process.returncode),
        output=output.decode(errors="replace"),
        complaints=complaints.decode(errors="replace"),
    )


def output_of(
    command: Sequence[str], *, text: str | None = None, limit_s: float | None = None
) -> str:
    """Return what a process that has to succeed wrote to standard output.

    Parameters
    ----------
    command, text, limit_s
        As for `ask`.

    Raises
    ------
    OSError
        If the system refuses to execute it, it took longer or failed.
    """
    answer = ask(command, text=text, limit_s=limit_s)
    if answer.status:
        lines = answer.complaints.strip().splitlines()
        reason = lines[0] if lines else f"it ended with status {answer.status}"
        raise ChildProcessError(errno.ECHILD, reason)
    return answer.output


def call(command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> int:
    """Run a process whose input and output are ours, and return its exit status as `Answer` does.

    Raises
    ------
    OSError
        If the system refuses to execute it.
    """
    return shell_status(subprocess.run(command, check=False, env=environment).returncode)


def has_ended(process: Process, *, within_s: float) -> bool:
    """Wait for the end of a process, and return whether it came."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(within_s)
    return process.returncode is not None


def shell_status(code: int) -> int:
    """Return an exit status as a shell sees it, of one that is negative after a signal."""
    return code if code >= 0 else 128 - code


def _end_session(process: Process, grace_s: float) -> None:
    if process.poll() is not None:
        return
    if grace_s:
        process.terminate()
        has_ended(process, within_s=grace_s)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
