"""``run --operators``: the operators of a script of Python, each a point under the roofs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.run_options import RunOptions
from ridgepoint.cli.tables import prints_document

if TYPE_CHECKING:
    from ridgepoint.core.operators import OperatorProfile

_TAKEN = {
    *("program", "operators", "repeat", "timeout_s", "machine_names", "ignore_status", "no_plot"),
    *("label", "note", "as_json", "outputs", "archive_path"),
}
_OPTIONS = {
    "geometry": "--cache", "mpi_ranks": "--mpi", "limit_s": "--limit", "meter_name": "--meter",
    "metric": "--work", "traffic_how": "--traffic", "bandwidths": "--bandwidth",
}  # fmt: skip
"""Options whose fields have other names."""


def run_operators(options: RunOptions) -> int:
    """Profile a script's operators, show them and keep them; return its exit status."""
    from ridgepoint.cli.bounding import Bounding
    from ridgepoint.cli.operator_output import show_operators, write_operators
    from ridgepoint.kept.archive import Archive
    from ridgepoint.models.operators import analyse_operators
    from ridgepoint.profiling.operators.script import profile_script

    _refuse(options)
    chosen = options.chosen_machine()
    with Archive(options.archive_path) as archive, common.progress() as shown:
        archive.require_writable()
        bounding = Bounding(archive, chosen, shown)
        profile = profile_script(
            options.program,
            repeat=options.repeat,
            timeout_s=options.timeout_s,
            ignore_status=options.ignore_status,
            output="stderr" if prints_document(as_json=options.as_json) else "own",
            progress=shown.step,
        )
        if profile.device == "cpu":
            bounding.measure()
        shown.close()
        analysis = analyse_operators(profile, bounding.machine)
        with common.keeping(
            lambda: archive.keep_operators(
                profile, bounding.id, label=options.label, note=options.note
            ),
            options.label,
        ):
            show_operators(analysis, as_json=options.as_json, plot=not options.no_plot, stderr=True)
            write_operators(analysis, options.outputs)
    return _status(profile)


def _status(profile: OperatorProfile) -> int:
    return 0 if profile.timed is None else profile.timed.exit_status


def _refuse(options: RunOptions) -> None:
    """Refuse what does not apply to operators, before anything long begins.

    Raises
    ------
    click.BadParameter, RidgepointError
    """
    from ridgepoint.host.run import resolve

    for field in fields(options):
        if field.name not in _TAKEN and getattr(options, field.name) != field.default:
            option = _OPTIONS.get(field.name, f"--{field.name.replace('_', '-')}")
            raise click.BadParameter(
                f"{option} does not apply to --operators, which times the operators of PyTorch in "
                "a script and counts no instructions",
                param_hint="'--operators'",
            )
    if len(options.machine_names) > 1:
        raise click.BadParameter(
            "--operators places them on one machine: give one", param_hint="'--machine'"
        )
    common.require_figure_endings(options.outputs, also=(".json",))
    resolve(options.program)
