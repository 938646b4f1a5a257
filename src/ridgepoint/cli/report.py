"""Write kept records as one page that shows them in every way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, completing
from ridgepoint.show.page import PAGE_ENDINGS

if TYPE_CHECKING:
    from ridgepoint.kept.archive import Archive
    from ridgepoint.models.work import Metric
    from ridgepoint.show.page.document import View
    from ridgepoint.show.page.records import ShownRecord


@click.command("report")
@click.argument(
    "targets", metavar="[RECORD...]", nargs=-1, shell_complete=completing.anything_shown
)
@common.files_option(
    "Write the page to FILE: .html, or .json for its data alone. May be repeated.",
    required=True,
)
@click.option("--title", metavar="TEXT", help="Title of the page.  [default: the records' names]")
@click.option(
    "--pipeline",
    "pipelines",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE.toml",
    help="Add the pipelines of a file, as 'ridgepoint pipeline' reads it. May be repeated.",
)
@click.option(
    "--sources",
    is_flag=True,
    help="Show the text of source lines too, from files on this host that have "
    "not changed since the measurement.",
)
@common.kept_work_option
@common.archive_option
def command(
    *,
    targets: tuple[str, ...],
    outputs: tuple[Path, ...],
    title: str | None,
    pipelines: tuple[Path, ...],
    sources: bool,
    metric: Metric | None,
    archive_path: Path | None,
) -> None:
    """Write each RECORD, or the last one, to a page that a browser opens.

    RECORD is a number or a name of 'ridgepoint list', the file of a machine or a cluster, or a
    published machine. The page is one file: it needs no server and no network, and holds the
    records' data, which it can save.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.show.page.assemble import write_page
    from ridgepoint.show.page.build import page_of

    require_page_endings(outputs)
    records: list[ShownRecord] = []
    if targets or not pipelines:
        with Archive(archive_path) as archive:
            records = shown_records(archive, targets, metric=metric)
    if sources:
        records = [_with_sources(record) for record in records]
    page = page_of(records, title=title, views=_pipelines(pipelines, archive_path))
    for path in outputs:
        write_page(page, path)


def _pipelines(files: tuple[Path, ...], archive_path: Path | None) -> list[View]:
    """Return a view for each pipeline of some files."""
    from ridgepoint.cli.pipeline import pipelines_of, views_of

    return views_of([shown for file in files for shown in pipelines_of(file, archive_path)])


def shown_records(
    archive: Archive, targets: tuple[str, ...], *, metric: Metric | None
) -> list[ShownRecord]:
    """Return the records that a user names, or the last one."""
    from ridgepoint.kept.lookup import found
    from ridgepoint.models.analysis import analyse
    from ridgepoint.show.page.records import ShownRecord

    shown: list[ShownRecord] = []
    for target in targets or (None,):
        each = found(archive, target)
        record, value = each.record, each.value
        _require_seconds(value)
        # Records in files have no number.
        key = str(record.id) if record is not None and record.id else str(target)
        if any(other.key == key for other in shown):
            raise click.BadParameter(f"{target!r} is given twice; name each record once")
        shown.append(
            ShownRecord(
                key=key,
                value=analyse(*value, metric=metric) if isinstance(value, tuple) else value,
                label=None if record is None else record.label,
                note=None if record is None else record.note,
                created=None if record is None else record.created,
            )
        )
    return shown


def _with_sources(shown: ShownRecord) -> ShownRecord:
    """Return a record with the lines of its source files, as far as they are as measured."""
    from ridgepoint.kept.source_files import unchanged_lines
    from ridgepoint.models.analysis import Analysis

    if not isinstance(shown.value, Analysis):
        return shown
    measurement = shown.value.measurement
    paths = [line.source for function in measurement.counted.functions for line in function.lines]
    paths += [line.file for line in (() if measurement.lines is None else measurement.lines.lines)]
    return replace(shown, sources=unchanged_lines(paths, since=measurement.context.started))


def _require_seconds(value: object) -> None:
    """Refuse a machine whose rates are per cycle: all that a page shows is per second."""
    from ridgepoint.core.errors import RidgepointError
    from ridgepoint.core.machine import Machine
    from ridgepoint.models.given_machine import is_per_cycle

    if isinstance(value, Machine) and is_per_cycle(value):
        raise RidgepointError(
            f"cannot write a page of {value.name!r}",
            reason="its rates are per cycle, and a page shows them per second",
            remedy="add the frequency, such as frequency=3.2GHz",
        )


def require_page_endings(outputs: tuple[Path, ...]) -> None:
    """Refuse a file whose ending does not say what it is to hold.

    Raises
    ------
    click.BadParameter, RidgepointError
        If an ending is unknown, or a folder is not there.
    """
    for path in outputs:
        if path.suffix.lower() not in PAGE_ENDINGS:
            raise click.BadParameter(
                f"cannot write the page {str(path)!r}: let its name end in .html, or in .json "
                "for its data alone",
                param_hint="'-o'",
            )
        common.require_folder(path)
