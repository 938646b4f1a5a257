"""The Valgrind that the Python package ``ridgepoint-engine`` brings: started without any build."""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import MeterUnavailable, reason_of
from ridgepoint.host.process import ask
from ridgepoint.meters.building import built, check_machine, digest
from ridgepoint.meters.shipped import Copied
from ridgepoint.meters.valgrind.choice import DISTRIBUTION, INSTALL_PACKAGE, VARIABLE

PLATFORM = "amd64-linux"
"""Valgrind's name of the only platform that is counted on."""

MODULE = "ridgepoint_engine"
"""What says where the files are, and what they were made from."""

LAUNCHER = "valgrind"
TOOL, PLAIN_TOOL = "ridgepoint", "ridgepoint-plain"
"""Our tool as ``--tool`` names it: for CPUs with AVX2, BMI2 and FMA, and for others."""

CALLGRIND = "callgrind"

PROGRAMS = (
    LAUNCHER,
    *(f"{tool}-{PLATFORM}" for tool in (TOOL, PLAIN_TOOL, CALLGRIND)),
    f"vgpreload_core-{PLATFORM}.so",
)
"""Files of the package that are needed; all have to be executable."""

_START_TIMEOUT_S = 20.0
_REINSTALL = f"run: pip install --force-reinstall {DISTRIBUTION}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What the installed package says of itself.

    Parameters
    ----------
    folder : Path
        Of all its files.
    version : str
        Valgrind's, for example ``"3.27.1"``.
    source : str
        Name of the C source that our tool in it was made from.
    """

    folder: Path
    version: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The package's Valgrind, where it can be executed.

    Parameters
    ----------
    library : Path
        What ``VALGRIND_LIB`` has to be.
    package : Package
    cautions : tuple of Caution
        That a copy of it was needed, and could not be kept.
    """

    library: Path
    package: Package
    cautions: tuple[Caution, ...] = ()

    @property
    def launcher(self) -> Path:
        """The program that starts tools."""
        return self.library / LAUNCHER


def is_installed() -> bool:
    """Return whether the package is there, in a few system calls."""
    return importlib.util.find_spec(MODULE) is not None


def release() -> str:
    """Return the package's own version, as far as it is known."""
    from importlib.metadata import PackageNotFoundError, version  # takes tens of milliseconds

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "of no known release"


def installed(what: str) -> Package:
    """Return what the package says of itself.

    Parameters
    ----------
    what : str
        What cannot be done without: "cannot count with callgrind".

    Raises
    ------
    MeterUnavailable
        If it is not installed, or files of it are missing.
    """
    if not is_installed():
        raise MeterUnavailable(
            what,
            reason=f"{DISTRIBUTION} is not installed",
            remedy=f"run: {INSTALL_PACKAGE}; or unset {VARIABLE}",
        )
    try:
        module = importlib.import_module(MODULE)
        found = Package(folder=Path(module.FOLDER), version=module.VALGRIND, source=module.SOURCE)
        for name in PROGRAMS:
            (found.folder / name).stat()
    except (AttributeError, ImportError, KeyError, OSError, ValueError) as error:
        raise MeterUnavailable(
            what, reason=f"{DISTRIBUTION} is damaged: {error}", remedy=_REINSTALL
        ) from error
    return found


def ready(package: Package, what: str, *, tool: str, cache: Path | None = None) -> Ready:
    """Return the package's Valgrind once a tool of it has started.

    Some installers forget that files are programs, and in some folders no program may be
    executed: a copy in the user's cache is used then.

    Parameters
    ----------
    package : Package
    what : str
        What cannot be done if it does not start.
    tool : str
    cache : Path or None
        As for `ridgepoint.meters.building.built`.

    Raises
    ------
    MeterUnavailable
        If it cannot be executed, or does not start.
    """
    check_machine(DISTRIBUTION, "counts")
    library, cautions = package.folder, tuple[Caution, ...]()
    if not all(os.access(library / name, os.X_OK) for name in PROGRAMS):
        library, cautions = built(_copied(package), cache=cache)
    made = Ready(library=library, package=package, cautions=cautions)
    _check_start(made, what, tool)
    return made


def _check_start(made: Ready, what: str, tool: str) -> None:
    command = (str(made.launcher), f"--tool={tool}", "--command-line-only=yes", "--version")
    variables = {**os.environ, "VALGRIND_LIB": str(made.library)}
    try:
        answer = ask(command, limit_s=_START_TIMEOUT_S, environment=variables)
        reason = (answer.complaints.strip().splitlines() or [f"status {answer.status}"])[0]
        if answer.status == 0:
            return
    except OSError as error:
        reason = reason_of(error)
    raise MeterUnavailable(
        what,
        reason=f"{made.launcher} of {DISTRIBUTION} does not start ({reason})",
        remedy=f"{_REINSTALL}; or install the package 'valgrind' and a C compiler",
    )


def _copied(package: Package) -> Copied:
    """Return how to make a copy of the package's files that may be executed."""
    files = [package.folder / name for name in PROGRAMS]
    return Copied(
        what="a copy of the counting engine",
        part="engine",
        key=f"{package.version}-copy-{digest((), files)}",
        folder=package.folder,
        makes=PROGRAMS,
    )
