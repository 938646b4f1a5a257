"""The least time of a recorded program on many devices: data, tensor and pipeline parallelism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal

from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import Operator, OperatorProfile
from ridgepoint.demands.operators.division import (
    UNDIVIDED,
    Division,
    has_result,
    output_bytes,
)
from ridgepoint.demands.training import all_reduce_bytes
from ridgepoint.models.operators.least import least_demand, least_time
from ridgepoint.models.operators.stages import module_at

Overlapping = Literal["full", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """The least times of one stage of a pipeline of devices, on the stage's slowest device.

    Parameters
    ----------
    units : tuple of str
        Modules that it holds, in order.
    pass_s : float
        Seconds of the operators of one micro-batch, forward and backward.
    sent_s : Mapping of str to float
        Seconds that its links need for one micro-batch: ``tensor`` (sums of partial sums) and
        ``pipeline`` (to the stages beside it).
    """

    units: tuple[str, ...]
    pass_s: float
    sent_s: Mapping[str, float]

    def micro_batch_s(self, overlap: Overlapping) -> float:
        """Return the seconds of one micro-batch, with links at the same time or afterwards."""
        parts = (self.pass_s, *self.sent_s.values())
        return max(parts) if overlap == "full" else sum(parts)


@dataclass(frozen=True, kw_only=True)
class ParallelStep:
    """One step of a program on many devices.

    Parameters
    ----------
    stages : tuple of StageTime
        At least one.
    micro_batches : int
        Of each copy of the model in a step.
    data, tensor : int
        Copies of the model, and devices of each stage.
    gradients_s : float
        Seconds of the all-reduce of the gradients over the copies.
    overlap : {"full", "none"}
        Whether devices compute while their links carry bytes.
    is_training : bool
    alone_s : float
        Least seconds of one micro-batch on one device that holds all.
    optimizer_s, optimizer_alone_s : float
        Least seconds of the optimizer, which each device has an equal share of, and of all of it.
    unknown_calls : int
        Calls of unknown demand, which are left out.
    """

    stages: tuple[StageTime, ...]
    micro_batches: int
    data: int
    tensor: int
    gradients_s: float
    overlap: Overlapping
    is_training: bool
    alone_s: float
    optimizer_s: float
    optimizer_alone_s: float
    unknown_calls: int

    @property
    def devices(self) -> int:
        """Number of devices."""
        return self.data * self.tensor * len(self.stages)

    @cached_property
    def pipeline_s(self) -> float:
        """Seconds until the last micro-batch has passed all stages.

        Stage i cannot begin before the first micro-batch has passed the stages before it, and in
        training its last backward pass has to pass them again; in inference, the last micro-batch
        has to pass the stages behind it. In between it is busy with all micro-batches.
        """
        times = [stage.micro_batch_s(self.overlap) for stage in self.stages]
        beside = (
            [sum(times[:at]) for at in range(len(times))]
            if self.is_training
            else [sum(times) - own_s for own_s in times]
        )
        return max(
            self.micro_batches * own_s + rest for own_s, rest in zip(times, beside, strict=True)
        )

    @property
    def waiting(self) -> float:
        """Share of the pipeline's time in which its busiest stage waits (the bubble), 0 to 1."""
        busy_s = self.micro_batches * max(s.micro_batch_s(self.overlap) for s in self.stages)
        return 1 - busy_s / self.pipeline_s if self.pipeline_s else 0.0

    @cached_property
    def time_s(self) -> float:
        """The least seconds of a step."""
        computing_s = self.pipeline_s + self.optimizer_s
        if self.overlap == "full":
            return max(computing_s, self.gradients_s)
        return computing_s + self.gradients_s

    @property
    def speed_up(self) -> float:
        """Least time of the same samples on one device, over this time."""
        alone_s = self.data * self.micro_batches * self.alone_s + self.optimizer_alone_s
        return alone_s / self.time_s if self.time_s else 1.0

    @property
    def efficiency(self) -> float:
        """The speed-up over the number of devices."""
        return self.speed_up / self.devices


