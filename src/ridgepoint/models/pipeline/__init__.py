"""A pipeline: stages in series, whose times add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.names import named_twice
from ridgepoint.core.resources import RESOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One algorithm of a pipeline.

    Parameters
    ----------
    name : str
    demand : Demand
        Demand of one execution: compute of one metric, and ``dram`` (or its directions).
    time_s : Estimate or None
        Measured runtime of one execution; None: not measured.
    efficiency : Estimate or None
        Achieved share of the roof, in (0, 1], given in place of a time (its programming
        efficiency). None, and no time: the stage is assumed to reach its roof.
    repeat : float
        Number of executions in a run of the pipeline, > 0.
    output_bytes : float or None
        Bytes that one execution hands to the next stage; None: not known.
    origin : str
        Source of its figures.
    measurement : Measurement or None
        Measurement that the figures were taken from, for advice.

    Raises
    ------
    ValueError
        If it asks for nothing, its demand cannot be placed on a memory roofline, or a figure is
        impossible.
    """

    name: str
    demand: Demand
    time_s: Estimate | None = None
    efficiency: Estimate | None = None
    repeat: float = 1.0
    output_bytes: float | None = None
    origin: str = ""
    measurement: Measurement | None = None

    def __post_init__(self) -> None:
        strange = [n for n in self.demand.amounts if RESOURCES[n].path not in ("compute", "dram")]
        if strange:
            raise ValueError(f"the memory of a stage must be 'dram', got {strange[0]!r}")
        if any(np.ndim(amount) for amount in self.demand.amounts.values()):
            raise ValueError("the demand of a stage must be single amounts, not arrays")
        if not any(self.demand.amounts.values()):
            raise ValueError("a stage must have work or traffic")
        if self.time_s is not None and self.efficiency is not None:
            raise ValueError("a stage takes a time or an efficiency, not both")
        if self.time_s is not None and min(self.time_s.samples) <= 0:
            raise ValueError(f"time_s must be > 0, got {min(self.time_s.samples)!r}")
        if self.efficiency is not None and not (
            min(self.efficiency.samples) > 0 and max(self.efficiency.samples) <= 1
        ):
            raise ValueError(f"efficiency must be in (0, 1], got {self.efficiency.median!r}")
        if not (np.isfinite(self.repeat) and self.repeat > 0):
            raise ValueError(f"repeat must be finite and > 0, got {self.repeat!r}")
        if self.output_bytes is not None and not 0 <= self.output_bytes < np.inf:
            raise ValueError(f"output_bytes must be finite and >= 0, got {self.output_bytes!r}")

    @property
    def work(self) -> float:
        """CL_i: flop (or BOP) of all executions."""
        return self.repeat * float(self.demand.amount("compute"))

    @property
    def bytes(self) -> float:
        """ML_i: DRAM bytes of all executions."""
        return self.repeat * float(self.demand.amount("dram"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Stages in series.

    Parameters
    ----------
    name : str
    stages : tuple of Stage
        At least one, with different names; together they do some work.
    host_time_s : Estimate or None
        T_c of Eq. (11): host code outside all stages; None: not known.

    References
    ----------
    .. [1] SDP memo 54, rev. 1.1: equations (3) to (12).
    """

    name: str
    stages: tuple[Stage, ...]
    host_time_s: Estimate | None = None

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError("stages must name at least one")
        twice = named_twice(stage.name for stage in self.stages)
        if twice is not None:
            raise ValueError(f"two stages are called {twice!r}")
        if not any(stage.work for stage in self.stages):
            raise ValueError(
                "a pipeline must have a stage with work: copies alone have no efficiency"
            )
        if self.host_time_s is not None and min(self.host_time_s.samples) < 0:
            raise ValueError(f"host_time_s must be >= 0, got {min(self.host_time_s.samples)!r}")

    @property
    def precision(self) -> str:
        """The compute resource of its first stage with work."""
        names = (name for stage in self.stages for name in stage.demand.amounts)
        return next(name for name in names if RESOURCES[name].path == "compute")

    @property
    def unit(self) -> str:
        """The unit of its work: flop, op or BOP."""
        return RESOURCES[self.precision].unit
