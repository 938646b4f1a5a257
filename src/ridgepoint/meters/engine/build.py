"""Build the counting engine at first use, and keep it.

An engine is kept in a folder of the user's cache whose name changes with everything that it was
made from. It is built beside that folder and renamed into place once it has run a program, so
that what is there under that name is whole, whoever builds, is killed, or runs out of room.
"""

from __future__ import annotations

import atexit
import errno
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

import platformdirs

from ridgepoint.caution import Caution
from ridgepoint.meters.engine.installation import (
    PLATFORM,
    check_version,
    installation,
    unavailable,
)
from ridgepoint.meters.engine.recipe import TOOL, BuildFailed, Recipe, first_complaint, recipe

CACHE_VARIABLE = "RIDGEPOINT_CACHE"
"""Environment variable that names a folder to use in place of the user's cache."""

_PACKAGE = Path(__file__).parents[2]
_COMPLETE = ".complete"  # holds the size of the tool, in bytes
_BUILDING = ".building-"
_ABANDONED_S = 24 * 3600.0
_ROOM_BYTES = 16 << 20  # a tool has 3 MB, most of it Valgrind's, and a compiler has temporary files


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A counting engine that was built and has run.

    Parameters
    ----------
    library : Path
        What ``VALGRIND_LIB`` has to be: a folder with links to all that Valgrind's own has, and
        the tool ``ridgepoint``.
    version : str
        Valgrind's, for example ``"3.19.0"``.
    valgrind : str
        Path of the launcher.
    cautions : tuple of Caution
        That it could not be kept.
    """

    library: Path
    version: str
    valgrind: str
    cautions: tuple[Caution, ...] = ()


def source_folder() -> Path:
    """Return the folder of the engine's C source: in the package, or in its checkout."""
    packaged = _PACKAGE / "native"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "native"


def header_folder() -> Path:
    """Return the folder of ``ridgepoint.h``, for a compiler's ``-I``."""
    return source_folder() / "include"


def engine(
    *,
    cache: Path | None = None,
    source: Path | None = None,
    report: Callable[[str], None] | None = None,
) -> Engine:
    """Return the engine for the Valgrind in ``PATH``, building it if there is none.

    Parameters
    ----------
    cache : Path or None
        Folder to keep it in. None: what ``RIDGEPOINT_CACHE`` names, or the user's cache. If
        it cannot be kept there, a temporary folder lasts as long as this process.
    source : Path or None
        Folder of the C source. None: `source_folder`.
    report : callable or None
        Is told that a build begins.

    Raises
    ------
    MeterUnavailable
        If it cannot be built here, or does not run.
    """
    found = installation()
    try:
        made_from = recipe(found, (source or source_folder()).absolute())
        key = made_from.key
    except OSError as error:
        raise unavailable(_why(error), "reinstall 'valgrind', or 'ridgepoint'") from error
    library, cautions = _library(made_from, key, cache, report)
    return Engine(
        library=library, version=found.version, valgrind=str(found.launcher), cautions=cautions
    )


def _library(
    made_from: Recipe, key: str, cache: Path | None, report: Callable[[str], None] | None
) -> tuple[Path, tuple[Caution, ...]]:
    """Return a complete library folder, and the doubt that it could not be kept."""
    try:
        folder = cache_folder("engine", cache)
        return _found_or_built(made_from, folder / key, report, logs=folder), ()
    except OSError as error:
        kept = error
    try:
        library = _found_or_built(made_from, _process_folder() / key, report, logs=None)
    except OSError as error:
        raise unavailable(
            f"there is no folder to build it in: {_why(kept)}, and {_why(error)}",
            f"name one in {CACHE_VARIABLE} that has 16 MB of room and may hold programs",
        ) from error
    caution = Caution(
        "engine-not-kept",
        f"the counting engine was built for this time only: {_why(kept)}",
        f"name a folder in {CACHE_VARIABLE} that has 16 MB of room and may hold programs",
        effect=0.0,
    )
    return library, (caution,)


