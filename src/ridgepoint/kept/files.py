"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ridgepoint.core.errors import RidgepointError, reason_of


def replace_file(path: Path, content: bytes, *, what: str) -> None:
    """Write a file; an older one stays as it was until the new one is complete.

    Parameters
    ----------
    path : Path
        A link is followed, so that its target is replaced. A device or a pipe is written to: it
        must never be replaced, which root could do.
    content : bytes
    what : str
        What is written, for the message, for example ``"the figure"``.

    Raises
    ------
    RidgepointError
        If it cannot be written; the message names the path and the reason.
    """
    target = Path(os.path.realpath(path))
    try:
        # By the path itself: what '/dev/stdout' resolves to has no path if it is a pipe.
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.write(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise RidgepointError(
            f"cannot write {what} {str(path)!r}",
            reason=reason_of(error),
            remedy="check that its folder exists, is writable and has free space",
        ) from error


def _replace(target: Path, content: bytes) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
