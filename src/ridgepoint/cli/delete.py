"""Delete kept records."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common, completing


@click.command("delete")
@click.argument(
    "targets", metavar="ID|NAME...", nargs=-1, required=True, shell_complete=completing.records
)
@click.option(
    "--with-measurements",
    is_flag=True,
    help="Also delete the measurements that the deleted machine bounds.",
)
@common.archive_option
def command(targets: tuple[str, ...], with_measurements: bool, archive_path: Path | None) -> None:
    """Delete kept records, either all that are named or none, and say which.

    The command does not ask, and a deleted record cannot be brought back. A machine that bounds
    kept measurements is deleted only together with them. The number of a deleted record is never
    given again.
    """
    from ridgepoint.core.errors import ArchiveRefused
    from ridgepoint.kept.archive import Archive
    from ridgepoint.show.tables.record_table import record_title

    with Archive(archive_path) as archive:
        ids = [archive.require(target).id for target in targets]
        for record in archive.delete(ids, with_measurements=with_measurements):
            common.say(f"deleted {record_title(record)}")
        try:
            archive.shrink()
        except ArchiveRefused as error:
            common.say(f"the archive file was not made smaller: {error.reason}")
