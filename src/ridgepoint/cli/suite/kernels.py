"""Run the kernels, warm and cold; print measured over expected; draw the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.suite import SUITES, options, results

if TYPE_CHECKING:
    from ridgepoint.profiling.calls import MeterName
    from ridgepoint.suites.kernels import Workload
    from ridgepoint.suites.kernels.results import Case, KernelStudy


@click.command("kernels")
@click.argument(
    "names", nargs=-1, metavar="[NAME]...", callback=lambda context, parameter, value: _own(value)
)
@options.list_option
@options.caches_option
@options.threads_option(
    "Number of threads, for workloads that can use several. May be repeated.  "
    "[default: 1, and all cores]",
    multiple=True,
)
@click.option(
    "--meter",
    type=click.Choice(["engine", "native", "perf", "auto"]),
    default=None,
    help=(
        "The meter: a simulation (engine); copies that run AVX-512 and AMX too (native); the "
        "CPU's own counters (perf); or those counters if they report enough (auto).  [default: "
        "native, and engine where native cannot count]"
    ),
)
@click.option(
    "--full", is_flag=True, help="Measure all sizes of the series, which takes much longer."
)
@click.option(
    "--validate", "validates", is_flag=True, help="Print measured over expected work and traffic."
)
@common.figures_option(
    "Measure what the figures of the paper need, and draw them in FOLDER; with --from, draw "
    "them from a file."
)
@click.option("--per-cycle", is_flag=True, help="Add a second axis in flop/cycle to the figures.")
@options.from_option
@options.output_option("the results", "FILE.json")
@common.json_option
@common.archive_option
def command(
    *,
    names: tuple[str, ...],
    only_list: bool,
    state: str,
    threads: tuple[int, ...],
    meter: MeterName | None,
    full: bool,
    validates: bool,
    folder: Path | None,
    per_cycle: bool,
    source: Path | None,
    output: Path | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Run kernels of known work and traffic: all, or those of the given NAMEs.

    A NAME is that of a family (dgemm) or of one kernel (dgemm.naive). Each is timed natively and
    counted, with cold caches and with warm ones, on one thread and on all cores. With --validate
    the status is 1 if work that is known exactly was counted wrongly.
    """
    from ridgepoint.show.tables.suite_table import validation
    from ridgepoint.suites.kernels.results import KernelStudy
    from ridgepoint.suites.kernels.validation import validate

    if only_list:
        _list(names)
        return 0
    if folder is not None:
        common.made_folder(folder)
    if source is None:
        cases = _cases(_chosen(names), state=state, threads=threads, full=full, folder=folder)
        study = _measured(cases, meter=meter, archive_path=archive_path)
    else:
        study = results.read(source, KernelStudy)

    results.show_and_keep(
        study,
        as_json=as_json,
        table=(lambda: validation(validate(study.results))) if validates else None,
        output=output,
        folder=folder,
        draw=lambda folder: _draw(study, folder, per_cycle=per_cycle),
    )
    return _status(study) if validates else 0


def _own(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse the name of another suite: options come after it.

    Raises
    ------
    click.BadParameter
    """
    for name in names:
        if name in SUITES:
            raise click.BadParameter(
                f"{name!r} is a suite: name it first, as in 'ridgepoint suite {name} --list'"
            )
    return names


def _chosen(names: Sequence[str]) -> list[Workload]:
    """Return the workloads of these names; of a family, those that can run here.

    Raises
    ------
    CannotMeasure
        If there is none of that name, or it cannot run here.
    """
    from ridgepoint.suites.kernels import all_workloads, find

    here = all_workloads()
    chosen: dict[str, Workload] = {}
    for name in names:
        family = [workload for workload in here if workload.family == name]
        chosen.update((workload.name, workload) for workload in family or [find(name)])
    return list(chosen.values()) if names else list(here)


def _list(names: Sequence[str]) -> None:
    from ridgepoint.show.tables.suite_table import workloads
    from ridgepoint.suites.kernels import missing

    common.console().print(workloads(_chosen(names), {} if names else missing()))


def _cases(
    chosen: Sequence[Workload],
    *,
    state: str,
    threads: Sequence[int],
    full: bool,
    folder: Path | None,
) -> tuple[Case, ...]:
    from ridgepoint.host import usable_cpus
    from ridgepoint.suites.kernels.figures import suite_cases
    from ridgepoint.suites.kernels.measuring import cases

    numbers = sorted(set(threads or (1, len(usable_cpus()))))
    if folder is not None:
        return suite_cases(chosen, threads=numbers)
    return cases(chosen, states=options.states(state), threads=numbers, full=full)


def _measured(
    cases: Sequence[Case], *, meter: MeterName | None, archive_path: Path | None
) -> KernelStudy:
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.kernels.measuring import run_suite
    from ridgepoint.suites.kernels.results import KernelStudy

    with Archive(archive_path) as archive, common.progress() as shown:
        _, machine = common.machine_of_this_host(archive, shown)
        measured = run_suite(cases, meter=meter, caches=machine.caches or None, report=shown.step)
        return KernelStudy(machine=machine, results=measured)


def _draw(study: KernelStudy, folder: Path, *, per_cycle: bool) -> None:
    """Write every figure for which there are results."""
    from ridgepoint.show.charts.suite_figures import suite_figures
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.suites.kernels.figures import absent_figures

    for name, figure in suite_figures(study.results, study.machine, in_cycles=per_cycle).items():
        save(figure, folder / f"{name}.svg")
    for name, why in absent_figures(study.results).items():
        common.say(f"figure {name} is not drawn: {why}")


def _status(study: KernelStudy) -> int:
    """Return 1 if work that is known exactly was counted wrongly, or was not counted."""
    from ridgepoint.suites.kernels import all_workloads

    # Ours can run anywhere; kept results may be of a library that is not here.
    ours = {workload.name for workload in all_workloads() if workload.is_handwritten}
    exact = [result for result in study.results if result.case.workload in ours]
    right = (
        result.measurement is not None
        and result.measurement.counted.counts.work_flop == result.expected.work_flop
        for result in exact
    )
    return 0 if all(right) else 1
