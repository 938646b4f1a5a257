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

from ridgepoint.presenting import use_presenter

__version__ = "0.1.0"

# Imported when first used: most uses need few of these, and LLVM is a heavy one.
_HOME = {
    "Archive": "archive",
    "Bound": "models.bound",
    "Cache": "machine",
    "CallgrindMeter": "meters.callgrind",
    "Caution": "caution",
    "Ceiling": "machine",
    "Counts": "counts",
    "DCRoofline": "models.dc_roofline",
    "Demand": "demand",
    "Estimate": "estimate",
    "Host": "machine",
    "Machine": "machine",
    "MeasuredCluster": "measured_cluster",
    "Measurement": "measurement",
    "Placement": "models.placement",
    "Problem": "models.scaling",
    "Rates": "rates",
    "Ridgeline": "models.ridgeline",
    "RidgepointError": "errors",
    "Roofline": "models.roofline",
    "Scaling": "models.scaling",
    "Timing": "measurement",
    "TrainingStep": "models.training",
    "bound": "models.bound",
    "characterize": "ceilings",
    "keep": "keeping",
    "kept_records": "keeping",
    "load": "keeping",
    "machine_here": "keeping",
    "measure": "harness",
    "measure_program": "program",
    "measuring": "harness.watch",
    "open_machine": "library",
    "place": "models.analysis",
    "plot": "figures.presenter",
    "region": "regions",
}

if TYPE_CHECKING:
    from ridgepoint.archive import Archive as Archive
    from ridgepoint.caution import Caution as Caution
    from ridgepoint.ceilings import characterize as characterize
    from ridgepoint.counts import Counts as Counts
    from ridgepoint.demand import Demand as Demand
    from ridgepoint.errors import RidgepointError as RidgepointError
    from ridgepoint.estimate import Estimate as Estimate
    from ridgepoint.figures.presenter import plot as plot
    from ridgepoint.harness import measure as measure
    from ridgepoint.harness.watch import measuring as measuring
    from ridgepoint.keeping import keep as keep
    from ridgepoint.keeping import kept_records as kept_records
    from ridgepoint.keeping import load as load
    from ridgepoint.keeping import machine_here as machine_here
    from ridgepoint.library import open_machine as open_machine
    from ridgepoint.machine import Cache as Cache
    from ridgepoint.machine import Ceiling as Ceiling
    from ridgepoint.machine import Host as Host
    from ridgepoint.machine import Machine as Machine
    from ridgepoint.measured_cluster import MeasuredCluster as MeasuredCluster
    from ridgepoint.measurement import Measurement as Measurement
    from ridgepoint.measurement import Timing as Timing
    from ridgepoint.meters.callgrind import CallgrindMeter as CallgrindMeter
    from ridgepoint.models.analysis import place as place
    from ridgepoint.models.bound import Bound as Bound
    from ridgepoint.models.bound import bound as bound
    from ridgepoint.models.dc_roofline import DCRoofline as DCRoofline
    from ridgepoint.models.placement import Placement as Placement
    from ridgepoint.models.ridgeline import Ridgeline as Ridgeline
    from ridgepoint.models.roofline import Roofline as Roofline
    from ridgepoint.models.scaling import Problem as Problem
    from ridgepoint.models.scaling import Scaling as Scaling
    from ridgepoint.models.training import TrainingStep as TrainingStep
    from ridgepoint.program import measure_program as measure_program
    from ridgepoint.rates import Rates as Rates
    from ridgepoint.regions import region as region

__all__ = ["__version__", *_HOME]  # noqa: PLE0604 - every name of the table is a string

use_presenter(lambda: importlib.import_module("ridgepoint.figures.presenter"))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ridgepoint' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ridgepoint.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
