"""A recorded program as a step of distributed training or inference.

Its work and bytes are those of its operators; what is recorded with several batches follows a
straight line over the batch, as convolutions, matrix products and attention do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Array
from ridgepoint.core.demand import Demand
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.presenting import amount as counted
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.whole_numbers import require_whole
from ridgepoint.demands.operators.division import UNDIVIDED, Division
from ridgepoint.demands.training import ALL_REDUCES, all_reduce_bytes, most_samples

MEMORY = {
    "operators": "each operator's inputs and outputs cross memory, as with no cache between them",
    "outer": "what was there before the run is read once: as if all operators were fused",
}
"""Ways to count the bytes of a program, by name."""

_ALWAYS = ("dram", "network")

_STRAIGHT = 0.01
"""Largest distance from a straight line of amounts recorded with three batches or more, as a share
of the amount: workspaces and rounding of sizes are within it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """One step of a recorded program on each device; see `model_step`.

    Parameters
    ----------
    name : str
    batches : tuple of int
        Batches with which it was recorded, ascending.
    fixed, per_sample : mapping of str to float
        Amounts by resource (flop of each precision, ``dram`` in byte): of a step whatever its
        batch is, and of one sample. With a single recorded batch `per_sample` is empty, and
        `fixed` holds for that batch alone.
    gradient_bytes : float
        Size of the gradients that the all-reduce sums, byte, of one device; 0: inference.
    algorithm : str
        Algorithm of the all-reduce: one of `ridgepoint.demands.training.ALL_REDUCES`.
    left_out : mapping of str to float
        Shares, by what is not in these amounts: ``unknown`` is the share of the operators' time
        with an unknown demand (of their calls, where they were not timed); for a resource it is 1.
    """

    name: str
    batches: tuple[int, ...]
    fixed: Mapping[str, float]
    per_sample: Mapping[str, float]
    gradient_bytes: float
    algorithm: str = "ring"
    left_out: Mapping[str, float]

    @property
    def precision(self) -> str:
        """Precision of most of its work."""
        works = [name for name in self.fixed if RESOURCES[name].path == "compute"]
        return max(works, key=lambda name: float(self._at(name, self.batches[-1])))

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that a step asks for."""
        return tuple(self.fixed)

    def demand(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Demand:
        """Return the demand of one step on the device with the largest share.

        Parameters
        ----------
        batch : array_like
            Samples of each copy of the model (weak scaling), or of all together (strong scaling);
            whole numbers > 0.
        nodes : array_like or None
            Copies of the model, over which the gradients are summed; None: the limit of many.
        strong : bool
            Whether the batch is divided over the copies.

        Returns
        -------
        Demand
            flop by precision, ``dram`` and ``network`` bytes; shapes broadcast.

        Raises
        ------
        ValueError
            If a number is not whole and > 0, `strong` is given without `nodes`, or it was recorded
            with one batch, and another one is asked for.
        """
        samples = most_samples(batch, nodes, strong=strong)
        if not self.per_sample and (samples != self.batches[0]).any():
            raise ValueError(
                f"{self.name} was recorded with {counted(self.batches[0], 'sample')} alone: record "
                "it with a second batch to know how its work grows"
            )
        gradients = all_reduce_bytes(self.gradient_bytes, nodes=nodes, algorithm=self.algorithm)
        amounts = {name: self._at(name, samples) for name in self.fixed}
        return Demand(amounts | {"network": amounts["network"] + gradients})

    def without(self, *names: str) -> ModelStep:
        """Return the step without these resources, which `left_out` then names.

        Raises
        ------
        ValueError
            If no work is left.
        """
        left = {name: fixed for name, fixed in self.fixed.items() if name not in names}
        if not any(RESOURCES[name].path == "compute" for name in left):
            raise ValueError(f"no work of {self.name} is left without {', '.join(names)}")
        return replace(
            self,
            fixed=left,
            left_out={**self.left_out, **{name: 1.0 for name in names if name in self.fixed}},
        )

    def _at(self, name: str, samples: npt.ArrayLike) -> Array:
        growth = self.per_sample.get(name, 0.0) * np.asarray(samples, dtype=np.float64)
        return np.asarray(self.fixed[name] + growth)


def model_step(
    profiles: OperatorProfile | Mapping[int, OperatorProfile],
    *,
    batch: int | None = None,
    memory: str = "operators",
    algorithm: str = "ring",
    division: Division = UNDIVIDED,
    gradient_bytes: float | None = None,
) -> ModelStep:
    """Return a recorded program as a step that a Ridgeline, a sweep or a bound takes.

    Parameters
    ----------
    profiles : OperatorProfile, or mapping of int to OperatorProfile
        By the batch with which each was recorded: samples of one step. With two or more, amounts
        follow a straight line over the batch; with one, only its own batch is known.
    batch : int or None
        Batch of a single profile; a whole number > 0.
    memory : str
        One of `MEMORY`.
    algorithm : str
        Algorithm of the all-reduce: one of `ridgepoint.demands.training.ALL_REDUCES`.
    division : Division
        Devices over which each copy of the model is divided (tensor parallelism).
    gradient_bytes : float or None
        Size of all gradients, byte; None: as recorded. 0: inference.

    Returns
    -------
    ModelStep
        Operators of unknown demand, and integer work beside floating-point work, are left out, as
        its `left_out` says.

    Raises
    ------
    ValueError
        If no work is known, the gradients' size is not known, amounts of three or more batches are
        on no straight line, or an argument is not one of its choices.
    """
    recorded = _by_batch(profiles, batch)
    for name, value, known in (("memory", memory, MEMORY), ("algorithm", algorithm, ALL_REDUCES)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    for one in recorded.values():
        division.require_modules(one)
    rows = {size: _amounts(one, memory, division) for size, one in recorded.items()}
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = {
        name: _line(name, {b: row.get(name, 0.0) for b, row in rows.items()}) for name in names
    }
    largest = recorded[max(recorded)]
    gradients = largest.gradient_bytes if gradient_bytes is None else gradient_bytes
    if gradients is None:
        raise ValueError("the size of the gradients is not known: give gradient_bytes")
    if not 0 <= gradients < np.inf:
        raise ValueError(f"gradient_bytes must be finite and >= 0, got {gradients!r}")
    step = ModelStep(
        name=largest.program,
        batches=tuple(sorted(recorded)),
        fixed={name: fixed for name, (fixed, _) in lines.items()},
        per_sample={}
        if len(recorded) == 1
        else {name: slope for name, (_, slope) in lines.items()},
        gradient_bytes=gradients / division.devices,
        algorithm=algorithm,
        left_out=_unknown(largest),
    )
    return _of_one_unit(step)


def _by_batch(
    profiles: OperatorProfile | Mapping[int, OperatorProfile], batch: int | None
) -> dict[int, OperatorProfile]:
    """Return profiles by their batches."""
    if isinstance(profiles, OperatorProfile):
        if batch is None:
            raise ValueError("batch must say with how many samples the profile was recorded")
        profiles = {batch: profiles}
    elif batch is not None:
        raise ValueError("batch belongs to a single profile: several are given by their batches")
    if not profiles:
        raise ValueError("profiles must hold at least one")
    for size in profiles:
        require_whole(batch=size)
    return dict(profiles)


def _amounts(profile: OperatorProfile, memory: str, division: Division) -> dict[str, float]:
    """Return what one device does, moves and sends of a recorded step, without its gradients."""
    amounts: dict[str, float] = {"dram": 0.0, "network": division.sent_bytes(profile.operators)}
    for operator in profile.operators:
        demand = operator.demand
        if demand is None:
            continue
        share = division.share(operator.module)
        for name, amount in demand.amounts.items():
            path = RESOURCES[name].path
            key = name if path == "compute" else path
            amounts[key] = amounts.get(key, 0.0) + share * float(amount)
    if memory == "outer":
        if profile.outer_bytes is None:
            raise ValueError(
                f"the bytes that {profile.program} reads of what was there before are not known: "
                "use memory='operators'"
            )
        amounts["dram"] = profile.outer_bytes / division.devices
    return {name: amount for name, amount in amounts.items() if amount or name in _ALWAYS}


def _line(name: str, amounts: Mapping[int, float]) -> tuple[float, float]:
    """Return the straight line through an amount over the batch: at 0, and of one sample."""
    first, last = min(amounts), max(amounts)
    if first == last:
        return amounts[first], 0.0
    slope = (amounts[last] - amounts[first]) / (last - first)
    fixed = amounts[first] - slope * first
    most = max(amounts.values())
    for size, amount in amounts.items():
        if abs(fixed + slope * size - amount) > _STRAIGHT * most:
            raise ValueError(
                f"{name} does not grow in a straight line with the batch: at {size} it is "
                f"{amount:.4g}, and {fixed + slope * size:.4g} by {first} and {last}"
            )
    if slope < -_STRAIGHT * most / last or fixed < -_STRAIGHT * most:
        raise ValueError(
            f"{name} grows {'faster than' if fixed < 0 else 'against'} the batch, from "
            f"{amounts[first]:.4g} at {first} to {amounts[last]:.4g} at {last}: were the profiles "
            "recorded with these batches?"
        )
    return max(fixed, 0.0), max(slope, 0.0)


def _of_one_unit(step: ModelStep) -> ModelStep:
    """Return a step whose work is all in flop, or all in op where there is no flop."""
    units = {name: RESOURCES[name].unit for name in step.fixed if RESOURCES[name].path == "compute"}
    if not units:
        raise ValueError(f"no work of {step.name} is known")
    kept = "flop" if "flop" in units.values() else next(iter(units.values()))
    return step.without(*(name for name, unit in units.items() if unit != kept))


def _unknown(profile: OperatorProfile) -> dict[str, float]:
    """Return the share of the time, or of the calls, that is in operators of unknown demand.

    Where the calls of an operator are unknown, too, it counts as one.
    """
    timed = [operator for operator in profile.operators if operator.time_s is not None]
    weights = [
        ((o.calls or 1) if o.time_s is None else o.time_s.median, o.demand is None)
        for o in (timed or profile.operators)
    ]
    whole = sum(weight for weight, _ in weights)
    unknown = sum(weight for weight, is_unknown in weights if is_unknown)
    return {"unknown": unknown / whole} if unknown else {}
