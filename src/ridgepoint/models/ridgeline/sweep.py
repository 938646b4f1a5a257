"""Sweeps over designs: machines, nodes, batches and all-reduces, and the best of them.

All designs go through `ridgepoint.core.bound`, in blocks, so that memory does not grow with
their number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount
from ridgepoint.core.bound import Overlap, bound
from ridgepoint.core.machine import Machine
from ridgepoint.demands.training import Step
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import Region

BLOCK = 1 << 15
"""Designs of a block: a few arrays of so many numbers stay in a core's L2 cache."""

_SAME = 1e-12
"""Times that differ by less are equal: rounding must not choose between designs."""

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The Pareto front of time against nodes: no other design has fewer nodes and is as fast.

    Parameters
    ----------
    designs : int
        Number of designs tried.
    nodes : ndarray of int, shape (n,)
        Number of nodes, rising.
    time_per_sample_s : ndarray, shape (n,)
        Falling: the step's time over the samples of all nodes together, in seconds.
    step_s : ndarray, shape (n,)
    batch : ndarray of int, shape (n,)
        Batch size as it was given: per node, or for all nodes together.
    machine, step : ndarray of int, shape (n,)
        Index of the machine, and of the step.
    machines : tuple of tuple of int, of length n
        Indices of all machines that are as fast with the same step, batch and nodes, in order.
    limiters : tuple of tuple of str, of length n
        ``compute``, ``memory`` or ``network`` of `machine`: the longest, and what needs as long.
    """

    designs: int
    nodes: npt.NDArray[np.int64]
    time_per_sample_s: npt.NDArray[np.float64]
    step_s: npt.NDArray[np.float64]
    batch: npt.NDArray[np.int64]
    machine: Indices
    step: Indices
    machines: tuple[tuple[int, ...], ...]
    limiters: tuple[tuple[Region, ...], ...]

    @property
    def limiter(self) -> npt.NDArray[np.str_]:
        """The resource of each design that takes longest, shape (n,)."""
        return np.array([first for first, *_ in self.limiters], dtype="<U7")

    @property
    def speed_up(self) -> npt.NDArray[np.float64]:
        """Speed-up over the design with the fewest nodes, shape (n,)."""
        times_s = self.time_per_sample_s
        return np.asarray(times_s[0] / times_s)

    @property
    def efficiency(self) -> npt.NDArray[np.float64]:
        """The speed-up over the ratio of node numbers, shape (n,)."""
        return np.asarray(self.speed_up * self.nodes[0] / self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fleet:
    """The rates of several machines as an axis of the designs: capacities for `bound`.

    A rate that all machines share is stored once: most machines of a sweep differ in one rate.
    """

    rates: Mapping[str, npt.NDArray[np.float64]]

    @classmethod
    def of(
        cls, machines: Sequence[Machine], resources: Sequence[str], cores: float | None
    ) -> _Fleet:
        """Return the rates of machines; `cores` are taken into account once."""
        rates = {}
        for name in resources:
            rate = np.array([float(machine.rate(name, cores=cores)) for machine in machines])
            rates[name] = (rate[:1] if (rate == rate[0]).all() else rate)[:, None]
        return cls(rates=rates)

    def part(self, kinds: slice) -> _Fleet:
        """Return a slice of the machines."""
        return _Fleet(
            rates={name: r if len(r) == 1 else r[kinds] for name, r in self.rates.items()}
        )

    def knows(self, resource: str) -> bool:
        """Return whether the machines have a ceiling for a resource."""
        return resource in self.rates

    def rate(self, resource: str, *, cores: npt.ArrayLike | None = None) -> Amount:
        """Return each machine's capacity."""
        return self.rates[resource]


