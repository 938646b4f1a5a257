"""Show kept measurements, machines or clusters again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.kept.lookup import Kept
    from ridgepoint.models.work import Metric


@click.command("show")
@click.argument("targets", metavar="[TARGET...]", nargs=-1)
@common.kept_work_option
@click.option(
    "--cautions",
    "every_caution",
    is_flag=True,
    help="Also show in full the cautions that could not change a verdict.",
)
@common.json_option
@common.archive_option
def command(
    targets: tuple[str, ...],
    metric: Metric | None,
    every_caution: bool,
    as_json: bool,
    archive_path: Path | None,
) -> None:
    """Show each TARGET, or the last record, without measuring again.

    TARGET is a number or a name of 'ridgepoint list', the file of a machine or a cluster, or the
    name of a published machine. A program that was measured with --cores or --work is shown by
    them again.
    """
    from ridgepoint.core.documents import report
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import kept, kept_record, last_record

    with Archive(archive_path) as archive:
        kept_values = [kept(archive, target) for target in targets]
        if not targets:
            kept_values = [kept_record(archive, last_record(archive))]
    if as_json and len(kept_values) > 1:
        documents = [_document(value, metric) for value in kept_values]
        common.print_json(report("records", {"records": documents}))
    elif as_json:
        common.print_json(_document(kept_values[0], metric))
    else:
        for number, value in enumerate(kept_values):
            if number:
                common.console().rule(style="")
            _show(value, metric, every_caution=every_caution)


def _document(value: Kept, metric: Metric | None) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from ridgepoint.cli.output import machine_fields
    from ridgepoint.core.documents import to_fields
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.analysis import analyse
    from ridgepoint.show.report import report, timing_report

    if isinstance(value, Timing):
        return timing_report(value)
    if not isinstance(value, tuple):
        _require_no_work(value.name, metric)
        return machine_fields(value) if isinstance(value, Machine) else to_fields(value)
    measurement, machine = value
    return report(analyse(measurement, machine, metric=metric))


def _show(value: Kept, metric: Metric | None, *, every_caution: bool) -> None:
    """Print a measurement, a machine or a cluster for a reader."""
    from ridgepoint.cli.cluster_output import show_cluster
    from ridgepoint.cli.output import show_machine, show_run
    from ridgepoint.cli.timings import show_timing
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.analysis import analyse

    if isinstance(value, Timing):
        show_timing(value, as_json=False)
        return
    if isinstance(value, tuple):
        measurement, machine = value
        show_run(
            analyse(measurement, machine, metric=metric),
            as_json=False,
            plot=True,
            stderr=False,
            every_caution=every_caution,
        )
        return
    _require_no_work(value.name, metric)
    if isinstance(value, MeasuredCluster):
        show_cluster(value, as_json=False)
    else:
        show_machine(value, as_json=False, every_caution=every_caution)


def _require_no_work(name: str, metric: Metric | None) -> None:
    """Refuse to show a machine or a cluster by one kind of work: it has ceilings of all.

    Raises
    ------
    click.BadParameter
    """
    if metric is not None:
        raise click.BadParameter(
            f"--work does not apply: {name!r} is a machine, which is shown with all its ceilings",
            param_hint="'--work'",
        )
