"""Draw kept measurements together."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.plot_points import given_points, points_options
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.cli.view_options import (
    Viewing,
    bandwidth_option,
    machines_option,
    per_cycle_option,
)
from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ridgepoint.core.given import GivenPoint
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.archive_record import Record
    from ridgepoint.models.analysis import Analysis
    from ridgepoint.models.given_points import PlacedPoint
    from ridgepoint.models.one_bandwidth import Bandwidth
    from ridgepoint.models.work import Metric


@click.command("plot")
@click.argument("targets", metavar="[ID|NAME...]", nargs=-1, shell_complete=completing.records)
@machines_option("Draw on this machine's roofline.", default="the first measurement's")
@common.kept_work_option
@bandwidth_option
@per_cycle_option
@points_options
@click.option(
    "--miss-curve",
    is_flag=True,
    help="Draw the memory traffic of one measurement over the size of the cache instead.",
)
@click.option(
    "--latency",
    is_flag=True,
    help="Draw a machine's latency over the size of a working set, with its caches, instead.",
)
@common.output_option("the figure")
@common.archive_option
@common.json_option
@tables_option(
    *("points", "latency", "miss_curve"),
    main="points; with --latency or --miss-curve: that table",
)
def command(
    *,
    targets: tuple[str, ...],
    machine_names: tuple[str, ...],
    metric: Metric | None,
    bandwidths: tuple[Bandwidth, ...],
    per_cycle: bool,
    point_texts: tuple[str, ...],
    point_files: tuple[Path, ...],
    miss_curve: bool,
    latency: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
    as_json: bool,
) -> None:
    """Draw kept measurements together, or the last one, without measuring again.

    Each argument is a number or a name of 'ridgepoint list', a file written by 'ridgepoint export',
    or a published machine. The plot appears on the terminal, or in the file that -o names. A
    machine alone is drawn with its roofs, and further machines beside it. Points that are given by
    --point or --points need no measurement; a table says what bounds them.
    """
    from ridgepoint.cli.operator_output import draw_operators, operators_named
    from ridgepoint.kept.archive import Archive

    common.require_figure_endings(outputs)
    given = given_points(point_texts, point_files, metric)
    with Archive(archive_path) as archive:
        operators = None if given or latency else operators_named(archive, targets, machine_names)
        if operators is not None:
            if miss_curve or metric or bandwidths or per_cycle or as_json:
                raise click.UsageError(
                    "--miss-curve, --work, --bandwidth, --per-cycle and --json do not "
                    "apply to the operators of a program: 'ridgepoint show --json' prints them"
                )
            draw_operators(operators, outputs)
            return
        machines, measurements = _kept(
            archive, targets, machine_names, of_machine=latency, is_given=bool(given)
        )
    machine, others = machines[0], machines[1:]
    viewing = Viewing(others=others, bandwidths=bandwidths, per_cycle=per_cycle)
    if (latency or miss_curve) and (not viewing.is_plain or given or as_json):
        raise click.UsageError(
            "a second --machine, --bandwidth, --per-cycle, --point, --points and --json are of "
            f"rooflines, not of {'--latency' if latency else '--miss-curve'}"
        )
    if latency:
        if miss_curve or measurements:
            raise click.UsageError(
                "--latency draws a machine: give its number, or --machine, without a program "
                "or --miss-curve"
            )
        _draw_latency(machine, outputs)
    elif miss_curve:
        _draw_miss_curve(measurements, machine, outputs)
    else:
        drawn = _Drawn.of(machines, measurements, given, metric=metric)
        drawn.draw(viewing, outputs, as_json=as_json)


def _draw_latency(machine: Machine, outputs: Sequence[Path]) -> None:
    """Draw or print a machine's latency over size, and write its table."""
    from ridgepoint.cli.output import write_latency
    from ridgepoint.show.data_tables.machine import machine_tables
    from ridgepoint.show.data_tables.together import of_name

    with beside(lambda: [of_name(machine_tables(machine), "latency")]) as is_shown:
        if is_shown or outputs:
            write_latency(machine, outputs)


