"""The one equation: a demand over a capacity is a time, and times combine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, ratio
from ridgepoint.core.demand import Demand
from ridgepoint.core.longest import as_long, longest
from ridgepoint.core.resources import RESOURCES

Overlap = Literal["full", "none"] | float


class Capacities(Protocol):
    """What a bound asks of a machine, or of anything composed of machines."""

    def knows(self, resource: str) -> bool:
        """Return whether there is a ceiling for a resource."""

    def rate(self, resource: str, *, cores: npt.ArrayLike | None = None) -> Amount:
        """Return the capacity for a resource, in its unit per second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The least time that a machine needs for a demand.

    Parameters
    ----------
    demand : Demand
        All resources that the program or model asks for.
    constraints_s : mapping of str to float or ndarray
        Seconds needed to satisfy each single limit: ``compute``, a level such as ``dram``
        (both directions together), ``dram_read``, ``dram_write``, ``network``.
    times_s : mapping of str to float or ndarray
        Seconds that each path needs: the largest of its constraints.
    time_s : float or ndarray
        The paths' times combined: the lower bound of the runtime.
    left_out : tuple of str
        Resources of the demand for which the machine has no ceiling: the bound holds without
        them, and may be too low.
    """

    demand: Demand
    constraints_s: Mapping[str, Amount]
    times_s: Mapping[str, Amount]
    time_s: Amount
    left_out: tuple[str, ...] = ()

    @property
    def limiter(self) -> str | npt.NDArray[np.str_]:
        """Return the path that needs the most time; of equal ones the first, compute first."""
        return longest(self.times_s)

    @property
    def binding(self) -> str | npt.NDArray[np.str_]:
        """Return the single constraint that needs the most time, for example ``dram_read``."""
        return longest(self.constraints_s)

    def bind_equally(self, *, within: float) -> tuple[str, ...]:
        """Return what binds this one demand: the longest constraint, and others as long as it.

        Parameters
        ----------
        within : float
            Factor, >= 1: times that differ by no more are equally long.

        Returns
        -------
        tuple of str
            The longest constraint of each path that needs as much time, longest first; of one
            path, such as a level and one of its directions, there is only one.

        Raises
        ------
        ValueError
            If the demand is of several designs at once.
        """
        if any(np.ndim(seconds) for seconds in self.times_s.values()):
            raise ValueError("bind_equally takes one design, not an array of them")
        alike = as_long(self.times_s, within=within)
        paths = sorted(
            (path for path in self.times_s if alike[path] or path == self.limiter),
            key=lambda path: -self.times_s[path],
        )
        return tuple(
            str(longest({n: t for n, t in self.constraints_s.items() if _path(n) == path}))
            for path in paths
        )

    @property
    def known(self) -> Demand:
        """The part of the demand that the times cover."""
        if not self.left_out:
            return self.demand
        amounts = self.demand.amounts.items()
        return Demand({name: amount for name, amount in amounts if name not in self.left_out})

    @property
    def work(self) -> Amount:
        """All work of the demand: flop, op or BOP; 0: none."""
        return self.demand.amount("compute")

    @property
    def attainable(self) -> Amount:
        """The work over the least time, flop/s or BOP/s: an upper bound on performance."""
        return ratio(self.work, self.time_s)

    def intensity(self, resource: str = "dram") -> Amount:
        """Return the work per byte of a level, of one of its directions, or of the network.

        It is infinite where no byte is moved, and NaN without work and bytes.
        """
        return ratio(self.work, self.demand.amount(resource))

    def performance(self, runtime_s: npt.ArrayLike) -> Amount:
        """Return the work over a runtime, flop/s or BOP/s."""
        return ratio(self.work, runtime_s)

    def efficiency(self, runtime_s: npt.ArrayLike) -> Amount:
        """Return the least time over a runtime: 1 means that the program reaches the roof."""
        return ratio(self.time_s, runtime_s)


def slowest(bounds: Sequence[Bound]) -> Bound:
    """Return the bound of several machines that do the same work in step.

    Parameters
    ----------
    bounds : sequence of Bound
        At least one; all of the same demand.

    Returns
    -------
    Bound
        Its time is that of the slowest machine. Every single limit and path has the time of the
        machine that needs most for it, so the paths combined may exceed the time.
    """
    return _joined(bounds, bounds[0].demand, np.maximum)


def series(bounds: Sequence[Bound]) -> Bound:
    """Return the bound of parts that run one after the other.

    Parameters
    ----------
    bounds : sequence of Bound
        At least one.

    Returns
    -------
    Bound
        Demands and times are sums: of every limit, of every path, and of the whole. Since the
        parts do not overlap, the time may exceed that of every path; parts that overlap
        need at least `combined` of the paths' times.
    """
    return _joined(bounds, reduce(Demand.__add__, [part.demand for part in bounds]), np.add)


def _joined(bounds: Sequence[Bound], demand: Demand, by: Callable[[Any, Any], Any]) -> Bound:
    def join(times: Sequence[Mapping[str, Amount]]) -> dict[str, Amount]:
        names = dict.fromkeys(name for part in times for name in part)
        # Of equal times compute is the longest, also where the first part only moves bytes.
        names = dict.fromkeys(sorted(names, key=lambda name: name != "compute"))
        return {name: plain(reduce(by, [part.get(name, 0.0) for part in times])) for name in names}

    return Bound(
        demand=demand,
        constraints_s=join([part.constraints_s for part in bounds]),
        times_s=join([part.times_s for part in bounds]),
        time_s=plain(reduce(by, [part.time_s for part in bounds])),
        left_out=tuple(dict.fromkeys(name for part in bounds for name in part.left_out)),
    )


def combined(times_s: Iterable[Amount], overlap: Overlap = "full") -> Amount:
    """Return the time that several paths need together, in seconds.

    Parameters
    ----------
    times_s : iterable of float or ndarray
        Time of each path in seconds; at least one path; shapes broadcast.
    overlap : {"full", "none"} or float
        As for `bound`.
    """
    exponent, parts = exponent_of(overlap), list(times_s)
    if math.isinf(exponent):
        most = parts[0]
        for part in parts[1:]:
            most = np.maximum(most, part)
        return plain(most)
    # Scaled by the largest: t^k over- and underflows for a large k.
    largest = np.maximum.reduce(np.broadcast_arrays(*parts))
    scale = np.where(largest > 0, largest, 1.0)
    return plain(scale * sum((part / scale) ** exponent for part in parts) ** (1 / exponent))


def ridge(
    machine: Capacities, work: str, resource: str = "dram", *, cores: npt.ArrayLike | None = None
) -> Amount:
    """Return the ridge point: the intensity at which computing takes as long as moving data.

    Parameters
    ----------
    machine : Machine, Rates
    work : str
        Resource that does the work: ``fp64``, ``bop``, ...
    resource : str
        A memory level, one of its directions, or ``network``.
    cores : array_like or None
        Cores kept busy; None: all.

    Returns
    -------
    float or ndarray
        flop/byte or BOP/byte: the capacity for work divided by the capacity for bytes.

    Raises
    ------
    UnknownCeiling
        If the machine lacks a ceiling for either resource.
    """
    return plain(machine.rate(work, cores=cores) / machine.rate(resource, cores=cores))


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
        Names at least one resource; arrays broadcast, shape (...,).
    machine : Machine, Rates
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
        If the machine lacks a ceiling for a path of the demand.
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
    constraints = _constraints(demand, machine, cores)
    times: dict[str, Amount] = {}
    for name, seconds in constraints.items():
        path = _path(name)
        times[path] = plain(np.maximum(times[path], seconds)) if path in times else seconds
    time_s = combined(times.values(), overlap)
    return Bound(demand=demand, constraints_s=constraints, times_s=times, time_s=time_s)


def bound_known(
    demand: Demand,
    machine: Capacities,
    *,
    overlap: Overlap = "full",
    cores: npt.ArrayLike | None = None,
) -> Bound | None:
    """Bound a demand by the ceilings that a machine has, where `bound` would refuse.

    Returns
    -------
    Bound or None
        Resources without a ceiling are listed in `Bound.left_out`. None: the machine has no
        ceiling for any resource of the demand.
    """
    known = {name: amount for name, amount in demand.amounts.items() if _serves(machine, name)}
    if not known:
        return None
    least = bound(Demand(known), machine, overlap=overlap, cores=cores)
    left_out = tuple(name for name in demand.amounts if name not in known)
    return replace(least, demand=demand, left_out=left_out) if left_out else least


def _serves(machine: Capacities, name: str) -> bool:
    """Return whether a resource has a ceiling; for a level, one direction is enough."""
    path = RESOURCES[name].path
    return machine.knows(name) or (path in RESOURCES and machine.knows(path))


def _path(constraint: str) -> str:
    """Return the path of a constraint, which may be ``compute`` itself."""
    return RESOURCES[constraint].path if constraint in RESOURCES else constraint


def exponent_of(overlap: Overlap) -> float:
    """Return the exponent k of ``(sum t^k)^(1/k)``; infinite for full overlap.

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
    """Return the seconds that every single limit needs, compute first."""
    if not demand.amounts:
        raise ValueError("the demand must name at least one resource")
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
