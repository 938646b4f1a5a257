"""Give a kept record a name."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common, completing


@click.command("name")
@click.argument("target", metavar="ID|NAME", shell_complete=completing.records)
@click.argument(
    "label",
    metavar="NAME",
    callback=lambda context, parameter, value: common.checked_label(value) if value else None,
)
@common.archive_option
def command(target: str, label: str | None, archive_path: Path | None) -> None:
    """Call a kept record NAME; 'show', 'plot', 'delete' and --machine then find it by NAME.

    If several records have the same name, it stands for the one kept last. An empty NAME removes
    the name.
    """
    from ridgepoint.kept.archive import Archive

    with Archive(archive_path) as archive:
        record = archive.require(target)
        archive.set_label(record.id, label)
    common.say(f"{record.id} has no name now" if label is None else f"{record.id} is {label!r}")
