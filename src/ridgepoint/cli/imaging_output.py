"""What ``ridgepoint suite imaging`` prints and writes, on CPUs and on a GPU alike."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.suites.imaging.continuum import Imaged
    from ridgepoint.suites.imaging.gridder import Gridding
    from ridgepoint.suites.imaging.measuring import StageResult
    from ridgepoint.suites.imaging.stages import Scene

_PICTURE = "imaging.png"
"""In a folder of figures: pixels are no lines, so that a vector format has no use."""
_SCHEMA = 1


def write_json(measured: Sequence[StageResult], seen: Scene, *, device: str | None = None) -> None:
    """Print one JSON object; it names the device, if it is another than this host's CPUs."""
    from ridgepoint.core.documents import plain, render

    document = {
        "schema": _SCHEMA,
        "kind": "imaging",
        "size": seen.geometry.size,
        "visibilities": seen.observation.visibilities,
        **({} if device is None else {"device": device}),
        "results": [plain(one) for one in measured],
    }
    sys.stdout.write(render(document))


def write_pipeline(
    measured: Sequence[StageResult],
    seen: Scene,
    machine: Machine,
    path: Path,
    *,
    on_device: Gridding | None = None,
) -> None:
    """Describe a pipeline in a file, with its machine in another beside it; say what to do with it.

    The number of a machine would mean another one in another archive.
    """
    from ridgepoint.core.documents import render, to_fields
    from ridgepoint.show.files import replace_file
    from ridgepoint.suites.imaging.described import described

    beside = path.with_suffix(".machine.json")
    text = described(measured, seen, machine=beside.name, on_device=on_device)
    replace_file(beside, render(to_fields(machine)).encode(), what="the machine")
    replace_file(path, text.encode(), what="the pipeline")
    print(f"ridgepoint: its machine is in {beside}", file=sys.stderr)
    print(f"ridgepoint: to compose it: ridgepoint pipeline {path}", file=sys.stderr)


def show_image(seen: Scene, found: Imaged, folder: Path | None) -> None:
    """Print which sources were found; draw what came out, if there is a folder."""
    from ridgepoint.show.charts.imaging import imaging_figure
    from ridgepoint.show.charts.imaging_mpl import save
    from ridgepoint.show.tables.imaging_table import source_table
    from ridgepoint.suites.imaging.recovered import recovered

    if folder is not None:
        save(imaging_figure(seen, found), folder / _PICTURE)
    common.console(stderr=True).print(source_table(recovered(seen, found), found))
