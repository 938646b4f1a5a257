"""Show a kept measurement, a machine or a cluster again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.machine import Machine
    from ridgepoint.measured_cluster import MeasuredCluster
    from ridgepoint.models.work import Metric


@click.command("show")
@click.argument("target", required=False)
@common.work_option
@common.json_option
@common.archive_option
def command(target: str | None, metric: Metric, as_json: bool, archive_path: Path | None) -> None:
    """Show TARGET, or what was kept last, without measuring again.

    TARGET is a number of 'ridgepoint list', the file of a machine or a cluster, or the name of a
    published machine.
    """
    from ridgepoint.archive import Archive
    from ridgepoint.cli.output import show_run
    from ridgepoint.kept import kept_measurement, last_record
    from ridgepoint.library import open_cluster, open_machine
    from ridgepoint.models.placement import place

    with Archive(archive_path) as archive:
        if target is not None and not target.isdecimal():
            _show_named(open_cluster(target) or open_machine(target), metric, as_json=as_json)
            return
        record = last_record(archive) if target is None else archive.record(int(target))
        if record.kind == "machine":
            _show_named(archive.machine(record.id), metric, as_json=as_json)
            return
        if record.kind == "cluster":
            _show_named(archive.cluster(record.id), metric, as_json=as_json)
            return
        measurement, machine = kept_measurement(archive, record)
    placement = place(measurement, machine, metric=metric)
    show_run(measurement, machine, placement, as_json=as_json, plot=True, stderr=False)


def _show_named(known: Machine | MeasuredCluster, metric: Metric, *, as_json: bool) -> None:
    """Print a machine or a cluster.

    Raises
    ------
    click.BadParameter
        If it is asked for by one kind of work: it has ceilings of all.
    """
    from ridgepoint.cli.cluster_output import show_cluster
    from ridgepoint.cli.output import show_machine
    from ridgepoint.measured_cluster import MeasuredCluster

    if metric != "flop":
        raise click.BadParameter(
            f"a machine, as {known.name!r} is, is shown with all its ceilings: leave it out",
            param_hint="'--work'",
        )
    if isinstance(known, MeasuredCluster):
        show_cluster(known, as_json=as_json)
    else:
        show_machine(known, as_json=as_json)
