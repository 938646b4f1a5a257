"""Run the kernels, warm and cold; print measured over expected; draw the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.suite import SUITES, durations, options, results
from ridgepoint.cli.tables import tables_option
from ridgepoint.cli.view_options import machine_option
from ridgepoint.core.presenting import amount

if TYPE_CHECKING:
    from ridgepoint.cli.progress import Progress
    from ridgepoint.core.machine import Cache, Machine
    from ridgepoint.kept.archive import Archive
    from ridgepoint.profiling.calls import MeterName
    from ridgepoint.suites.kernels import Workload
    from ridgepoint.suites.kernels.results import Case, KernelStudy
    from ridgepoint.suites.kernels.sizes import Sizes

_ONLY_MEASURING = (
    *("names", "state", "threads", "meter", "sizes", "full", "geometry", "repeat", "limit_s"),
)
"""Parameters that say what to measure and how."""


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
@options.size_option(
    "Measure these sizes instead, such as 300 or 100,200,...,1000; --list says what n counts.  "
    "[default: a quick series; by the caches, with --cache or --machine]",
    multiple=True,
)
@click.option(
    "--full", is_flag=True, help="Measure all sizes of the series, which takes much longer."
)
@click.option(
    "--cache",
    "geometry",
    metavar="GEOMETRY",
    help="Simulate these caches, and choose sizes by them: l1=32k:8,l2=256k:8 (size:ways).",
)
@machine_option(
    "Bound the kernels by this machine, and simulate its caches: a file of 'ridgepoint machine "
    "--json', a published machine, or a number or a name of 'ridgepoint list'."
)
@options.repeat_option
@options.limit_option(
    10,
    "fewer are taken, but at least three, and a case whose single call takes longer is not "
    "measured",
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
@tables_option("cases")
@common.archive_option
def command(
    *,
    names: tuple[str, ...],
    only_list: bool,
    state: str,
    threads: tuple[int, ...],
    meter: MeterName | None,
    sizes: tuple[int, ...],
    full: bool,
    geometry: str | None,
    machine_name: str | None,
    repeat: int | None,
    limit_s: float | None,
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
    counted, with cold caches and with warm ones, on one thread and on all cores. Of large products
    by three loops only some rows are counted; their traffic comes with an interval.

    The exit status is 2 if a case could not be measured, and 1 with --validate if work that is
    known exactly was counted wrongly.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import machine_of
    from ridgepoint.show.tables.suite_table import validation
    from ridgepoint.suites.kernels.measuring import pieces
    from ridgepoint.suites.kernels.results import KernelStudy
    from ridgepoint.suites.kernels.validation import validate

    if only_list:
        _list(names, archive_path)
        return 0
    _refuse_contradictions(sizes=sizes, full=full)
    chosen = machine_of(machine_name, archive_path) if machine_name is not None else None
    if folder is not None:
        common.made_folder(folder)
    if source is None:
        workloads = _chosen(names)
        _require_sizes(workloads, sizes)
        with Archive(archive_path) as archive, common.progress() as shown:
            place = _place(archive, shown, chosen, geometry)
            cases = _cases(
                workloads,
                state=state,
                threads=threads,
                sizes=_sizes(place, sizes=sizes, full=full, for_figures=folder is not None),
                for_figures=folder is not None,
            )
            own = pieces(cases, how="" if meter is None else f", --meter {meter}")
            what, is_usual = amount(len(cases), "case"), repeat is None and limit_s is None
            with durations.timed(own, what, archive_path, shown.step, is_usual=is_usual) as report:
                study = _measured(cases, place, report, meter=meter, repeat=repeat, limit_s=limit_s)
    else:
        study = results.read(source, KernelStudy)
        study = study if chosen is None else replace(study, machine=chosen)

    results.show_and_keep(
        study,
        as_json=as_json,
        table=(lambda: validation(validate(study.results))) if validates else None,
        output=output,
        folder=folder,
        draw=lambda folder: _draw(study, folder, per_cycle=per_cycle),
    )
    if validates and not _is_right(study):
        return 1
    return 2 if source is None and study.unmeasured else 0


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


def _list(names: Sequence[str], archive_path: Path | None) -> None:
    from ridgepoint.show.tables.suite_table import workloads
    from ridgepoint.suites.kernels import missing
    from ridgepoint.suites.kernels.measuring import pieces

    chosen = _chosen(names)
    common.console().print(workloads(chosen, {} if names else missing()))
    cases = _cases(
        chosen, state="both", threads=(), sizes=lambda own: own.quick_sizes, for_figures=False
    )
    what = f"a run of {amount(len(cases), 'case')} of quick sizes"
    durations.show(pieces(cases), what, archive_path)


def _refuse_contradictions(*, sizes: Sequence[int], full: bool) -> None:
    """Refuse options that would have no effect.

    Raises
    ------
    click.BadParameter
    """
    given = common.given_on_command_line()
    for name, why, unused in (
        ("source", "the results of a file were measured before", _ONLY_MEASURING),
        ("folder", "the figures say what they need", ("state", "full")),
    ):
        if name in given and (also := [given[other] for other in unused if other in given]):
            raise click.BadParameter(
                f"it cannot be combined with {', '.join(also)}: {why}",
                param_hint=f"'{given[name]}'",
            )
    if sizes and full:
        raise click.BadParameter("give sizes or --full, not both", param_hint="'--size'")


def _require_sizes(workloads: Sequence[Workload], sizes: Sequence[int]) -> None:
    """Refuse sizes that a workload does not have.

    Raises
    ------
    click.BadParameter
    """
    for workload in workloads:
        for n in sizes:
            try:
                workload.expected(n)
            except ValueError as error:
                raise click.BadParameter(
                    f"{workload.name} has no size {n}: {error}; name the kernels that have it",
                    param_hint="'--size'",
                ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What bounds the kernels, and which caches are simulated.

    Parameters
    ----------
    machine : Machine
        Machine whose roofs apply.
    caches : tuple of Cache
        Caches to simulate.
    is_chosen : bool
        Whether the user chose the machine or the caches.
    """

    machine: Machine
    caches: tuple[Cache, ...]
    is_chosen: bool