def sweep(
    machines: Sequence[Machine],
    steps: Sequence[Step],
    *,
    nodes: npt.ArrayLike,
    batch: npt.ArrayLike,
    strong: bool = False,
    overlap: Overlap = "full",
    cores: float | None = None,
    block: int = BLOCK,
) -> Front:
    """Try every machine with every step, number of nodes and batch; keep the best designs.

    Parameters
    ----------
    machines : sequence of Machine
        Alternatives: all nodes of a design are of one kind.
    steps : sequence of TrainingStep or RecommendationStep
        Alternatives, which may differ in their all-reduce; all of one precision.
    nodes : array_like of int, shape (n,)
        Numbers of nodes to try; whole numbers > 0.
    batch : array_like of int, shape (b,)
        Samples per node, or with `strong` of all nodes together; whole numbers > 0.
    strong : bool
        As in `ridgepoint.demands.training.TrainingStep.demand`.
    overlap, cores
        As in `ridgepoint.core.bound.bound`.
    block : int
        Approximate number of designs that are bounded in one call.

    Returns
    -------
    Front
        Front of ``len(machines) * len(steps) * n * b`` designs; of equally fast ones, the design
        with the first machine, step and batch.

    Raises
    ------
    UnknownCeiling
        If a machine lacks a ceiling.
    ValueError
        If there is nothing to try, a number is not whole and > 0, or steps differ in precision.

    Examples
    --------
    >>> from ridgepoint.demands.training import TrainingStep
    >>> from ridgepoint.published.machines import load
    >>> step = TrainingStep(layers=(4096, 4096))
    >>> front = sweep([load("cascade-lake")], [step], nodes=[1, 2, 4, 8], batch=[2048], strong=True)
    >>> front.nodes.tolist(), front.limiter.tolist()
    ([1, 2, 4, 8], ['compute', 'compute', 'compute', 'network'])
    """
    count, samples = _flat("nodes", nodes), _flat("batch", batch)
    if not machines or not steps:
        raise ValueError("machines and steps must each name at least one")
    if len({step.precision for step in steps}) > 1:
        raise ValueError("steps must be of one precision: their work is compared")
    fleet = _Fleet.of(machines, steps[0].resources, cores)
    best = _Best.of(len(count))
    for index, step in enumerate(steps):
        for rows, kinds, columns in _blocks((len(count), len(machines), len(samples)), block):
            p, b = count[rows, None, None], samples[columns]
            demand = step.demand(batch=b, nodes=p, strong=strong)
            seconds = bound(demand, fleet.part(kinds), overlap=overlap).time_s
            # Of all nodes together; with strong scaling the batch is that already.
            seconds = seconds / (b if strong else b * p)
            shape = (len(p), len(machines[kinds]), len(b))
            best.take(np.broadcast_to(seconds, shape), rows, kinds.start, columns.start, index)
    designs = len(steps) * len(count) * len(machines) * len(samples)
    return _front(
        best,
        designs=designs,
        machines=machines,
        fleet=fleet,
        steps=steps,
        count=count,
        samples=samples,
        strong=strong,
        overlap=overlap,
        cores=cores,
    )


def pareto(cost: npt.ArrayLike, time: npt.ArrayLike) -> Indices:
    """Return the indices of designs on the Pareto front, cheapest first.

    Parameters
    ----------
    cost, time : array_like, shape (n,)
        Both are better when smaller; finite or infinite, not NaN.

    Returns
    -------
    ndarray of int
        Designs that are faster than all others of the same or lower cost; of equal ones the first.

    Examples
    --------
    >>> pareto([4, 1, 2, 2], [3.0, 9.0, 5.0, 4.0]).tolist()
    [1, 3, 0]
    """
    costs, times = np.asarray(cost, dtype=np.float64), np.asarray(time, dtype=np.float64)
    order = np.lexsort((np.arange(costs.size), times, costs))
    least = np.minimum.accumulate(times[order])
    before = np.concatenate(([np.inf], least[:-1]))
    return order[times[order] < before]


