"""Measure a program, bound it by the machine, draw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import NumberRange
from ridgepoint.cli.run_options import RunOptions
from ridgepoint.cli.tables import OF_OPERATORS, OF_RUN, prints_document, tables_option
from ridgepoint.cli.view_options import bandwidth_option, machines_option, per_cycle_option

if TYPE_CHECKING:
    from ridgepoint.cli.bounding import Bounding
    from ridgepoint.cli.progress import Progress
    from ridgepoint.core.machine import Cache
    from ridgepoint.core.measurement import Measurement, Timing
    from ridgepoint.meters import Meter


# As with time and perf stat, what follows the program's name is the program's own.
@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument(
    "program", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=completing.files
)
@common.repeat_option
@click.option(
    "--count-runs",
    type=click.IntRange(1, 1000),
    metavar="N",
    help=(
        "Counted runs: of several, the one of median traffic counts, and the quartiles of the "
        "intensity over all of them are shown.  [default: 1]"
    ),
)
@click.option(
    "--mpi",
    "mpi_ranks",
    type=click.IntRange(min=1),
    metavar="P",
    help="Start PROGRAM on this number of MPI ranks, and measure each rank.",
)
@click.option(
    "--launcher",
    metavar="COMMAND",
    help="Command that starts the ranks: 'srun -n {ranks}'.  [default: mpirun -n {ranks}]",
)
@common.seconds_option(
    "--timeout",
    "Stop if any single run takes longer (counting takes 2 to 200 times as long as a native run).",
)
@common.seconds_option(
    "--limit", "Stop counting after this time; show and keep the times measured until then."
)
@machines_option(
    "Bound the program by this machine, and simulate its caches: a file of 'ridgepoint machine "
    "--json', a published machine, or a number or a name of 'ridgepoint list' (of a cluster: its "
    "slowest node).",
    default="this host",
)
@click.option(
    "--cache",
    "geometry",
    metavar="GEOMETRY",
    help="Simulate these caches: l1=32k:8,l2=1m:8,l3=32m:16 (size:ways).",
)
@click.option(
    "--what-if",
    "what_if",
    metavar="GEOMETRY|FILE|NAME",
    shell_complete=completing.machines,
    multiple=True,
    help=(
        "In the same run, also simulate these caches, or the caches of this machine. May be "
        "repeated."
    ),
)
@click.option(
    "--miss-curve", is_flag=True, help=("Find the memory traffic over the size of the cache.")
)
@click.option("--region", metavar="NAME", help="Count only in regions of this name.")
@click.option(
    "--function",
    metavar="NAME",
    help=(
        "Count and time only functions whose symbol is NAME or matches it as a regular "
        "expression, and the functions that they call."
    ),
)
@click.option(
    "--all-threads",
    is_flag=True,
    help="With --region or --function: count all threads while any thread is inside.",
)
@click.option(
    "--cold",
    is_flag=True,
    help=("With --region or --function: empty the caches at its beginning and end."),
)
@click.option(
    "--cores",
    type=NumberRange(min=0, min_open=True),
    help="Number of cores whose roofs apply.  [default: the cores that the program kept busy]",
)
@click.option(
    "--meter",
    "meter_name",
    type=click.Choice(["engine", "native", "perf", "auto", "both", "callgrind", "ncu"]),
    help=(
        "The meter: copies of the program's code, which run AVX-512 and AMX too, at native "
        "speed with --no-traffic (native); a simulation by Valgrind (engine, or callgrind "
        "where the engine cannot be built); the CPU's own counters (perf); the better of "
        "engine and perf here (auto); both of these, to compare (both); or, for kernels on a "
        "GPU, Nsight Compute (ncu).  [default: native, and engine where native cannot count]"
    ),
)
@common.work_option
@click.option(
    "--no-traffic",
    is_flag=True,
    help=("Simulate no caches: counting then runs at nearly native speed."),
)
@click.option(
    "--traffic",
    "traffic_how",
    type=click.Choice(["exact", "estimated", "none"]),
    help=(
        "Simulate the caches for all accesses (exact), for bursts of accesses at about native "
        "speed, which gives the traffic an interval (estimated), or not at all, as with "
        "--no-traffic (none).  [default: exact]"
    ),
)
@common.counts_only_option
@click.option(
    "--functions",
    is_flag=True,
    help="Time the program's functions too, by sampling more native runs and counting twice.",
)
@click.option(
    "--lines",
    is_flag=True,
    help=(
        "Time the lines of a Python program too, by sampling more native runs, and count the work "
        "and the traffic below each line in one more run."
    ),
)
@click.option(
    "--operators",
    is_flag=True,
    help="Time each operator of PyTorch that the script PROGRAM calls, and bound it by its shapes "
    "and types: 'ridgepoint run --operators -- python script.py'.",
)
@click.option(
    "-i",
    "--ignore-status",
    is_flag=True,
    help=("Measure the program even if it exits with a status other than 0."),
)
@bandwidth_option
@per_cycle_option
@click.option("--no-plot", is_flag=True, help="Do not draw the plot on the terminal.")
@common.label_option
@common.note_option
@common.json_option
@tables_option(*OF_RUN, *OF_OPERATORS, main="parts, or operators")
@common.output_option("the figure (or, with .json, the report)")
@common.archive_option
def command(*, mpi_ranks: int | None, launcher: str | None, **options: Any) -> int:
    """Measure PROGRAM, bound it by this machine, and draw it. Put -- before PROGRAM.

    PROGRAM runs several times natively, which gives its time, and once while it is counted, which
    gives its work and its memory traffic. Every run gets the same input. On the first use, the
    code that is counted is copied; where no wheel brought the counting engine, it is built before,
    which needs a C compiler and takes some seconds. The program's own output is shown once, and
    the report goes to standard error, as with 'time'. With --json the report goes to standard
    output and the program's output to standard error. The exit status is that of the program.

    If counting stops early (by --limit, by Ctrl-C, or because it cannot go on), the times are
    shown and kept; work and traffic stay unknown, and the exit status is 2, or 130 after Ctrl-C.

    --operators looks at a script of PyTorch from within: what each operator asks for by its shapes
    and types, and the time that it takes. It counts no instructions.

    --mpi P measures every rank of a program that uses MPI: 'ridgepoint run --mpi 4 -- ./program',
    or 'mpirun -n 4 ridgepoint run -- ./program'.
    """
    from ridgepoint.cli.ranks import ranks_of_run, run_ranks

    if options["traffic_how"] in {"none", "exact"}:
        if options["no_traffic"] and options["traffic_how"] == "exact":
            raise click.BadParameter("contradicts --no-traffic", param_hint="'--traffic'")
        options["no_traffic"] = options["traffic_how"] == "none"
        options["traffic_how"] = None
    asked = RunOptions(**options)
    if asked.operators:
        from ridgepoint.cli.run_operators import run_operators

        _require_one_process(mpi_ranks, launcher)
        return run_operators(asked)
    with ranks_of_run(mpi_ranks, launcher) as ranks:
        if ranks is None:
            return _measure(asked)
        return 0 if ranks == "another" else run_ranks(ranks, asked)


def _require_one_process(mpi_ranks: int | None, launcher: str | None) -> None:
    """Refuse ranks where one script is profiled.

    Raises
    ------
    click.BadParameter
    """
    if mpi_ranks is not None or launcher is not None:
        raise click.BadParameter(
            "--operators profiles one process: leave out --mpi and --launcher",
            param_hint="'--operators'",
        )


def _measure(options: RunOptions) -> int:
    """Measure a program on this machine, show it and keep it; return its exit status."""
    from ridgepoint.cli.bounding import Bounding
    from ridgepoint.cli.counting import meter_for
    from ridgepoint.cli.timings import end_without_counts
    from ridgepoint.core.errors import ArchiveRefused, CannotMeasure
    from ridgepoint.host import usable_cpus
    from ridgepoint.kept.archive import Archive

    _refuse(options)
    chosen, viewing = options.chosen_machine(), options.viewing()
    with Archive(options.archive_path) as archive, common.progress() as shown:
        cpus = len(usable_cpus()) if chosen is None else chosen.cores
        meter = meter_for(options, cpus=cpus, report=shown.step)
        archive.require_writable()
        bounding = Bounding(archive, chosen, shown)
        if options.counts_only and any(path.suffix.lower() != ".json" for path in options.outputs):
            bounding.measure()
        bounding.require_cores(options.cores)
        timings: list[Timing] = []
        try:
            measurement = _measured(options, meter, bounding, shown, when_timed=timings.append)
        except (CannotMeasure, ArchiveRefused, KeyboardInterrupt) as error:
            if not timings:
                raise
            shown.close()
            return end_without_counts(timings[0], error, archive, bounding.id, options)
        shown.close()
        measurement = options.asked_of(measurement, bounding.machine)
        with common.keeping(
            lambda: archive.keep_measurement(
                measurement, bounding.id, label=options.label, note=options.note
            ),
            options.label,
        ):
            bounding.show(
                measurement,
                as_json=options.as_json,
                plot=not options.no_plot,
                outputs=options.outputs,
                viewing=viewing,
            )
    return 0 if measurement.timed is None else measurement.timed.exit_status


def _measured(
    options: RunOptions,
    meter: Meter,
    bounding: Bounding,
    shown: Progress,
    *,
    when_timed: Callable[[Timing], None],
) -> Measurement:
    """Measure the program, and this host once it is known that the program does not fail."""
    from ridgepoint.cli.counting import caches_to_simulate, with_ends
    from ridgepoint.profiling.program import measure_program

    def when_counting(meter: Meter) -> tuple[Meter, Sequence[Cache]]:
        # By now the program has run without failing: measuring the machine is not in vain.
        if not options.counts_only:
            bounding.measure()
        # Traffic and roofs are of the same caches.
        caches = caches_to_simulate(options.geometry, bounding.machine)
        return with_ends(meter, bounding.machine, options.geometry), caches

    return measure_program(
        options.program,
        meter=meter,
        when_counting=when_counting,
        repeat=options.repeat,
        count_runs=options.count_runs or 1,
        timeout_s=options.timeout_s,
        limit_s=options.limit_s,
        counts_only=options.counts_only,
        functions=options.functions,
        lines=options.lines,
        ignore_status=options.ignore_status,
        output="stderr" if prints_document(as_json=options.as_json) else "own",
        progress=shown.step,
        when_timed=when_timed,
    )


def _refuse(options: RunOptions) -> None:
    """Refuse what can be refused before anything long begins.

    Raises
    ------
    click.BadParameter
    RidgepointError
    """
    from ridgepoint.host.run import resolve

    for option, is_asked in (("functions", options.functions), ("lines", options.lines)):
        if is_asked:
            is_part = options.region is not None or options.function is not None
            _require_whole(option, options.counts_only or is_part)
    if options.meter_name == "ncu":
        _require_gpu(options.machine_names, options)
    common.require_figure_endings(options.outputs, also=(".json",))
    resolve(options.program)
    if options.geometry is not None:
        common.caches_of_this_host(options.geometry)


def _require_whole(option: str, is_part: bool) -> None:
    """Refuse to time the functions or lines of a part of a program, or of one that is not timed.

    Raises
    ------
    click.BadParameter
    """
    if is_part:
        raise click.BadParameter(
            f"--{option} times the {option} of a whole program: it cannot be combined with "
            "--counts-only, --region or --function",
            param_hint=f"'--{option}'",
        )


def _require_gpu(machine_names: Sequence[str], options: RunOptions) -> None:
    """Refuse to bound kernels of a GPU by this host's CPU, or to sample them there.

    Raises
    ------
    click.BadParameter
    """
    if options.functions or options.lines:
        option = "--functions" if options.functions else "--lines"
        raise click.BadParameter(
            f"{option} samples the CPU: it does not apply to --meter ncu, which lists every "
            "kernel by itself",
            param_hint=f"'{option}'",
        )
    if not machine_names:
        raise click.BadParameter(
            "--meter ncu needs a machine whose roofs bound the kernels: --machine h200 or "
            "a100, or the number of a machine that 'ridgepoint machine --device gpu' kept",
            param_hint="'--meter'",
        )
