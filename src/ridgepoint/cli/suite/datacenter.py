"""Run the datacenter workloads, and print the DC-Roofline paper's tables for this machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.suite import durations, options, results
from ridgepoint.cli.suite.datacenter_cases import chosen_cases
from ridgepoint.cli.suite.datacenter_shown import draw, draw_hosts, kept, show_published
from ridgepoint.cli.suite.datacenter_spark import measured_in_spark
from ridgepoint.cli.tables import TABLES, tables_option
from ridgepoint.core.presenting import amount

if TYPE_CHECKING:
    from ridgepoint.suites.datacenter import Workload
    from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterStudy
    from ridgepoint.suites.durations import Piece

_SHOWN = frozenset(("names", "folder", "output", "as_json", *TABLES))
"""Parameters that apply to what is only shown."""
_UNDER_MPI = frozenset(("names", "ranks", "launcher", "full", "output", "as_json", *TABLES))


@click.command("datacenter")
@options.names_argument("WORKLOAD", lambda: tuple(_workloads()))
@options.list_option
@options.threads_option("Number of threads.", default=1, show_default=True)
@click.option("--full", is_flag=True, help="Measure the full sizes, which takes much longer.")
@click.option(
    "--mpi",
    "ranks",
    type=click.IntRange(min=2),
    metavar="P",
    help="Run the workloads that have a program for MPI, sort and grep, on one rank and on P.",
)
@options.launcher_option
@click.option(
    "--size",
    metavar="SIZE",
    help="Measure this size, such as 15GB or 1e9, in what --list says that a size counts.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, readable=True),
    metavar="FILE",
    help="Measure on your own data: a text, integers, reviews, ...",
)
@options.repeat_option
@click.option("--pattern", metavar="TEXT", help="What Grep searches for.  [default: beba]")
@click.option(
    "--stack",
    type=click.Choice(["c++", "spark"]),
    default="c++",
    show_default=True,
    help="Run sort, grep and wordcount in PySpark too, and compare times and results.",
)
@click.option(
    "--published",
    is_flag=True,
    help="Print the paper's own tables, recomputed, and measure nothing.",
)
@common.figures_option("Draw the DC-Roofline and keep the results in FOLDER.")
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Take the results from a file that -o or --figures wrote, and measure nothing. May be "
    "repeated: several hosts are shown side by side.",
)
@options.output_option("the results", "FILE.json")
@common.json_option
@tables_option("cases", "gains")
@common.archive_option
def command(
    *,
    names: tuple[str, ...],
    only_list: bool,
    threads: int,
    full: bool,
    ranks: int | None,
    launcher: str | None,
    size: str | None,
    data: Path | None,
    repeat: int | None,
    pattern: str | None,
    stack: str,
    published: bool,
    folder: Path | None,
    sources: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Run the datacenter WORKLOADs; without a name, all.

    They are real programs that do little floating point (sort, grep, wordcount, ...). Each is
    built and measured as it was and as it is after each step of optimisation. Their basic
    operations are counted, and the tables of the DC-Roofline paper printed for this machine.
    """
    from ridgepoint.suites.datacenter.stacks import IN_SPARK

    if published:
        _refuse_all_but({*_SHOWN, "published"}, "--published")
        show_published(
            [_workloads()[name].title for name in names],
            as_json=as_json,
            output=output,
            folder=folder,
        )
        return 0
    if sources:
        _refuse_all_but({*_SHOWN, "sources"}, "--from")
        return _show_kept(sources, names, as_json=as_json, output=output, folder=folder)
    if ranks is not None:
        _refuse_all_but(_UNDER_MPI, "--mpi")
        return _run_mpi(names, ranks, full=full, launcher=launcher, as_json=as_json, output=output)
    if launcher is not None:
        raise click.UsageError("--launcher needs the number of ranks: add --mpi 2")
    chosen = chosen_cases(
        names or (IN_SPARK if stack == "spark" else ()),
        threads=threads,
        full=full,
        size=size,
        data=data,
        pattern=pattern,
    )
    if only_list:
        _list(chosen)
        durations.show(_pieces(chosen), "a run of these", archive_path)
        return 0
    if stack == "spark":
        if folder is not None:
            raise click.UsageError("--figures cannot be combined with --stack spark")
        if repeat is not None:
            raise click.UsageError("--repeat cannot be combined with --stack spark")
        compared = measured_in_spark(chosen, archive_path)
        results.show_and_keep(compared, as_json=as_json, output=output)
        return 2 if compared.unmeasured else 0
    if folder is not None:
        common.made_folder(folder)
    study = _measured(chosen, archive_path, repeat=repeat)
    results.show_and_keep(
        study,
        as_json=as_json,
        output=output,
        folder=folder,
        draw=lambda folder: draw(study, folder),
    )
    return 2 if study.unmeasured else 0