def cache_folder(part: str, cache: Path | None = None) -> Path:
    """Return the folder in which a part of Ridgepoint keeps what it built; it may not be there.

    Parameters
    ----------
    part : str
    cache : Path or None
        The folder of all parts; None: what ``RIDGEPOINT_CACHE`` names, or the user's cache.

    Raises
    ------
    OSError
        If the user has no home folder.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if cache is None and chosen:
        cache = Path(chosen)
    if cache is None:
        cache = platformdirs.user_cache_path("ridgepoint")
        # A service's home may be /nonexistent, which root must not make; and without a user
        # of this number "~" remains what it is.
        home = cache.parent.parent
        if not cache.is_absolute() or not os.path.isdir(home):
            raise FileNotFoundError(errno.ENOENT, "there is no home folder", str(home))
    return cache.absolute() / part


@once
def _process_folder() -> Path:
    """Return a folder that is removed when this process ends."""
    folder, owner = Path(tempfile.mkdtemp(prefix="ridgepoint-engine-")), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not a child that was forked
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _found_or_built(
    made_from: Recipe, library: Path, report: Callable[[str], None] | None, *, logs: Path | None
) -> Path:
    """Return a library folder once it is complete.

    Raises
    ------
    OSError
        If that folder cannot hold it.
    MeterUnavailable
        If it cannot be built in any folder.
    """
    if _is_complete(library):
        return library
    check_version(made_from.installation)
    library.parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(library.parent)
    with _building(library) as folder:
        if report is not None:
            report("building the counting engine (once)")
        _build(made_from, folder, logs)
        _publish(folder, library)
    return library


def _is_complete(library: Path) -> bool:
    """Tell whether a library folder holds what was built there, in a few system calls."""
    tool = library / TOOL
    try:
        size = int((library / _COMPLETE).read_text(encoding="ascii"))
        (library / f"none-{PLATFORM}").stat()
        return tool.stat().st_size == size and os.access(tool, os.X_OK)
    except (OSError, ValueError):
        return False


@contextmanager
def _building(library: Path) -> Iterator[Path]:
    """Make a folder to build in, with room for it; remove what is left of it."""
    folder = _beside(library)
    folder.mkdir()
    try:
        if os.statvfs(folder).f_flag & os.ST_NOEXEC:
            raise PermissionError(errno.EACCES, "programs may not be run there", str(folder.parent))
        _check_room(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _beside(library: Path) -> Path:
    return library.with_name(f"{_BUILDING}{library.name}-{secrets.token_hex(4)}")


def _check_room(folder: Path) -> None:
    """Raise OSError now, and not as some error of the compiler's, if a disk or quota is full."""
    probe = folder / "room"
    with probe.open("wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)
        except OSError as error:
            if error.errno not in {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}:
                raise OSError(error.errno, error.strerror, str(folder.parent)) from error
    probe.unlink()


def _build(made_from: Recipe, folder: Path, logs: Path | None) -> None:
    log = folder / "build.log"
    try:
        made_from.make(folder, log)
        _link(made_from.installation.tools, folder)
        made_from.try_out(folder, log)
    except BuildFailed as error:
        complaint = first_complaint(log)
        raise unavailable(f"{error}: {complaint}", f"see {_keep(log, logs)}") from error
    log.unlink()
    (folder / _COMPLETE).write_text(str((folder / TOOL).stat().st_size), encoding="ascii")


def _link(tools: Path, folder: Path) -> None:
    """Let a folder hold all that Valgrind's own has, which a tool needs beside itself."""
    for path in tools.iterdir():
        if path.name not in {TOOL, _COMPLETE}:  # of an engine that Valgrind is used through
            (folder / path.name).symlink_to(os.path.realpath(path))


def _keep(log: Path, logs: Path | None) -> Path:
    """Copy a log to where it stays, and return its path."""
    if logs is not None:
        with suppress(OSError):
            return Path(shutil.copyfile(log, logs / "failed-build.log"))
    handle, name = tempfile.mkstemp(prefix="ridgepoint-engine-", suffix=".log")
    with os.fdopen(handle, "wb") as file:
        file.write(log.read_bytes())
    return Path(name)


def _publish(folder: Path, library: Path) -> None:
    """Rename a built folder into place, unless another process was faster."""
    try:
        folder.rename(library)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise
        if _is_complete(library):
            return
        damaged = _beside(library)
        library.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
        folder.rename(library)


def _clear_abandoned(folder: Path) -> None:
    """Remove what killed processes left half-built, once nobody can be building it any more."""
    for path in folder.glob(f"{_BUILDING}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(path, ignore_errors=True)


def _why(error: OSError) -> str:
    place = "" if error.filename is None else f"{error.filename}: "
    return f"{place}{(error.strerror or str(error)).lower()}"
