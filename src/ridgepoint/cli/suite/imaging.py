"""Measure the stages of a real imaging pipeline; describe it for ``ridgepoint pipeline``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.numbers import NumberRange
from ridgepoint.cli.suite import durations, options, results
from ridgepoint.cli.tables import tables_option
from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.suites.durations import Piece
    from ridgepoint.suites.imaging.continuum import Imaged
    from ridgepoint.suites.imaging.measuring import ImagingStudy
    from ridgepoint.suites.imaging.places import Place
    from ridgepoint.suites.imaging.whole import WholeRun

_PICTURE = "imaging.png"
"""In a folder of figures: pixels are no lines, so that a vector format has no use."""


def _stages() -> tuple[str, ...]:
    from ridgepoint.suites.imaging.stages import NAMES

    return NAMES


@click.command("imaging")
@options.names_argument("STAGE", _stages)
@options.list_option
@options.caches_option
@options.threads_option("Number of threads.", default=1, show_default=True)
@click.option(
    "--size",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="N",
    help="Pixels along a side of the image.",
)
@click.option(
    "--gain",
    type=NumberRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    metavar="G",
    help="The share of a peak that a minor cycle removes.",
)
@click.option(
    "--stages-only",
    is_flag=True,
    help="Do not run the whole pipeline: FILE.toml then has no time of the host.",
)
@click.option(
    "--scratch",
    type=click.Path(path_type=Path, file_okay=False, exists=True, writable=True),
    metavar="FOLDER",
    help="Where the whole pipeline reads and writes files; they are removed afterwards.  "
    "[default: that of FILE.toml, or the temporary folder]",
)
@options.repeat_option
@options.limit_option(5, "long calls exceed it for a few samples")
@common.figures_option("Image a known sky, and draw it in FOLDER; print which sources were found.")
@options.output_option("the pipeline, for 'ridgepoint pipeline',", "FILE.toml")
@common.device_option("Where it runs")
@common.json_option
@tables_option("cases", "cautions")
@common.archive_option
def command(
    *,
    names: tuple[str, ...],
    only_list: bool,
    state: str,
    threads: int,
    size: int,
    gain: float,
    stages_only: bool,
    scratch: Path | None,
    repeat: int | None,
    limit_s: float | None,
    folder: Path | None,
    output: Path | None,
    device: int | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Measure the STAGEs of a real continuum imaging pipeline; without a name, all.

    Without a name the whole pipeline is run, too, from a file of visibilities to files of images:
    what the stages leave of its time is the host's.

    With -o FILE.toml they are described for 'ridgepoint pipeline FILE.toml'; with --figures an
    image of a known sky is made and drawn. With --device gpu all of that runs on a GPU.
    """
    from ridgepoint.profiling.calls.knobs import OF_THE_COMMAND
    from ridgepoint.show.tables.imaging_table import stages_table

    if names and output is not None:
        raise click.BadParameter(
            "a pipeline needs all stages: give no names of stages", param_hint="'-o' / '--output'"
        )
    if scratch is not None and (names or stages_only):
        raise click.BadParameter(
            "only the whole pipeline has files: give neither names of stages nor --stages-only",
            param_hint="'--scratch'",
        )
    if device is not None:
        _require_for_a_gpu(state)
    place = _place(device, size=size, threads=threads, gain=gain)
    parts = names or (("stages only",) if stages_only else ())
    pieces = _pieces(parts, state, device, size=size, threads=threads)
    if only_list:
        common.console().print(stages_table(place.stages(names)))
        durations.show(pieces, "a run of these", archive_path)
        return 0
    if folder is not None:
        common.made_folder(folder)
    machine = None if output is None else _machine(place, archive_path)
    # A GPU's image is made in any case: it says whether what is timed there works.
    is_seen = folder is not None or device is not None
    has_whole = not names and not stages_only
    what = "the pipeline and its stages" if has_whole else "the stages"
    is_usual = repeat is None and limit_s is None
    with durations.timed(pieces, what, archive_path, lambda what: None, is_usual=is_usual) as begin:
        begin(what)
        whole = None
        if has_whole:
            whole = _run_whole(place, scratch or (output and output.parent), needs_image=is_seen)
        if is_seen:
            imaged = whole[1] if isinstance(whole, tuple) else _image(place)
            _show_image(place, imaged, folder)
        timed = whole[0] if isinstance(whole, tuple) else whole
        with common.progress() as shown:
            study = place.measure(
                names,
                states=options.states(state),
                repetitions=repeat,
                limit_s=limit_s,
                knobs=OF_THE_COMMAND,
                whole=timed,
                report=shown.step,
            )

    # A pipeline that cannot be described shall not cost the user what was measured.
    try:
        results.show_and_keep(study, as_json=as_json)
    finally:
        if output is not None and machine is not None:
            _write_pipeline(study, place, machine, output)
    return 2 if study.unmeasured else 0


