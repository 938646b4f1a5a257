"""Show a kept measurement or a machine again."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common


@click.command("show")
@click.argument("target", required=False)
@common.json_option
@common.archive_option
def command(target: str | None, as_json: bool, archive_path: Path | None) -> None:
    """Show TARGET, or what was kept last, without measuring again.

    TARGET is a number of 'ridgepoint list', a machine's file, or the name of a published machine.
    """
    from ridgepoint.archive import Archive
    from ridgepoint.cli.kept import kept_measurement, last_record
    from ridgepoint.cli.output import show_machine, show_run
    from ridgepoint.library import open_machine
    from ridgepoint.models.placement import place

    with Archive(archive_path) as archive:
        if target is not None and not target.isdecimal():
            show_machine(open_machine(target), as_json=as_json)
            return
        record = last_record(archive) if target is None else archive.record(int(target))
        if record.kind == "machine":
            show_machine(archive.machine(record.id), as_json=as_json)
            return
        measurement, machine = kept_measurement(archive, record)
    placement = place(measurement, machine)
    show_run(measurement, machine, placement, as_json=as_json, plot=True, stderr=False)
