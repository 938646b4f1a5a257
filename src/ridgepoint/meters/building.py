"""Find what was compiled ahead, or else build it at first use and keep it.

A wheel for this platform ships what its recipes made when it was built. Otherwise what was built
is kept in a folder of the user's cache. In both places the folder's name changes with everything
that it was made from. In the cache it is built beside that folder and renamed into place once it
has run, so that what is there under that name is whole, whoever builds, is killed, or runs out of
room.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import platform
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache as once
from pathlib import Path
from typing import Protocol

import platformdirs

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import MeterUnavailable, reason_of
from ridgepoint.meters.compiling import BuildFailed, first_complaint
from ridgepoint.meters.shipped import Copied, shipped_folder

CACHE_VARIABLE = "RIDGEPOINT_CACHE"
"""Environment variable that names a folder to use in place of the user's cache."""

COMPLETE = ".complete"
"""File that says how large, in bytes, is each file that was made beside it."""

_PACKAGE = Path(__file__).parents[1]
_BUILDING = ".building-"
_ABANDONED_S = 24 * 3600.0
_ROOM_BYTES = 16 << 20  # an engine has 3 MB at most, and a compiler has temporary files


class Recipe(Protocol):
    """How something is built."""

    @property
    def what(self) -> str:
        """What it is, for messages: "the counting engine"."""

    @property
    def part(self) -> str:
        """The folder of the cache that holds all of its kind."""

    @property
    def key(self) -> str:
        """A name that changes with everything that it is made from."""

    @property
    def makes(self) -> Sequence[str]:
        """Names of the programs and libraries that it makes."""

    @property
    def needs(self) -> Sequence[str]:
        """Names of the other files that must be beside these."""

    def check(self) -> None:
        """Raise MeterUnavailable if it is no use to build it here."""

    def make(self, folder: Path, log: Path) -> None:
        """Build it in a folder, and try it out there.

        Raises
        ------
        BuildFailed
            If a step fails or takes too long; `log` then holds what was said.
        MeterUnavailable
            If there is no C compiler.
        """


def source_folder() -> Path:
    """Return the folder of the engine's C source: in the package, or in its checkout."""
    packaged = _PACKAGE / "native"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "native"


def header_folder() -> Path:
    """Return the folder of ``ridgepoint.h``, for a compiler's ``-I``."""
    return source_folder() / "include"


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
        try:
            cache = platformdirs.user_cache_path("ridgepoint")
        except RuntimeError as error:
            raise FileNotFoundError(errno.ENOENT, "there is no home directory") from error
        # A service's home may be /nonexistent, which root must not make; and without a user
        # of this number "~" remains what it is.
        home = cache.parent.parent
        if not cache.is_absolute() or not os.path.isdir(home):
            raise FileNotFoundError(errno.ENOENT, "there is no home directory", str(home))
    return cache.absolute() / part