@dataclass(slots=True, kw_only=True)
class _Best:
    """The fastest design found so far for each number of nodes."""

    seconds: npt.NDArray[np.float64]
    machine: Indices
    batch: Indices
    step: Indices

    @classmethod
    def of(cls, size: int) -> _Best:
        """Return the state before the first design."""
        none = np.zeros((3, size), dtype=np.intp)
        return cls(seconds=np.full(size, np.inf), machine=none[0], batch=none[1], step=none[2])

    def take(
        self,
        seconds: npt.NDArray[np.float64],
        rows: slice,
        first_machine: int,
        first_batch: int,
        step: int,
    ) -> None:
        """Take the fastest designs of a block of shape (nodes, machines, batches)."""
        flat = seconds.reshape(len(seconds), -1)
        enough = flat.min(axis=1) * (1 + _SAME)
        chosen = np.argmax(flat <= enough[:, None], axis=1)
        fastest = flat[np.arange(len(flat)), chosen]
        better = np.flatnonzero(fastest < self.seconds[rows] * (1 - _SAME))
        machine, batch = np.divmod(chosen[better], seconds.shape[-1])
        at = better + rows.start
        self.seconds[at] = fastest[better]
        self.machine[at], self.batch[at] = machine + first_machine, batch + first_batch
        self.step[at] = step


def _blocks(shape: tuple[int, int, int], block: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield slices that cover an array, about `block` elements each, the last axis whole first."""
    if block < 1:
        raise ValueError(f"block must be > 0, got {block!r}")
    sizes, left = [], block
    for size in reversed(shape):
        sizes.append(min(size, max(left, 1)))
        left //= sizes[-1]
    starts = (range(0, size, own) for size, own in zip(shape, reversed(sizes), strict=True))
    for corner in itertools.product(*starts):
        rows, kinds, columns = (
            slice(start, start + own) for start, own in zip(corner, reversed(sizes), strict=True)
        )
        yield rows, kinds, columns


def _front(
    best: _Best,
    *,
    designs: int,
    machines: Sequence[Machine],
    fleet: _Fleet,
    steps: Sequence[Step],
    count: npt.NDArray[np.int64],
    samples: npt.NDArray[np.int64],
    strong: bool,
    overlap: Overlap,
    cores: float | None,
) -> Front:
    """Return the front of the fastest designs, with their limiters."""
    on = pareto(count, best.seconds)
    p, b = count[on], samples[best.batch[on]]
    limiters: list[tuple[Region, ...]] = [()] * len(on)
    alike: list[tuple[int, ...]] = [()] * len(on)
    pairs = zip(best.machine[on].tolist(), best.step[on].tolist(), strict=True)
    for machine, step in sorted(set(pairs)):
        same = np.flatnonzero((best.machine[on] == machine) & (best.step[on] == step))
        demand = steps[step].demand(batch=b[same], nodes=p[same], strong=strong)
        ridgeline = Ridgeline(
            machines=(machines[machine],), work=steps[step].precision, overlap=overlap, cores=cores
        )
        # All machines at once, in rows: there may be thousands.
        shape = (len(machines), len(same))
        seconds = np.broadcast_to(bound(demand, fleet, overlap=overlap).time_s, shape)
        is_as_fast = seconds <= seconds[machine] * (1 + _SAME)
        for row, (index, own) in enumerate(
            zip(same.tolist(), ridgeline.place_demand(demand).limiters, strict=True)
        ):
            limiters[index] = own
            alike[index] = tuple(np.flatnonzero(is_as_fast[:, row]).tolist())
    return Front(
        designs=designs,
        nodes=p,
        time_per_sample_s=best.seconds[on],
        step_s=best.seconds[on] * (b if strong else b * p),
        batch=b,
        machine=best.machine[on],
        step=best.step[on],
        machines=tuple(alike),
        limiters=tuple(limiters),
    )


def _flat(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.ndim != 1 or not array.size or not ((array >= 1) & (array == np.floor(array))).all():
        raise ValueError(f"{name} must be whole numbers > 0 in a row, got {values!r}")
    return array.astype(np.int64)
