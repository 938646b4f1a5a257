"""Ends what a process had started, once that process is gone, however it ended.

SIGKILL leaves a process no time to end its children, and the kernel's PR_SET_PDEATHSIG reaches
them only, not what they started. So one more process waits, in a session of its own, asleep until
the other one is gone. It then ends whatever holds the token in its environment, the process that
ran at that moment (a program may begin with an environment of its own), and what both started.

This file is executed by itself, and imports nothing of Ridgepoint.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

VARIABLE = "RIDGEPOINT_RUN"
"""Holds the token in the environment of every program that is run."""

_PROC = Path("/proc")
_SCANS = 50
_BETWEEN_SCANS_S = 0.05
_LOOK_S = 1.0  # on kernels before 5.3, which have no pidfd


class Watchdog:
    """The one of this process; started when it is made."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._noted = 0
        self.token = f"{self.owner}-{secrets.token_hex(8)}"
        # Without a name; it holds the process that runs now, and tells nobody when that changes.
        self._running: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        with contextlib.suppress(OSError):  # no room for one more process: then there is none
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(self.owner), self.token],
                stdin=self._running,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            atexit.register(self._end, process)

    def note(self, pid: int) -> None:
        """Note which process runs now; 0: none."""
        self._noted = pid
        os.pwrite(self._running.fileno(), b"%-20d" % pid, 0)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End it with this process, if that left nothing running; a fork leaves it alone."""
        if os.getpid() == self.owner and not self._noted:
            process.kill()
            process.wait()
            self._running.close()


_OWN: list[Watchdog] = []


def watchdog() -> Watchdog:
    """Return the watchdog of this process: started the first time; a fork has another one."""
    if not _OWN or _OWN[-1].owner != os.getpid():
        _OWN.append(Watchdog())
    return _OWN[-1]


def _await_end(pid: int) -> None:
    """Return when a process is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except OSError:
        while os.getppid() == pid:
            time.sleep(_LOOK_S)
        return
    if os.getppid() == pid:  # else it ended before, and the number may be another's
        select.select([handle], [], [])


def _end_all(token: str) -> None:
    """End all that the token is of, until nothing is found twice."""
    mark = f"{VARIABLE}={token}".encode()
    quiet = 0
    for _ in range(_SCANS):
        found = _found(mark)
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        quiet = 0 if found else quiet + 1
        if quiet > 1:
            return
        time.sleep(_BETWEEN_SCANS_S)


def _found(mark: bytes) -> set[int]:
    """Return the processes with a mark in their environment, the noted one, and their children."""
    parents = dict(_parents())
    found = {pid for pid in parents if mark in _environment(pid)}
    noted = os.pread(0, 20, 0).strip()
    if noted.isdigit() and int(noted) in parents:
        found.add(int(noted))
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _parents() -> list[tuple[int, int]]:
    """Return every process with its parent; those that have ended are left out."""
    parents = []
    for path in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # A name may hold spaces and parentheses.
            fields = (path / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            state, parent = fields[:2]
            if state not in {"Z", "X"}:
                parents.append((int(path.name), int(parent)))
    return parents


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _main(pid: int, token: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # it ends with the one that it watches
    _await_end(pid)
    _end_all(token)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2])
