"""Draw kept measurements together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ridgepoint.core.measurement import Measurement
    from ridgepoint.models.work import Metric


@click.command("plot")
@click.argument("targets", metavar="[ID|NAME...]", nargs=-1)
@click.option(
    "--machine",
    "machine_name",
    metavar="FILE|NAME|ID",
    help="Draw on this machine's roofline.  [default: the first measurement's]",
)
@common.kept_work_option
@click.option(
    "--miss-curve",
    is_flag=True,
    help="Draw one measurement's memory traffic over the size of the cache instead.",
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
    machine_name: str | None,
    metric: Metric | None,
    miss_curve: bool,
    latency: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> None:
    """Draw kept measurements together, or the last one, without measuring again.

    Each is a number or a name of 'ridgepoint list'. On the terminal, or with -o to a file. A
    machine alone draws its roofs.
    """
    from ridgepoint.cli.output import (
        save_figure,
        show_miss_curve,
        show_plot,
        write_latency,
        write_miss_curve,
    )
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import kept_measurement, last_record, named_machine
    from ridgepoint.models.analysis import analyse
    from ridgepoint.show.charts.roofline import roofline_chart

    common.require_figure_endings(outputs)
    with Archive(archive_path) as archive:
        kind = "machine" if latency else "measurement"
        named = latency and machine_name is not None
        records = [archive.require(one) for one in targets]
        records = records or ([] if named else [last_record(archive, kind)])
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
    if latency:
        if miss_curve or measurements:
            raise click.UsageError(
                "--latency draws a machine: give the number of one, or --machine, and neither a "
                "program nor --miss-curve"
            )
        write_latency(machine, outputs)
        return
    if miss_curve:
        if len(measurements) != 1:
            raise click.UsageError("--miss-curve draws one measurement: give one number of them")
        for path in outputs:
            write_miss_curve(measurements[0], machine, path)
        if not outputs:
            show_miss_curve(measurements[0], machine, stderr=False)
        return
    metric = metric or _metric_of(measurements)
    analyses = [analyse(each, machine, metric=metric) for each in measurements]
    figure = roofline_chart(machine, analyses, metric=metric)
    if outputs:
        save_figure(figure, outputs)
    else:
        show_plot(figure, stderr=False)
    if metric == "bop" and not machine.knows("bop"):
        print(
            f"ridgepoint: {machine.name!r} has no bop ceiling, so the roof of basic operations is "
            "missing; measure the machine again with 'ridgepoint machine', or draw on a published "
            "one that has it, as --machine e5645",
            file=sys.stderr,
        )


def _metric_of(measurements: Sequence[Measurement]) -> Metric:
    """Return what the work of measurements was asked to be counted in.

    Raises
    ------
    click.BadParameter
        If that differs: a figure has one axis.
    """
    metrics = {one.metric for one in measurements} or {"flop"}
    if len(metrics) > 1:
        raise click.BadParameter(
            "some were measured with --work bops and some without: say which to draw, "
            "--work flop or --work bops",
            param_hint="'--work'",
        )
    return metrics.pop()
