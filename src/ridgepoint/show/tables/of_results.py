"""The report of any result that Python gets: what the command line prints of it."""

from __future__ import annotations

from functools import singledispatch

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.table import Table
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis, analysed
from ridgepoint.models.comparing.history import History
from ridgepoint.models.comparing.machines import MachineComparison
from ridgepoint.models.comparing.programs import ProgramComparison
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.operators import OperatorAnalysis, analyse_operators
from ridgepoint.models.placement import Placement
from ridgepoint.models.roofline import Roofline
from ridgepoint.show.cells import shown_columns, shown_rows
from ridgepoint.show.tables import (
    compare_table,
    history_table,
    machine_comparison,
    machine_table,
    network_table,
    operators_table,
    run_table,
)
from ridgepoint.show.tables.given_table import given_table
from ridgepoint.show.tables.layout import plain_table
from ridgepoint.show.words import machine_title, shown_intensity
from ridgepoint.suites.study import Study


@singledispatch
def report_of(value: object) -> RenderableType:
    """Return the report of a result, as the command line prints it.

    Raises
    ------
    TypeError
        If there is none.
    """
    raise TypeError(f"there is no report of a {type(value).__name__}")


@report_of.register
def _(value: Machine) -> RenderableType:
    return machine_table.machine(value)


@report_of.register
def _(value: Measurement | Placement | Analysis) -> RenderableType:
    return run_table.run(analysed(value))


@report_of.register
def _(value: OperatorProfile) -> RenderableType:
    return operators_table.operators(analyse_operators(value))


@report_of.register
def _(value: OperatorAnalysis) -> RenderableType:
    return operators_table.operators(value)


@report_of.register
def _(value: PlacedPoint) -> RenderableType:
    return given_table([value])


@report_of.register
def _(value: MeasuredCluster) -> RenderableType:
    return network_table.cluster(value)


@report_of.register
def _(value: Study) -> RenderableType:
    # Suites bring much with them, and most of what is shown is of none.
    from ridgepoint.show.tables.studies import study_table

    return study_table(value)


@report_of.register
def _(value: ProgramComparison) -> RenderableType:
    return compare_table.pair(value)


@report_of.register
def _(value: MachineComparison) -> RenderableType:
    return machine_comparison.comparison(value)


@report_of.register
def _(value: History) -> RenderableType:
    return history_table.history_table([value], value.labels)


@report_of.register
def _(value: Roofline) -> RenderableType:
    """Return its roofs, and where each bandwidth meets the peak."""
    table = plain_table("roof", "rate", "ridge point", right=("rate", "ridge point"))
    for roof in value.roofs:
        resource = RESOURCES[roof.resource]
        ridge = "" if roof.is_compute else shown_intensity(value.ridge(resource.path))
        table.add_row(resource.label, format_si(roof.rate, resource.rate_unit), ridge)
    return Group(Text(machine_title(value.machine), style="bold"), table)


@report_of.register
def _(value: Table) -> RenderableType:
    known = value.without_empty_columns()
    columns = shown_columns(known)
    right = [column.title for column in columns if column.kind != "text"]
    shown = plain_table(*(column.title for column in columns), right=right)
    for row in shown_rows(known):
        shown.add_row(*map(Text, row))
    return Group(Text(value.title, style="bold"), shown)
