"""Add a note to a kept record."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common, completing


@click.command("note")
@click.argument("target", metavar="ID|NAME", shell_complete=completing.records)
@click.argument("text")
@common.archive_option
def command(target: str, text: str, archive_path: Path | None) -> None:
    """Keep TEXT as the note of a record, in place of an earlier note.

    'ridgepoint list' shows it. An empty TEXT removes the note.
    """
    from ridgepoint.kept.archive import Archive

    with Archive(archive_path) as archive:
        record = archive.require(target)
        archive.set_note(record.id, text or None)
    common.say(f"{record.id} has {'the' if text else 'no'} note{'' if text else ' now'}")