def _place(
    archive: Archive, shown: Progress, chosen: Machine | None, geometry: str | None
) -> _Place:
    from ridgepoint.ceilings.this_host import machine_of_this_host_if_kept
    from ridgepoint.cli.counting import caches_to_simulate

    # What cannot be read is refused before a machine is measured.
    described = None if geometry is None else common.caches_of_this_host(geometry)
    if chosen is None:
        host: Machine | None = common.machine_of_this_host(archive, shown)[1]
    else:
        kept = machine_of_this_host_if_kept(archive)
        host = None if kept is None else kept[1]
        if geometry is None and not chosen.caches:
            common.say(
                f"{chosen.name} does not describe its caches: those of this host are simulated; "
                "--cache l1=32k:8,l2=256k:8,l3=12m:16 describes others"
            )
    machine = chosen or host
    assert machine is not None
    return _Place(
        machine=machine,
        caches=described or caches_to_simulate(None, machine if machine.caches else host),
        is_chosen=chosen is not None or geometry is not None,
    )


def _sizes(place: _Place, *, sizes: tuple[int, ...], full: bool, for_figures: bool) -> Sizes:
    from ridgepoint.host import System
    from ridgepoint.profiling.calls.replicas import least_cold_bytes
    from ridgepoint.suites.kernels import sizes as series

    if sizes:
        return lambda workload: sizes
    if full:
        return series.full
    if place.is_chosen:
        return series.around(place.caches)
    if not for_figures:
        return series.quick
    return series.of_figures(place.caches, least_bytes=least_cold_bytes(System().caches))


def _cases(
    chosen: Sequence[Workload],
    *,
    state: str,
    threads: Sequence[int],
    sizes: Sizes,
    for_figures: bool,
) -> tuple[Case, ...]:
    from ridgepoint.host import usable_cpus
    from ridgepoint.suites.kernels.figures import suite_cases
    from ridgepoint.suites.kernels.measuring import cases

    numbers = sorted(set(threads or (1, len(usable_cpus()))))
    if for_figures:
        return suite_cases(chosen, threads=numbers, sizes=sizes)
    return cases(chosen, states=options.states(state), threads=numbers, sizes=sizes)


def _measured(
    cases: Sequence[Case],
    place: _Place,
    report: Callable[[str], None],
    *,
    meter: MeterName | None,
    repeat: int | None,
    limit_s: float | None,
) -> KernelStudy:
    from ridgepoint.profiling.calls.knobs import OF_THE_COMMAND
    from ridgepoint.suites.kernels.measuring import LIMIT_S, run_suite
    from ridgepoint.suites.kernels.results import KernelStudy

    measured = run_suite(
        cases,
        repetitions=repeat,
        meter=meter,
        caches=place.caches or None,
        limit_s=limit_s or LIMIT_S,
        knobs=OF_THE_COMMAND,
        report=report,
    )
    return KernelStudy(machine=place.machine, results=measured)


def _draw(study: KernelStudy, folder: Path, *, per_cycle: bool) -> None:
    """Write every figure for which there are results."""
    from ridgepoint.show.charts.suite_figures import suite_figures
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.suites.kernels.figures import absent_figures

    for name, figure in suite_figures(study.results, study.machine, in_cycles=per_cycle).items():
        save(figure, folder / f"{name}.svg")
    for name, why in absent_figures(study.results).items():
        common.say(f"figure {name} is not drawn: {why}")


def _is_right(study: KernelStudy) -> bool:
    """Return whether all work that is known exactly was counted, and counted rightly."""
    from ridgepoint.suites.kernels import all_workloads

    # Ours can run anywhere; kept results may be of a library that is not here.
    ours = {workload.name for workload in all_workloads() if workload.is_handwritten}
    exact = [result for result in study.results if result.case.workload in ours]
    return all(
        result.measurement is not None
        and result.measurement.counted.counts.work_flop == result.expected.work_flop
        for result in exact
    )
