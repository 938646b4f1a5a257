"""The datacenter workloads in PySpark, for ``suite datacenter --stack spark``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.suites.datacenter.results import DatacenterCase
    from ridgepoint.suites.datacenter.stacks import StackStudy


def measured_in_spark(cases: Sequence[DatacenterCase], archive_path: Path | None) -> StackStudy:
    """Return the results of workloads in C++ and in Spark.

    Raises
    ------
    click.BadParameter
        If one of the workloads has no program there.
    CannotMeasure
        If Spark or Java is missing, or disk or memory do not hold the data.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.datacenter import require_buildable
    from ridgepoint.suites.datacenter.inputs import require_data, require_room
    from ridgepoint.suites.datacenter.stacks import (
        IN_SPARK,
        StackStudy,
        require_spark,
        run_in_spark,
    )

    other = next((case.workload for case in cases if case.workload not in IN_SPARK), None)
    if other is not None:
        raise click.BadParameter(
            f"{other} has no program in Spark; {', '.join(IN_SPARK)} have",
            param_hint="'WORKLOAD'",
        )
    require_spark()
    require_buildable()
    require_data(cases)
    require_room(cases)
    with Archive(archive_path) as archive, common.progress() as shown:
        _, machine = common.machine_of_this_host(archive, shown)
        return StackStudy(machine=machine, results=run_in_spark(cases, report=shown.step))