def _draw_miss_curve(
    measurements: Sequence[Measurement], machine: Machine, outputs: Sequence[Path]
) -> None:
    """Draw the miss curve of the one measurement, and write its table."""
    from ridgepoint.cli.output import draw_chart, miss_curve_of
    from ridgepoint.models.analysis import analyse
    from ridgepoint.show.data_tables.run import run_tables
    from ridgepoint.show.data_tables.together import of_name

    if len(measurements) != 1:
        raise click.UsageError("--miss-curve draws a single measurement: give one number")
    chart = miss_curve_of(measurements[0], machine)
    tables = run_tables(analyse(measurements[0], machine))
    with beside(lambda: [of_name(tables, "miss_curve")]) as is_shown:
        if is_shown or outputs:
            draw_chart(chart, outputs)


def _kept(
    archive: Archive,
    targets: Sequence[str],
    machine_names: Sequence[str],
    *,
    of_machine: bool,
    is_given: bool,
) -> tuple[tuple[Machine, ...], list[Measurement]]:
    """Return the machine to draw on and those beside it, and the measurements.

    Without a target these are the last record's, unless points or the machine's figures are given.
    A machine that is named goes before those of the records, and the first record's before others;
    a record that is a machine is drawn in any case.
    """
    from ridgepoint.kept.lookup import is_elsewhere, measurement_of_file, named_machine

    named, drawn = [*machine_names], []
    for target in targets:
        if not is_elsewhere(target):
            drawn.append(_of_record(archive, archive.require(target)))
        elif (program := measurement_of_file(target)) is not None:
            drawn.append(program)
        else:
            named.append(target)
    machines = [named_machine(archive, name, may_be_per_cycle=True) for name in named]
    if not targets and not is_given:
        records = _last(archive, machines, of_machine=of_machine)
        drawn = [_of_record(archive, record) for record in records]
    measurements = []
    for one in drawn:
        if isinstance(one, tuple):
            measurements.append(one[0])
            machines = machines or [one[1]]
        else:
            machines += [] if one in machines else [one]
    if not machines:
        machines = [_this_host(archive)]
    _require_one_clock(machines)
    return tuple(machines), measurements


def _of_record(archive: Archive, record: Record) -> Machine | tuple[Measurement, Machine]:
    """Return a machine, or a measurement with the machine that bounds it."""
    from ridgepoint.kept.lookup import kept_measurement

    if record.kind == "machine":
        return archive.machine(record.id)
    return kept_measurement(archive, record)


def _last(archive: Archive, machines: Sequence[Machine], *, of_machine: bool) -> list[Record]:
    """Return the last record, or none where a machine is to be drawn alone."""
    from ridgepoint.kept.lookup import last_record
    from ridgepoint.models.given_machine import GIVEN

    is_alone = of_machine or any(machine.source == GIVEN for machine in machines)
    if machines and (is_alone or not archive.records("measurement", last=1)):
        return []
    return [last_record(archive, "machine" if of_machine else "measurement")]


def _this_host(archive: Archive) -> Machine:
    from ridgepoint.ceilings.this_host import machine_of_this_host_if_kept

    if (kept := machine_of_this_host_if_kept(archive)) is not None:
        return kept[1]
    raise RidgepointError(
        "cannot place the points",
        reason="no machine is named, and this host was not measured yet",
        remedy="name one, such as --machine csb or --machine 'pi=2Tflop/s, beta=100GB/s', or run "
        "'ridgepoint machine'",
    )


