"""A recorded program cut into stages of successive modules, with what each needs and sends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from ridgepoint.core.machine import Machine
from ridgepoint.core.operators import Operator, OperatorProfile
from ridgepoint.demands.operators.division import Division, has_result
from ridgepoint.models.operators.devices import StageTime
from ridgepoint.models.operators.least import least_demand, least_time
from ridgepoint.models.operators.stages import module_at


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
class Unit:
    """A module that is not cut: its least times, divided and alone, and what it hands on."""

    name: str
    operators: list[Operator] = field(default_factory=list)
    pass_s: float = 0.0
    alone_s: float = 0.0
    sent_bytes: float = 0.0
    output_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Rates between the devices of a stage, and between stages, byte/s; infinite: not needed."""

    tensor: float
    pipeline: float


def links_of(
    machine: Machine, division: Division, tensor_link: float | None, *, needed: bool
) -> Links:
    """Return the rates of the links that are needed.

    Raises
    ------
    ValueError
        If the rate that is given is not > 0.
    UnknownCeiling
        If the machine's network is needed, and not known.
    """
    if tensor_link is not None and not tensor_link > 0:
        raise ValueError(f"tensor_link_bytes_per_s must be > 0, got {tensor_link!r}")
    sums = division.devices > 1 and division.summed
    network = float(machine.rate("network")) if needed or (sums and not tensor_link) else math.inf
    return Links(tensor=tensor_link or network, pipeline=network)


def units_of(
    profile: OperatorProfile, machine: Machine, division: Division, depth: int
) -> list[Unit]:
    """Return the modules at a depth, in the order of their first calls."""
    units: dict[str, Unit] = {}
    for operator in profile.operators:
        if operator.phase == "optimizer":
            continue
        name = module_at(operator.module, depth)
        unit = units.setdefault(name, Unit(name))
        unit.operators.append(operator)
        unit.alone_s += least_s(operator, machine, 1.0)
        unit.pass_s += least_s(operator, machine, division.share(operator.module))
    for unit in units.values():
        unit.sent_bytes = division.sent_bytes(unit.operators)
        made = [operator for operator in unit.operators if has_result(operator)]
        unit.output_bytes = float(made[-1].call.outputs[0].nbytes) if made else 0.0
    return list(units.values())


def least_s(operator: Operator, machine: Machine, share: float) -> float:
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
    every = operator.of_all(demand)
    least = None if every is None else least_time(every, machine)
    return 0.0 if least is None else float(least.time_s)


def stages_of(
    units: Sequence[Unit], count: int, links: Links, *, is_training: bool
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
