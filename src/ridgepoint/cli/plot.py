"""Draw kept measurements together."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common


@click.command("plot")
@click.argument("ids", nargs=-1, type=click.IntRange(min=1))
@click.option(
    "--machine",
    "machine_name",
    metavar="FILE|NAME",
    help="Draw on this machine's roofline.  [default: the first measurement's]",
)
@click.option(
    "--miss-curve",
    is_flag=True,
    help="Draw one measurement's memory traffic over the size of the cache instead.",
)
@common.output_option("the figure")
@common.archive_option
def command(
    ids: tuple[int, ...],
    machine_name: str | None,
    miss_curve: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> None:
    """Draw the kept measurements IDS together, or the last one, without measuring again.

    On the terminal, or with -o to a file. The number of a machine alone draws its roofs.
    """
    from ridgepoint.archive import Archive
    from ridgepoint.cli.kept import kept_measurement, last_record
    from ridgepoint.cli.output import (
        save_figure,
        show_miss_curve,
        show_plot,
        write_miss_curve,
    )
    from ridgepoint.figures.roofline import roofline_figure, subject
    from ridgepoint.library import open_machine

    common.require_figure_endings(outputs)
    with Archive(archive_path) as archive:
        records = [archive.record(one) for one in ids] or [last_record(archive, "measurement")]
        machine = None if machine_name is None else open_machine(machine_name)
        measurements = []
        for record in records:
            if record.kind == "machine":
                machine = machine or archive.machine(record.id)
                continue
            measurement, its_machine = kept_measurement(archive, record)
            measurements.append(measurement)
            machine = machine or its_machine
    assert machine is not None  # every record gave one
    if miss_curve:
        if len(measurements) != 1:
            raise click.UsageError("--miss-curve draws one measurement: give one number of them")
        for path in outputs:
            write_miss_curve(measurements[0], machine, path)
        if not outputs:
            show_miss_curve(measurements[0], machine, stderr=False)
        return
    figure = roofline_figure(machine, [subject(one, machine) for one in measurements])
    if outputs:
        save_figure(figure, outputs)
    else:
        show_plot(figure, stderr=False)