def _require_one_clock(machines: Sequence[Machine]) -> None:
    """Refuse rates per cycle beside those of a machine without a clock."""
    from ridgepoint.models.given_machine import is_per_cycle

    given = [machine.name for machine in machines if is_per_cycle(machine)]
    others = [machine.name for machine in machines if machine.host.frequency_hz is None]
    if given and others:
        raise RidgepointError(
            f"cannot draw {given[0]} and {others[0]} together",
            reason=f"the rates of the one are per cycle, and {others[0]} has no frequency",
            remedy="add the frequency of the given machine, such as frequency=3.2GHz",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What a roofline shows: machines, and on the first of them programs and given points."""

    machines: tuple[Machine, ...]
    analyses: tuple[Analysis, ...]
    points: tuple[PlacedPoint, ...]
    metric: Metric

    @classmethod
    def of(
        cls,
        machines: tuple[Machine, ...],
        measurements: Sequence[Measurement],
        given: Sequence[GivenPoint],
        *,
        metric: Metric | None,
    ) -> _Drawn:
        """Return all on the first machine, in one unit of work."""
        from ridgepoint.models.analysis import analyse
        from ridgepoint.models.given_points import place_given

        points = tuple(place_given(point, machines[0]) for point in given)
        metric = metric or _metric_of(measurements, points)
        return cls(
            machines=machines,
            analyses=tuple(analyse(each, machines[0], metric=metric) for each in measurements),
            points=points,
            metric=metric,
        )

    def draw(self, viewing: Viewing, outputs: Sequence[Path], *, as_json: bool) -> None:
        """Draw the roofline, print the points, and say if a roof is missing."""
        from ridgepoint.cli.output import show_plot
        from ridgepoint.cli.pictures import save_picture
        from ridgepoint.show.charts.roofline import roofline_picture
        from ridgepoint.show.data_tables.others import points_tables

        measured = self.analyses[0].measurement if self.analyses else None
        picture = roofline_picture(
            self.machines[0],
            self.analyses,
            given=self.points,
            metric=self.metric,
            views=viewing.of(measured),
        )
        save_picture(picture, outputs)
        with beside(lambda: points_tables(self._document())) as is_shown:
            if as_json:
                common.print_json(self._document())
            elif is_shown and not outputs:
                show_plot(picture, stderr=False)
            if is_shown and self.points and not as_json:
                self._print_points(below=not outputs, in_cycles=viewing.per_cycle)
        if self.metric == "bop" and not self.machines[0].knows("bop"):
            print(
                f"ridgepoint: {self.machines[0].name!r} has no bop ceiling, so the roof of basic "
                "operations is missing; measure the machine again with 'ridgepoint machine', or "
                "draw on a published machine that has one, for example --machine e5645",
                file=sys.stderr,
            )

    def _on_every_machine(self) -> tuple[PlacedPoint, ...]:
        from ridgepoint.models.given_points import place_given

        return tuple(
            placed
            for point in self.points
            for placed in (
                point,
                *(place_given(point.point, machine) for machine in self.machines[1:]),
            )
        )

    def _print_points(self, *, below: bool, in_cycles: bool) -> None:
        from ridgepoint.show.tables.given_table import given_table

        out = common.console()
        if below:
            out.print()
        out.print(given_table(self._on_every_machine(), in_cycles=in_cycles))

    def _document(self) -> dict[str, Any]:
        from ridgepoint.cli.plot_report import plot_report

        return plot_report(self.machines, self.analyses, self._on_every_machine(), self.metric)


def _metric_of(measurements: Sequence[Measurement], points: Sequence[PlacedPoint]) -> Metric:
    """Return the unit of the work of measurements, as asked for, and of given points.

    Raises
    ------
    click.BadParameter
        If that differs: a figure has one axis.
    """
    metrics = {measurement.metric for measurement in measurements}
    if len(metrics) > 1:
        raise click.BadParameter(
            "some were measured with --work bops and some without: choose one for all with "
            "--work flop or --work bops",
            param_hint="'--work'",
        )
    of_points = points[0].metric if points else None
    if of_points is not None and metrics - {of_points}:
        raise click.BadParameter(
            "the work of the points is in another unit than that of the programs: choose one for "
            "all with --work flop or --work bops",
            param_hint="'--work'",
        )
    return of_points or (metrics.pop() if metrics else "flop")
