"""Different machines: each stage on the best one, with the time to move its data there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ridgepoint.core.amounts import Array
from ridgepoint.core.bound import bound
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.machine import Machine
from ridgepoint.models.pipeline import Pipeline, Stage
from ridgepoint.models.pipeline.times import devices, stage_times


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedStage:
    """A stage on the machine that was chosen for it.

    Parameters
    ----------
    name : str
    machine : str
    time_s : float
    transfer_s : float
        Time for its data to arrive from the machine of the previous stage.
    """

    name: str
    machine: str
    time_s: float
    transfer_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """A machine that runs all stages.

    Parameters
    ----------
    machine : str
    peak, bandwidth : float or None
        pi of the stages' mix of precisions, flop/s; beta, byte/s. None: it cannot run them all.
    time_s : float or None
        Time of all stages; None: it cannot run them all.
    compute_efficiency : float or None
    devices : float or None
        N of Eq. (10), not rounded; None: no load was given, or it cannot run them all.
    """

    machine: str
    peak: float | None = None
    bandwidth: float | None = None
    time_s: float | None = None
    compute_efficiency: float | None = None
    devices: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """An assignment of stages to machines.

    Parameters
    ----------
    stages : tuple of AssignedStage
    time_s : float
        Time of all stages in series, transfers included.
    alone : tuple of Alone
        Each machine by itself.
    has_transfers : bool
        Whether transfers were counted.
    """

    stages: tuple[AssignedStage, ...]
    time_s: float
    alone: tuple[Alone, ...]
    has_transfers: bool

    @property
    def shares(self) -> tuple[tuple[str, float], ...]:
        """Working seconds of each machine that is used; machines are needed in this proportion."""
        seconds: dict[str, float] = {}
        for stage in self.stages:
            seconds[stage.machine] = seconds.get(stage.machine, 0.0) + stage.time_s
        return tuple(seconds.items())


def assign(
    pipeline: Pipeline,
    machines: Sequence[Machine],
    *,
    cores: float | None = None,
    link_bytes_per_s: float | None = None,
    load_per_s: float | None = None,
) -> Assignment:
    """Assign every stage to a machine so that the total time is least.

    Parameters
    ----------
    pipeline : Pipeline
    machines : sequence of Machine
        At least one, with different names. Measured times refer to the first one with `cores` busy;
        on the others a stage reaches the same share of its roof.
    cores : float or None
        Number of busy cores of the first machine; None: all.
    link_bytes_per_s : float or None
        Bandwidth between machines; None: transfers are not counted.
    load_per_s : float or None
        CL of Eq. (10), a rate in flop/s; None: do not compute the number of devices.

    Raises
    ------
    ValueError
        If no machine can run a stage, or `Stage.output_bytes` is needed but not known.

    Notes
    -----
    A shortest path through stages and machines: the best of all ``machines ** stages``.
    """
    if not machines or len({machine.name for machine in machines}) < len(machines):
        raise ValueError("machines must name at least one, each with a name of its own")
    reached = stage_times(pipeline, machines[0], cores=cores).programming_efficiency
    times = np.array(
        [
            [
                _least(stage, machine, None if place else cores) / reached[index]
                for place, machine in enumerate(machines)
            ]
            for index, stage in enumerate(pipeline.stages)
        ]
    )
    moves = _transfers(pipeline, len(machines), link_bytes_per_s)
    chosen = _shortest(times, moves)
    names = [machine.name for machine in machines]
    stages = []
    for index, place in enumerate(chosen):
        moved = index > 0 and chosen[index - 1] != place
        stages.append(
            AssignedStage(
                name=pipeline.stages[index].name,
                machine=names[place],
                time_s=float(times[index, place]),
                transfer_s=moves[index - 1] if moved else 0.0,
            )
        )
    efficiencies = {
        stage.name: share for stage, share in zip(pipeline.stages, reached, strict=True)
    }
    return Assignment(
        stages=tuple(stages),
        time_s=sum(stage.time_s + stage.transfer_s for stage in stages),
        alone=tuple(
            _alone(pipeline, machine, None if place else cores, efficiencies, load_per_s)
            for place, machine in enumerate(machines)
        ),
        has_transfers=link_bytes_per_s is not None,
    )


def _alone(
    pipeline: Pipeline,
    machine: Machine,
    cores: float | None,
    efficiencies: Mapping[str, float],
    load_per_s: float | None,
) -> Alone:
    """Return all stages on one machine, each with its share of its roof."""
    try:
        times = stage_times(pipeline, machine, cores=cores, efficiencies=efficiencies)
    except UnknownCeiling:
        return Alone(machine=machine.name)
    peak, efficiency = float(times.peak), float(times.compute_efficiency)
    needed = None
    if load_per_s is not None:
        needed = float(np.asarray(devices(load_per_s, peak=peak, compute_efficiency=efficiency)))
    return Alone(
        machine=machine.name,
        peak=peak,
        bandwidth=float(np.asarray(times.bandwidth)),
        time_s=float(times.time_s.sum()),
        compute_efficiency=efficiency,
        devices=needed,
    )


def _least(stage: Stage, machine: Machine, cores: float | None) -> float:
    """Return the bound of a stage on a machine; infinite where it cannot run."""
    try:
        return float(np.asarray(bound(stage.demand * stage.repeat, machine, cores=cores).time_s))
    except UnknownCeiling:
        return np.inf


def _transfers(pipeline: Pipeline, machines: int, link: float | None) -> list[float]:
    """Return the transfer time from each stage to the next on another machine [s]."""
    between = pipeline.stages[:-1]
    if link is None or machines == 1:
        return [0.0 for _ in between]
    if not 0 < link < np.inf:
        raise ValueError(f"link_bytes_per_s must be finite and > 0, got {link!r}")
    seconds = []
    for stage in between:
        if stage.output_bytes is None:
            raise ValueError(f"it is not known how many bytes {stage.name!r} passes on")
        seconds.append(stage.repeat * stage.output_bytes / link)
    return seconds


def _shortest(times: Array, moves: Sequence[float]) -> list[int]:
    """Return the machine of every stage on the shortest path."""
    count = times.shape[1]
    reach, before = times[0], []
    for index in range(1, len(times)):
        step = reach[:, None] + moves[index - 1] * (1 - np.eye(count))
        before.append(np.argmin(step, axis=0))
        reach = step.min(axis=0) + times[index]
    if not np.isfinite(reach.min()):
        raise ValueError("one stage needs ceilings that none of the machines has")
    path = [int(np.argmin(reach))]
    for came in reversed(before):
        path.append(int(came[path[-1]]))
    return path[::-1]
