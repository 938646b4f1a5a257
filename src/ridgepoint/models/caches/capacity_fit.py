"""Capacities of caches, fitted to latency over size.

The accesses of a `LatencyCurve` go to lines that are drawn independently and uniformly from a
working set of S bytes. Whatever the replacement policy, a cache that is full of lines of the set
then holds the next one with probability C / S, where C is its capacity; so does a cache together
with those within it, inclusive, exclusive or victim, where C is what they hold together. With
levels of cumulative capacity C_1 < ... < C_K and the time t_k of an access that level k answers
(t_0 = 0, C_0 = 0, memory is level K + 1), the mean time per access is

    t(S) = sum over k of t_k (min(S, C_k) - min(S, C_(k-1))) / S

that is, S t(S) is piecewise linear, with the knees at the capacities. For given capacities the
times follow from linear least squares of relative residuals; the capacities are then searched.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.machine import Cache

_SHOWS = 1.25
"""Ratio of two levels' latencies below which they cannot be told apart."""

_SEEN_TO_END = 1.25
"""The largest set over a capacity, from which on its end has been seen."""

_MOST_LEVELS = 4

_STARTS = 8

_THIRDS = 3

_FEWEST_TO_TRIM = 7

Floats = npt.NDArray[np.float64]


def expected_latency(
    sizes_bytes: npt.ArrayLike, *, capacities_bytes: Sequence[float], latencies_s: Sequence[float]
) -> Floats:
    """Return the mean time per access of working sets.

    Parameters
    ----------
    sizes_bytes : array_like, shape (n,)
    capacities_bytes : sequence of float
        Cumulative capacity of each level, ascending [byte].
    latencies_s : sequence of float
        One more value: latency of each level, then of memory [s].

    Returns
    -------
    ndarray, shape (n,)
        Mean time per access [s].

    Examples
    --------
    Half of a set of 2 MiB in a cache of 1 MiB that answers in 1 ns, memory in 9 ns:

    >>> expected_latency([2 << 20], capacities_bytes=[1 << 20], latencies_s=[1e-9, 9e-9])
    array([5.e-09])
    """
    sizes = np.asarray(sizes_bytes, dtype=np.float64)
    shares = _shares(sizes, np.asarray(capacities_bytes, dtype=np.float64))
    return np.asarray(shares @ np.asarray(latencies_s, dtype=np.float64))


def fit_capacities(
    curve: LatencyCurve, *, stated: Sequence[Cache], sharers: Mapping[int, int]
) -> tuple[Capacity, ...]:
    """Return the capacity of each level of caches that a latency curve shows.

    Parameters
    ----------
    curve : LatencyCurve
    stated : sequence of Cache
        Data caches as the system describes them, from the core outwards: they give the number of
        levels and the start of the search. Empty: unknown; the curve decides on the levels.
    sharers : mapping of int to int
        Number of the curve's threads that share one cache of a level; 1 for missing levels.

    Returns
    -------
    tuple of Capacity
        Levels that differ from the next one, from the core outwards.

    Notes
    -----
    The interval covers the fits of each round (without the extreme ones, if there are seven
    rounds or more) and fits that leave out every third size: variation during the measurement,
    and how well the model describes the curve.
    """
    sizes = np.array(curve.sizes_bytes, dtype=np.float64)
    whole = np.array(curve.latency_s)
    knees = _search(sizes, whole, [float(cache.size_bytes) for cache in stated])
    fits = _varied(sizes, curve.rounds_s, whole, knees)
    latencies = _latencies(sizes, whole, knees)
    capacities: list[Capacity] = []
    for index, knee in enumerate(knees):
        if latencies[index + 1] < _SHOWS * latencies[index]:
            continue
        level = stated[index].level if stated else len(capacities) + 1
        scale = sharers.get(level, 1)
        ends = sorted(fit[index] for fit in fits)
        is_seen = knee * _SEEN_TO_END <= sizes[-1]
        capacities.append(
            Capacity(
                level=level,
                threads=curve.threads,
                size_bytes=round(knee * scale) if is_seen else None,
                low_bytes=round(min(ends[0], knee) * scale),
                high_bytes=round(max(ends[-1] if is_seen else sizes[-1], knee) * scale),
                sharers=scale,
                latency_s=float(latencies[index]),
            )
        )
    return tuple(capacities)


def cumulative_of(
    capacities: Sequence[Capacity], curve: LatencyCurve
) -> tuple[list[float], list[float]]:
    """Return a curve's knees in bytes of one thread, and the latencies that describe it best.

    Parameters
    ----------
    capacities : sequence of Capacity
        Capacities found from the curve, shared caches included, from the core outwards.
    curve : LatencyCurve

    Returns
    -------
    list of float
        Knees [byte]; empty: the curve shows the end of no cache.
    list of float
        Latency of each level, then of memory [s].
    """
    knees = [capacity.each_bytes for capacity in capacities if capacity.each_bytes is not None]
    if not knees:
        return [], []
    times = np.array(curve.latency_s)
    sizes = np.array(curve.sizes_bytes, dtype=np.float64)
    ends = np.array(knees, dtype=np.float64)
    return list(map(float, knees)), list(map(float, _latencies(sizes, times, ends)))


