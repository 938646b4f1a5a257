"""The imaging pipeline on a GPU: image a known sky there, time every stage, describe it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.cli import common, results
from ridgepoint.cli.imaging_output import show_image, write_json, write_pipeline

if TYPE_CHECKING:
    from ridgepoint.ceilings.gpu.arrays import Arrays
    from ridgepoint.core.machine import Machine
    from ridgepoint.suites.imaging.stages import Scene


def on_device(
    device: Arrays,
    scene: Callable[[], Scene],
    *,
    names: Sequence[str],
    only_list: bool,
    folder: Path | None,
    output: Path | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Do what ``ridgepoint suite imaging --device gpu`` was asked for; return the exit status."""
    from ridgepoint.show.tables.imaging_table import device_table, stages_table
    from ridgepoint.suites.imaging.device import gridder_on, image_on, stages_on, time_stages

    seen = scene()
    gridder = gridder_on(device, seen)
    if only_list:
        common.console().print(stages_table(stages_on(device, seen, gridder)))
        return 0
    figures = None if folder is None else results.folder(folder)
    machine = None if output is None else _machine(device, archive_path)
    with common.progress() as shown:
        found = image_on(device, seen, gridder, report=shown.step)
        shown.close()
        show_image(seen, found, figures)
        stages = [one for one in stages_on(device, seen, gridder) if one.name in names or not names]
        timed = time_stages(stages, device, report=shown.step)
    facts = device.device.facts
    # A pipeline that cannot be described shall not cost the user what was measured.
    try:
        if as_json:
            write_json(timed, seen, device=facts.name)
        else:
            common.console().print(device_table(timed, seen, name=facts.name))
    finally:
        if output is not None and machine is not None:
            write_pipeline(timed, seen, machine, output, on_device=gridder.gridding)
    return 2 if any(one.failure is not None for one in timed) else 0


def _machine(device: Arrays, archive_path: Path | None) -> Machine:
    """Return this GPU as a machine: kept, or measured and kept now."""
    from ridgepoint.kept.archive import Archive

    with Archive(archive_path) as archive, common.progress() as shown:
        return common.machine_of_gpu(archive, shown, device.device, device.index)[1]
