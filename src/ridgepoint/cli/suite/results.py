"""What every suite does with its results: print them, write them, read them again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ridgepoint.cli import common
from ridgepoint.core.errors import RidgepointError, reason_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ridgepoint.suites.study import Study

    Kept = TypeVar("Kept", bound=Study)

FILE = "results.json"
"""In a folder of figures: what they were drawn from."""


def show_and_keep(
    study: Study,
    *,
    as_json: bool,
    table: Callable[[], RenderableType] | None = None,
    outputs: Iterable[Path | None] = (),
    then: Callable[[], None] = lambda: None,
) -> None:
    """Print results and keep them: what stops one does not cost the user the other.

    Parameters
    ----------
    study : Study
    as_json : bool
        Print the document that `outputs` get, instead of a table.
    table : callable or None
        Returns what to print; None: the suite's own table.
    outputs : iterable of Path or None
        Files to write the results to. None: not to be written.
    then : callable
        What else is made of the results. It is called even if they cannot be printed.
    """
    from ridgepoint.core.documents import render, to_fields
    from ridgepoint.show.tables.studies import study_table

    try:
        if as_json:
            sys.stdout.write(render(to_fields(study)))
        else:
            common.console().print(study_table(study) if table is None else table())
    finally:
        for path in outputs:
            if path is not None:
                write(study, path)
        then()


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


def write(study: Study, path: Path) -> None:
    """Write results to a file, whole or not at all."""
    from ridgepoint.core.documents import encode
    from ridgepoint.show.files import replace_file

    replace_file(path, encode(study), what="the results")
