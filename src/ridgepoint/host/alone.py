"""A lock that one process of this host holds at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

_NAME = "ridgepoint-machine.lock"


@contextlib.contextmanager
def alone_on_this_host(
    when_waiting: Callable[[], None], *, folder: Path | None = None
) -> Iterator[None]:
    """Hold the lock for measuring this host; wait for it as long as another process has it.

    Parameters
    ----------
    when_waiting : callable
        Called once if another process has it now.
    folder : Path or None
        Where the file to lock is; None: the folder for temporary files, of all users.

    Notes
    -----
    The kernel gives the lock back when its holder ends, however it ends. The file stays and says
    nothing. Where none can be made there is no lock, and no reason not to measure.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            handle = _opened((folder or Path(tempfile.gettempdir())) / _NAME)
            stack.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                when_waiting()
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _opened(path: Path) -> int:
    """Open a file to lock; a lock needs no permission to write, so it may be another user's."""
    try:
        # In a folder of all users the kernel may refuse O_CREAT on what another one has made.
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