def _pieces(
    parts: Sequence[str], state: str, device: int | None, *, size: int, threads: int
) -> tuple[Piece, ...]:
    """Return the whole run of these parts, or of all, whose duration is kept: they share data."""
    from ridgepoint.suites.durations import Piece

    own = ", ".join((*(sorted(set(parts)) or ("all",)), state, f"{threads} threads"))
    where = "" if device is None else ", GPU"
    return (
        Piece(
            key=f"imaging: {size} pixels, {own}{where}",
            words="",
            kind=f"imaging: {own}{where}",
            size=size * size,
        ),
    )


def _require_for_a_gpu(state: str) -> None:
    if "threads" in common.given_on_command_line():
        raise click.BadParameter(
            "--threads applies to CPUs only: it cannot be combined with --device",
            param_hint="'--threads'",
        )
    if state == "cold":
        raise click.BadParameter(
            "on a GPU, stages are timed with warm caches only", param_hint="'--caches'"
        )


def _place(device: int | None, *, size: int, threads: int, gain: float) -> Place:
    from ridgepoint.suites.imaging import places

    try:
        if device is None:
            return places.on_host(size, threads=threads, gain=gain)
        return places.on_gpu(device, size, gain=gain)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--size'") from error


def _machine(place: Place, archive_path: Path | None) -> Machine:
    """Return this host or this GPU as a machine: kept, or measured and kept now."""
    from ridgepoint.kept.archive import Archive

    with Archive(archive_path) as archive, common.progress() as shown:
        if place.gpu is None:
            return common.machine_of_this_host(archive, shown)[1]
        return common.machine_of_gpu(archive, shown, place.gpu.device, place.gpu.index)[1]


def _run_whole(
    place: Place, folder: Path | None, *, needs_image: bool
) -> tuple[WholeRun, Imaged] | RidgepointError:
    """Run the whole pipeline, and return its times and its image, or why there are none.

    Raises
    ------
    RidgepointError
        If there is no image, but it is needed.
    """
    with common.progress() as shown:
        try:
            return place.run(folder=folder, report=shown.step)
        except RidgepointError as error:
            if needs_image:
                raise
            return error


def _image(place: Place) -> Imaged:
    with common.progress() as shown:
        return place.image(report=shown.step)


def _show_image(place: Place, imaged: Imaged, folder: Path | None) -> None:
    """Print which sources of the scene were found, and draw what came out in a folder."""
    from ridgepoint.show.charts.imaging import sky_images
    from ridgepoint.show.draw_images import save
    from ridgepoint.show.tables.imaging_table import source_table
    from ridgepoint.suites.imaging.recovered import recovered

    if folder is not None:
        save(sky_images(place.scene, imaged), folder / _PICTURE)
    common.console(stderr=True).print(source_table(recovered(place.scene, imaged), imaged))


def _write_pipeline(study: ImagingStudy, place: Place, machine: Machine, path: Path) -> None:
    """Describe a pipeline in a file, with its machine in another beside it; say what to do with it.

    The number of a machine would mean another one in another archive.
    """
    from ridgepoint.core.documents import render, to_fields
    from ridgepoint.kept.files import replace_file
    from ridgepoint.suites.imaging.described import described

    beside = path.with_suffix(".machine.json")
    text = described(
        study.results, place.scene, machine=beside.name, on_device=place.gridding,
        whole=study.whole,
    )  # fmt: skip
    replace_file(beside, render(to_fields(machine)).encode(), what="the machine")
    replace_file(path, text.encode(), what="the pipeline")
    common.say(f"its machine is in {beside}")
    common.say(f"to compose it: ridgepoint pipeline {path}")
