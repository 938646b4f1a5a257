"""Measure the stages of a real imaging pipeline; describe it for ``ridgepoint pipeline``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, results

if TYPE_CHECKING:
    from ridgepoint.imaging.measuring import StageResult
    from ridgepoint.imaging.stages import Scene

NAME = "imaging"

FIGURE = "imaging.png"
"""In a folder of figures: pixels are no lines, so that a vector format has no use."""

_SCHEMA = 1
_SIZE = 256


def command(
    names: Sequence[str],
    *,
    only_list: bool,
    state: str,
    threads: Sequence[int],
    size: int | None,
    gain: float | None,
    folder: Path | None,
    output: Path | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Do what ``ridgepoint suite imaging`` was asked for; return the exit status."""
    from ridgepoint.imaging.gridder import require_ducc

    _require_names(names, output)
    number = _threads(threads)
    if output is not None:
        common.require_folder(output)
    if gain is not None and not 0 < gain <= 1:
        raise click.BadParameter(f"must be > 0 and at most 1, got {gain:g}", param_hint="'--gain'")
    require_ducc()
    seen = _scene(_SIZE if size is None else size, threads=number, gain=gain or 0.1)
    if only_list:
        from ridgepoint.figures.imaging_table import scene_table

        common.console().print(scene_table(seen))
        return 0
    if folder is not None:
        _draw(seen, results.folder(folder))
    machine = None if output is None else _machine(archive_path)
    measured = _measured(names, seen, state)
    # A pipeline that cannot be described shall not cost the user what was measured.
    try:
        _show(measured, seen, as_json=as_json)
    finally:
        if output is not None and machine is not None:
            _describe(measured, seen, machine, output)
    return 2 if any(one.failure is not None for one in measured) else 0


def _require_names(names: Sequence[str], output: Path | None) -> None:
    from ridgepoint.imaging.stages import NAMES

    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise click.BadParameter(
            f"there is no {unknown[0]!r}; there are {', '.join(NAMES)}", param_hint=f"'{NAME}'"
        )
    if names and output is not None:
        raise click.BadParameter(
            "a pipeline needs all stages: name none", param_hint="'-o' / '--output'"
        )


def _threads(threads: Sequence[int]) -> int:
    from ridgepoint.host import usable_cpus

    if len(threads) > 1:
        raise click.BadParameter(f"{NAME} takes one number", param_hint="'--threads'")
    if threads and threads[0] > (every := len(usable_cpus())):
        raise click.BadParameter(f"{every} CPUs may be used", param_hint="'--threads'")
    return threads[0] if threads else 1


def _scene(size: int, *, threads: int, gain: float) -> Scene:
    from ridgepoint.imaging.stages import scene

    try:
        return scene(size, threads=threads, gain=gain)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--size'") from error


def _machine(archive_path: Path | None) -> int:
    from ridgepoint.archive import Archive

    with Archive(archive_path) as archive, common.progress() as shown:
        return common.machine_of_this_host(archive, shown)[0]


def _measured(names: Sequence[str], seen: Scene, state: str) -> tuple[StageResult, ...]:
    from ridgepoint.imaging.measuring import measure_stages
    from ridgepoint.imaging.stages import chosen

    states = ("cold", "warm") if state == "both" else (state,)
    with common.progress() as shown:
        return measure_stages(
            chosen(seen, names),
            states=states,  # type: ignore[arg-type]
            threads=seen.geometry.threads,
            report=shown.step,
        )


def _show(measured: Sequence[StageResult], seen: Scene, *, as_json: bool) -> None:
    if as_json:
        from ridgepoint.documents import plain, render

        document = {
            "schema": _SCHEMA,
            "kind": NAME,
            "size": seen.geometry.size,
            "visibilities": seen.observation.visibilities,
            "results": [plain(one) for one in measured],
        }
        sys.stdout.write(render(document))
        return
    from ridgepoint.figures.imaging_table import stage_table

    common.console().print(stage_table(measured, seen))


def _describe(measured: Sequence[StageResult], seen: Scene, machine: int, path: Path) -> None:
    from ridgepoint.figures.files import replace_file
    from ridgepoint.imaging.described import described

    text = described(measured, seen, machine=machine)
    replace_file(path, text.encode(), what="the pipeline")
    print(f"ridgepoint: to compose it: ridgepoint pipeline {path}", file=sys.stderr)


def _draw(seen: Scene, folder: Path) -> None:
    """Image the scene; draw what comes out, and print which sources were found."""
    from ridgepoint.figures.imaging import imaging_figure
    from ridgepoint.figures.imaging_mpl import save
    from ridgepoint.figures.imaging_table import source_table
    from ridgepoint.imaging.continuum import image
    from ridgepoint.imaging.recovered import recovered

    with common.progress() as shown:
        found = image(
            seen.visibilities, seen.observation, seen.geometry, seen.plan,
            weights=seen.weights, report=shown.step,
        )  # fmt: skip
    save(imaging_figure(seen, found), folder / FIGURE)
    common.console(stderr=True).print(source_table(recovered(seen, found), found))
