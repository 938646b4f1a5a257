"""Run the reference kernels, warm and cold; print measured over expected; redraw the figures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, datacenter, distributed, imaging, results

if TYPE_CHECKING:
    from ridgepoint.core.reference import Case, SuiteRun
    from ridgepoint.profiling.calls import MeterName
    from ridgepoint.suites.kernels import Workload


@click.command("suite")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "only_list", is_flag=True, help="List the workloads, and measure nothing.")
@click.option(
    "--caches",
    "state",
    type=click.Choice(["cold", "warm", "both"]),
    default="both",
    show_default=True,
    help="State of the caches.",
)
@click.option(
    "--threads",
    "threads",
    type=click.IntRange(min=1),
    multiple=True,
    help="Number of threads, for workloads that can use several. May be repeated.  "
    "[default: 1, and all cores]",
)
@click.option(
    "--meter",
    type=click.Choice(["engine", "native", "perf", "auto"]),
    default=None,
    help="What counts: a simulation (engine), copies that run AVX-512 and AMX too (native), the "
    "CPU's own counters, or these if they tell enough.  [default: native, and engine what that "
    "cannot]",
)
@click.option(
    "--full", is_flag=True, help="Measure all sizes of the series, which takes much longer."
)
@click.option("--validate", is_flag=True, help="Print measured over expected work and traffic.")
@click.option(
    "--figures",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Measure what the figures of the paper need, and draw them in FOLDER; with --from, only "
    "draw them.",
)
@click.option("--per-cycle", is_flag=True, help="Give the figures a second axis in flop/cycle.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Take the results from a file that -o or --figures wrote, and measure nothing.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.json",
    help="Write the results to FILE.json; with imaging, the pipeline to FILE.toml.",
)
@click.option(
    "--published",
    is_flag=True,
    help="With datacenter: the paper's own tables, recomputed; measure nothing.",
)
@click.option(
    "--mpi",
    "ranks",
    type=click.IntRange(min=1),
    metavar="P",
    help="With distributed: the number of ranks.",
)
@click.option(
    "--launcher",
    metavar="COMMAND",
    help="With distributed: what starts the ranks, as 'srun -n {ranks}'.  [default: mpirun]",
)
@click.option(
    "--size",
    type=click.IntRange(min=1),
    metavar="N",
    help="With distributed: the size of the program named; --list says what a size counts. "
    "With imaging: pixels along a side of the image.  [default for imaging: 256]",
)
@click.option(
    "--gain",
    type=float,
    metavar="G",
    help="With imaging: the share of a peak that a minor cycle removes.  [default: 0.1]",
)
@common.device_option("With imaging: where it runs")
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
    validate: bool,
    folder: Path | None,
    per_cycle: bool,
    source: Path | None,
    output: Path | None,
    published: bool,
    ranks: int | None,
    launcher: str | None,
    size: int | None,
    gain: float | None,
    device: int | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Run the reference suite, or the workloads NAMEd: a family (dgemm) or one (dgemm.naive).

    Each is timed natively and counted, with cold caches and with warm ones, on one
    thread and on all cores. With --validate the status is 1 if work that is known exactly was
    counted wrongly.

    'suite datacenter [NAME]...' builds and runs real programs that do little floating point
    (sort, grep, wordcount, ...), as they were and optimised, counts their basic operations, and
    prints the tables of the DC-Roofline paper for this machine.

    'suite distributed [NAME]... --mpi P' runs real programs over P ranks of MPI, checks their
    results, and prints the time of a step beside what the model says of it.

    'suite imaging [STAGE]...' measures the stages of a real continuum imaging pipeline. With -o
    FILE.toml it describes them for 'ridgepoint pipeline FILE.toml'; with --figures it makes an
    image of a known sky, draws it, and prints which sources were found. With --device gpu all of
    that runs on a GPU.
    """
    from ridgepoint.core.reference import SuiteRun
    from ridgepoint.suites.kernels.validation import validate as compare

    if names and names[0] == imaging.NAME:
        others = {"--meter": meter, "--validate": validate, "--full": full,
                  "--per-cycle": per_cycle, "--from": source, "--published": published,
                  "--mpi": ranks, "--launcher": launcher}  # fmt: skip
        _refuse(imaging.NAME, others)
        return imaging.command(
            names[1:],
            only_list=only_list,
            device=device,
            state=state,
            threads=threads,
            size=size,
            gain=gain,
            folder=folder,
            output=output,
            as_json=as_json,
            archive_path=archive_path,
        )
    _require_absent({"--gain": gain, "--device": device}, of="the imaging pipeline")
    family = names[0] if names and names[0] in (datacenter.NAME, distributed.NAME) else None
    if family is not None:
        _require_usual(family, state=state, meter=meter, validate=validate, per_cycle=per_cycle)
    if family == distributed.NAME:
        others = {"--full": full, "--figures": folder, "--from": source, "--published": published}
        _refuse(family, others)
        return distributed.command(
            names[1:],
            only_list=only_list,
            ranks=ranks,
            launcher=launcher,
            size=size,
            threads=threads,
            output=output,
            as_json=as_json,
        )
    absent = {"--mpi": ranks, "--launcher": launcher, "--size": size}
    _require_absent(absent, of="the distributed programs")
    if family == datacenter.NAME:
        return datacenter.command(
            names[1:],
            only_list=only_list,
            published=published,
            threads=threads,
            full=full,
            folder=folder,
            source=source,
            output=output,
            as_json=as_json,
            archive_path=archive_path,
        )
    if published:
        raise click.BadParameter(
            "--published applies only to the datacenter workloads", param_hint="'--published'"
        )
    if only_list:
        _list(names)
        return 0
    run = (
        _measured(
            names,
            state=state,
            threads=threads,
            meter=meter,
            full=full,
            folder=folder,
            archive_path=archive_path,
        )
        if source is None
        else results.read(source, SuiteRun)
    )
    if output is not None:
        results.write(run, output)
    if folder is not None:
        _draw(run, folder, per_cycle=per_cycle)
    if as_json:
        from ridgepoint.core.documents import render, to_fields

        sys.stdout.write(render(to_fields(run)))
    elif validate:
        from ridgepoint.show.tables.suite_table import validation

        common.console().print(validation(compare(run.results)))
    else:
        from ridgepoint.show.tables.suite_table import suite

        common.console().print(suite(run))
    return _status(run) if validate else 0


