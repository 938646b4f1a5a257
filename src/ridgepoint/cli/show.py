"""Show a kept measurement or a machine again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.machine import Machine
    from ridgepoint.models.work import Metric


@click.command("show")
@click.argument("target", required=False)
@common.work_option
@common.json_option
@common.archive_option
def command(target: str | None, metric: Metric, as_json: bool, archive_path: Path | None) -> None:
    """Show TARGET, or what was kept last, without measuring again.

    TARGET is a number of 'ridgepoint list', a machine's file, or the name of a published machine.
    """
    from ridgepoint.archive import Archive
    from ridgepoint.cli.kept import kept_measurement, last_record
    from ridgepoint.cli.output import show_run
    from ridgepoint.library import open_machine
    from ridgepoint.models.placement import place

    with Archive(archive_path) as archive:
        if target is not None and not target.isdecimal():
            _show_machine(open_machine(target), metric, as_json=as_json)
            return
        record = last_record(archive) if target is None else archive.record(int(target))
        if record.kind == "machine":
            _show_machine(archive.machine(record.id), metric, as_json=as_json)
            return
        measurement, machine = kept_measurement(archive, record)
    placement = place(measurement, machine, metric=metric)
    show_run(measurement, machine, placement, as_json=as_json, plot=True, stderr=False)


def _show_machine(machine: Machine, metric: Metric, *, as_json: bool) -> None:
    """Print a machine.

    Raises
    ------
    click.BadParameter
        If it is asked for by one kind of work: it has ceilings of all.
    """
    from ridgepoint.cli.output import show_machine

    if metric != "flop":
        raise click.BadParameter(
            f"a machine, as {machine.name!r} is, is shown with all its ceilings: leave it out",
            param_hint="'--work'",
        )
    show_machine(machine, as_json=as_json)
