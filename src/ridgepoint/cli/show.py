"""Show kept measurements, machines or clusters again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.tables import OF_MACHINE, OF_OPERATORS, OF_RUN, beside, tables_option
from ridgepoint.cli.view_options import (
    Viewing,
    bandwidth_option,
    machines_option,
    other_machines,
    per_cycle_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.core.table import Table
    from ridgepoint.kept.lookup import Kept
    from ridgepoint.models.analysis import Analysis
    from ridgepoint.models.one_bandwidth import Bandwidth
    from ridgepoint.models.work import Metric


@click.command("show")
@click.argument(
    "targets", metavar="[TARGET...]", nargs=-1, shell_complete=completing.anything_shown
)
@common.kept_work_option
@machines_option("Bound programs by this machine.", default="the one that each was kept with")
@bandwidth_option
@per_cycle_option
@click.option(
    "--cautions",
    "every_caution",
    is_flag=True,
    help="Also show in full the cautions that could not change a verdict.",
)
@click.option(
    "--lines",
    "annotates",
    is_flag=True,
    help=(
        "Instead of the report, show the source of a Python program that was measured with "
        "'run --lines', with the time, work and traffic of its lines."
    ),
)
@common.json_option
@tables_option(*OF_RUN, *OF_OPERATORS, *OF_MACHINE, main="parts, operators, ceilings or network")
@common.archive_option
def command(
    *,
    targets: tuple[str, ...],
    metric: Metric | None,
    machine_names: tuple[str, ...],
    bandwidths: tuple[Bandwidth, ...],
    per_cycle: bool,
    every_caution: bool,
    annotates: bool,
    as_json: bool,
    archive_path: Path | None,
) -> None:
    """Show each TARGET, or the last record, without measuring again.

    TARGET is a number or a name of 'ridgepoint list', a file written by 'ridgepoint export', the
    file of a machine or a cluster, or the name of a published machine. A program that was measured
    with --cores or --work is shown by them again.
    """
    from ridgepoint.core.documents import report
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import kept, machine_of

    if annotates and as_json:
        raise click.BadParameter(
            "--json has the lines of a program anyway: leave out one of the two",
            param_hint="'--lines'",
        )
    with Archive(archive_path) as archive:
        kept_values = [kept(archive, target) for target in targets or (None,)]
        shown = _Shown(
            metric=metric,
            machine=machine_of(machine_names[0], archive_path) if machine_names else None,
            viewing=Viewing(
                others=other_machines(machine_names, archive_path),
                bandwidths=bandwidths,
                per_cycle=per_cycle,
            ),
            every_caution=every_caution,
        )
    kept_values = [shown.on_machine(value) for value in kept_values]
    for value in kept_values:
        if isinstance(value, Machine | MeasuredCluster):
            shown.require_machine(value.name)
    with beside(lambda: _tables(targets, kept_values, shown)) as is_shown:
        if as_json and len(kept_values) > 1:
            documents = [_document(value, shown) for value in kept_values]
            common.print_json(report("records", {"records": documents}))
        elif as_json:
            common.print_json(_document(kept_values[0], shown))
        elif is_shown:
            for number, value in enumerate(kept_values):
                if number:
                    common.console().rule(style="")
                if annotates:
                    _annotate(value)
                else:
                    _show(value, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """How records are shown.

    Parameters
    ----------
    metric : {"flop", "bop"} or None
        None: as each was measured.
    machine : Machine or None
        One node that bounds programs; None: the machine that each was kept with.
    viewing : Viewing
    every_caution : bool
    """

    metric: Metric | None
    machine: Machine | None
    viewing: Viewing
    every_caution: bool

    def analysis(self, measurement: Measurement, machine: Machine | None) -> Analysis:
        """Return the analysis of a measurement that was kept with a machine, or with none."""
        from ridgepoint.models.analysis import analyse
        from ridgepoint.models.distributed import machine_for

        chosen = machine if self.machine is None else machine_for(measurement, self.machine)
        return analyse(measurement, chosen, metric=self.metric)

    def on_machine(self, value: Kept) -> Kept:
        """Return operators on the machine that is asked for; all else as it is."""
        from ridgepoint.models.operators import OperatorAnalysis, analyse_operators

        if not isinstance(value, OperatorAnalysis):
            return value
        self.require_plain()
        return value if self.machine is None else analyse_operators(value.profile, self.machine)

    def require_plain(self) -> None:
        """Refuse options of counted programs for operators.

        Raises
        ------
        click.BadParameter
        """
        viewing = self.viewing
        given = {
            "--work": self.metric is not None,
            "--bandwidth": bool(viewing.bandwidths),
            "--per-cycle": viewing.per_cycle,
            "a second --machine": bool(viewing.others),
        }
        for option, is_given in given.items():
            if is_given:
                raise click.BadParameter(
                    f"{option} does not apply to the operators of a program",
                    param_hint=f"'{option.split()[-1]}'",
                )

    def require_machine(self, name: str) -> None:
        """Refuse options of programs for a machine or a cluster, which has ceilings of all kinds.

        Raises
        ------
        click.BadParameter
        """
        viewing = self.viewing
        given = {
            "--work": self.metric is not None,
            "--machine": self.machine is not None,
            "--bandwidth": bool(viewing.bandwidths),
            "--per-cycle": viewing.per_cycle,
        }
        for option, is_given in given.items():
            if is_given:
                raise click.BadParameter(
                    f"{option} does not apply: {name!r} is a machine, which is shown with all its "
                    "ceilings",
                    param_hint=f"'{option}'",
                )


def _document(value: Kept, shown: _Shown) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from ridgepoint.core.documents import to_fields
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.operators import OperatorAnalysis
    from ridgepoint.show.operators_report import operators_report
    from ridgepoint.show.report import machine_fields, report, timing_report

    if isinstance(value, Timing):
        return timing_report(value)
    if isinstance(value, OperatorAnalysis):
        return operators_report(value)
    if not isinstance(value, tuple):
        return machine_fields(value) if isinstance(value, Machine) else to_fields(value)
    return report(shown.analysis(*value), shown.viewing.others)


def _tables(targets: Sequence[str], values: Sequence[Kept], shown: _Shown) -> tuple[Table, ...]:
    """Return the tables of one record, or those of several, each with a column that says whose."""
    from ridgepoint.show.data_tables.together import together

    if len(values) == 1:
        return _tables_of(values[0], shown)
    return together(
        [(target, _tables_of(value, shown)) for target, value in zip(targets, values, strict=True)]
    )


def _tables_of(value: Kept, shown: _Shown) -> tuple[Table, ...]:
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.operators import OperatorAnalysis
    from ridgepoint.show.data_tables.machine import cluster_tables, machine_tables
    from ridgepoint.show.data_tables.operators import operators_tables
    from ridgepoint.show.data_tables.run import run_tables, timing_tables

    if isinstance(value, Timing):
        return timing_tables(value)
    if isinstance(value, OperatorAnalysis):
        return operators_tables(value)
    if isinstance(value, tuple):
        return run_tables(shown.analysis(*value))
    return machine_tables(value) if isinstance(value, Machine) else cluster_tables(value)


def _annotate(value: Kept) -> None:
    """Print the source of a Python program with what was measured of its lines.

    Raises
    ------
    click.BadParameter
        If no lines were measured.
    """
    from ridgepoint.core.measurement import Measurement, Timing
    from ridgepoint.kept.source_files import unchanged_lines
    from ridgepoint.show.tables.annotated_table import annotated_source

    measured = value[0] if isinstance(value, tuple) else value
    if (
        not isinstance(measured, Measurement | Timing)
        or measured.lines is None
        or measured.timed is None
        or not measured.lines.lines
    ):
        raise click.BadParameter(
            "the record has no lines of Python: measure the program with 'ridgepoint run --lines'",
            param_hint="'--lines'",
        )
    files = [line.file for line in measured.lines.lines]
    sources = unchanged_lines(files, since=measured.context.started)
    common.console().print(annotated_source(measured.lines, measured.timed, sources))


def _show(value: Kept, shown: _Shown) -> None:
    """Print a measurement, a machine or a cluster for a reader."""
    from ridgepoint.cli.cluster_output import show_cluster
    from ridgepoint.cli.operator_output import show_operators
    from ridgepoint.cli.output import show_machine, show_run
    from ridgepoint.cli.timings import show_timing
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.operators import OperatorAnalysis

    if isinstance(value, Timing):
        show_timing(value, as_json=False)
        return
    if isinstance(value, OperatorAnalysis):
        show_operators(value, as_json=False, plot=True)
        return
    if isinstance(value, tuple):
        show_run(
            shown.analysis(*value),
            shown.viewing,
            as_json=False,
            plot=True,
            stderr=False,
            every_caution=shown.every_caution,
        )
        return
    if isinstance(value, MeasuredCluster):
        show_cluster(value, as_json=False)
    else:
        show_machine(value, as_json=False, every_caution=shown.every_caution)
