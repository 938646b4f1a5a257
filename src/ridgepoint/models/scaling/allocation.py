"""How many cores and nodes to allocate: the fastest number, and the largest efficient one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.models.scaling import Scaled, Scaling

Against = Literal["core", "peak"]
"""What efficiency is measured against: one core's attained performance, or the peak of all."""

# Relative differences of performance below this are rounding, also as a gain from more nodes.
_SAME = 1e-9
# Rounding makes equal values differ by up to this.
_ROUNDING = 1e-13
# Integers that are tried one by one, and in each step towards a far optimum.
_STEP = 4096
_FARTHEST = 2.0**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """Some cores on each of some nodes, and the best performance of a problem on them.

    Parameters
    ----------
    nodes, cores : int
        Nodes, and cores of each.
    time_s, performance, speed_up, peak_efficiency, parallel_efficiency : float
        As in `ridgepoint.models.scaling.Scaled`.
    limiter : str
        ``compute``, ``dram``, ``network``, or ``latency`` where most of the network's time is that.
    parts_s : mapping of str to float
        Time of each path alone, in seconds.
    latency_s : float or None
        Part of the network's time that messages wait, in seconds; None: not counted.
    """

    nodes: int
    cores: int
    time_s: float
    performance: float
    speed_up: float
    peak_efficiency: float
    parallel_efficiency: float
    limiter: str
    parts_s: Mapping[str, float]
    latency_s: float | None = None

    def efficiency(self, against: Against) -> float:
        """Return one of the two efficiencies."""
        return self.parallel_efficiency if against == "core" else self.peak_efficiency

    @property
    def relative_speed_up(self) -> float:
        """Speed-up over one core alone."""
        return self.parallel_efficiency * self.cores * self.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The number of nodes with the highest performance, without an upper limit.

    Parameters
    ----------
    nodes : float
        Optimal number as a real number.
    best : Allocation
        The better of the two whole numbers next to it.
    """

    nodes: float
    best: Allocation


def allocation(scaling: Scaling, *, cores: int, nodes: int) -> Allocation:
    """Return one allocation."""
    return next(_each(scaling.at(cores=[cores], nodes=[nodes])))


def allocations(
    scaling: Scaling, *, cores: Iterable[int], nodes: Sequence[int]
) -> tuple[Allocation, ...]:
    """Return every allocation of some cores on some nodes; nodes vary last."""
    return tuple(
        allocation
        for q in cores
        for allocation in _each(
            scaling.at(cores=float(q), nodes=np.asarray(nodes, dtype=np.float64))
        )
    )


def best_allocation(scaling: Scaling, *, cores: Iterable[int], nodes: npt.ArrayLike) -> Allocation:
    """Return the allocation with the highest performance; of equal ones, the one with fewest cores.

    Parameters
    ----------
    scaling : Scaling
        Scaling of a single problem.
    cores, nodes : sequence of int
        Choices: cores of each node, and nodes.

    Raises
    ------
    ValueError
        If there is nothing to choose from.
    """
    p = _numbers("nodes", nodes)
    rated: list[tuple[float, int, int]] = []
    for q in cores:
        performance = np.asarray(scaling.at(cores=float(q), nodes=p).performance)
        first = np.flatnonzero(performance >= performance.max() * (1 - _SAME))[0]
        rated.append((float(performance[first]), q, int(p[first])))
    if not rated:
        raise ValueError("cores must name at least one number")
    most = max(performance for performance, _, _ in rated)
    equals = [(q * p, p, q) for performance, q, p in rated if performance >= most * (1 - _SAME)]
    _, p_best, q_best = min(equals)
    return allocation(scaling, cores=q_best, nodes=p_best)


def largest_allocation(
    scaling: Scaling,
    *,
    cores: Iterable[int],
    nodes: npt.ArrayLike,
    efficiency: float,
    against: Against = "core",
) -> Allocation | None:
    """Return the allocation of most cores with at least an efficiency; of equal ones, the fastest.

    Parameters
    ----------
    scaling : Scaling
        Scaling of a single problem.
    cores, nodes : sequence of int
        Choices: cores of each node, and nodes.
    efficiency : float
        Lowest accepted efficiency, in (0, 1].
    against : {"core", "peak"}

    Returns
    -------
    Allocation or None
        None: no allocation reaches it, not even the smallest.

    Raises
    ------
    ValueError
        If `efficiency` is not in (0, 1], or a number is not positive.
    """
    if not 0 < efficiency <= 1:
        raise ValueError(f"efficiency must be in (0, 1], got {efficiency!r}")
    p = _numbers("nodes", nodes)
    kept: list[tuple[float, float, int, int]] = []
    for q in cores:
        scaled = scaling.at(cores=float(q), nodes=p)
        reached = scaled.parallel_efficiency if against == "core" else scaled.peak_efficiency
        # One core alone always has an efficiency of 1, despite rounding.
        enough = np.flatnonzero(np.asarray(reached) >= efficiency * (1 - _SAME))
        if enough.size:
            most = enough[np.argmax(p[enough])]
            rate = float(np.asarray(scaled.performance)[most])
            kept.append((float(p[most]) * q, rate, q, int(p[most])))
    if not kept:
        return None
    _, _, q_most, p_most = max(kept)
    return allocation(scaling, cores=q_most, nodes=p_most)


def optimal_nodes(scaling: Scaling, *, cores: int) -> Optimum | None:
    """Return the number of nodes with the highest performance, without an upper limit.

    Parameters
    ----------
    scaling : Scaling
        Scaling of a single problem.
    cores : int
        Number of cores of each node.

    Returns
    -------
    Optimum or None
        None: up to 2^30 nodes, more nodes are always faster.

    Notes
    -----
    The first 4096 numbers are compared one by one; beyond, performance must have one peak.
    """
    whole = _best_whole(scaling, cores)
    if whole is None:
        return None
    return Optimum(
        nodes=_best_real(scaling, cores, whole),
        best=allocation(scaling, cores=cores, nodes=whole),
    )


def _best_whole(scaling: Scaling, cores: int) -> int | None:
    far = np.geomspace(_STEP, _FARTHEST, num=_STEP)
    p = np.unique(np.concatenate([np.arange(1.0, _STEP), np.round(far)]))
    while True:
        performance = np.asarray(scaling.at(cores=cores, nodes=p).performance)
        top = int(np.flatnonzero(performance >= performance.max() * (1 - _ROUNDING))[0])
        if p[top] >= _FARTHEST:
            return None
        low, high = p[max(top - 1, 0)], p[min(top + 1, p.size - 1)]
        if high - low <= 2:
            return int(p[top])
        p = np.unique(np.round(np.linspace(low, high, num=int(min(high - low + 1, _STEP)))))


def _best_real(scaling: Scaling, cores: int, whole: int) -> float:
    from scipy.optimize import minimize_scalar

    if whole == 1:
        return 1.0
    minimum = minimize_scalar(
        lambda p: scaling.at(cores=cores, nodes=float(p)).time_s,
        bounds=(whole - 1.0, whole + 1.0),
        method="bounded",
        options={"xatol": 1e-9 * whole},
    )
    return float(minimum.x)


def _each(scaled: Scaled) -> Iterator[Allocation]:
    """Return the allocations of an array, one by one."""
    shape = np.shape(scaled.performance)

    def spread(values: npt.ArrayLike) -> list[float]:
        numbers: list[float] = np.broadcast_to(np.asarray(values, dtype=np.float64), shape).tolist()
        return numbers

    limiters = np.broadcast_to(scaled.bound.limiter, shape).tolist()
    parts = {name: spread(seconds) for name, seconds in scaled.bound.times_s.items()}
    latency = scaled.bound.constraints_s.get("latency")
    waits = [None] * len(limiters) if latency is None else spread(latency)
    nodes, cores, times_s = spread(scaled.nodes), spread(scaled.cores), spread(scaled.time_s)
    performance, speed_up = spread(scaled.performance), spread(scaled.speed_up)
    of_peak, of_core = spread(scaled.peak_efficiency), spread(scaled.parallel_efficiency)
    for index in range(shape[0]):
        parts_s = {name: seconds[index] for name, seconds in parts.items()}
        yield Allocation(
            nodes=int(nodes[index]),
            cores=int(cores[index]),
            time_s=times_s[index],
            performance=performance[index],
            speed_up=speed_up[index],
            peak_efficiency=of_peak[index],
            parallel_efficiency=of_core[index],
            limiter=_limiter(limiters[index], parts_s, waits[index]),
            parts_s=parts_s,
            latency_s=waits[index],
        )


def _limiter(path: str, parts_s: Mapping[str, float], latency_s: float | None) -> str:
    """Return the path that limits, or ``latency`` if that is most of the network's time."""
    if path != "network" or latency_s is None or 2 * latency_s <= parts_s[path]:
        return path
    return "latency"


def _numbers(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if (
        array.size == 0
        or not (np.isfinite(array) & (array >= 1) & (array == np.round(array))).all()
    ):
        raise ValueError(f"{name} must be whole numbers > 0, got {values!r}")
    return array