def digest(texts: Iterable[str], files: Iterable[Path]) -> str:
    """Return a name that changes with texts, and with names and content of files.

    Their folders do not count: the C source lies before the modules in a checkout, and after them
    where a wheel was installed.

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode(errors="surrogateescape") + b"\0")
    for name, content in sorted((path.name, path.read_bytes()) for path in files):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def check_machine(what: str, does: str) -> None:
    """Refuse a host that is not x86-64.

    Parameters
    ----------
    what : str
        What is to be built, for messages.
    does : str
        What it does with code of x86-64: "counts", "copies".

    Raises
    ------
    MeterUnavailable
    """
    if platform.machine() != "x86_64":
        raise unavailable(
            what,
            f"this host is {platform.machine()}, and the meter {does} x86-64 only",
            "count on an x86-64 host",
        )


def check_source(what: str, source: Path, name: str = "*.c") -> None:
    """Refuse a folder that does not hold the C source of something.

    Raises
    ------
    MeterUnavailable
    """
    if not any(source.glob(name)):
        raise unavailable(
            what, f"its C source is not in {source}", "reinstall the Python package 'ridgepoint'"
        )


def unavailable(what: str, reason: str, remedy: str) -> MeterUnavailable:
    """Return the error that something cannot be built."""
    return MeterUnavailable(f"cannot build {what}", reason=reason, remedy=remedy)


def can_be_preloaded(path: Path) -> bool:
    """Return whether a path fits into ``LD_PRELOAD``, where blanks and colons separate paths."""
    return not set(" :") & set(str(path))


def built(
    recipe: Recipe,
    *,
    shipped: str | None = None,
    cache: Path | None = None,
    report: Callable[[str], None] | None = None,
) -> tuple[Path, tuple[Caution, ...]]:
    """Return the folder of what a recipe makes, building it if it is not there.

    Parameters
    ----------
    recipe : Recipe
    shipped : str or None
        Name of the folder in which a wheel ships it. None: no wheel does.
    cache : Path or None
        Folder to keep it in. None: what ``RIDGEPOINT_CACHE`` names, or the user's cache. If
        it cannot be kept there, a temporary folder lasts as long as this process.
    report : callable or None
        Is told that a build begins.

    Returns
    -------
    tuple
        The folder, and the doubt that it could not be kept.

    Raises
    ------
    MeterUnavailable
        If it cannot be built here, or does not run.
    """
    if shipped is None:
        return _kept_or_built(recipe, cache, report)
    folder = shipped_folder() / recipe.part / shipped
    if _is_complete(recipe, folder) and can_be_preloaded(folder):
        return folder, ()
    if _is_whole(recipe, folder):
        copied = Copied(
            what=recipe.what,
            part=recipe.part,
            key=shipped,
            folder=folder,
            makes=recipe.makes,
            needs=recipe.needs,
        )
        return _kept_or_built(copied, cache, None)
    try:
        return _kept_or_built(recipe, cache, report)
    except MeterUnavailable as error:
        if not folder.is_dir():
            raise
        reason = f"{folder} is damaged, and {error.reason}"
        raise unavailable(recipe.what, reason, "reinstall the Python package 'ridgepoint'") from (
            error
        )


def build_ahead(recipe: Recipe, folder: Path) -> None:
    """Build for a wheel, in a folder that is there and empty.

    Raises
    ------
    MeterUnavailable
        If a step fails.
    """
    _build(recipe, folder, None)


def _kept_or_built(
    recipe: Recipe, cache: Path | None, report: Callable[[str], None] | None
) -> tuple[Path, tuple[Caution, ...]]:
    """Return the folder in the cache, or else one for this process, and the doubt about that."""
    key = recipe.key
    try:
        folder = cache_folder(recipe.part, cache)
        return _found_or_built(recipe, folder / key, report, logs=folder), ()
    except OSError as error:
        kept = error
    try:
        made = _found_or_built(recipe, _process_folder() / key, report, logs=None)
    except OSError as error:
        raise unavailable(
            recipe.what,
            f"there is no folder to build it in: {why(kept)}, and {why(error)}",
            f"name a folder in {CACHE_VARIABLE} that has 16 MB of free space and from which "
            "programs may be executed",
        ) from error
    caution = Caution(
        "engine-not-kept",
        f"{recipe.what} was built for this run only: {why(kept)}",
        f"name a folder in {CACHE_VARIABLE} that has 16 MB of free space and from which "
        "programs may be executed",
        effect=0.0,
    )
    return made, (caution,)


def why(error: OSError) -> str:
    """Return in words what went wrong, and with which file."""
    place = "" if error.filename is None else f"{error.filename}: "
    return f"{place}{reason_of(error)}"


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
    recipe: Recipe, place: Path, report: Callable[[str], None] | None, *, logs: Path | None
) -> Path:
    """Return a folder once it is complete.

    Raises
    ------
    OSError
        If that folder cannot hold it.
    MeterUnavailable
        If it cannot be built in any folder.
    """
    if _is_complete(recipe, place):
        return place
    recipe.check()
    place.parent.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(place.parent)
    with _building(place) as folder:
        if report is not None:
            report(f"building {recipe.what} (once)")
        _build(recipe, folder, logs)
        _publish(recipe, folder, place)
    return place


def _is_complete(recipe: Recipe, place: Path) -> bool:
    """Tell whether a folder holds what was built there, in a few system calls."""
    return _is_whole(recipe, place) and all(
        os.access(place / name, os.X_OK) for name in recipe.makes
    )


def _is_whole(recipe: Recipe, place: Path) -> bool:
    """Tell whether a folder holds all that was built there, executable or not."""
    try:
        sizes = [int(size) for size in (place / COMPLETE).read_text(encoding="ascii").split()]
        for name in recipe.needs:
            (place / name).stat()
        return sizes == _sizes(recipe, place)
    except (OSError, ValueError):
        return False


def _sizes(recipe: Recipe, place: Path) -> list[int]:
    return [(place / name).stat().st_size for name in recipe.makes]


@contextmanager
def _building(place: Path) -> Iterator[Path]:
    """Make a folder to build in, with room for it; remove what is left of it."""
    folder = _beside(place)
    folder.mkdir()
    try:
        if os.statvfs(folder).f_flag & os.ST_NOEXEC:
            reason = "programs in it may not be executed"
            raise PermissionError(errno.EACCES, reason, str(folder.parent))
        _check_room(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _beside(place: Path) -> Path:
    return place.with_name(f"{_BUILDING}{place.name}-{secrets.token_hex(4)}")


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


def _build(recipe: Recipe, folder: Path, logs: Path | None) -> None:
    log = folder / "build.log"
    try:
        recipe.make(folder, log)
    except BuildFailed as error:
        complaint = first_complaint(log)
        raise unavailable(
            recipe.what, f"{error}: {complaint}", f"see {_keep(log, logs)}"
        ) from error
    log.unlink()
    (folder / COMPLETE).write_text(" ".join(map(str, _sizes(recipe, folder))), encoding="ascii")


def _keep(log: Path, logs: Path | None) -> Path:
    """Copy a log to where it stays, and return its path."""
    if logs is not None:
        with suppress(OSError):
            return Path(shutil.copyfile(log, logs / "failed-build.log"))
    handle, name = tempfile.mkstemp(prefix="ridgepoint-engine-", suffix=".log")
    with os.fdopen(handle, "wb") as file:
        file.write(log.read_bytes())
    return Path(name)


def _publish(recipe: Recipe, folder: Path, place: Path) -> None:
    """Rename a built folder into place, unless another process was faster."""
    try:
        folder.rename(place)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise
        if _is_complete(recipe, place):
            return
        damaged = _beside(place)
        place.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
        folder.rename(place)


def _clear_abandoned(folder: Path) -> None:
    """Remove what killed processes left half-built, once nobody can be building it any more."""
    for path in folder.glob(f"{_BUILDING}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(path, ignore_errors=True)
