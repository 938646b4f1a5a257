"""The results of any suite for the terminal."""

from __future__ import annotations

from functools import singledispatch

from rich.console import RenderableType

from ridgepoint.published.recomputed import RecomputedPaper
from ridgepoint.show.tables.datacenter_hosts_table import datacenter_hosts
from ridgepoint.show.tables.datacenter_mpi_table import datacenter_mpi
from ridgepoint.show.tables.datacenter_tables import datacenter
from ridgepoint.show.tables.distributed_table import distributed
from ridgepoint.show.tables.imaging_table import stage_table
from ridgepoint.show.tables.recomputed_table import recomputed_tables
from ridgepoint.show.tables.stack_table import stack_table
from ridgepoint.show.tables.suite_table import suite
from ridgepoint.suites.datacenter.hosts import DatacenterHosts
from ridgepoint.suites.datacenter.mpi_results import MpiStudy
from ridgepoint.suites.datacenter.results import DatacenterStudy
from ridgepoint.suites.datacenter.stacks import StackStudy
from ridgepoint.suites.distributed.results import DistributedStudy
from ridgepoint.suites.imaging.measuring import ImagingStudy
from ridgepoint.suites.kernels.results import KernelStudy


@singledispatch
def study_table(study: object) -> RenderableType:
    """Return what a suite found, and below it why cases could not be measured."""
    raise TypeError(f"there is no table of a {type(study).__name__}")


study_table.register(KernelStudy, suite)
study_table.register(DatacenterStudy, datacenter)
study_table.register(DatacenterHosts, datacenter_hosts)
study_table.register(MpiStudy, datacenter_mpi)
study_table.register(StackStudy, stack_table)
study_table.register(RecomputedPaper, recomputed_tables)
study_table.register(DistributedStudy, distributed)
study_table.register(ImagingStudy, stage_table)
