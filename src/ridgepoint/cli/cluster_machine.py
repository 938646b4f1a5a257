"""The ranks of an MPI job measure their cluster together; rank 0 speaks and keeps."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.core.errors import CannotMeasure, RidgepointError

if TYPE_CHECKING:
    from ridgepoint.cluster.detect import Launched
    from ridgepoint.cluster.network import Report
    from ridgepoint.cluster.world import World
    from ridgepoint.core.machine import Cache
    from ridgepoint.core.measured_cluster import MeasuredCluster


def measure_cluster(
    launched: Launched,
    *,
    check: Callable[[], tuple[Cache, ...] | None],
    quick: bool,
    label: str | None,
    note: str | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> int:
    """Measure the cluster that this process is a rank of; show and keep it on rank 0.

    Parameters
    ----------
    launched : Launched
    check : callable
        Raises what the command line refuses; returns the caches that the user gives. Called on
        rank 0 alone.
    quick, label, note, as_json, outputs, archive_path
        As given to the command.

    Returns
    -------
    int
        The exit status.
    """
    from ridgepoint.cluster.world import join
    from ridgepoint.kept.archive import Archive

    world = join(launched)
    try:
        if not world.is_root:
            agreed, caches = world.agree(None)
            if agreed:
                _measured(world, quick=quick, caches=caches, report=None)
            return 0
        caches = _agreed_caches(world, check, archive_path)
        with common.progress() as shown:
            cluster = _measured(world, quick=quick, caches=caches, report=shown.fraction)
        if cluster is not None:
            with (
                Archive(archive_path) as archive,
                common.keeping(
                    lambda: archive.keep_cluster(cluster, label=label, note=note), label
                ),
            ):
                _show(cluster, as_json=as_json, outputs=outputs)
        return 0
    finally:
        world.pause()  # asleep: where MPI ends, it spins
        world.close()


def _agreed_caches(
    world: World, check: Callable[[], tuple[Cache, ...] | None], archive_path: Path | None
) -> tuple[Cache, ...] | None:
    """Refuse on rank 0 what cannot be done, before anything long begins, and tell the others."""
    from ridgepoint.kept.archive import Archive

    try:
        caches = check()
        with Archive(archive_path) as archive:
            archive.require_writable()
    except (RidgepointError, click.ClickException):
        world.agree((False, None))
        raise
    world.agree((True, caches))
    return caches


def _measured(
    world: World,
    *,
    quick: bool,
    caches: tuple[Cache, ...] | None,
    report: Report | None,
) -> MeasuredCluster | None:
    """Measure; if this rank fails by itself, end all ranks and name it."""
    from ridgepoint.cluster.measure import measure_cluster as measure

    try:
        return measure(world, quick=quick, caches=caches, report=report)
    except CannotMeasure:
        raise  # all ranks know
    except KeyboardInterrupt as error:
        world.leave(f"{str(error) or 'interrupted'}: nothing was kept; run it again")
    except BaseException as error:
        if not isinstance(error, RidgepointError):
            traceback.print_exc(file=sys.stderr)
        world.abort(
            f"cannot measure the cluster: rank {world.rank} on {world.host} failed ({error}); "
            "see above, and run it again"
        )


def _show(cluster: MeasuredCluster, *, as_json: bool, outputs: tuple[Path, ...]) -> None:
    """Show a cluster, and write its figures."""
    from ridgepoint.cli.cluster_output import show_cluster, write_cluster

    show_cluster(cluster, as_json=as_json)
    write_cluster(cluster, outputs)
