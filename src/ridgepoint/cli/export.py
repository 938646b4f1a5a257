"""Write kept records to files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ridgepoint.cli import common, completing


@click.command("export")
@click.argument("targets", metavar="[ID|NAME...]", nargs=-1, shell_complete=completing.records)
@click.option("--all", "everything", is_flag=True, help="Export every record.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="Write to FILE, which ends in .json, or a file for each record to FOLDER.  "
    "[default: standard output]",
)
@click.option(
    "--no-machine",
    is_flag=True,
    help="Leave out the machine that bounds a program. The file keeps counts and times in a tenth "
    "of the space, but nothing bounds the program.",
)
@common.archive_option
def command(
    *,
    targets: tuple[str, ...],
    everything: bool,
    output: Path | None,
    no_machine: bool,
    archive_path: Path | None,
) -> None:
    """Write kept records to files, such as baselines to keep in a repository.

    A file holds one record as JSON, with its name, note and date, and the machine that bounds it.
    The same record always gives the same file. 'show', 'plot' and --machine take such a file like
    a record, and 'import' puts it into an archive.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.files import replace_file
    from ridgepoint.kept.portable import text_of
    from ridgepoint.kept.transfer import exported, file_names
    from ridgepoint.show.tables.record_table import record_title

    if everything == bool(targets):
        raise click.UsageError("name the records to export, or give --all")
    into = "one document" if output is None else repr(str(output))
    is_one = output is None or (output.suffix.lower() == ".json" and not output.is_dir())
    with Archive(archive_path) as archive:
        chosen = {record.id: record for record in map(archive.require, targets)}
        records = archive.records() if everything else list(chosen.values())
        if is_one and len(records) != 1:
            raise click.UsageError(
                f"{len(records)} records do not fit into {into}: name a folder with -o"
            )
        portables = exported(archive, records, with_machines=not no_machine)
        if output is None:
            sys.stdout.write(text_of(*portables))
            return
        if is_one:
            common.require_folder(output)
            paths = [output]
        else:
            folder = common.made_folder(output)
            paths = [folder / name for name in file_names(records)]
        for path, record, portable in zip(paths, records, portables, strict=True):
            replace_file(path, text_of(portable).encode(), what="the record")
            common.say(f"wrote {record_title(record)} to {path}")
