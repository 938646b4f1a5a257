"""What every suite does with its results: print them, write them, read them again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ridgepoint.cli import common
from ridgepoint.core.errors import RidgepointError, reason_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ridgepoint.core.reference import DatacenterRun, SuiteRun

    Kept = TypeVar("Kept", SuiteRun, DatacenterRun)

FILE = "results.json"
"""In a folder of figures: what they were drawn from."""


def show_and_keep(
    table: Callable[[], RenderableType],
    *,
    document: Callable[[], dict[str, Any]],
    as_json: bool,
    keep: Callable[[], None],
) -> None:
    """Print results and keep them: what stops one does not cost the user the other.

    Parameters
    ----------
    table : callable
        Returns the results for the terminal.
    document : callable
        Returns them as the fields of a document.
    as_json : bool
        Print the document instead of the table.
    keep : callable
        Writes what is to be written. It is called after printing, even if that failed.
    """
    from ridgepoint.core.documents import render

    try:
        if as_json:
            sys.stdout.write(render(document()))
        else:
            common.console().print(table())
    finally:
        keep()


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
