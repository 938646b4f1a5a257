"""Put records of files and of other archives into the archive."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common
from ridgepoint.cli.tables import beside, tables_option


@click.command("import")
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@common.json_option
@tables_option("imported")
@common.archive_option
def command(*, paths: tuple[Path, ...], as_json: bool, archive_path: Path | None) -> None:
    """Put records of files and of other archives into the archive, all of them or none.

    FILE is a file written by 'export', a folder of such files, the file of a machine or a cluster,
    or another archive. Each record gets a new number, which is printed. What the archive
    already has is not kept twice. If another record already has a name, a number is added to it.
    """
    from ridgepoint.core.documents import report
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.record_table import merged_table
    from ridgepoint.kept.transfer import import_all
    from ridgepoint.show.tables.record_table import merged_lines

    with Archive(archive_path) as archive:
        merged = import_all(archive, paths)
    with beside(lambda: [merged_table(merged)]) as is_shown:
        if as_json:
            common.print_json(report("import", {"records": merged}))
        elif is_shown:
            for line in merged_lines(merged):
                click.echo(line)
