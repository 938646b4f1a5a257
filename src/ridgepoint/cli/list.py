"""List what was kept."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common


@click.command("list")
@common.json_option
@common.archive_option
def command(as_json: bool, archive_path: Path | None) -> None:
    """List the kept records (machines, clusters and measurements), oldest first."""
    from ridgepoint.core.documents import report
    from ridgepoint.kept.archive import Archive
    from ridgepoint.show.tables import record_table

    with Archive(archive_path) as archive:
        records = archive.records()
    if as_json:
        common.print_json(report("list", {"records": records}))
    elif records:
        common.console().print(record_table.records(records))
    else:
        common.console().print(
            "No results are kept yet: measure a program with 'ridgepoint run -- ./program'."
        )
