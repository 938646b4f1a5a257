"""What every suite does with its results: print them, write them, read them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ridgepoint.cli import common
from ridgepoint.cli.tables import beside
from ridgepoint.core.errors import RidgepointError, reason_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ridgepoint.suites.study import Study

    Kept = TypeVar("Kept", bound=Study)

_FILE = "results.json"
"""In a folder of figures: what they were drawn from."""


def show_and_keep(
    found: object,
    *,
    as_json: bool,
    table: Callable[[], RenderableType] | None = None,
    output: Path | None = None,
    folder: Path | None = None,
    draw: Callable[[Path], None] = lambda folder: None,
) -> None:
    """Print results and keep them: what stops one does not cost the user the other.

    Parameters
    ----------
    found : Study or another kind of document
        What `study_table` shows.
    as_json : bool
        Print the document that `output` gets, instead of a table.
    table : callable or None
        Returns what to print; None: the suite's own table.
    output : Path or None
        File to write the results to; None: not to be written.
    folder : Path or None
        Folder of figures, which gets the results too; None: nothing is drawn.
    draw : callable
        Draws the figures in the folder. It is called even if the results cannot be printed.
    """
    from ridgepoint.core.documents import to_fields
    from ridgepoint.show.data_tables.studies import study_tables
    from ridgepoint.show.tables.studies import study_table

    try:
        with beside(lambda: study_tables(found)) as is_shown:
            if as_json:
                common.print_json(to_fields(found))
            elif is_shown:
                common.console().print(study_table(found) if table is None else table())
    finally:
        if output is not None:
            write(found, output)
        if folder is not None:
            write(found, folder / _FILE)
            draw(folder)


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


def write(results: object, path: Path) -> None:
    """Write results, which are a kind of document, to a file, whole or not at all."""
    from ridgepoint.core.documents import encode
    from ridgepoint.kept.files import replace_file

    replace_file(path, encode(results), what="the results")