def _require_usual(
    family: str, *, state: str, meter: str | None, validate: bool, per_cycle: bool
) -> None:
    """Refuse what workloads of another family do not know.

    Raises
    ------
    click.BadParameter
    """
    given = {
        "--caches": state != "both",
        "--meter": meter,
        "--validate": validate,
        "--per-cycle": per_cycle,
    }
    _refuse(family, given)


def _refuse(family: str, given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value:
            raise click.BadParameter(
                f"{option} does not apply to the {family} workloads", param_hint=f"'{option}'"
            )


def _require_absent(given: Mapping[str, object], *, of: str) -> None:
    """Refuse options of another family.

    Raises
    ------
    click.BadParameter
    """
    for option, value in given.items():
        if value is not None:
            raise click.BadParameter(f"{option} applies only to {of}", param_hint=f"'{option}'")


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
        family = [each for each in here if each.family == name]
        chosen.update((each.name, each) for each in family or [find(name)])
    return list(chosen.values()) if names else list(here)


def _list(names: Sequence[str]) -> None:
    from ridgepoint.show.tables.suite_table import workloads
    from ridgepoint.suites.kernels import missing

    common.console().print(workloads(_chosen(names), {} if names else missing()))


def _measured(
    names: Sequence[str],
    *,
    state: str,
    threads: Sequence[int],
    meter: MeterName | None,
    full: bool,
    folder: Path | None,
    archive_path: Path | None,
) -> SuiteRun:
    from ridgepoint.core.reference import SuiteRun
    from ridgepoint.host import usable_cpus
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.kernels.measuring import run_suite

    every = len(usable_cpus())
    numbers = sorted(set(threads)) or sorted({1, every})
    if numbers[-1] > every:
        raise click.BadParameter(f"{every} CPUs may be used", param_hint="'--threads'")
    cases = _cases(_chosen(names), state=state, threads=numbers, full=full, folder=folder)
    with Archive(archive_path) as archive, common.progress() as shown:
        _, machine = common.machine_of_this_host(archive, shown)
        results = run_suite(cases, meter=meter, caches=machine.caches or None, report=shown.step)
        return SuiteRun(machine=machine, results=results)


def _cases(
    chosen: Sequence[Workload],
    *,
    state: str,
    threads: Sequence[int],
    full: bool,
    folder: Path | None,
) -> tuple[Case, ...]:
    if folder is not None:
        from ridgepoint.show.charts.suite_figures import suite_cases

        return suite_cases(chosen, threads=threads)
    from ridgepoint.suites.kernels.measuring import cases

    states = ("cold", "warm") if state == "both" else (state,)
    return cases(chosen, states=states, threads=threads, full=full)  # type: ignore[arg-type]


def _draw(run: SuiteRun, folder: Path, *, per_cycle: bool) -> None:
    """Write every figure for which there are results, and the results themselves."""
    from ridgepoint.show.charts.paths_mpl import save
    from ridgepoint.show.charts.suite_figures import absent_figures, suite_figures

    results.write(run, results.folder(folder) / results.FILE)
    for name, figure in suite_figures(run.results, run.machine, in_cycles=per_cycle).items():
        save(figure, folder / f"{name}.svg")
    for name, why in absent_figures(run.results).items():
        print(f"ridgepoint: figure {name} is not drawn: {why}", file=sys.stderr)


def _status(run: SuiteRun) -> int:
    """Return 1 if work that is known exactly was counted wrongly, or was not counted."""
    from ridgepoint.suites.kernels import all_workloads

    # Ours can run anywhere; kept results may be of a library that is not here.
    ours = {each.name for each in all_workloads() if each.is_handwritten}
    exact = [one for one in run.results if one.case.workload in ours]
    right = (
        one.measurement is not None
        and one.measurement.counted.counts.work_flop == one.expected.work_flop
        for one in exact
    )
    return 0 if all(right) else 1
