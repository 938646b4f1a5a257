"""The tables of any result that Python gets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.table import Table
from ridgepoint.models.analysis import Analysis, analysed
from ridgepoint.models.comparing.history import History
from ridgepoint.models.comparing.machines import MachineComparison
from ridgepoint.models.comparing.programs import ProgramComparison
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.operators import OperatorAnalysis, analyse_operators
from ridgepoint.models.placement import Placement
from ridgepoint.models.roofline import Roofline
from ridgepoint.show.data_tables.compare import comparison_tables
from ridgepoint.show.data_tables.history import history_tables
from ridgepoint.show.data_tables.machine import changes_table, cluster_tables, machine_tables
from ridgepoint.show.data_tables.operators import operators_tables
from ridgepoint.show.data_tables.others import given_point_table
from ridgepoint.show.data_tables.run import run_tables
from ridgepoint.suites.study import Study


@singledispatch
def tables_of(value: object) -> Sequence[Table]:
    """Return every table of a result, the one that most readers want first.

    Raises
    ------
    TypeError
        If there is none.
    """
    raise TypeError(f"there is no table of a {type(value).__name__}")


@tables_of.register
def _(value: Table) -> Sequence[Table]:
    return (value,)


@tables_of.register
def _(value: Measurement | Placement | Analysis) -> Sequence[Table]:
    return run_tables(analysed(value))


@tables_of.register
def _(value: Machine) -> Sequence[Table]:
    return machine_tables(value)


@tables_of.register
def _(value: Roofline) -> Sequence[Table]:
    return machine_tables(value.machine)


@tables_of.register
def _(value: MeasuredCluster) -> Sequence[Table]:
    return cluster_tables(value)


@tables_of.register
def _(value: ProgramComparison) -> Sequence[Table]:
    return comparison_tables([value])


@tables_of.register
def _(value: MachineComparison) -> Sequence[Table]:
    return (changes_table(value),)


@tables_of.register
def _(value: History) -> Sequence[Table]:
    return history_tables([value], value.labels)


@tables_of.register
def _(value: OperatorProfile) -> Sequence[Table]:
    return operators_tables(analyse_operators(value))


@tables_of.register
def _(value: OperatorAnalysis) -> Sequence[Table]:
    return operators_tables(value)


@tables_of.register
def _(value: PlacedPoint) -> Sequence[Table]:
    return (given_point_table(value),)


@tables_of.register
def _(value: Study) -> Sequence[Table]:
    # Suites bring much with them, and most of what is shown is of none.
    from ridgepoint.show.data_tables.studies import study_tables

    return study_tables(value)