def fitted_latency(
    curve: LatencyCurve, capacities: Sequence[Capacity], *, sizes_bytes: npt.ArrayLike
) -> Floats | None:
    """Return the mean time per access that follows from the capacities found from a curve.

    Parameters
    ----------
    curve : LatencyCurve
    capacities : sequence of Capacity
        Capacities of a machine; those with as many threads as the curve are used.
    sizes_bytes : array_like, shape (n,)

    Returns
    -------
    ndarray, shape (n,), or None
        Mean time per access [s]; None: no level differs from the next one.
    """
    own = [capacity for capacity in capacities if (capacity.threads > 1) == (curve.threads > 1)]
    knees, latencies = cumulative_of(own, curve)
    if not knees:
        return None
    return expected_latency(sizes_bytes, capacities_bytes=knees, latencies_s=latencies)


def _shares(sizes: Floats, capacities: Floats) -> Floats:
    """Return the share of accesses that hit in each level, shape (sizes, levels + 1)."""
    edges = np.concatenate(([0.0], capacities, [np.inf]))
    held = np.minimum(sizes[:, None], edges[None, :])
    return np.asarray(np.diff(held, axis=1) / sizes[:, None])


def _latencies(sizes: Floats, times: Floats, knees: Floats) -> Floats:
    """Return the latencies of all levels that fit a curve best; they never fall."""
    from scipy.optimize import nnls

    # Increments, so that they ascend; relative residuals, so that small sets weigh as much.
    steps = np.cumsum(_shares(sizes, knees)[:, ::-1], axis=1)[:, ::-1] / times[:, None]
    increments, _ = nnls(steps, np.ones_like(times))
    return np.asarray(np.cumsum(increments))


def _residuals(sizes: Floats, times: Floats, knees: Floats) -> Floats:
    expected = _shares(sizes, knees) @ _latencies(sizes, times, knees)
    return np.asarray(expected / times - 1.0)


def _fitted(sizes: Floats, times: Floats, start: Sequence[float]) -> tuple[Floats, float]:
    """Return the best capacities near a start, and the misfit of the curve."""
    from scipy.optimize import least_squares

    # The first knee, then each ratio to the previous one less 1: this keeps them ascending.
    ratios = np.diff(np.log(start))
    first = np.concatenate(([np.log(start[0])], np.log(np.expm1(np.maximum(ratios, 0.05)))))

    def knees_of(parameters: Floats) -> Floats:
        steps = np.log1p(np.exp(np.clip(parameters[1:], -20, 20)))
        logarithms = parameters[0] + np.concatenate(([0.0], np.cumsum(steps)))
        return np.asarray(np.exp(np.clip(logarithms, 0, 60)))

    result = least_squares(
        lambda parameters: _residuals(sizes, times, knees_of(parameters)),
        first,
        loss="soft_l1",
        f_scale=0.1,
        max_nfev=60,
    )
    return knees_of(result.x), float(result.cost)


def _search(sizes: Floats, times: Floats, stated: Sequence[float]) -> Floats:
    """Return the capacities that fit a curve best, from many starts."""
    grid = np.geomspace(sizes[0] * 1.5, sizes[-1] / 1.5, _STARTS)
    if stated:
        inner = stated[:-1]
        outer = [size for size in (*grid, stated[-1]) if size > 1.05 * max(inner, default=0.0)]
        starts = [(*inner, last) for last in outer]
        return min((_fitted(sizes, times, start) for start in starts), key=lambda fit: fit[1])[0]
    best: tuple[float, Floats] | None = None
    for n_levels in range(1, _MOST_LEVELS + 1):
        fits = (_fitted(sizes, times, start) for start in itertools.combinations(grid, n_levels))
        knees, cost = min(fits, key=lambda fit: fit[1])
        # Bayesian information criterion: one more level has two more parameters.
        badness = len(sizes) * np.log(max(cost, 1e-12)) + 2 * n_levels * np.log(len(sizes))
        latencies = _latencies(sizes, times, knees)
        shows = bool((latencies[1:] >= _SHOWS * latencies[:-1]).all())
        if shows and (best is None or badness < best[0]):
            best = badness, knees
    return np.array([]) if best is None else best[1]


def _varied(
    sizes: Floats, rounds: Sequence[Sequence[float]], whole: Floats, knees: Floats
) -> list[Floats]:
    """Return the knees fitted to each round, and to the curve without every third size."""
    if not len(knees):
        return []
    by_round = [_fitted(sizes, np.array(times), list(knees))[0] for times in rounds]
    if len(by_round) >= _FEWEST_TO_TRIM:
        ordered = np.sort(np.array(by_round), axis=0)[1:-1]
        by_round = list(ordered)
    by_thirds = [
        _fitted(sizes[kept], whole[kept], list(knees))[0]
        for leave in range(_THIRDS)
        if (kept := np.arange(len(sizes)) % _THIRDS != leave).sum() > 2 * len(knees) + 1
    ]
    return [*by_round, *by_thirds]
