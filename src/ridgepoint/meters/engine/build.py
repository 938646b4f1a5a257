"""The counting engine, built at first use: see `ridgepoint.meters.building`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.meters.building import built, source_folder, why
from ridgepoint.meters.engine.installation import installation, unavailable
from ridgepoint.meters.engine.recipe import recipe


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
    valgrind = installation()
    try:
        made_from = recipe(valgrind, (source or source_folder()).absolute())
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