def parallel_step(
    profile: OperatorProfile,
    machine: Machine,
    *,
    data: int = 1,
    division: Division = UNDIVIDED,
    stages: int = 1,
    micro_batches: int = 1,
    depth: int = 2,
    overlap: Overlapping = "full",
    algorithm: str = "ring",
    tensor_link_bytes_per_s: float | None = None,
) -> ParallelStep:
    """Return the least time of a step on many devices of one kind.

    Parameters
    ----------
    profile : OperatorProfile
        Of one micro-batch.
    machine : Machine
        One device; its ``network`` ceiling is that of its link in each direction.
    data : int
        Copies of the model, which sum their gradients.
    division : Division
        Devices that divide each stage (tensor parallelism).
    stages : int
        Groups of successive modules, each on devices of its own, cut where the longest is shortest.
    micro_batches : int
        Micro-batches of each copy in one step.
    depth : int
        How many parts of a module's path are cut apart, as in `operator_stages`.
    overlap : {"full", "none"}
        Whether devices compute while their links carry bytes.
    algorithm : str
        All-reduce of the gradients: one of `ridgepoint.demands.training.ALL_REDUCES`.
    tensor_link_bytes_per_s : float or None
        Rate of the link between the devices of a division; None: the machine's network.

    Raises
    ------
    ValueError
        If a number is not whole and > 0, there are fewer modules than stages, or the gradients'
        size is needed and not known.
    UnknownCeiling
        If a link is needed, and the machine has no ``network`` ceiling.

    Notes
    -----
    Stages are assumed to hold equal shares of the gradients: the stage with most holds at least as
    many. Operators of unknown demand take no time here, as `ParallelStep.unknown_calls` says.

    References
    ----------
    .. [1] D. Narayanan et al., "Efficient large-scale language model training on GPU clusters using
       Megatron-LM", :arxiv:`2104.04473`, Section 2: the bubble (p - 1) / m.
    """
    _require_sense(data=data, stages=stages, micro_batches=micro_batches, depth=depth)
    if overlap not in ("full", "none"):
        raise ValueError(f"overlap must be 'full' or 'none', got {overlap!r}")
    division.require_modules(profile)
    units = _units(profile, machine, division, depth)
    if len(units) < stages:
        raise ValueError(
            f"{profile.program} has {len(units)} modules at depth {depth}: {stages} stages are "
            "too many, or a larger depth is needed"
        )
    is_training = any(operator.phase == "backward" for operator in profile.operators)
    links = _links(machine, division, tensor_link_bytes_per_s, needed=stages > 1)
    return ParallelStep(
        stages=_stages(units, stages, links, is_training=is_training),
        micro_batches=micro_batches,
        data=data,
        tensor=division.devices,
        gradients_s=_gradients_s(profile, machine, data, division.devices * stages, algorithm),
        overlap=overlap,
        is_training=is_training,
        alone_s=sum(unit.alone_s for unit in units),
        optimizer_s=_optimizer_s(profile, machine, 1 / (division.devices * stages)),
        optimizer_alone_s=_optimizer_s(profile, machine, 1.0),
        unknown_calls=sum(o.calls for o in profile.operators if o.demand is None),
    )


def cut(lengths: Sequence[float], parts: int) -> tuple[tuple[int, ...], ...]:
    """Return the indices of successive lengths in parts, so that the longest part is shortest.

    Parameters
    ----------
    lengths : sequence of float
        At least one, >= 0.
    parts : int
        Between 1 and the number of lengths; none is empty.
    """
    count = len(lengths)
    before = [0.0, *accumulate(lengths)]
    # shortest[j]: the longest part where the first j lengths are in as many parts as so far.
    shortest = [math.inf if at == 0 else before[at] for at in range(count + 1)]
    starts: list[list[int]] = []
    for part in range(2, parts + 1):
        now, chosen = [math.inf] * (count + 1), [0] * (count + 1)
        for end in range(part, count + 1):
            now[end], chosen[end] = min(
                (max(shortest[at], before[end] - before[at]), at) for at in range(part - 1, end)
            )
        shortest = now
        starts.append(chosen)
    ends = [count]
    for chosen in reversed(starts):
        ends.append(chosen[ends[-1]])
    borders = [0, *reversed(ends)]
    return tuple(tuple(range(a, b)) for a, b in itertools.pairwise(borders))


