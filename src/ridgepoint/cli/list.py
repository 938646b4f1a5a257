"""List what was kept."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common
from ridgepoint.cli.tables import beside, tables_option


@click.command("list")
@common.json_option
@tables_option("records")
@common.archive_option
def command(as_json: bool, archive_path: Path | None) -> None:
    """List the kept records (machines, clusters and measurements), oldest first."""
    from ridgepoint.core.documents import report
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.record_table import records_table
    from ridgepoint.show.tables import record_table

    with Archive(archive_path) as archive:
        records = archive.records()
    with beside(lambda: [records_table(records)], as_json=as_json) as is_shown:
        if as_json:
            common.print_json(report("list", {"records": records}))
        elif is_shown and records:
            common.console().print(record_table.records(records))
        elif is_shown:
            common.console().print(
                "No results are kept yet: measure a program with 'ridgepoint run -- ./program'."
            )
