"""The least time of one step on many devices, and what it consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

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
    unknown_calls : int or None
        Calls of unknown demand, which are left out; None: how many is unknown.
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
    unknown_calls: int | None

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
    def limiter(self) -> str:
        """What takes longest: ``operators``, ``tensor``, ``pipeline`` (links) or ``gradients``."""
        busiest = max(self.stages, key=lambda stage: stage.micro_batch_s(self.overlap))
        parts = {"operators": busiest.pass_s, **busiest.sent_s}
        times = {name: self.micro_batches * own_s for name, own_s in parts.items()}
        times["gradients"] = self.gradients_s
        return max(times, key=lambda name: times[name])

    @property
    def speed_up(self) -> float:
        """Least time of the same samples on one device, over this time."""
        alone_s = self.data * self.micro_batches * self.alone_s + self.optimizer_alone_s
        return alone_s / self.time_s if self.time_s else 1.0

    @property
    def efficiency(self) -> float:
        """The speed-up over the number of devices."""
        return self.speed_up / self.devices
