"""The folder in which copies of modules are kept, and what is removed from it."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import reason_of
from ridgepoint.meters.building import cache_folder

_COPIES = "copies"
_MADE = "made-"  # what the preloaded library calls the files of code made at run time
_UNUSED_S = 30 * 24 * 3600.0
_MADE_UNUSED_S = 24 * 3600.0  # most of it holds addresses, which are others in each run


def folder_of_copies(version: str, scratch: Path) -> tuple[Path, tuple[Caution, ...]]:
    """Return where copies are kept, and the doubt that they are for this run only.

    Parameters
    ----------
    version : str
        Of what a copy depends on beside its module.
    scratch : Path
        Where to keep them for this run.
    """
    try:
        folder = cache_folder(_COPIES) / version
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # it is in use
        _clear_unused(folder.parent)
        _clear_made(folder)
        probe = folder / f".writable-{scratch.name}"
        probe.touch()
        probe.unlink()
        return folder, ()
    except OSError as error:
        folder = scratch / _COPIES
        folder.mkdir()
        doubt = Caution(
            "copies-not-kept",
            f"the copies of its modules were made for this run only: {reason_of(error)}",
            "name a folder in RIDGEPOINT_CACHE that has free space",
            effect=0.0,
        )
        return folder, (doubt,)


def was_made(path: str) -> bool:
    """Return whether a file holds code that was made at run time."""
    return os.path.basename(path).startswith(_MADE)


def _clear_unused(copies: Path) -> None:
    """Remove the copies of engines that have not been used for long."""
    for folder in copies.iterdir():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(folder, ignore_errors=True)


def _clear_made(copies: Path) -> None:
    """Remove code made at run time, and its copies, which are older than any run."""
    for file in copies.glob(f"{_MADE}*"):
        with suppress(OSError):
            if time.time() - file.stat().st_ctime > _MADE_UNUSED_S:
                file.unlink()
