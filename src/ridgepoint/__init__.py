"""Measure what a machine can give and what a program asks of it; bound one by the other.

>>> import ridgepoint
>>> machine = ridgepoint.open_machine("cascade-lake")  # or characterize(), to measure this one
>>> step = ridgepoint.Demand({"fp32": 1.6e9, "dram": 6.8e7, "network": 1.3e8})
>>> ridgepoint.bound(step, machine).limiter
'network'

``characterize()`` measures this machine, ``measure_program(["./prog"])`` a program, and
``place(measurement, machine)`` bounds one by the other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ridgepoint.core.presenting import use_presenter

__version__ = "0.1.0"

# Imported when first used: most uses need few of these, and LLVM is a heavy one.
_HOME = {
    "Archive": "kept.archive",
    "Bound": "core.bound",
    "Cache": "core.machine",
    "CallgrindMeter": "meters.callgrind",
    "Caution": "core.caution",
    "Ceiling": "core.machine",
    "Counts": "core.counts",
    "DCRoofline": "models.dc_roofline",
    "Demand": "core.demand",
    "Estimate": "core.estimate",
    "Host": "core.machine",
    "Machine": "core.machine",
    "MeasuredCluster": "core.measured_cluster",
    "Measurement": "core.measurement",
    "Placement": "models.placement",
    "Problem": "models.scaling",
    "Rates": "core.rates",
    "Ridgeline": "models.ridgeline",
    "RidgepointError": "core.errors",
    "Roofline": "models.roofline",
    "Scaling": "models.scaling",
    "Timing": "core.measurement",
    "TrainingStep": "demands.training",
    "bound": "core.bound",
    "characterize": "ceilings",
    "keep": "kept.keeping",
    "kept_records": "kept.keeping",
    "load": "kept.keeping",
    "machine_here": "ceilings.this_host",
    "measure": "profiling.calls",
    "measure_program": "profiling.program",
    "measuring": "profiling.calls.watch",
    "open_machine": "published.machines",
    "place": "models.analysis",
    "plot": "show.presenter",
    "region": "regions",
}

if TYPE_CHECKING:
    from ridgepoint.ceilings import characterize as characterize
    from ridgepoint.ceilings.this_host import machine_here as machine_here
    from ridgepoint.core.bound import Bound as Bound
    from ridgepoint.core.bound import bound as bound
    from ridgepoint.core.caution import Caution as Caution
    from ridgepoint.core.counts import Counts as Counts
    from ridgepoint.core.demand import Demand as Demand
    from ridgepoint.core.errors import RidgepointError as RidgepointError
    from ridgepoint.core.estimate import Estimate as Estimate
    from ridgepoint.core.machine import Cache as Cache
    from ridgepoint.core.machine import Ceiling as Ceiling
    from ridgepoint.core.machine import Host as Host
    from ridgepoint.core.machine import Machine as Machine
    from ridgepoint.core.measured_cluster import MeasuredCluster as MeasuredCluster
    from ridgepoint.core.measurement import Measurement as Measurement
    from ridgepoint.core.measurement import Timing as Timing
    from ridgepoint.core.rates import Rates as Rates
    from ridgepoint.demands.training import TrainingStep as TrainingStep
    from ridgepoint.kept.archive import Archive as Archive
    from ridgepoint.kept.keeping import keep as keep
    from ridgepoint.kept.keeping import kept_records as kept_records
    from ridgepoint.kept.keeping import load as load
    from ridgepoint.meters.callgrind import CallgrindMeter as CallgrindMeter
    from ridgepoint.models.analysis import place as place
    from ridgepoint.models.dc_roofline import DCRoofline as DCRoofline
    from ridgepoint.models.placement import Placement as Placement
    from ridgepoint.models.ridgeline import Ridgeline as Ridgeline
    from ridgepoint.models.roofline import Roofline as Roofline
    from ridgepoint.models.scaling import Problem as Problem
    from ridgepoint.models.scaling import Scaling as Scaling
    from ridgepoint.profiling.calls import measure as measure
    from ridgepoint.profiling.calls.watch import measuring as measuring
    from ridgepoint.profiling.program import measure_program as measure_program
    from ridgepoint.published.machines import open_machine as open_machine
    from ridgepoint.regions import region as region
    from ridgepoint.show.presenter import plot as plot

__all__ = ["__version__", *_HOME]  # noqa: PLE0604 - every name of the table is a string

use_presenter(lambda: importlib.import_module("ridgepoint.show.presenter"))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ridgepoint' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ridgepoint.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
