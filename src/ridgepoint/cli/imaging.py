"""Measure the stages of a real imaging pipeline; describe it for ``ridgepoint pipeline``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, results
from ridgepoint.cli.imaging_output import show_image, write_json, write_pipeline

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.suites.imaging.measuring import StageResult
    from ridgepoint.suites.imaging.stages import Scene

NAME = "imaging"

_SIZE = 256


def command(
    names: Sequence[str],
    *,
    only_list: bool,
    device: int | None,
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
    from ridgepoint.suites.imaging.gridder import require_ducc

    _require_names(names, output)
    if device is not None:
        _require_for_a_gpu(state, threads)
    number = _threads(threads)
    if output is not None:
        common.require_folder(output)
    if gain is not None and not 0 < gain <= 1:
        raise click.BadParameter(f"must be > 0 and at most 1, got {gain:g}", param_hint="'--gain'")
    size, gain = _SIZE if size is None else size, gain or 0.1
    if device is not None:
        from ridgepoint.ceilings.gpu.arrays import open_arrays
        from ridgepoint.cli.imaging_device import on_device

        return on_device(
            open_arrays(device),
            lambda: _scene(size, threads=1, gain=gain, on_host=False),
            names=names, only_list=only_list, folder=folder, output=output, as_json=as_json,
            archive_path=archive_path,
        )  # fmt: skip
    require_ducc()
    seen = _scene(size, threads=number, gain=gain)
    if only_list:
        from ridgepoint.show.tables.imaging_table import stages_table
        from ridgepoint.suites.imaging.stages import stages

        common.console().print(stages_table(stages(seen)))
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
            write_pipeline(measured, seen, machine, output)
    return 2 if any(one.failure is not None for one in measured) else 0


def _require_names(names: Sequence[str], output: Path | None) -> None:
    from ridgepoint.suites.imaging.stages import NAMES

    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise click.BadParameter(
            f"there is no {unknown[0]!r}; there are {', '.join(NAMES)}", param_hint=f"'{NAME}'"
        )
    if names and output is not None:
        raise click.BadParameter(
            "a pipeline needs all stages: name none", param_hint="'-o' / '--output'"
        )


def _require_for_a_gpu(state: str, threads: Sequence[int]) -> None:
    if threads:
        raise click.BadParameter(
            "--threads applies to CPUs only: it cannot be combined with --device",
            param_hint="'--threads'",
        )
    if state == "cold":
        raise click.BadParameter(
            "on a GPU, stages are timed with warm caches only", param_hint="'--caches'"
        )


def _threads(threads: Sequence[int]) -> int:
    from ridgepoint.host import usable_cpus

    if len(threads) > 1:
        raise click.BadParameter(
            f"the {NAME} pipeline takes one number of threads", param_hint="'--threads'"
        )
    if threads and threads[0] > (every := len(usable_cpus())):
        raise click.BadParameter(f"{every} CPUs may be used", param_hint="'--threads'")
    return threads[0] if threads else 1


def _scene(size: int, *, threads: int, gain: float, on_host: bool = True) -> Scene:
    from ridgepoint.suites.imaging.stages import scene

    try:
        return scene(size, threads=threads, gain=gain, on_host=on_host)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--size'") from error


def _machine(archive_path: Path | None) -> Machine:
    from ridgepoint.kept.archive import Archive

    with Archive(archive_path) as archive, common.progress() as shown:
        return common.machine_of_this_host(archive, shown)[1]


def _measured(names: Sequence[str], seen: Scene, state: str) -> tuple[StageResult, ...]:
    from ridgepoint.suites.imaging.measuring import measure_stages
    from ridgepoint.suites.imaging.stages import chosen

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
        write_json(measured, seen)
        return
    from ridgepoint.show.tables.imaging_table import stage_table

    common.console().print(stage_table(measured, seen))


def _draw(seen: Scene, folder: Path) -> None:
    """Image the scene; draw what comes out, and print which sources were found."""
    from ridgepoint.suites.imaging.continuum import image

    with common.progress() as shown:
        found = image(
            seen.visibilities, seen.observation, seen.geometry, seen.plan,
            weights=seen.weights, report=shown.step,
        )  # fmt: skip
    show_image(seen, found, folder)
