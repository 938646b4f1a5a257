"""The counting engine: of the package ``ridgepoint-engine``, or built at first use.

Our tool of the package fits only the source that it was made from. It is built for the system's
Valgrind otherwise: see `ridgepoint.meters.building`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.building import built, check_source, source_folder, why
from ridgepoint.meters.compiling import cpu_features
from ridgepoint.meters.engine.installation import WHAT, Installation, installation, unavailable
from ridgepoint.meters.engine.recipe import FAST, recipe, source_key
from ridgepoint.meters.valgrind import package
from ridgepoint.meters.valgrind.choice import (
    DISTRIBUTION,
    PACKAGE,
    SYSTEM,
    asked,
    is_newer,
    named,
)

PACKAGE_UNUSED = "engine-package-unused"
"""Code of the caution that the package is there, but does not fit."""

_CANNOT = f"cannot use {WHAT}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A counting engine that was built and has run.

    Parameters
    ----------
    library : Path
        What ``VALGRIND_LIB`` has to be: a folder with our tool, and with all that Valgrind needs
        beside it.
    version : str
        Valgrind's, for example ``"3.19.0"``.
    valgrind : str
        Path of the launcher.
    tool : str
        Our tool's name for ``--tool``.
    packaged : bool
        Whether it is that of the package ``ridgepoint-engine``.
    cautions : tuple of Caution
        That it could not be kept.
    """

    library: Path
    version: str
    valgrind: str
    tool: str = package.TOOL
    packaged: bool = False
    cautions: tuple[Caution, ...] = ()

    @property
    def name(self) -> str:
        """Which Valgrind it is for."""
        return named(self.version, packaged=self.packaged)


def engine(
    *,
    cache: Path | None = None,
    source: Path | None = None,
    report: Callable[[str], None] | None = None,
) -> Engine:
    """Return the engine of the newer Valgrind, or of the one that ``RIDGEPOINT_VALGRIND`` names.

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
        If there is none that runs here, and it cannot be built.
    """
    folder = (source or source_folder()).absolute()
    choice = asked(_CANNOT)
    if choice == SYSTEM or not (choice == PACKAGE or package.is_installed()):
        return _built(installation(), folder, cache, report)
    try:
        packaged = _packaged(folder, cache)
    except MeterUnavailable as lack:
        if choice == PACKAGE:
            raise
        return _instead(lack, folder, cache, report)
    if choice == PACKAGE:
        return packaged
    return _if_newer(packaged, folder, cache, report)


def _packaged(source: Path, cache: Path | None) -> Engine:
    """Return the engine of the package.

    Raises
    ------
    MeterUnavailable
        If it is not installed, was made from another source, or does not start.
    """
    installed = package.installed(_CANNOT)
    check_source(WHAT, source)
    try:
        fits = installed.source == source_key(source)
    except OSError as error:
        raise unavailable(why(error), "reinstall 'ridgepoint'") from error
    if not fits:
        raise _misfit()
    tool = package.TOOL if cpu_features() >= FAST else package.PLAIN_TOOL
    ready = package.ready(installed, _CANNOT, tool=tool, cache=cache)
    return Engine(
        library=ready.library,
        version=installed.version,
        valgrind=str(ready.launcher),
        tool=tool,
        packaged=True,
        cautions=ready.cautions,
    )


def _misfit() -> MeterUnavailable:
    from ridgepoint import __version__  # which is looked up

    return MeterUnavailable(
        _CANNOT,
        reason=f"{DISTRIBUTION} {package.release()} does not fit this ridgepoint ({__version__}), "
        "whose C source differs",
        remedy=f"run: pip install {DISTRIBUTION}=={__version__}",
    )


def _if_newer(
    packaged: Engine, source: Path, cache: Path | None, report: Callable[[str], None] | None
) -> Engine:
    """Return the engine for the system's Valgrind if that is newer and can be built for."""
    try:
        system = installation()
        if is_newer(system.version, packaged.version):
            return _built(system, source, cache, report)
    except MeterUnavailable:
        pass  # there may be no Valgrind, or no compiler: neither is needed
    return packaged


def _instead(
    lack: MeterUnavailable,
    source: Path,
    cache: Path | None,
    report: Callable[[str], None] | None,
) -> Engine:
    """Return the engine for the system's Valgrind where that of the package is of no use.

    Raises
    ------
    MeterUnavailable
        If that is none, either.
    """
    try:
        made = _built(installation(), source, cache, report)
    except MeterUnavailable as error:
        raise MeterUnavailable(
            _CANNOT,
            reason=f"{lack.reason}; nor can it be built for the system's Valgrind: {error.reason}",
            remedy=lack.remedy,
        ) from error
    doubt = Caution(
        PACKAGE_UNUSED,
        f"{lack.reason}; it was built for the system's {made.name} instead",
        lack.remedy,
        effect=0.0,
    )
    return replace(made, cautions=(doubt, *made.cautions))


def _built(
    valgrind: Installation,
    source: Path,
    cache: Path | None,
    report: Callable[[str], None] | None,
) -> Engine:
    """Return the engine for the system's Valgrind, building it if it is not there.

    Raises
    ------
    MeterUnavailable
        If it cannot be built here, or does not run.
    """
    try:
        made_from = recipe(valgrind, source)
        _ = made_from.key  # kept from now on
    except OSError as error:
        raise unavailable(why(error), "reinstall 'valgrind', or 'ridgepoint'") from error
    library, cautions = built(made_from, cache=cache, report=report)
    return Engine(
        library=library,
        version=valgrind.version,
        valgrind=str(valgrind.launcher),
        cautions=cautions,
    )
