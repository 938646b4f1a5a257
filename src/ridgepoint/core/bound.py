"""The one equation: a demand over a capacity is a time, and times combine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain
from ridgepoint.core.demand import Demand
from ridgepoint.core.resources import RESOURCES

Overlap = Literal["full", "none"] | float


class Capacities(Protocol):
    """What a bound asks of a machine, or of what is built of machines."""

    def knows(self, resource: str) -> bool:
        """Return whether there is a ceiling for a resource."""

    def rate(self, resource: str, *, cores: npt.ArrayLike | None = None) -> Amount:
        """Return the capacity for a resource, in its unit per second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The least time that a machine needs for a demand.

    Parameters
    ----------
    constraints_s : mapping of str to float or ndarray
        Seconds that each single limit asks for: ``compute``, a level such as ``dram`` (both
        directions together), ``dram_read``, ``dram_write``, ``network``.
    times_s : mapping of str to float or ndarray
        Seconds that each path needs: the largest of its constraints.
    time_s : float or ndarray
        The paths' times combined: the lower bound of the runtime.
    """

    constraints_s: Mapping[str, Amount]
    times_s: Mapping[str, Amount]
    time_s: Amount

    @property
    def limiter(self) -> str | npt.NDArray[np.str_]:
        """Return the path that needs the most time; of equals the first, compute first."""
        return _largest(self.times_s)

    @property
    def binding(self) -> str | npt.NDArray[np.str_]:
        """Return the single constraint that needs the most time, for example ``dram_read``."""
        return _largest(self.constraints_s)


def slowest(bounds: Sequence[Bound]) -> Bound:
    """Return the bound of several machines that do the same work in step.

    Parameters
    ----------
    bounds : sequence of Bound
        At least one; of one demand.

    Returns
    -------
    Bound
        The time is that of the slowest machine. Every single limit and path has the time of the
        machine that needs most for it, so that paths combined may be more than the time.
    """
    return Bound(
        constraints_s=_combined([each.constraints_s for each in bounds], np.maximum),
        times_s=_combined([each.times_s for each in bounds], np.maximum),
        time_s=plain(reduce(np.maximum, [np.asarray(each.time_s) for each in bounds])),
    )


def _combined(
    times: Sequence[Mapping[str, Amount]], by: Callable[[Any, Any], Any]
) -> dict[str, Amount]:
    names = dict.fromkeys(name for each in times for name in each)
    return {name: plain(reduce(by, [each.get(name, 0.0) for each in times])) for name in names}


def _largest(times: Mapping[str, Amount]) -> str | npt.NDArray[np.str_]:
    names, parts = np.array(list(times)), [np.asarray(part) for part in times.values()]
    # Not argmax over a stack: along its short first axis that is thirty times slower.
    chosen = np.zeros(np.broadcast_shapes(*(part.shape for part in parts)), dtype=np.intp)
    most = parts[0]
    for index, part in enumerate(parts[1:], start=1):
        np.copyto(chosen, index, where=part > most)
        most = np.maximum(most, part)
    return str(names[chosen]) if chosen.ndim == 0 else names[chosen]


def bound(
    demand: Demand,
    machine: Capacities,
    *,
    overlap: Overlap = "full",
    cores: npt.ArrayLike | None = None,
) -> Bound:
    """Bound the runtime of a demand on a machine from below.

    Parameters
    ----------
    demand : Demand
        At least one resource; arrays broadcast, shape (...,).
    machine : Machine, Cluster
        Must have a ceiling for every path of the demand. At a memory level the limit of both
        directions together and that of each direction hold where they are known.
    overlap : {"full", "none"} or float
        How the paths' times combine: ``full`` is their maximum (the roofline), ``none`` their
        sum (Hockney), a number k >= 1 ``(sum t^k)^(1/k)``, which lies between.
    cores : array_like or None
        Cores kept busy; None: all.

    Returns
    -------
    Bound
        Times in seconds, shape (...,).

    Raises
    ------
    UnknownCeiling
        If the machine lacks a ceiling.
    ValueError
        If the demand is empty or mixes metrics that count the same work, or `overlap` is none
        of the above.

    Notes
    -----
    ``t[r] = demand[r] / capacity[r]``. On the compute path times add (fp64 and fp32 run on the
    same pipes). At a memory level both directions share a bus and each has a limit of its own:
    ``t = max((Q_r + Q_w)/beta, Q_r/beta_r, Q_w/beta_w)``.

    References
    ----------
    .. [1] S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance
       model for multicore architectures", CACM 52(4), 2009, :doi:`10.1145/1498765.1498785`.

    Examples
    --------
    >>> from ridgepoint.published.machines import load
    >>> clx = load("cascade-lake")
    >>> step = Demand({"fp32": 1.61e9, "dram": 6.76e7, "network": 1.34e8})
    >>> bound(step, clx).limiter
    'network'
    """
    exponent = exponent_of(overlap)
    constraints = _constraints(demand, machine, cores)
    times: dict[str, Amount] = {}
    for name, seconds in constraints.items():
        path = RESOURCES[name].path if name in RESOURCES else name
        times[path] = plain(np.maximum(times[path], seconds)) if path in times else seconds
    parts = list(times.values())
    if math.isinf(exponent):
        combined = parts[0]
        for part in parts[1:]:
            combined = np.maximum(combined, part)
    else:
        # Scaled by the largest: t^k over- and underflows for a large k.
        largest = np.maximum.reduce(np.broadcast_arrays(*parts))
        scale = np.where(largest > 0, largest, 1.0)
        combined = scale * sum((part / scale) ** exponent for part in parts) ** (1 / exponent)
    return Bound(constraints_s=constraints, times_s=times, time_s=plain(combined))


def answerable(demand: Demand, machine: Capacities) -> Demand:
    """Return the part of a demand for which there are ceilings: of a direction, or of both."""
    return Demand(
        {
            name: amount
            for name, amount in demand.amounts.items()
            if machine.knows(name)
            or (RESOURCES[name].path in RESOURCES and machine.knows(RESOURCES[name].path))
        }
    )


def exponent_of(overlap: Overlap) -> float:
    """Return the k of ``(sum t^k)^(1/k)``; infinite with full overlap.

    Raises
    ------
    ValueError
        If `overlap` is neither ``full`` nor ``none`` nor a number >= 1.
    """
    if overlap == "full":
        return math.inf
    if overlap == "none":
        return 1.0
    if isinstance(overlap, str) or not overlap >= 1:
        raise ValueError(f"overlap must be 'full', 'none' or a number >= 1, got {overlap!r}")
    return float(overlap)


def _constraints(
    demand: Demand, machine: Capacities, cores: npt.ArrayLike | None
) -> dict[str, Amount]:
    """Return the seconds that every single limit asks for, compute first."""
    if not demand.amounts:
        raise ValueError("the demand is empty: it asks for no resource")
    metrics = {RESOURCES[n].unit for n in demand.amounts if RESOURCES[n].path == "compute"}
    if len(metrics) > 1:
        raise ValueError(f"a bound takes one metric of work at a time, got {sorted(metrics)}")
    compute: Amount | None = None
    traffic: dict[str, Amount] = {}
    directions: dict[str, Amount] = {}
    for name, amount in demand.amounts.items():
        resource = RESOURCES[name]
        if resource.path == "compute":
            seconds = amount / machine.rate(name, cores=cores)
            compute = seconds if compute is None else compute + seconds
            continue
        path = resource.path
        traffic[path] = traffic[path] + amount if path in traffic else amount
        if resource.direction is not None and machine.knows(name):
            directions[name] = plain(amount / machine.rate(name, cores=cores))
    constraints: dict[str, Amount] = {} if compute is None else {"compute": plain(compute)}
    for path, amount in traffic.items():
        # One direction's limit holds alone; without any the machine says what it lacks.
        if machine.knows(path) or not any(RESOURCES[name].path == path for name in directions):
            constraints[path] = plain(amount / machine.rate(path, cores=cores))
    return constraints | directions
