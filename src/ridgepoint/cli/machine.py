"""Measure this machine's ceilings and keep them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import NumberRange
from ridgepoint.cli.tables import OF_MACHINE, tables_option

if TYPE_CHECKING:
    from ridgepoint.cli.progress import Progress
    from ridgepoint.core.machine import Cache, Machine


_CONFIRMATIONS = 2
"""Times that ceilings which seem to have fallen are measured again before it is said."""


@click.command("machine")
@click.option(
    "--check",
    "baseline_name",
    metavar="BASELINE",
    shell_complete=completing.machines,
    help="Compare with a kept machine: a number or a name of 'ridgepoint list', or a machine's "
    "file. Exit status 1 if a ceiling fell.",
)
@click.option(
    "--tolerance",
    "tolerance_percent",
    type=NumberRange(0, 100, max_open=True),
    metavar="PERCENT",
    help="With --check, the per cent by which a median may fall.  [default: 5]",
)
@click.option(
    "--explain",
    "explained",
    metavar="NAME",
    help=(
        "Measure one ceiling, such as 'l1 copy' or 'fp64 fma 512-bit', and show what its "
        "kernel executes, its samples, and the reasons for its value. -o draws the samples."
    ),
)
@click.option("--quick", is_flag=True, help="Only the ceilings that bound most programs, in 5 s.")
@click.option(
    "--cache",
    "geometry",
    metavar="GEOMETRY",
    help="Use these caches, whatever is measured: l1=32k:8,l2=1m:8,l3=32m:16 (size:ways).",
)
@common.device_option("What to measure")
@common.label_option
@common.note_option
@common.json_option
@tables_option(*OF_MACHINE, main="ceilings, changes or network")
@common.output_option("the machine's roofline")
@common.archive_option
def command(
    *,
    device: int | None,
    baseline_name: str | None,
    tolerance_percent: float | None,
    explained: str | None,
    quick: bool,
    geometry: str | None,
    label: str | None,
    note: str | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> int:
    """Measure this machine's ceilings and keep them.

    Ceilings are the peaks of floating-point and integer operations, scalar to the widest vector,
    and the bandwidth and latency of every cache level and of main memory, on one core and on all
    cores. Each is shown with its median, its 95 % interval and its per cent of theory, and all
    samples are kept. The capacity of each cache that a program gets is measured too; 'ridgepoint
    plot --latency' draws it. All of this takes 30 s at most. 'ridgepoint run' uses the machine
    that was kept last, as long as the machine has not changed.

    'mpirun -n P ridgepoint machine' measures a cluster: the machines of all nodes at once, and the
    network between them. Every --machine option takes the cluster.

    --device gpu measures a GPU instead: the bandwidth of its memory, and its peaks by precision
    (pip install 'ridgepoint[gpu]').

    With --check, a ceiling fell if its 95 % interval lies wholly below that of the baseline and its
    median fell by more than the tolerance, and both are so again in two more measurements.
    """
    from ridgepoint.cli.output import write_machine
    from ridgepoint.cluster.detect import launched
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import named_machine

    if device is not None and (explained is not None or geometry is not None):
        raise click.UsageError(
            "--explain and --cache apply to CPUs only: they cannot be combined with --device"
        )
    job = launched()
    if job is not None:
        from ridgepoint.cli.cluster_machine import measure_cluster

        return measure_cluster(
            job,
            check=lambda: _checked_for_a_cluster(
                geometry, outputs, alone=(baseline_name, tolerance_percent, explained, device)
            ),
            quick=quick,
            label=label,
            note=note,
            as_json=as_json,
            outputs=outputs,
            archive_path=archive_path,
        )
    caches = _checked(geometry, outputs)
    if explained is not None:
        if baseline_name is not None or quick:
            raise click.UsageError("--explain cannot be combined with --check or --quick")
        if label is not None or note is not None:
            raise click.UsageError("--explain keeps no record: --name and --note do not apply")
        return _explain(explained, caches, as_json=as_json, outputs=outputs)

    tolerance = _tolerance(tolerance_percent, checks=baseline_name is not None)
    with Archive(archive_path) as archive, common.progress() as shown:
        baseline = None if baseline_name is None else named_machine(archive, baseline_name)
        archive.require_writable()
        with common.measuring_alone(shown):
            measured, measured_again = _measuring(shown, caches, device, quick=quick)
            machine = measured()
            with common.keeping(
                lambda: archive.keep_machine(machine, label=label, note=note), label
            ):
                for _ in range(_CONFIRMATIONS):
                    if names := _fallen(machine, baseline, tolerance):
                        machine = measured_again(machine, names)
                shown.close()
                fell = _show(machine, baseline, tolerance, as_json=as_json)
                write_machine(machine, outputs)
    return 1 if fell else 0


def _show(machine: Machine, baseline: Machine | None, tolerance: float, *, as_json: bool) -> int:
    """Print a machine, or how it compares with a baseline; return how many ceilings fell."""
    from ridgepoint.cli.output import show_comparison, show_machine
    from ridgepoint.models.comparing.machines import compare

    if baseline is None:
        show_machine(machine, as_json=as_json)
        return 0
    compared = compare(baseline, machine, tolerance=tolerance)
    show_comparison(compared, baseline, machine, as_json=as_json)
    return compared.count("fell")


def _measuring(
    shown: Progress, caches: tuple[Cache, ...] | None, device: int | None, *, quick: bool
) -> tuple[Callable[[], Machine], Callable[[Machine, set[tuple[str, str]]], Machine]]:
    """Return what measures the CPUs or a GPU, and what measures some ceilings again."""
    from ridgepoint import ceilings
    from ridgepoint.ceilings import gpu
    from ridgepoint.ceilings.this_host import gpu_name

    progress = shown.fraction
    if device is None:
        return (
            partial(ceilings.characterize, progress=progress, caches=caches, quick=quick),
            partial(ceilings.measured_again, progress=progress),
        )
    opened = gpu.open_device(device)
    return (
        partial(
            gpu.characterize_gpu, opened, name=gpu_name(device), progress=progress, quick=quick
        ),
        partial(gpu.measured_again, device=opened, progress=progress),
    )


def _checked(geometry: str | None, outputs: tuple[Path, ...]) -> tuple[Cache, ...] | None:
    """Return the caches that the user gives; refuse what could not be written afterwards."""
    common.require_figure_endings(outputs)
    return None if geometry is None else common.caches_of_this_host(geometry)


def _checked_for_a_cluster(
    geometry: str | None, outputs: tuple[Path, ...], *, alone: tuple[object, ...]
) -> tuple[Cache, ...] | None:
    """Return the same; refuse options that have a meaning for one machine alone."""
    if any(option is not None for option in alone):
        raise click.UsageError(
            "--check, --tolerance, --explain and --device apply to a single machine: omit them, "
            "or run without mpirun"
        )
    return _checked(geometry, outputs)


def _fallen(machine: Machine, baseline: Machine | None, tolerance: float) -> set[tuple[str, str]]:
    """Return resource and name of the ceilings that fell; without a baseline, none did."""
    from ridgepoint.models.comparing.machines import compare

    if baseline is None:
        return set()
    compared = compare(baseline, machine, tolerance=tolerance)
    return {
        (change.resource, change.name) for change in compared.ceilings if change.verdict == "fell"
    }


def _explain(
    name: str, caches: tuple[Cache, ...] | None, *, as_json: bool, outputs: tuple[Path, ...]
) -> int:
    """Measure one ceiling and take it apart; nothing is kept."""
    from ridgepoint.ceilings.explain import explain
    from ridgepoint.cli.output import show_explanations, write_explanations

    with common.progress() as shown:
        explanations = explain(name, progress=shown.fraction, caches=caches)
        shown.close()
        show_explanations(explanations, as_json=as_json)
        write_explanations(explanations, outputs)
    return 0


def _tolerance(percent: float | None, *, checks: bool) -> float:
    """Return the tolerance as a share; refuse one that has no use."""
    from ridgepoint.models.comparing.machines import TOLERANCE

    if percent is None:
        return TOLERANCE
    if not checks:
        raise click.UsageError("--tolerance applies only with --check BASELINE")
    return percent / 100
