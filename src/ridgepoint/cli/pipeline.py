"""Compose the stages of a science pipeline: efficiencies, devices, what gains most."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.tables import TABLES, beside, tables_option
from ridgepoint.core.names import named_twice

if TYPE_CHECKING:
    from ridgepoint.cli.pipeline_report import Shown
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.table import Table
    from ridgepoint.kept.pipeline_file import Case, Cases
    from ridgepoint.models.pipeline.assessment import Assessment
    from ridgepoint.models.pipeline.devices import Assignment
    from ridgepoint.models.pipeline.observation import Observation
    from ridgepoint.show.page.document import View

_EXAMPLE = "imaging"
_LONGEST_FOLDER = 60
"""Of its name, in characters."""


@click.command("pipeline")
@click.argument(
    "file", required=False, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.toml"
)
@click.option(
    "--machine",
    "machine_names",
    multiple=True,
    metavar="FILE|NAME|ID",
    shell_complete=completing.machines,
    help=(
        "Use this machine instead of the file's: h200, a100, mi300x, ..., a file of "
        "'ridgepoint machine --json', or a number or a name of 'ridgepoint list'. With several, "
        "the first one bounds, and stages may be assigned to all of them."
    ),
)
@click.option(
    "--operators",
    metavar="RECORD",
    shell_complete=completing.operators,
    help="Take the kept operators of a program as stages, instead of a file: a number or a name of "
    "'ridgepoint list', or the file of a record.",
)
@click.option(
    "--by",
    type=click.Choice(["modules", "kinds", "phases"]),
    help="What is a stage of --operators: a module, a family of operators, or a phase (forward, "
    "backward, optimizer).  [default: modules]",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    help="With --operators: how many parts of a module's path name a stage; layers.0.mlp is of "
    "layers at 1.  [default: 1]",
)
@click.option(
    "--example",
    "example_name",
    is_flag=False,
    flag_value=_EXAMPLE,
    metavar="[NAME]",
    help="Print an example file and stop: imaging (the default), memo, sdp-low or observation.",
)
@click.option("--published", is_flag=True, help="Print the published loads of the SDP and stop.")
@common.figures_option(
    "Draw all figures in this folder, or, for several pipelines, in a folder for each, by its name."
)
@common.output_option("the roofline with the stages, and where the time goes")
@common.archive_option
@common.json_option
@tables_option(
    *("stages", "pipelines", "composites", "advice", "loads"),
    main="stages; with --published: loads",
)
def command(
    *,
    file: Path | None,
    machine_names: tuple[str, ...],
    operators: str | None,
    by: str | None,
    depth: int | None,
    example_name: str | None,
    published: bool,
    folder: Path | None,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
    as_json: bool,
) -> int:
    """Combine the stages of a science pipeline: efficiencies, number of devices, largest gains.

    FILE.toml names the machine and the stages: measured ones (by their numbers in the archive),
    stages given by a formula, and stages given by figures. 'ridgepoint pipeline --example >
    imaging.toml' writes a file to begin with.

    The report shows the composite intensity by Eqs. (5), (7) and (8) of SDP memo 54 and by the
    exact sum of the stages; the roofline, programming and compute efficiency; the number of
    devices with its interval; and what would gain most.
    """
    _require_alone(example=example_name is not None, published=published)
    if example_name is not None:
        from ridgepoint.kept.pipeline_file import example_pipeline

        sys.stdout.write(example_pipeline(example_name))
        return 0
    if published:
        _show_published(as_json=as_json)
        return 0
    common.require_figure_endings(outputs)
    _require_stages(file, operators, by=by, depth=depth)
    if operators is not None:
        from ridgepoint.cli.pipeline_operators import operator_cases

        machines = _machines(machine_names, archive_path)
        cases = operator_cases(
            operators, machines, archive_path, by=by or "modules", depth=depth or 1
        )
    else:
        assert file is not None
        cases = _cases(file, machine_names, archive_path)
    if outputs and len(cases.cases) > 1:
        raise click.UsageError(
            f"{file} has {len(cases.cases)} pipelines: draw them with --figures FOLDER"
        )
    assessments = tuple(case.assess() for case in cases.cases)
    pairs = zip(cases.cases, assessments, strict=True)
    shown = [_shown(case, assessment) for case, assessment in pairs]
    observation = cases.observation(assessments)
    _draw(shown, observation, outputs=outputs, folder=folder)
    _print(shown, observation, as_json=as_json)
    return 0


def _require_alone(*, example: bool, published: bool) -> None:
    """Refuse what a command that only prints something else would ignore."""
    if not (example or published):
        return
    own, what = ("example_name", "--example") if example else ("published", "--published")
    for name, flag in common.given_on_command_line().items():
        if name == own or (published and not example and name in {"as_json", *TABLES}):
            continue
        given = "a file" if name == "file" else flag
        raise click.UsageError(f"{what} only prints: it cannot be combined with {given}")


def _cases(file: Path, machine_names: Sequence[str], archive_path: Path | None) -> Cases:
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.pipeline_file import read_pipeline

    machines = _machines(machine_names, archive_path)
    return read_pipeline(
        file,
        archive=Archive(archive_path),
        machine=machines[0] if machines else None,
        others=machines[1:] or None,
    )


def _machines(names: Sequence[str], archive_path: Path | None) -> list[Machine]:
    from ridgepoint.kept.lookup import machine_of

    machines = [machine_of(name, archive_path) for name in names]
    twice = named_twice(machine.name for machine in machines)
    if twice is not None:
        raise click.UsageError(
            f"two machines are called {twice!r}: name each once, and figures by name=NAME"
        )
    return machines


def _require_stages(
    file: Path | None, operators: str | None, *, by: str | None, depth: int | None
) -> None:
    """Refuse a command that names no stages, or stages in two ways."""
    if file is None and operators is None:
        raise click.UsageError("name a file; 'ridgepoint pipeline --example' prints one")
    if file is not None and operators is not None:
        raise click.UsageError("a file and --operators both name stages: give one of them")
    if operators is None and (by or depth):
        raise click.UsageError(f"{'--by' if by else '--depth'} applies only to --operators")
    if depth is not None and by not in (None, "modules"):
        raise click.UsageError("--depth applies only to modules: leave --by out")


def pipelines_of(file: Path, archive_path: Path | None) -> list[Shown]:
    """Return the pipelines of a file, each on its own machine."""
    cases = _cases(file, (), archive_path)
    return [_shown(case, case.assess()) for case in cases.cases]


def views_of(pipelines: Sequence[Shown]) -> list[View]:
    """Return a view of a page for each pipeline."""
    from ridgepoint.show.page.pipeline_view import pipeline_view

    return [
        pipeline_view(each.assessment, each.gains, each.advised, number=number)
        for number, each in enumerate(pipelines)
    ]


def _shown(case: Case, assessment: Assessment) -> Shown:
    from ridgepoint.cli.pipeline_report import Shown
    from ridgepoint.models.pipeline.advice import pipeline_advice
    from ridgepoint.models.pipeline.sensitivity import sensitivity

    return Shown(
        case=case,
        assessment=assessment,
        gains=sensitivity(case.pipeline, case.machine, cores=case.cores),
        advised=pipeline_advice(assessment),
        assigned=_assigned(case),
    )


def _assigned(case: Case) -> Assignment | None:
    from ridgepoint.models.pipeline.devices import assign

    if not case.others:
        return None
    try:
        return assign(
            case.pipeline,
            (case.machine, *case.others),
            cores=case.cores,
            link_bytes_per_s=case.link_bytes_per_s,
            load_per_s=case.load_per_s,
        )
    except ValueError as error:
        raise click.UsageError(f"stages cannot be assigned to machines: {error}") from error


def _draw(
    shown: list[Shown],
    observation: Observation | None,
    *,
    outputs: tuple[Path, ...],
    folder: Path | None,
) -> None:
    """Write the figures that were asked for."""
    if not outputs and folder is None:
        return
    from ridgepoint.cli.pictures import save_picture
    from ridgepoint.show.charts import pipeline
    from ridgepoint.show.charts.pipeline_bars import observation_chart
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.show.page.build import page_of

    if outputs:
        whole = pipeline.pipeline_page(shown[0].assessment)
        save_picture(whole, outputs, page=lambda: page_of([], views=views_of(shown)))
    if folder is None:
        return
    names = folder_names([one.assessment.pipeline.name for one in shown])
    for one, name in zip(shown, names, strict=True):
        subfolder = common.made_folder(folder if len(shown) == 1 else folder / name)
        pictures = pipeline.pipeline_charts(one.assessment, one.gains, one.advised)
        for picture_name, picture in pictures.items():
            save(picture, subfolder / f"{picture_name}.svg")
    together = None if observation is None else observation_chart(observation)
    if together is not None:
        save(together, folder / "observation.svg")


def _print(shown: list[Shown], observation: Observation | None, *, as_json: bool) -> None:
    from ridgepoint.cli.pipeline_report import report
    from ridgepoint.show.data_tables.pipeline import pipeline_tables

    def tables() -> tuple[Table, ...]:
        return pipeline_tables(report(shown, observation))

    with beside(tables) as is_shown:
        if as_json:
            common.print_json(report(shown, observation))
        elif is_shown:
            _print_tables(shown, observation)


def _print_tables(shown: list[Shown], observation: Observation | None) -> None:
    from ridgepoint.show.tables.pipeline_table import observation_table, pipeline_table

    console = common.console()
    for one in shown:
        console.print(
            pipeline_table(
                one.assessment, one.gains, one.advised, assigned=one.assigned,
                product=one.case.product, used=one.case.used,
            )
        )  # fmt: skip
        if len(shown) > 1:
            console.print()
    if observation is not None:
        console.print(observation_table(observation))


def folder_names(names: Sequence[str]) -> list[str]:
    """Return a name of a folder for each pipeline, different on any file system.

    Examples
    --------
    >>> folder_names(["SKA1-Low DPrepA", "ska1 low/dprepa", "../.."])
    ['ska1-low-dprepa', 'ska1-low-dprepa-2', 'pipeline']
    """
    taken: list[str] = []
    for name in names:
        plain = re.sub(r"[^\w.]+", "-", name.lower()).strip("-._")[:_LONGEST_FOLDER] or "pipeline"
        number = 2
        unique = plain
        while unique in taken:
            unique, number = f"{plain}-{number}", number + 1
        taken.append(unique)
    return taken


def _show_published(*, as_json: bool) -> None:
    from ridgepoint.cli.pipeline_report import published
    from ridgepoint.published.sdp_loads import products, source
    from ridgepoint.show.data_tables.pipeline import loads_tables
    from ridgepoint.show.tables.pipeline_table import loads_table

    with beside(lambda: loads_tables(published())) as is_shown:
        if as_json:
            common.print_json(published())
        elif is_shown:
            common.console().print(loads_table(products(), source()))
