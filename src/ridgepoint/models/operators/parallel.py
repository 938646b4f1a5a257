"""The least time of a recorded program on many devices: data, tensor and pipeline parallelism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import OperatorProfile, calls_of
from ridgepoint.core.whole_numbers import require_whole
from ridgepoint.demands.operators.division import UNDIVIDED, Division
from ridgepoint.demands.training import all_reduce_bytes
from ridgepoint.models.operators.cuts import Unit, least_s, links_of, stages_of, units_of
from ridgepoint.models.operators.devices import Overlapping, ParallelStep


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
    require_whole(data=data, stages=stages, micro_batches=micro_batches, depth=depth)
    _require_overlap(overlap)
    division.require_modules(profile)
    return _Plan(
        profile=profile,
        machine=machine,
        overlap=overlap,
        algorithm=algorithm,
        tensor_link_bytes_per_s=tensor_link_bytes_per_s,
    ).on(
        units_of(profile, machine, division, depth),
        division,
        data=data,
        stages=stages,
        micro_batches=micro_batches,
    )


def parallel_plans(
    profile: OperatorProfile,
    machine: Machine,
    *,
    devices: int,
    micro_batches: int,
    division: Division = UNDIVIDED,
    most_divided: int = 8,
    depth: int = 2,
    overlap: Overlapping = "full",
    algorithm: str = "ring",
    tensor_link_bytes_per_s: float | None = None,
) -> tuple[ParallelStep, ...]:
    """Return every way to share a step among devices, fastest first.

    Parameters
    ----------
    profile, machine, depth, overlap, algorithm, tensor_link_bytes_per_s
        As for `parallel_step`.
    devices : int
        Number of devices in all; each way is copies x devices of a stage x stages.
    micro_batches : int
        Micro-batches of all copies together in one step: as many for each copy.
    division : Division
        What may be divided and summed; over how many devices is tried. Without `summed`, nothing
        is divided.
    most_divided : int
        Most devices of one stage, such as those that share a fast link.

    Raises
    ------
    ValueError, UnknownCeiling
        As for `parallel_step`; also if there is no way.
    """
    require_whole(
        devices=devices, micro_batches=micro_batches, most_divided=most_divided, depth=depth
    )
    _require_overlap(overlap)
    division.require_modules(profile)
    plan = _Plan(
        profile=profile,
        machine=machine,
        overlap=overlap,
        algorithm=algorithm,
        tensor_link_bytes_per_s=tensor_link_bytes_per_s,
    )
    found = []
    for tensor in _divisors(devices):
        if tensor > (most_divided if division.summed else 1):
            break
        over = replace(division, devices=tensor)
        units = units_of(profile, machine, over, depth)
        for stages in _divisors(devices // tensor):
            data = devices // tensor // stages
            if stages <= len(units) and micro_batches % data == 0:
                each = micro_batches // data
                found.append(plan.on(units, over, data=data, stages=stages, micro_batches=each))
    if not found:
        raise ValueError(
            f"there is no way to share {micro_batches} micro-batches of {profile.program} evenly "
            f"among {devices} devices: give as many micro-batches as devices, or a multiple"
        )
    return tuple(sorted(found, key=lambda step: step.time_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What all ways to share a step have in common."""

    profile: OperatorProfile
    machine: Machine
    overlap: Overlapping
    algorithm: str
    tensor_link_bytes_per_s: float | None

    def on(
        self,
        units: Sequence[Unit],
        division: Division,
        *,
        data: int,
        stages: int,
        micro_batches: int,
    ) -> ParallelStep:
        """Return the step on as many copies, devices of each stage, and stages."""
        profile, machine = self.profile, self.machine
        if len(units) < stages:
            raise ValueError(
                f"{profile.program} has {len(units)} modules at this depth: {stages} stages are "
                "too many, or a larger depth is needed"
            )
        is_training = any(operator.phase == "backward" for operator in profile.operators)
        links = links_of(machine, division, self.tensor_link_bytes_per_s, needed=stages > 1)
        shares = division.devices * stages
        return ParallelStep(
            stages=stages_of(units, stages, links, is_training=is_training),
            micro_batches=micro_batches,
            data=data,
            tensor=division.devices,
            gradients_s=_gradients_s(profile, machine, data, shares, self.algorithm),
            overlap=self.overlap,
            is_training=is_training,
            alone_s=sum(unit.alone_s for unit in units),
            optimizer_s=_optimizer_s(profile, machine, 1 / shares),
            optimizer_alone_s=_optimizer_s(profile, machine, 1.0),
            unknown_calls=calls_of(o for o in profile.operators if not o.asked.is_known),
        )


def _require_overlap(overlap: str) -> None:
    if overlap not in ("full", "none"):
        raise ValueError(f"overlap must be 'full' or 'none', got {overlap!r}")


def _divisors(number: int) -> list[int]:
    return [one for one in range(1, number + 1) if number % one == 0]


def _optimizer_s(profile: OperatorProfile, machine: Machine, share: float) -> float:
    """Return the least seconds of a share of the optimizer."""
    updates = [operator for operator in profile.operators if operator.phase == "optimizer"]
    return sum(least_s(operator, machine, share) for operator in updates)


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
