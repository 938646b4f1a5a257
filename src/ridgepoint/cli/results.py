"""Files of results of suites: read and written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ridgepoint.core.errors import RidgepointError, reason_of

if TYPE_CHECKING:
    from ridgepoint.core.reference import DatacenterRun, SuiteRun

    Kept = TypeVar("Kept", SuiteRun, DatacenterRun)

FILE = "results.json"
"""In a folder of figures: what they were drawn from."""


def read(source: Path, kind: type[Kept]) -> Kept:
    """Return results that were written before.

    Raises
    ------
    RidgepointError
        If the file cannot be read, or holds something else.
    """
    from ridgepoint.core.documents import decode

    try:
        content = source.read_bytes()
    except OSError as error:
        raise RidgepointError(
            f"cannot read {str(source)!r}",
            reason=reason_of(error),
            remedy="name a file that 'ridgepoint suite -o FILE.json' wrote",
        ) from error
    return decode(content, kind, origin=str(source))


def write(run: SuiteRun | DatacenterRun, path: Path) -> None:
    """Write results to a file, whole or not at all."""
    from ridgepoint.core.documents import encode
    from ridgepoint.show.files import replace_file

    replace_file(path, encode(run), what="the results")


def folder(path: Path) -> Path:
    """Return a folder, made if it is not there.

    Raises
    ------
    RidgepointError
        If it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RidgepointError(
            f"cannot make the folder {str(path)!r}",
            reason=reason_of(error),
            remedy="name another one",
        ) from error
    return path
