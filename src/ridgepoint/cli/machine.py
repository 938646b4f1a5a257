"""Measure this machine's ceilings and keep them."""

from __future__ import annotations

from pathlib import Path

import click

from ridgepoint.cli import common


@click.command("machine")
@common.json_option
@common.output_option("the machine's roofline")
@common.archive_option
def command(as_json: bool, outputs: tuple[Path, ...], archive_path: Path | None) -> None:
    """Measure this machine's ceilings and keep them.

    Peaks of fp64 and fp32, scalar to the widest vector, and the bandwidth of every cache level and
    of main memory, on one core and on all: samples, median, 95 % interval. Takes under 30 s.
    'ridgepoint run' uses the machine kept last for as long as it does not change.
    """
    from ridgepoint.archive import Archive
    from ridgepoint.ceilings import characterize
    from ridgepoint.cli.output import show_machine, write_machine

    common.require_figure_endings(outputs)
    with Archive(archive_path) as archive, common.progress() as shown:
        archive.require_writable()
        machine = characterize(progress=shown.fraction)
        shown.close()
        try:
            show_machine(machine, as_json=as_json)
            write_machine(machine, outputs)
        finally:
            common.say_kept(archive.keep_machine(machine))
