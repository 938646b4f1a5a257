"""Say how many cores and nodes are worth allocating for a problem."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import NumberRange, QuantityType
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.quantities import ByteRate, LinkRate, WorkRate

if TYPE_CHECKING:
    from ridgepoint.core.runs import Run
    from ridgepoint.models.scaling.law_fits import Law
    from ridgepoint.models.scaling.study import ScalingStudy
    from ridgepoint.show.batch import Scheduler

_OF_MACHINES = (
    "size",
    "op",
    "bytes",
    "exchanged",
    "messages",
    "machine",
    "core_rate",
    "memory",
    "link",
    "latency",
    "share",
    "cores",
)
"""Options that say nothing to a law of speed-up."""
_MOST_COMPARED = 20_000_000
_NAMES: Mapping[Scheduler, str] = {
    "slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux", "kubernetes": "Kubernetes"
}  # fmt: skip


def _cases() -> tuple[str, ...]:
    from ridgepoint.cli.scale_inputs import cases

    return cases()


@click.command("scale")
@click.argument("case", required=False, shell_complete=completing.words(_cases))
@click.option("--size", metavar="N", help="n of the problem: 10000, 1e4 or 2^28.")
@click.option("--op", metavar="EXPR", help="Work of your own problem, such as '2*n^3'.")
@click.option("--bytes", metavar="EXPR", help="Memory traffic of your own problem, byte.")
@click.option(
    "--exchanged",
    metavar="EXPR",
    help="Bytes that p nodes exchange in all in your own problem, such as '8*n^2*(p-1)'.",
)
@click.option(
    "--messages",
    metavar="EXPR",
    help="Messages that follow one another on p nodes in your own problem, such as 'log2(p)'.",
)
@click.option(
    "--machine",
    metavar="FILE|NAME|ID",
    shell_complete=completing.machines,
    help="A node: a file of 'ridgepoint machine --json', a published machine, or a number or a "
    "name of 'ridgepoint list'. Of a cluster: its slowest node.",
)
@click.option(
    "--core-rate",
    type=QuantityType(WorkRate),
    metavar="RATE",
    help="Rate of a core, for a node without a file: 8Gflop/s.",
)
@click.option(
    "--memory",
    type=QuantityType(ByteRate),
    metavar="RATE",
    help="Memory bandwidth of a node: 16GB/s.",
)
@click.option(
    "--link",
    type=QuantityType(LinkRate),
    metavar="RATE",
    help="Bandwidth of one link of the network: 2GB/s, 100Gbit/s.",
)
@click.option(
    "--latency",
    metavar="TIME|PATTERN",
    help="Time of a message without bytes: 2us; or as the cluster of --machine measured it, by "
    "ping-pong (a message that waits for the one before it) or stream (many under way at once).  "
    "[default: ping-pong if measured, else not counted]",
)
@click.option("--cores", metavar="LIST", help="Cores of a node: 8, 1..8 or 1,2,4.  [default: all]")
@click.option(
    "--nodes", metavar="LIST", help=("Numbers of nodes: 1..64, 8 or 1,2,4.  [default: 1..64]")
)
@click.option(
    "--share",
    type=NumberRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Share of each node's memory bandwidth, and of each link's, that other jobs leave to this "
    "one; and of the cores of --machine, unless --cores says how many.  [default: 1]",
)
@click.option(
    "--network",
    type=click.Choice(["shared", "parallel"]),
    default="shared",
    show_default=True,
    help="One link shared by all nodes, or one for each node.",
)
@click.option(
    "--overlap",
    default="none",
    metavar="none|full|K",
    help="How times combine: their sum, the largest, or (sum t^K)^(1/K).  [default: none]",
)
@click.option(
    "--precision",
    default="fp64",
    metavar="NAME",
    help="Precision of the work: fp64, fp32, bop, ...  [default: fp64]",
)
@click.option(
    "--efficiency",
    type=NumberRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Find the largest allocation with at least this efficiency.",
)
@click.option(
    "--against",
    type=click.Choice(["core", "peak"]),
    default="core",
    show_default=True,
    help="Reference of the efficiency: the performance of a single core, or the peak of all cores.",
)
@click.option(
    "--fit",
    "runs_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="RUNS.csv",
    help=(
        "Fit the rates that are not given to the measured runs of a table with the columns "
        "nodes, cores, time_s[, size]."
    ),
)
@click.option(
    "--jobs",
    "jobs_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.toml",
    help="Place several jobs on shared nodes: how fast each is beside the others, and which should "
    "meet. The file has a table [job.NAME] for each.",
)
@click.option(
    "--scheduler",
    type=click.Choice(list(_NAMES)),
    help="Print the lines of a job script, or a Job of Kubernetes, for the best allocation.",
)
@click.option("--slurm", is_flag=True, help="The same as --scheduler slurm.")
@common.figures_option("Write all figures of the paper's slides to FOLDER.")
@common.json_option
@tables_option("points", "runs", "jobs", "loads", main="points; with --jobs: jobs")
@common.output_option("speed-up over nodes, or performance over the cores of one node,")
def command(
    *,
    case: str | None,
    runs_file: Path | None,
    jobs_file: Path | None,
    scheduler: Scheduler | None,
    slurm: bool,
    folder: Path | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    **options: Any,
) -> int:
    """Say how many cores and nodes are worth allocating for a problem.

    CASE is scalar-product, matrix-product-1d, matrix-product-2d, linpack, fft or
    conjugate-gradient, and needs --size; without CASE, describe your own problem by --op, --bytes,
    --exchanged and --messages. With --fit, CASE may also be amdahl or usl, laws that know only the
    number of processors.

    The report shows performance, speed-up over one core, and efficiency, against the peak of all
    cores and against one core; the best number of nodes; and the largest allocation with at least
    the efficiency that --efficiency asks for.

    With --jobs, several problems share --nodes (1 by default): cores are each job's own, and the
    bandwidths of the nodes are divided fairly.
    """
    asked = _scheduler(scheduler, slurm=slurm, as_json=as_json)
    common.require_figure_endings(outputs)
    if jobs_file is not None:
        from ridgepoint.cli.scale_jobs import share_nodes

        given = {**options, "case": case, "runs_file": runs_file, "scheduler": asked}
        share_nodes(jobs_file, given, as_json=as_json, outputs=outputs, folder=folder)
        return 0
    study, law = _study(case, runs_file, options)
    if outputs:
        from ridgepoint.cli.pictures import save_picture
        from ridgepoint.show.charts.scaling import scaling_chart
        from ridgepoint.show.page.build import page_of
        from ridgepoint.show.page.scaling_view import scaling_view

        chart = scaling_chart(study, law=law)
        save_picture(chart, outputs, page=lambda: page_of([], views=[scaling_view(study, law=law)]))
    if folder is not None:
        from ridgepoint.cli.scale_output import draw_figures

        draw_figures(study, folder, law=law)
    _show(study, asked, law=law, as_json=as_json)
    return 0


def _show(study: ScalingStudy, asked: Scheduler | None, *, law: bool, as_json: bool) -> None:
    """Print a study, or the batch script of its best allocation, and write its tables."""
    from ridgepoint.cli.scale_output import fields
    from ridgepoint.show.data_tables.scaling import scaling_tables

    with beside(lambda: scaling_tables(fields(study, law=law))) as is_shown:
        if as_json:
            common.print_json(fields(study, law=law))
        elif asked is not None and is_shown:
            _show_batch(study, asked, law=law)
        elif is_shown:
            from ridgepoint.show.tables.scaling_table import scaling_table

            common.console().print(scaling_table(study, law=law))


def _study(
    case: str | None, runs_file: Path | None, options: Mapping[str, Any]
) -> tuple[ScalingStudy, bool]:
    """Return the study that is asked for, and whether it is of a law."""
    from ridgepoint.cli import scale_inputs as inputs
    from ridgepoint.kept.runs import read_runs

    runs = None if runs_file is None else read_runs(runs_file)
    law = inputs.law_named(case)
    if law is not None:
        return _study_of_law(law, runs, options), True
    return _study_of_problem(case, runs, options), False


def _study_of_law(law: Law, runs: Sequence[Run] | None, options: Mapping[str, Any]) -> ScalingStudy:
    from ridgepoint.cli import scale_inputs as inputs
    from ridgepoint.models.scaling.law_fits import fit_law
    from ridgepoint.models.scaling.study import scaling_study

    useless = [f"--{name.replace('_', '-')}" for name in _OF_MACHINES if options[name] is not None]
    if useless:
        raise click.UsageError(
            f"a law depends only on the number of processors: {useless[0]} does not apply"
        )
    if runs is None:
        raise click.UsageError("a law needs measured runs to fit its parameters: give --fit")
    fit = fit_law(runs, law)
    return scaling_study(
        fit.scaling(1.0),
        cores=(1,),
        nodes=inputs.nodes_of(options["nodes"]),
        efficiency=options["efficiency"],
        against=options["against"],
        fit=fit,
    )


def _study_of_problem(
    case: str | None, runs: Sequence[Run] | None, options: Mapping[str, Any]
) -> ScalingStudy:
    from ridgepoint.cli import scale_inputs as inputs
    from ridgepoint.models.scaling.study import scaling_study

    precision = inputs.precision_of(options["precision"])
    make, needs_size = inputs.problem_of(case, options, precision=precision)
    given_size = inputs.size_of(options["size"])
    if given_size is None and needs_size:
        raise click.UsageError("give the size of the problem with --size")
    size = 1.0 if given_size is None else given_size
    node = inputs.Node.of(options)
    node.require_latency(make(size), options)
    cores = inputs.cores_of(options["cores"], node.machine, runs or (), node.share)
    if runs is not None and node.share is not None:
        raise click.UsageError("--share does not apply to --fit: its runs had their nodes alone")
    if runs is None:
        fit, scaling = None, node.scaling(make(size), max(cores))
    else:
        fit = node.fit(runs, make, size=size, cores=max(cores))
        scaling = fit.scaling(size)
    nodes = inputs.nodes_of_problem(options["nodes"], scaling)
    if len(cores) * len(nodes) > _MOST_COMPARED:
        raise click.UsageError(
            f"{len(cores):,} x {len(nodes):,} allocations are too many to compare: name fewer "
            f"--cores or --nodes, {_MOST_COMPARED:,} in all"
        )
    return scaling_study(
        scaling,
        cores=cores,
        nodes=nodes,
        size=given_size,
        efficiency=options["efficiency"],
        against=options["against"],
        fit=fit,
    )


def _scheduler(scheduler: Scheduler | None, *, slurm: bool, as_json: bool) -> Scheduler | None:
    """Return the scheduler whose lines are wanted; None: the report.

    Raises
    ------
    click.UsageError
        If several things would be printed on standard output.
    """
    if slurm and scheduler not in (None, "slurm"):
        raise click.UsageError(f"--slurm and --scheduler {scheduler} contradict each other")
    asked = "slurm" if slurm else scheduler
    if asked is not None and as_json:
        option = "--slurm" if slurm else "--scheduler"
        raise click.UsageError(f"{option} and --json both print on standard output: give one")
    return asked


def _show_batch(study: ScalingStudy, scheduler: Scheduler, *, law: bool) -> None:
    from ridgepoint.show.batch import batch_lines

    if study.chosen is None:
        raise RidgepointError(
            f"cannot ask {_NAMES[scheduler]} for an allocation",
            reason=f"no allocation keeps an efficiency of {study.efficiency:g}",
            remedy="give a lower --efficiency, or none for the fastest allocation",
        )
    print("\n".join(batch_lines(study, scheduler, only_processors=law)))
    for caution in study.cautions:
        print(f"ridgepoint: {caution}", file=sys.stderr)
