"""Sensitivity of a pipeline's time to each stage, and to each figure of the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ridgepoint.core.machine import Machine
from ridgepoint.models.pipeline import Pipeline
from ridgepoint.models.pipeline.times import stage_times

STEP = 0.1
"""By which everything is improved."""
# Gains that differ by less are shown as the same number.
_ALIKE = 5e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class StageGain:
    """Speed-up of the pipeline from improving one stage.

    Parameters
    ----------
    name : str
    time, flop, moved_bytes : float
        Speed-up from a tenth less time, a tenth less work, or a tenth fewer bytes; the last two
        at the same programming efficiency.
    """

    name: str
    time: float
    flop: float
    moved_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGain:
    """Speed-up from a machine that is better by a tenth, at the same programming efficiencies.

    Parameters
    ----------
    compute, bandwidth, both : float
        Speed-up from a higher peak, a higher bandwidth, or both.
    """

    compute: float
    bandwidth: float
    both: float

    @property
    def better(self) -> Literal["compute", "bandwidth"] | None:
        """Which of the two gains more; None: they gain the same, as far as figures show."""
        if abs(self.compute - self.bandwidth) < _ALIKE:
            return None
        return "compute" if self.compute > self.bandwidth else "bandwidth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Gains of a pipeline from improvements.

    Parameters
    ----------
    stages : tuple of StageGain
        Largest gain first.
    device : DeviceGain
    """

    stages: tuple[StageGain, ...]
    device: DeviceGain


def sensitivity(
    pipeline: Pipeline, machine: Machine, *, cores: float | None = None, step: float = STEP
) -> Sensitivity:
    """Return the gains of a pipeline from improvements by a share.

    Parameters
    ----------
    pipeline : Pipeline
        Its host time counts as time that no improvement reduces; if unknown, as zero.
    machine : Machine
    cores : float or None
    step : float
        Relative improvement, in (0, 1).
    """
    if not 0 < step < 1:
        raise ValueError(f"step must be in (0, 1), got {step!r}")
    now = stage_times(pipeline, machine, cores=cores)
    reached = now.programming_efficiency
    host = 0.0 if pipeline.host_time_s is None else pipeline.host_time_s.median
    whole = float(now.time_s.sum()) + host
    left = 1 - step
    fewer_flop = np.maximum(now.compute_s * left, now.memory_s)
    fewer_bytes = stage_times(pipeline, machine, cores=cores, bandwidth=1 / left).bound_s
    saved_by_flop = (now.bound_s - fewer_flop) / reached
    saved_by_bytes = (now.bound_s - fewer_bytes) / reached
    stages = [
        StageGain(
            name=stage.name,
            time=float(whole / (whole - step * now.time_s[index])),
            flop=float(whole / (whole - saved_by_flop[index])),
            moved_bytes=float(whole / (whole - saved_by_bytes[index])),
        )
        for index, stage in enumerate(pipeline.stages)
    ]
    more = 1 + step
    better = stage_times(
        pipeline,
        machine,
        cores=cores,
        compute=np.array([more, 1.0, more]),
        bandwidth=np.array([1.0, more, more]),
    ).bound_s
    gains = whole / ((better / reached[:, None]).sum(axis=0) + host)
    return Sensitivity(
        stages=tuple(sorted(stages, key=lambda gain: -gain.time)),
        device=DeviceGain(compute=float(gains[0]), bandwidth=float(gains[1]), both=float(gains[2])),
    )
