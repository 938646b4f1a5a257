"""The ranks of ``ridgepoint run``: as many as --mpi says, or those that a launcher started."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from ridgepoint.cli import common
from ridgepoint.cli.run_options import RunOptions
from ridgepoint.cli.tables import prints_document

if TYPE_CHECKING:
    from ridgepoint.cluster.task import MeterName

_WITHIN_SLURM = "srun --overlap -n {ranks}"
_OF_ONE_PROCESS = (
    "limit_s", "what_if", "miss_curve", "region", "function", "all_threads", "cold", "cores",
    "traffic_how", "functions", "lines", "count_runs",
)  # fmt: skip
"""Options of ``run`` that make no sense with several ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """How many ranks, and how to start them.

    Parameters
    ----------
    count : int
    launcher : str or None
        As given; None: mpirun.
    hosts : mapping of str to int or None
        Where they are to be; None: the launcher decides.
    """

    count: int
    launcher: str | None
    hosts: Mapping[str, int] | None = None


@contextlib.contextmanager
def ranks_of_run(
    count: int | None, launcher: str | None
) -> Iterator[Ranks | Literal["another"] | None]:
    """Give the ranks that a program is to have.

    Under a launcher this process is one of them: rank 0 gets where they are, and the others
    ``"another"``: they have nothing to do, and wait, asleep, until rank 0 is done.

    Parameters
    ----------
    count : int or None
        As given; None: those of a launcher, or else no MPI: None is given.
    launcher : str or None

    Raises
    ------
    click.BadParameter
        If the options contradict each other, or the launcher.
    CannotMeasure
        If MPI does not work under this launcher.
    """
    from ridgepoint.cluster.detect import launched

    here = launched()
    if here is None or here.size < 2:
        if launcher is not None and count is None:
            raise click.BadParameter(
                "--launcher needs the number of ranks: add --mpi 4", param_hint="'--launcher'"
            )
        yield None if count is None else Ranks(count=count, launcher=launcher)
        return
    if count is not None and count != here.size:
        raise click.BadParameter(
            f"{here.launcher} has already started {here.size} ranks: use it, or --mpi, not both",
            param_hint="'--mpi'",
        )
    from ridgepoint.cluster.world import join
    from ridgepoint.host import usable_cpus

    world = join(here)
    try:
        places = world.comm.gather((world.node, usable_cpus()))
        if places is None:
            yield "another"
            return
        nodes = [node for node, _ in places]
        on_hosts = {host: nodes.count(index) for index, host in enumerate(world.hosts)}
        # A launcher may bind each rank to a core of its own; ours starts all those of this node.
        cpus_here = {cpu for node, cpus in places if node == world.node for cpu in cpus}
        os.sched_setaffinity(0, cpus_here)
        if launcher is None and "srun" in here.launcher:
            launcher = _WITHIN_SLURM
        yield Ranks(
            count=here.size, launcher=launcher, hosts=on_hosts if len(on_hosts) > 1 else None
        )
    finally:
        world.pause()
        world.close()


def run_ranks(ranks: Ranks, options: RunOptions) -> int:
    """Measure a program on its ranks, bound it by its nodes, show it and keep it.

    Parameters
    ----------
    ranks : Ranks
    options : RunOptions
        Those that make no sense here must be as if they were not given.

    Returns
    -------
    int
        The program's status.
    """
    from ridgepoint.cli.counting import caches_to_simulate
    from ridgepoint.cli.output import show_run, write_run
    from ridgepoint.cluster.driver import DistributedProgram, Plan
    from ridgepoint.cluster.jobs import Jobs
    from ridgepoint.cluster.launcher import find_launcher
    from ridgepoint.host.run import resolve
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import kept_cluster
    from ridgepoint.models.analysis import analyse
    from ridgepoint.models.distributed import machine_for

    _require_none(options)
    common.require_figure_endings(options.outputs, also=(".json",))
    chosen, geometry = options.chosen_machine(), options.geometry
    viewing = options.viewing()
    plan = Plan(
        command=resolve(options.program),
        meter=_meter(options.meter_name, no_traffic=options.no_traffic),
        caches=None if geometry is None else common.caches_of_this_host(geometry),
        traffic=not options.no_traffic,
        repeat=options.repeat,
        timeout_s=options.timeout_s,
        counts_only=options.counts_only,
        ignore_status=options.ignore_status,
        output="stderr" if prints_document(as_json=options.as_json) else "own",
    )
    launcher = find_launcher(ranks.count, text=ranks.launcher, hosts=ranks.hosts)
    with Archive(options.archive_path) as archive, common.progress() as shown:
        archive.require_writable()
        distributed = DistributedProgram(plan, Jobs(launcher=launcher), progress=shown.step)
        hosts = {rank.host for rank in distributed.prepare()}
        known = kept_cluster(archive, hosts) if chosen is None and len(hosts) > 1 else None
        machine_id, node = known or common.machine_to_bound_by(archive, chosen, shown)
        if node.caches:
            # Traffic and roofs are of the same caches.
            distributed.simulate(caches_to_simulate(geometry, node))
        measurement = options.asked_of(distributed.measure(), node)
        shown.close()
        with common.keeping(
            lambda: archive.keep_measurement(
                measurement, machine_id, label=options.label, note=options.note
            ),
            options.label,
        ):
            analysis = analyse(measurement, machine_for(measurement, node))
            show_run(analysis, viewing, as_json=options.as_json, plot=not options.no_plot)
            write_run(analysis, options.outputs, viewing)
    return 0 if measurement.timed is None else measurement.timed.exit_status


def _require_none(options: RunOptions) -> None:
    """Refuse options that are of one process alone.

    Raises
    ------
    click.BadParameter
    """
    given = [
        f"--{name.removesuffix('_s').removesuffix('_how').replace('_', '-')}"
        for name in _OF_ONE_PROCESS
        if getattr(options, name)
    ]
    if given:
        raise click.BadParameter(
            f"{' and '.join(given)} cannot be used with several ranks",
            param_hint=f"'{given[0]}'",
        )


def _meter(name: str | None, *, no_traffic: bool) -> MeterName:
    """Return what counts on each rank.

    Raises
    ------
    click.BadParameter
        If it is none that does.
    """
    if name in {None, "engine", "auto"}:
        return "engine"
    if name == "native":
        return "native"
    if name != "perf":
        raise click.BadParameter(
            "ranks are counted by engine, native or perf", param_hint="'--meter'"
        )
    if no_traffic:
        raise click.BadParameter(
            "the CPU's own counters do not simulate caches", param_hint="'--meter'"
        )
    return "perf"