def _run_mpi(
    names: Sequence[str],
    ranks: int,
    *,
    full: bool,
    launcher: str | None,
    as_json: bool,
    output: Path | None,
) -> int:
    from ridgepoint.suites.datacenter.mpi import run_mpi
    from ridgepoint.suites.datacenter.programs import MPI_PROGRAMS

    for name in names:
        if name not in MPI_PROGRAMS:
            raise click.UsageError(
                f"{name} has no program for MPI; --mpi runs {' and '.join(MPI_PROGRAMS)}"
            )
    with common.progress() as shown:
        study = run_mpi(names, ranks, full=full, launcher=launcher, report=shown.step)
    results.show_and_keep(study, as_json=as_json, output=output)
    return 2 if study.unmeasured else 0


def _show_kept(
    sources: Sequence[Path],
    names: Sequence[str],
    *,
    as_json: bool,
    output: Path | None,
    folder: Path | None,
) -> int:
    from ridgepoint.suites.datacenter.results import DatacenterStudy

    studies = kept(sources, names)
    if folder is not None:
        common.made_folder(folder)

    def drawn(folder: Path) -> None:
        if isinstance(studies, DatacenterStudy):
            draw(studies, folder)
        else:
            draw_hosts(studies, folder)

    results.show_and_keep(studies, as_json=as_json, output=output, folder=folder, draw=drawn)
    return 0


def _workloads() -> Mapping[str, Workload]:
    from ridgepoint.suites.datacenter import WORKLOADS

    return WORKLOADS


def _refuse_all_but(allowed: Collection[str], flag: str) -> None:
    """Refuse options that say how to measure, or what to show instead.

    Raises
    ------
    click.UsageError
    """
    for name, given in common.given_on_command_line().items():
        if name not in allowed:
            raise click.UsageError(f"{given} cannot be combined with {flag}")


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


def _measured(
    cases: Sequence[DatacenterCase], archive_path: Path | None, *, repeat: int | None
) -> DatacenterStudy:
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.datacenter import require_buildable
    from ridgepoint.suites.datacenter.inputs import require_data, require_room
    from ridgepoint.suites.datacenter.measuring import run_datacenter
    from ridgepoint.suites.datacenter.results import DatacenterStudy

    require_buildable()
    require_data(cases)
    require_room(cases)
    with Archive(archive_path) as archive, common.progress() as shown:
        _, machine = common.machine_of_this_host(archive, shown, knowing="bop")
        what = amount(len(cases), "case")
        with durations.timed(_pieces(cases), what, archive_path, shown.step) as report:
            measured = run_datacenter(cases, repeat=repeat, report=report)
            return DatacenterStudy(machine=machine, results=measured)


def _pieces(cases: Sequence[DatacenterCase]) -> tuple[Piece, ...]:
    """Return the workloads, each with all of its steps.

    Those that are counted in parts are of another kind: counting, which takes longest at usual
    sizes, does not grow with them.
    """
    from ridgepoint.suites.datacenter.large import is_counted_in_parts
    from ridgepoint.suites.durations import Piece

    return tuple(
        dict.fromkeys(
            Piece(
                key=f"datacenter: {case.title}, {case.size} {case.size_unit}, {case.threads}",
                words=case.title,
                kind=f"datacenter: {case.title}, {case.size_unit}, {case.threads}"
                f"{', in parts' if is_counted_in_parts(case) else ''}",
                size=case.size,
            )
            for case in cases
        )
    )
