"""A transformer that generates tokens on devices of one kind: times, rates, and what limits them.

`Serving` says what runs where; `Pass` is one reading of prompts, or one more token of each
sequence. All times are least times: no program on these devices needs less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, Array, plain, ratio
from ridgepoint.core.bound import Bound, Overlap, bound, combined, series
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.machine import Machine
from ridgepoint.demands.training import ELEMENT_BYTES
from ridgepoint.demands.transformer.passes import Inference
from ridgepoint.demands.transformer.shares import Stage
from ridgepoint.models.operators.least import held_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One pass of a batch through all stages; amounts are of the shape of the batches.

    Parameters
    ----------
    batch : ndarray
        Sequences in the pass, of one copy of the model.
    tokens : ndarray
        Tokens that the pass reads, or generates, over all sequences.
    bound : Bound
        Of the stages one after the other, each with one part of the batch; without the efficiency.
    time_s : ndarray
        Seconds until all sequences have passed all stages: to the first token after a prompt, or
        between two tokens.
    """

    batch: Array
    tokens: Array
    bound: Bound
    time_s: Array

    @property
    def tokens_per_s(self) -> Array:
        """Tokens per second of one copy of the model."""
        return self.tokens / self.time_s

    @property
    def limiters(self) -> list[str]:
        """What needs most of the time of each batch: compute, dram or network."""
        return [str(name) for name in np.broadcast_to(self.bound.limiter, self.batch.shape)]

    def times_at(self, place: int) -> dict[str, float]:
        """Return the seconds that each path needs for the batch at a place, over all stages."""
        return {
            path: float(np.broadcast_to(seconds, self.batch.shape)[place])
            for path, seconds in self.bound.times_s.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A transformer that answers prompts on devices of one kind.

    Parameters
    ----------
    inference : Inference
    machine : Machine
        One device; with several, it needs a ceiling of its network.
    prompt, generated : int
        Tokens of a prompt, and of its answer.
    context : int or None
        Tokens in the cache while tokens are generated; None: on average over the answer.
    overlap : {"full", "none"} or float
        How the times of computing, memory and network combine; see `ridgepoint.core.bound`.
    in_series : bool
        Whether the parts of a pass (projections, attention, ...) follow one another, so that one
        part's memory traffic does not overlap another's work.
    latency_s : float
        Of a message between devices.
    memory_bytes : float or None
        Memory of a device; None: the machine's.
    cores : float or None
        Cores of a device that are kept busy; None: all.
    efficiency : float
        Share of the bound that programs are expected to reach, in (0, 1]: all times are those of
        the bound over it. 1: the bound itself.

    Raises
    ------
    ValueError
        If a number is out of range.
    UnknownCeiling
        If the machine has no ceiling of the work, or several devices no network.

    Notes
    -----
    Over p stages of a pipeline, a batch of B sequences passes in ``m = min(B, p)`` parts of
    ``ceil(B / m)``. With t the times of the stages for one part, prompts are read in ``sum(t) +
    (m - 1) max(t)``. While tokens are generated, each part returns to the first stage for its
    next token: one token of all sequences takes ``max(sum(t), m max(t))``.

    On a machine whose caches are known, only bytes that these cannot hold from one pass to the
    next count as traffic of the memory.
    """

    inference: Inference
    machine: Machine
    prompt: int = 1024
    generated: int = 256
    context: int | None = None
    overlap: Overlap = "full"
    in_series: bool = False
    latency_s: float = 0.0
    memory_bytes: float | None = None
    cores: float | None = None
    efficiency: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("prompt", 1), ("generated", 1), ("context", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be >= {least}, got {value!r}")
        if self.cores is not None and not 0 < self.cores <= self.machine.cores:
            raise ValueError(
                f"cores must be > 0 and at most {self.machine.cores}, got {self.cores!r}"
            )
        if not 0 < self.efficiency <= 1:
            raise ValueError(f"efficiency must be > 0 and at most 1, got {self.efficiency!r}")
        if not (np.isfinite(self.latency_s) and self.latency_s >= 0):
            raise ValueError(f"latency_s must be finite and >= 0, got {self.latency_s!r}")
        if self.memory_bytes is not None and not self.memory_bytes > 0:
            raise ValueError(f"memory_bytes must be > 0, got {self.memory_bytes!r}")
        known = [name for name in ELEMENT_BYTES if self.machine.knows(name)]
        remedy = f"choose {' or '.join(known)} as the precision" if known else "measure it"
        self._require("the work", self.inference.precision, remedy)
        self._require("memory traffic", "dram", "measure it, or add it to the machine's figures")
        if self.inference.devices > 1:
            remedy = "give the bandwidth of a device's link, such as 450 GB/s"
            self._require("several devices", "network", remedy)

    def _require(self, what: str, resource: str, remedy: str) -> None:
        if not self.machine.knows(resource):
            raise UnknownCeiling(
                f"cannot bound {what} on {self.machine.name}",
                reason=f"the machine has no {resource} ceiling",
                remedy=remedy,
            )

    @property
    def mean_context(self) -> float:
        """Tokens in the cache while a token is generated, on average over an answer.

        The first token of an answer follows from the prompt itself.
        """
        if self.context is not None:
            return float(self.context)
        passes, window = max(self.generated - 1, 1), self.inference.model.window
        if window is None:
            return self.prompt + (passes - 1) / 2
        # Beyond a window, a token sees no more: what it sees is averaged, not its distance.
        growing = min(max(window - 1 - self.prompt, 0), passes)
        seen = growing * (self.prompt + (growing - 1) / 2) + (passes - growing) * (window - 1)
        return seen / passes

    def prefill(self, batch: npt.ArrayLike = 1) -> Pass:
        """Return the pass that reads the prompts of some sequences."""
        sequences, parts, each = self._divided(batch)
        stages = self._stages(tokens=self.prompt, context=0.0, batch=each)
        times, slowest = _times(stages)
        return Pass(
            batch=sequences,
            tokens=sequences * self.prompt,
            bound=_in_a_row(stages),
            time_s=np.asarray((times + (parts - 1) * slowest) / self.efficiency),
        )

    def decode(self, batch: npt.ArrayLike = 1) -> Pass:
        """Return the pass that generates one more token of some sequences."""
        sequences, parts, each = self._divided(batch)
        stages = self._stages(tokens=1, context=self.mean_context, batch=each)
        times, slowest = _times(stages)
        return Pass(
            batch=sequences,
            tokens=sequences,
            bound=_in_a_row(stages),
            time_s=np.maximum(times, parts * slowest) / self.efficiency,
        )

    def answer_s(self, batch: npt.ArrayLike = 1) -> Array:
        """Return the seconds that a batch of whole answers takes, prompts first."""
        return self.whole_s(self.prefill(batch), self.decode(batch))

    def rate_per_s(self, batch: npt.ArrayLike = 1) -> Array:
        """Return the generated tokens per second of a copy of the model, over whole answers."""
        sequences = np.asarray(batch, dtype=np.float64)
        return np.asarray(sequences * self.generated / self.answer_s(batch))

    def whole_s(self, reading: Pass, generating: Pass) -> Array:
        """Return the seconds of whole answers whose passes are known; see `answer_s`."""
        return reading.time_s + (self.generated - 1) * generating.time_s

    def _divided(self, batch: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return sequences, the parts that they pass in, and the sequences of a part."""
        sequences = np.atleast_1d(np.asarray(batch, dtype=np.float64))
        parts = np.minimum(sequences, self.inference.pipeline)
        return sequences, parts, np.ceil(sequences / parts)

    def _stages(self, *, tokens: int, context: float, batch: Array) -> list[tuple[Bound, int]]:
        """Return the bound of each kind of stage, and how many are of it."""
        return [
            (
                self._bound(
                    self.inference.parts(stage, tokens=tokens, context=context, batch=batch), stage
                ),
                count,
            )
            for stage, count in Counter(self.inference.stages).items()
        ]

    def _bound(self, parts: Mapping[str, Demand], stage: Stage) -> Bound:
        kept = _beyond_caches(parts, self.machine)
        if self.in_series:
            whole = series([self._alone(part) for part in kept])
        else:
            whole = self._alone(reduce(Demand.__add__, kept))
        return self._with_latency(whole, stage)

    def _alone(self, demand: Demand) -> Bound:
        asked = {name: amount for name, amount in demand.amounts.items() if np.any(amount)}
        least = Demand(asked or demand.amounts)
        return bound(least, self.machine, overlap=self.overlap, cores=self.cores)

    def _with_latency(self, least: Bound, stage: Stage) -> Bound:
        """Return a bound in which messages wait for the network's latency."""
        inference = self.inference
        steps = 0.0
        if inference.tensor > 1:
            steps = 2.0 * stage.layers * _messages(inference.algorithm, inference.tensor)
        waits = self.latency_s * (steps + (not stage.is_last))
        if not waits:
            return least
        times = {**least.times_s, "network": plain(least.times_s.get("network", 0.0) + waits)}
        whole = least.time_s + waits if self.in_series else combined(times.values(), self.overlap)
        return replace(least, times_s=times, time_s=whole)


def _messages(algorithm: str, devices: int) -> int:
    """Return the messages of an all-reduce that wait for each other."""
    doublings = math.ceil(math.log2(devices))
    return {
        "ring": 2 * (devices - 1),
        "tree": 2 * doublings,
        "recursive-doubling": doublings + 2 * (devices != 1 << doublings),
        "payload": 1,
    }[algorithm]


def _times(stages: Sequence[tuple[Bound, int]]) -> tuple[Array, Array]:
    """Return the times of all stages together, and of the slowest."""
    times = np.stack([np.atleast_1d(stage.time_s) for stage, _ in stages])
    counts = np.array([count for _, count in stages])
    return np.asarray(counts @ times), np.asarray(times.max(axis=0))


def _in_a_row(stages: Sequence[tuple[Bound, int]]) -> Bound:
    """Return the bound of all stages, one after the other."""
    return series(
        [
            replace(
                stage,
                demand=stage.demand * count,
                constraints_s=_all_times(stage.constraints_s, count),
                times_s=_all_times(stage.times_s, count),
                time_s=stage.time_s * count,
            )
            for stage, count in stages
        ]
    )


def _all_times(times_s: Mapping[str, Amount], count: int) -> dict[str, Amount]:
    return {name: seconds * count for name, seconds in times_s.items()}


def _beyond_caches(parts: Mapping[str, Demand], machine: Machine) -> list[Demand]:
    """Return the parts of a pass without the bytes that caches may hold from the one before."""
    held, demands = held_bytes(machine), list(parts.values())
    if not held:
        return demands
    whole = reduce(Demand.__add__, demands)
    crossing = {
        way: ratio(np.maximum(np.subtract(whole.amounts[way], held), 0.0), whole.amounts[way])
        for way in ("dram_read", "dram_write")
    }
    return [
        Demand(
            {
                name: np.multiply(amount, crossing.get(name, 1.0))
                for name, amount in part.amounts.items()
            }
        )
        for part in demands
    ]