@dataclass(slots=True)
class _Unit:
    """A module that is not cut: its least times, divided and alone, and what it hands on."""

    name: str
    operators: list[Operator] = field(default_factory=list)
    pass_s: float = 0.0
    alone_s: float = 0.0
    sent_bytes: float = 0.0
    output_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Links:
    """Rates between the devices of a stage, and between stages, byte/s; infinite: not needed."""

    tensor: float
    pipeline: float


def _require_sense(**numbers: int) -> None:
    for name, value in numbers.items():
        if isinstance(value, bool) or not value >= 1 or value != int(value):
            raise ValueError(f"{name} must be a whole number > 0, got {value!r}")


def _links(
    machine: Machine, division: Division, tensor_link: float | None, *, needed: bool
) -> _Links:
    if tensor_link is not None and not tensor_link > 0:
        raise ValueError(f"tensor_link_bytes_per_s must be > 0, got {tensor_link!r}")
    sums = division.devices > 1 and division.summed
    network = float(machine.rate("network")) if needed or (sums and not tensor_link) else math.inf
    return _Links(tensor=tensor_link or network, pipeline=network)


def _units(
    profile: OperatorProfile, machine: Machine, division: Division, depth: int
) -> list[_Unit]:
    """Return the modules at a depth, in the order of their first calls."""
    units: dict[str, _Unit] = {}
    for operator in profile.operators:
        if operator.phase == "optimizer":
            continue
        name = module_at(operator.module, depth)
        unit = units.setdefault(name, _Unit(name))
        unit.operators.append(operator)
        unit.alone_s += _least_s(operator, machine, 1.0)
        unit.pass_s += _least_s(operator, machine, division.share(operator.module))
    for unit in units.values():
        unit.sent_bytes = division.sent_bytes(unit.operators)
        made = [operator for operator in unit.operators if has_result(operator)]
        unit.output_bytes = output_bytes(made[-1]) / made[-1].calls if made else 0.0
    return list(units.values())


def _optimizer_s(profile: OperatorProfile, machine: Machine, share: float) -> float:
    """Return the least seconds of a share of the optimizer."""
    updates = [operator for operator in profile.operators if operator.phase == "optimizer"]
    return sum(_least_s(operator, machine, share) for operator in updates)


def _least_s(operator: Operator, machine: Machine, share: float) -> float:
    """Return the least seconds of a share of each call of an operator; 0: unknown."""
    asked = operator.asked
    if asked.work is None or asked.read_bytes is None or asked.write_bytes is None:
        return 0.0
    part = replace(
        asked,
        work={name: work * share for name, work in asked.work.items()},
        read_bytes=asked.read_bytes * share,
        write_bytes=asked.write_bytes * share,
    )
    demand = least_demand(part, machine)
    least = None if demand is None else least_time(demand * operator.calls, machine)
    return 0.0 if least is None else float(least.time_s)


def _stages(
    units: Sequence[_Unit], count: int, links: _Links, *, is_training: bool
) -> tuple[StageTime, ...]:
    """Return the stages into which the modules are cut."""
    parts = cut([unit.pass_s for unit in units], count)
    found = []
    for number, part in enumerate(parts):
        inside = [units[at] for at in part]
        forward = 0.0 if number == len(parts) - 1 else inside[-1].output_bytes
        backward = units[part[0] - 1].output_bytes if number and is_training else 0.0
        found.append(
            StageTime(
                units=tuple(unit.name for unit in inside),
                pass_s=sum(unit.pass_s for unit in inside),
                sent_s={
                    "tensor": sum(unit.sent_bytes for unit in inside) / links.tensor,
                    "pipeline": (forward + backward) / links.pipeline,
                },
            )
        )
    return tuple(found)


def _gradients_s(
    profile: OperatorProfile, machine: Machine, data: int, shares: int, algorithm: str
) -> float:
    """Return the seconds of the all-reduce of one device's share of the gradients."""
    if data == 1:
        return 0.0
    if profile.gradient_bytes is None:
        raise ValueError(
            f"the size of the gradients of {profile.program} is not known, which its {data} copies "
            "would sum"
        )
    if not profile.gradient_bytes:
        return 0.0
    sent = all_reduce_bytes(profile.gradient_bytes / shares, nodes=data, algorithm=algorithm)
    return float(sent) / float(machine.rate("network"))
