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
    """Show each TARGET, or what was kept last, without measuring again.

    TARGET is a number or a name of 'ridgepoint list', the file of a machine or a cluster, or the
    name of a published machine. What was measured with --cores or --work is shown so again.
    """
    from ridgepoint.core.documents import report
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import kept, kept_record, last_record

    with Archive(archive_path) as archive:
        found = [kept(archive, target) for target in targets]
        if not targets:
            found = [kept_record(archive, last_record(archive))]
    if as_json and len(found) > 1:
        documents = [_document(one, metric) for one in found]
        common.print_json(report("records", {"records": documents}))
    elif as_json:
        common.print_json(_document(found[0], metric))
    else:
        for number, one in enumerate(found):
            if number:
                common.console().rule(style="")
            _show(one, metric, every_caution=every_caution)


def _document(found: Kept, metric: Metric | None) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from ridgepoint.cli.output import machine_fields
    from ridgepoint.core.documents import to_fields
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.analysis import analyse
    from ridgepoint.show.report import report, timing_report

    if isinstance(found, Timing):
        return timing_report(found)
    if not isinstance(found, tuple):
        _require_no_work(found.name, metric)
        return machine_fields(found) if isinstance(found, Machine) else to_fields(found)
    measurement, machine = found
    return report(analyse(measurement, machine, metric=metric))


def _show(found: Kept, metric: Metric | None, *, every_caution: bool) -> None:
    """Print a measurement, a machine or a cluster for a reader."""
    from ridgepoint.cli.cluster_output import show_cluster
    from ridgepoint.cli.output import show_machine, show_run
    from ridgepoint.cli.timings import show_timing
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.analysis import analyse

    if isinstance(found, Timing):
        show_timing(found, as_json=False)
        return
    if isinstance(found, tuple):
        measurement, machine = found
        show_run(
            analyse(measurement, machine, metric=metric),
            as_json=False,
            plot=True,
            stderr=False,
            every_caution=every_caution,
        )
        return
    _require_no_work(found.name, metric)
    if isinstance(found, MeasuredCluster):
        show_cluster(found, as_json=False)
    else:
        show_machine(found, as_json=False, every_caution=every_caution)


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
