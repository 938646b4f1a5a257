"""Measure a program, bound it by the machine, draw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.core.machine import Cache
    from ridgepoint.core.measurement import Timing
    from ridgepoint.meters import Meter
    from ridgepoint.models.work import Metric


# As with time and perf stat, what follows the program's name is the program's own.
@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--repeat", type=click.IntRange(min=1), help="Native runs to time.")
@click.option(
    "--mpi",
    "mpi_ranks",
    type=click.IntRange(min=1),
    metavar="P",
    help="Start PROGRAM on so many ranks of MPI, and measure each.",
)
@click.option(
    "--launcher",
    metavar="COMMAND",
    help="What starts the ranks: 'srun -n {ranks}'.  [default: mpirun -n {ranks}]",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up if any single run takes longer (counting takes 2 to 200 times as long).",
)
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop counting after so long, and show and keep what was timed until then.",
)
@click.option(
    "--machine",
    "machine_name",
    metavar="FILE|NAME|ID",
    help="Bound by this machine, and simulate its caches: a file of 'ridgepoint machine --json', "
    "a published one, or a number or a name of 'ridgepoint list' (of a cluster: its slowest node).",
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
    multiple=True,
    help="In the same run, simulate these caches, or those of this machine, too. May be repeated.",
)
@click.option("--miss-curve", is_flag=True, help="Find the traffic over the size of the cache.")
@click.option("--region", metavar="NAME", help="Count only in regions of this name.")
@click.option(
    "--function",
    metavar="NAME",
    help="Count and time only functions whose symbol is NAME, or matches it as a regular "
    "expression, and what they call.",
)
@click.option(
    "--all-threads",
    is_flag=True,
    help="With --region or --function: count what all threads do meanwhile.",
)
@click.option("--cold", is_flag=True, help="Empty the caches when that region begins, and ends.")
@click.option(
    "--cores",
    type=click.FloatRange(min=0, min_open=True),
    help="Cores whose roofs apply.  [default: those that the program kept busy]",
)
@click.option(
    "--meter",
    "meter_name",
    type=click.Choice(["engine", "native", "perf", "auto", "both", "callgrind", "ncu"]),
    help="What counts: copies of the program's code, which run AVX-512 and AMX too, at native "
    "speed with --no-traffic (native); a simulation by Valgrind (engine, or callgrind where that "
    "cannot be built); the CPU's own counters (perf), the better of engine and perf here (auto), "
    "each of these, to compare (both); or, of kernels on a GPU, Nsight Compute (ncu).  "
    "[default: native, and engine for what that cannot count]",
)
@common.work_option
@click.option(
    "--no-traffic", is_flag=True, help="Simulate no caches: counts, at nearly native speed."
)
@click.option(
    "--traffic",
    "traffic_how",
    type=click.Choice(["exact", "estimated", "none"]),
    help="Simulate caches for all accesses, for bursts of them (by copies of the program, at about "
    "native speed: its traffic has an interval), or for none, as --no-traffic.  [default: exact]",
)
@click.option("--counts-only", is_flag=True, help="Count, but do not time.")
@click.option(
    "--functions",
    is_flag=True,
    help="Time its functions too: by samples of more native runs, and counting twice.",
)
@click.option("-i", "--ignore-status", is_flag=True, help="Measure though it exits with a status.")
@click.option("--no-plot", is_flag=True, help="Leave the plot on the terminal out.")
@common.label_option
@common.note_option
@common.json_option
@common.output_option("the figure (or, with .json, the report)")
@common.archive_option
def command(*, mpi_ranks: int | None, launcher: str | None, **options: Any) -> int:
    """Measure PROGRAM (put -- before it), bound it by this machine, draw it.

    It is run several times as it is, which gives its time, and once counted, which gives its work
    and its memory traffic: all with the same input. The first time, the counting engine is built,
    which takes a C compiler and some seconds, and copies are made of the code that is counted.
    Its own output is shown once and the report goes to standard error, as with 'time'; with --json
    the report goes to standard output and the program's output to standard error. Its exit status
    is passed on.

    Where counting is stopped (by --limit, by Ctrl-C, or since it cannot go on), the times are
    shown and kept; work and traffic stay unknown, and the exit status is 2, or 130 after Ctrl-C.

    Of a program that uses MPI, --mpi P measures every rank: 'ridgepoint run --mpi 4 -- ./program',
    or 'mpirun -n 4 ridgepoint run -- ./program'.
    """
    from ridgepoint.cli.ranks import ranks_of_run, run_ranks

    if options["traffic_how"] in {"none", "exact"}:
        if options["no_traffic"] and options["traffic_how"] == "exact":
            raise click.BadParameter("contradicts --no-traffic", param_hint="'--traffic'")
        options["no_traffic"] = options["traffic_how"] == "none"
        options["traffic_how"] = None
    with ranks_of_run(mpi_ranks, launcher) as ranks:
        if ranks is None:
            return _measure(**options)
        return 0 if ranks == "another" else run_ranks(ranks, **options)


def _measure(
    *,
    program: tuple[str, ...],
    repeat: int | None,
    timeout_s: float | None,
    limit_s: float | None,
    machine_name: str | None,
    geometry: str | None,
    what_if: tuple[str, ...],
    miss_curve: bool,
    region: str | None,
    function: str | None,
    all_threads: bool,
    cold: bool,
    cores: float | None,
    meter_name: str | None,
    metric: Metric | None,
    no_traffic: bool,
    traffic_how: str | None,
    counts_only: bool,
    functions: bool,
    ignore_status: bool,
    no_plot: bool,
    label: str | None,
    note: str | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> int:
    """Measure a program on this machine."""
    from ridgepoint.cli.bounding import Bounding
    from ridgepoint.cli.counting import caches_to_simulate, meter_for, with_ends
    from ridgepoint.cli.timings import end_without_counts
    from ridgepoint.core.errors import ArchiveRefused, CannotMeasure
    from ridgepoint.core.measurement import Asked
    from ridgepoint.host import usable_cpus
    from ridgepoint.host.run import resolve
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import machine_of
    from ridgepoint.models.work import yardstick_on
    from ridgepoint.profiling.program import measure_program

    # What can be refused is refused before anything long begins.
    if functions:
        _require_whole(counts_only or region is not None or function is not None)
    if meter_name == "ncu":
        _require_gpu(machine_name, functions=functions)
    common.require_figure_endings(outputs, also=(".json",))
    resolve(program)
    chosen = None if machine_name is None else machine_of(machine_name, archive_path)
    if geometry is not None:
        common.caches_of_this_host(geometry)  # refused before anything long begins
    with Archive(archive_path) as archive, common.progress() as shown:
        meter = meter_for(
            meter_name,
            cpus=len(usable_cpus()) if chosen is None else chosen.cores,
            region=region,
            function=function,
            all_threads=all_threads,
            cold=cold,
            what_if=what_if,
            miss_curve=miss_curve,
            traffic=not no_traffic,
            estimates=traffic_how == "estimated",
            metric=metric,
            report=shown.step,
        )
        archive.require_writable()
        bounding = Bounding(archive, chosen, shown)
        if counts_only and any(path.suffix.lower() != ".json" for path in outputs):
            bounding.measure()
        bounding.require_cores(cores)
        timings: list[Timing] = []

        def when_counting(meter: Meter) -> tuple[Meter, Sequence[Cache]]:
            # By now the program has run without failing: measuring the machine is not in vain.
            if not counts_only:
                bounding.measure()
            # Traffic and roofs are of the same caches.
            caches = caches_to_simulate(geometry, bounding.machine)
            return with_ends(meter, bounding.machine, geometry), caches

        try:
            measurement = measure_program(
                program,
                meter=meter,
                when_counting=when_counting,
                repeat=repeat,
                timeout_s=timeout_s,
                limit_s=limit_s,
                counts_only=counts_only,
                functions=functions,
                ignore_status=ignore_status,
                output="stderr" if as_json else "own",
                progress=shown.step,
                when_timed=timings.append,
            )
        except (CannotMeasure, ArchiveRefused, KeyboardInterrupt) as error:
            if not timings:
                raise
            shown.close()
            return end_without_counts(
                timings[0],
                error,
                archive,
                bounding.id,
                as_json=as_json,
                outputs=outputs,
                label=label,
                note=note,
            )
        shown.close()
        metric = metric or yardstick_on(bounding.machine, measurement)
        asked = Asked(cores=cores, metric=metric, options=common.options_asked())
        measurement = replace(measurement, asked=asked)
        # Neither a full disk nor a closed pipe shall cost the user both the report and the record.
        try:
            bounding.show(measurement, as_json=as_json, plot=not no_plot, outputs=outputs)
        finally:
            kept = archive.keep_measurement(measurement, bounding.id, label=label, note=note)
            common.say_kept(kept, label)
    return 0 if measurement.timed is None else measurement.timed.exit_status


def _require_whole(is_part: bool) -> None:
    """Refuse to time the functions of a part of a program, or of one that is not timed.

    Raises
    ------
    click.BadParameter
    """
    if is_part:
        raise click.BadParameter(
            "times the functions of a whole program: leave --counts-only, --region, --function out",
            param_hint="'--functions'",
        )


def _require_gpu(machine_name: str | None, *, functions: bool) -> None:
    """Refuse to bound kernels of a GPU by this host's CPU, or to sample them there.

    Raises
    ------
    click.BadParameter
    """
    if functions:
        raise click.BadParameter(
            "samples the CPU; --meter ncu tells kernels apart without it",
            param_hint="'--functions'",
        )
    if machine_name is None:
        raise click.BadParameter(
            "say whose roofs bound the kernels: --machine h200, a100, or the number under which "
            "'ridgepoint machine --device gpu' kept yours",
            param_hint="'--meter'",
        )
