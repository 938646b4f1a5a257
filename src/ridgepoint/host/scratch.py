"""Folders for what runs write, gone afterwards: also those of processes that were killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PREFIX = "ridgepoint-run-"
_LOCKED = stat.S_IRWXU | stat.S_ISVTX
"""Mode of a folder from when its process has locked it: before, that nobody holds it says nothing.

A mark that is no file, since meters read whatever is in the folder; alone there, its owner loses
nothing by the sticky bit.
"""


@contextlib.contextmanager
def scratch_folder(within: Path | None = None) -> Iterator[str]:
    """Give a folder of its own, which is removed afterwards.

    Parameters
    ----------
    within : Path or None
        Where it is made; None: the temporary folder.

    Notes
    -----
    Its process holds a lock on it. The first time that a process asks for one, it removes those
    whose processes have ended without doing so.
    """
    parent = tempfile.gettempdir() if within is None else str(within)
    _sweep_once(parent, os.getpid())
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent) as name,
        contextlib.ExitStack() as stack,
    ):
        with contextlib.suppress(OSError):  # a file system without locks: nobody may remove it
            handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.chmod(name, _LOCKED)
        yield name


def sweep(parent: Path) -> list[Path]:
    """Remove the folders of this user that no process holds any more, and return them."""
    removed = []
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), _opened(folder) as handle:
            status = os.fstat(handle)
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) != _LOCKED:
                continue
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)


@cache
def _sweep_once(parent: str, pid: int) -> None:
    """Sweep once in a process; a fork of it is another one."""
    sweep(Path(parent))
