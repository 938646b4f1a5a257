"""Draw kept measurements together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.view_options import (
    Viewing,
    bandwidth_option,
    machines_option,
    other_machines,
    per_cycle_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.kept.archive import Archive
    from ridgepoint.models.one_bandwidth import Bandwidth
    from ridgepoint.models.work import Metric


@click.command("plot")
@click.argument("targets", metavar="[ID|NAME...]", nargs=-1)
@machines_option("Draw on this machine's roofline.", default="the first measurement's")
@common.kept_work_option
@bandwidth_option
@per_cycle_option
@click.option(
    "--miss-curve",
    is_flag=True,
    help="Draw the memory traffic of one measurement over the size of the cache instead.",
)
@click.option(
    "--latency",
    is_flag=True,
    help="Draw a machine's latency over the size of a working set, with its caches, instead.",
)
@common.output_option("the figure")
@common.archive_option
def command(
    *,
    targets: tuple[str, ...],
    machine_names: tuple[str, ...],
    metric: Metric | None,
    bandwidths: tuple[Bandwidth, ...],
    per_cycle: bool,
    miss_curve: bool,
    latency: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> None:
    """Draw kept measurements together, or the last one, without measuring again.

    Each argument is a number or a name of 'ridgepoint list'. The plot appears on the terminal, or
    in the file that -o names. A machine alone is drawn with its roofs.
    """
    from ridgepoint.cli.output import draw_chart, miss_curve_of, write_latency
    from ridgepoint.kept.archive import Archive

    common.require_figure_endings(outputs)
    with Archive(archive_path) as archive:
        name = machine_names[0] if machine_names else None
        machine, measurements = _kept(archive, targets, name, of_machine=latency)
    viewing = Viewing(
        others=other_machines(machine_names, archive_path),
        bandwidths=bandwidths,
        per_cycle=per_cycle,
    )
    if (latency or miss_curve) and viewing != Viewing():
        raise click.UsageError(
            "a second --machine, --bandwidth and --per-cycle are of rooflines, not of "
            f"{'--latency' if latency else '--miss-curve'}"
        )
    if latency:
        if miss_curve or measurements:
            raise click.UsageError(
                "--latency draws a machine: give its number, or --machine, without a program "
                "or --miss-curve"
            )
        write_latency(machine, outputs)
    elif miss_curve:
        if len(measurements) != 1:
            raise click.UsageError("--miss-curve draws a single measurement: give one number")
        draw_chart(miss_curve_of(measurements[0], machine), outputs)
    else:
        metric = metric or _metric_of(measurements)
        _draw_roofline(machine, measurements, metric, viewing, outputs)


def _kept(
    archive: Archive, targets: Sequence[str], machine_name: str | None, *, of_machine: bool
) -> tuple[Machine, list[Measurement]]:
    """Return the machine to draw on, and the measurements; without a target the last record's.

    A machine that is named goes before those of the records, and the first record's before others.
    """
    from ridgepoint.kept.lookup import kept_measurement, last_record, named_machine

    records = [archive.require(target) for target in targets]
    if not records and not (of_machine and machine_name is not None):
        records = [last_record(archive, "machine" if of_machine else "measurement")]
    machine = None if machine_name is None else named_machine(archive, machine_name)
    measurements = []
    for record in records:
        if record.kind == "machine":
            machine = machine or archive.machine(record.id)
            continue
        measurement, its_machine = kept_measurement(archive, record)
        measurements.append(measurement)
        machine = machine or its_machine
    assert machine is not None  # every record gave one
    return machine, measurements


def _draw_roofline(
    machine: Machine,
    measurements: Sequence[Measurement],
    metric: Metric,
    viewing: Viewing,
    outputs: Sequence[Path],
) -> None:
    """Draw measurements on a machine's roofline; say on standard error if a roof is missing."""
    from ridgepoint.cli.output import draw_chart
    from ridgepoint.models.analysis import analyse
    from ridgepoint.show.charts.roofline import roofline_picture

    analyses = [analyse(measurement, machine, metric=metric) for measurement in measurements]
    views = viewing.of(measurements[0] if measurements else None)
    draw_chart(roofline_picture(machine, analyses, metric=metric, views=views), outputs)
    if metric == "bop" and not machine.knows("bop"):
        print(
            f"ridgepoint: {machine.name!r} has no bop ceiling, so the roof of basic operations "
            "is missing; measure the machine again with 'ridgepoint machine', or draw on a "
            "published machine that has one, for example --machine e5645",
            file=sys.stderr,
        )


def _metric_of(measurements: Sequence[Measurement]) -> Metric:
    """Return what the work of measurements was asked to be counted in.

    Raises
    ------
    click.BadParameter
        If that differs: a figure has one axis.
    """
    metrics = {measurement.metric for measurement in measurements} or {"flop"}
    if len(metrics) > 1:
        raise click.BadParameter(
            "some were measured with --work bops and some without: choose one for all with "
            "--work flop or --work bops",
            param_hint="'--work'",
        )
    return metrics.pop()
