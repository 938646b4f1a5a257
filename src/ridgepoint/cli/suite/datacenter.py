"""Run the datacenter workloads, and print the DC-Roofline paper's tables for this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.suite import options, results
from ridgepoint.cli.suite.datacenter_published import show_published

if TYPE_CHECKING:
    from ridgepoint.suites.datacenter import Workload
    from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterStudy

_WITH_PUBLISHED = frozenset(("names", "published", "folder", "output", "as_json"))


@click.command("datacenter")
@options.names_argument("WORKLOAD", lambda: tuple(_workloads()))
@options.list_option
@options.threads_option("Number of threads.", default=1, show_default=True)
@click.option("--full", is_flag=True, help="Measure the full sizes, which takes much longer.")
@click.option(
    "--published",
    is_flag=True,
    help="Print the paper's own tables, recomputed, and measure nothing.",
)
@common.figures_option("Draw the DC-Roofline and keep the results in FOLDER.")
@options.from_option
@options.output_option("the results", "FILE.json")
@common.json_option
@common.archive_option
@click.pass_context
def command(
    context: click.Context,
    *,
    names: tuple[str, ...],
    only_list: bool,
    threads: int,
    full: bool,
    published: bool,
    folder: Path | None,
    source: Path | None,
    output: Path | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Run the datacenter WORKLOADs; without a name, all.

    They are real programs that do little floating point (sort, grep, wordcount, ...). Each is
    built and measured as it was and as it is after each step of optimisation. Their basic
    operations are counted, and the tables of the DC-Roofline paper printed for this machine.
    """
    from ridgepoint.suites.datacenter.measuring import cases
    from ridgepoint.suites.datacenter.results import DatacenterStudy

    if published:
        _refuse_with_published(context)
        show_published(
            [_workloads()[name].title for name in names],
            as_json=as_json,
            output=output,
            folder=folder,
        )
        return 0
    chosen = cases(names, threads=threads, full=full)
    if only_list:
        _list(chosen)
        return 0
    if folder is not None:
        common.made_folder(folder)
    study = (
        _measured(chosen, archive_path) if source is None else results.read(source, DatacenterStudy)
    )

    results.show_and_keep(
        study,
        as_json=as_json,
        output=output,
        folder=folder,
        draw=lambda folder: _draw(study, folder),
    )
    return 2 if source is None and study.unmeasured else 0


def _workloads() -> Mapping[str, Workload]:
    from ridgepoint.suites.datacenter import WORKLOADS

    return WORKLOADS


def _refuse_with_published(context: click.Context) -> None:
    """Refuse options that say how to measure, or what to show instead.

    Raises
    ------
    click.UsageError
    """
    given = click.core.ParameterSource.COMMANDLINE
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in _WITH_PUBLISHED and context.get_parameter_source(name) is given:
            raise click.UsageError(f"{parameter.opts[-1]} cannot be combined with --published")


def _list(cases: Sequence[DatacenterCase]) -> None:
    from ridgepoint.show.tables.layout import plain_table

    table = plain_table("workload", "does", "steps", "size", right=("size",))
    for name in dict.fromkeys(case.workload for case in cases):
        steps = [case for case in cases if case.workload == name]
        size = f"{steps[0].size} {steps[0].size_unit}"
        table.add_row(
            name, _workloads()[name].summary, ", ".join(case.step for case in steps), size
        )
    common.console().print(table)


def _measured(cases: Sequence[DatacenterCase], archive_path: Path | None) -> DatacenterStudy:
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.datacenter import require_buildable
    from ridgepoint.suites.datacenter.measuring import run_datacenter
    from ridgepoint.suites.datacenter.results import DatacenterStudy

    require_buildable()
    with Archive(archive_path) as archive, common.progress() as shown:
        _, machine = common.machine_of_this_host(archive, shown, knowing="bop")
        return DatacenterStudy(machine=machine, results=run_datacenter(cases, report=shown.step))


def _draw(study: DatacenterStudy, folder: Path) -> None:
    """Write the DC-Roofline beside the roofline in flop, and the mix of instructions."""
    from ridgepoint.show.charts.dc_roofline import dc_page
    from ridgepoint.show.charts.instruction_mix import mix_page
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.show.words import machine_title
    from ridgepoint.suites.datacenter.mix import shown_mixes
    from ridgepoint.suites.datacenter.points import datacenter_points
    from ridgepoint.suites.datacenter.work import measured_cases

    points = datacenter_points(study.results)
    if points:
        cores = min(max(result.case.threads for result in study.results), study.machine.cores)
        save(dc_page(study.machine, points, cores=float(cores)), folder / "dc_roofline.svg")
    page = mix_page(shown_mixes(measured_cases(study.results)), where=machine_title(study.machine))
    if page is not None:
        save(page, folder / "instruction_mix.svg")
