"""The Ridgeline: the one equation seen on the plane of two intensities, with a network.

It divides nothing by a capacity itself: times are those of `ridgepoint.models.bound`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.demand import Amount, Demand
from ridgepoint.estimate import Estimate
from ridgepoint.machine import Ceiling, Machine
from ridgepoint.models.bound import Overlap, bound, exponent_of
from ridgepoint.resources import RESOURCES

Region = Literal["compute", "memory", "network"]

REGIONS: dict[Region, str] = {"compute": "compute", "memory": "dram", "network": "network"}
"""Regions of the plane, each with the path of the bound that takes most of the time there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgePoint:
    """Where the three regions meet.

    Parameters
    ----------
    arithmetic_intensity : float
        I_A*, flop (or BOP) per byte of memory: peak over memory bandwidth.
    memory_intensity : float
        I_M*, bytes of memory per byte over the network: memory over network bandwidth.
    network_intensity : float
        I_N* = I_A* I_M*, flop per byte over the network: the k of the ridge ``x y = k``.
    """

    arithmetic_intensity: float
    memory_intensity: float
    network_intensity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Units of work on the plane, and what bounds them there; shape (...,) or single.

    Parameters
    ----------
    work, memory_bytes, network_bytes : float or ndarray
        F in flop or BOP, B_M and B_N in byte, of one node.
    times_s : mapping of str to float or ndarray
        Seconds that ``compute``, ``memory`` and ``network`` need, on the slowest machine.
    time_s : float or ndarray
        Those times combined: the lower bound of the runtime.
    limiter : str or ndarray
        Which of the three needs most; of equals the first, compute first.
    roofline_limiter : str or ndarray
        What the roofline says, which knows no network: ``compute`` or ``memory``.
    slowest : int or ndarray
        Which of the machines bounds.
    """

    work: Amount
    memory_bytes: Amount
    network_bytes: Amount
    times_s: Mapping[Region, Amount]
    time_s: Amount
    limiter: str | npt.NDArray[np.str_]
    roofline_limiter: str | npt.NDArray[np.str_]
    slowest: int | npt.NDArray[np.intp]

    @property
    def memory_intensity(self) -> Amount:
        """I_M = B_M / B_N; infinite without network bytes, NaN with neither."""
        return _ratio(self.memory_bytes, self.network_bytes)

    @property
    def arithmetic_intensity(self) -> Amount:
        """I_A = F / B_M; infinite without memory bytes, NaN with neither."""
        return _ratio(self.work, self.memory_bytes)

    @property
    def network_intensity(self) -> Amount:
        """I_N = F / B_N; infinite without network bytes, NaN with neither."""
        return _ratio(self.work, self.network_bytes)

    @property
    def performance(self) -> Amount:
        """Attainable flop/s or BOP/s of one node."""
        return _ratio(self.work, self.time_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridgeline:
    """The Ridgeline of a machine, or of nodes that differ: every one does the same work.

    Parameters
    ----------
    machines : tuple of Machine
        At least one. Of several the slowest bounds, point by point.
    work : str
        ``fp64``, ``fp32``, ..., or ``bop``.
    overlap : {"full", "none"} or float
        As in `ridgepoint.models.bound.bound`. The paper's is ``full``.
    cores : float or None
        Cores of every node that are kept busy; None: all.

    References
    ----------
    .. [1] F. Checconi, J. J. Tithi, F. Petrini, "Ridgeline: a 2D roofline model for distributed
       systems", :arxiv:`2209.01368`.

    Examples
    --------
    >>> from ridgepoint.library import load
    >>> ridgeline = Ridgeline(machines=(load("cascade-lake"),), work="fp32")
    >>> ridgeline.ridge
    RidgePoint(arithmetic_intensity=40.0, memory_intensity=8.75, network_intensity=350.0)
    >>> step = ridgeline.place(work=5.15e10, memory_bytes=8.39e7, network_bytes=1.34e8)
    >>> step.limiter, round(step.network_intensity)
    ('compute', 384)
    """

    machines: tuple[Machine, ...]
    work: str = "fp64"
    overlap: Overlap = "full"
    cores: float | None = None

    def __post_init__(self) -> None:
        if not self.machines:
            raise ValueError("machines must name at least one")
        if self.work not in RESOURCES or RESOURCES[self.work].path != "compute":
            known = ", ".join(name for name, each in RESOURCES.items() if each.path == "compute")
            raise ValueError(f"work must be one of {known}, got {self.work!r}")
        exponent_of(self.overlap)

    @property
    def unit(self) -> str:
        """Unit of the work: ``flop``, ``op`` or ``BOP``."""
        return RESOURCES[self.work].unit

    def rate(self, resource: str) -> float:
        """Return the capacity of the machine that has least of a resource, per second.

        Raises
        ------
        UnknownCeiling
            If a machine has no such ceiling.
        """
        return min(float(one.rate(resource, cores=self.cores)) for one in self.machines)

    @property
    def peak(self) -> float:
        """Peak performance pi, flop/s or BOP/s, of the machine that has least."""
        return self.rate(self.work)

    @property
    def ridge(self) -> RidgePoint:
        """Where the regions meet; of several machines, by the least rate of each resource."""
        memory, network = self.rate("dram"), self.rate("network")
        return RidgePoint(
            arithmetic_intensity=self.peak / memory,
            memory_intensity=memory / network,
            network_intensity=self.peak / network,
        )

    def place(
        self,
        *,
        work: npt.ArrayLike,
        memory_bytes: npt.ArrayLike,
        network_bytes: npt.ArrayLike,
    ) -> Placed:
        """Return where units of work are on the plane, and what bounds them.

        Parameters
        ----------
        work, memory_bytes, network_bytes : array_like, shape (...,)
            F in flop or BOP, B_M and B_N in byte, of one node; finite and >= 0.

        Raises
        ------
        UnknownCeiling
            If a machine lacks a ceiling.
        ValueError
            If an amount is negative or not finite, or a unit of work asks for nothing at all.
        """
        amounts = {self.work: work, "dram": memory_bytes, "network": network_bytes}
        return self.place_demand(Demand(amounts))

    def place_demand(self, demand: Demand) -> Placed:
        """Return where a demand is on the plane; as `place`.

        Parameters
        ----------
        demand : Demand
            Of compute (of one metric, in any precisions), ``dram`` (or its directions) and
            ``network``; what it does not name is 0.

        Raises
        ------
        ValueError
            If it names another level of memory, too.
        """
        strange = [n for n in demand.amounts if RESOURCES[n].path not in REGIONS.values()]
        if strange:
            raise ValueError(f"the plane has no place for {strange[0]!r}: its memory is 'dram'")
        work, memory, network = (_amount(demand, path) for path in REGIONS.values())
        shape = np.broadcast_shapes(*(np.shape(amount) for amount in demand.amounts.values()))
        if not (np.broadcast_to(work, shape) + memory + network > 0).all():
            raise ValueError("work, memory_bytes and network_bytes must not all be 0")
        times, total, slowest = self._slowest(demand, shape)
        node = {n: a for n, a in demand.amounts.items() if RESOURCES[n].path != "network"}
        alone = self._slowest(Demand(node), shape)[0] if node else times
        return Placed(
            work=_shaped(work, shape),
            memory_bytes=_shaped(memory, shape),
            network_bytes=_shaped(network, shape),
            times_s={region: _plain(times[region]) for region in REGIONS},
            time_s=_plain(total),
            limiter=_named(times, tuple(REGIONS)),
            roofline_limiter=_named(alone, ("compute", "memory")),
            slowest=int(slowest) if slowest.ndim == 0 else slowest,
        )

    def attainable(
        self, memory_intensity: npt.ArrayLike, arithmetic_intensity: npt.ArrayLike
    ) -> Amount:
        """Return the attainable performance at places of the plane.

        Parameters
        ----------
        memory_intensity : array_like, shape (...,)
            I_M, byte/byte; > 0, infinite: no network bytes.
        arithmetic_intensity : array_like, shape (...,)
            I_A, flop/byte; finite, > 0.

        Returns
        -------
        float or ndarray, shape (...,)
            flop/s or BOP/s.
        """
        y = np.asarray(arithmetic_intensity, dtype=np.float64)
        demand = {self.work: y, **_bytes_of(memory_intensity)}
        return self.place_demand(Demand(demand)).performance

    def attainable_by_network(self, network_intensity: npt.ArrayLike) -> Amount:
        """Return the compute-network roofline: attainable flop/s over I_N, flop/byte.

        Memory is taken as no limit; with one, see `attainable` at (I_N / I_A, I_A).
        """
        i = np.asarray(network_intensity, dtype=np.float64)
        return self.place_demand(Demand({self.work: i, "network": 1.0})).performance

    def iso_performance(self, rate: float, memory_intensity: npt.ArrayLike) -> Amount:
        """Return the line of the plane on which the attainable performance is `rate`.

        Parameters
        ----------
        rate : float
            flop/s or BOP/s; > 0 and at most the peak.
        memory_intensity : array_like, shape (...,)
            I_M, byte/byte; > 0.

        Returns
        -------
        float or ndarray, shape (...,)
            I_A, flop/byte; infinite where that performance is out of reach. At the peak and with
            full overlap: the edge of the compute-bound region, which is the ridge ``x y = k``
            left of the ridge point.

        Raises
        ------
        ValueError
            If `rate` is not within (0, peak].

        Notes
        -----
        With t the time of the bytes of one memory byte and k the overlap's exponent,
        ``(t^k + (I_A/pi)^k)^(1/k) = I_A/P`` has ``I_A = P t / (1 - (P/pi)^k)^(1/k)``.
        """
        if not 0 < rate <= self.peak:
            raise ValueError(f"rate must be > 0 and at most the peak {self.peak:g}, got {rate!r}")
        bytes_alone, k = Demand(_bytes_of(memory_intensity)), exponent_of(self.overlap)
        highest: npt.NDArray[np.float64] | None = None
        for machine in self.machines:
            seconds = bound(bytes_alone, machine, overlap=self.overlap, cores=self.cores).time_s
            own_peak = float(machine.rate(self.work, cores=self.cores))
            # With full overlap k is infinite, and (P/pi)^k is 0 up to the peak, and there too.
            left = 1.0 if np.isinf(k) else 1.0 - (rate / own_peak) ** k
            with np.errstate(divide="ignore"):
                line = np.divide(rate * np.asarray(seconds), left ** (1 / k))
            highest = line if highest is None else np.maximum(highest, line)
        assert highest is not None  # there is a machine
        return _plain(highest)

    def _slowest(
        self, demand: Demand, shape: tuple[int, ...]
    ) -> tuple[
        dict[Region, npt.NDArray[np.float64]], npt.NDArray[np.float64], npt.NDArray[np.intp]
    ]:
        """Return the times on the slowest machine, their combination, and which machine it is."""
        bounds = [
            bound(demand, machine, overlap=self.overlap, cores=self.cores)
            for machine in self.machines
        ]
        totals = np.stack([np.broadcast_to(each.time_s, shape) for each in bounds])
        slowest = np.argmax(totals, axis=0)
        chosen = np.expand_dims(slowest, 0)
        times: dict[Region, npt.NDArray[np.float64]] = {}
        for region, path in REGIONS.items():
            of_each = [np.broadcast_to(each.times_s.get(path, 0.0), shape) for each in bounds]
            times[region] = np.take_along_axis(np.stack(of_each), chosen, axis=0)[0]
        return times, np.take_along_axis(totals, chosen, axis=0)[0], np.asarray(slowest)


def with_network(machine: Machine, bytes_per_s: float) -> Machine:
    """Return a machine with a given network in place of its own.

    Parameters
    ----------
    machine : Machine
    bytes_per_s : float
        What a node's link carries each way; > 0.
    """
    given = Ceiling(
        resource="network",
        name="given",
        threads=machine.cores,
        unit="byte/s",
        rate=Estimate([bytes_per_s]),
        source="given",
    )
    others = (one for one in machine.ceilings if one.resource != "network")
    return replace(machine, ceilings=(*others, given))


def _bytes_of(memory_intensity: npt.ArrayLike) -> dict[str, npt.ArrayLike]:
    """Return the bytes that go with one byte of memory at a memory intensity."""
    x = np.asarray(memory_intensity, dtype=np.float64)
    if not (x > 0).all():
        raise ValueError(f"memory_intensity must be > 0, got {memory_intensity!r}")
    return {"dram": 1.0, "network": 1.0 / x}


def _amount(demand: Demand, path: str) -> Amount:
    """Return all that a demand asks of one path."""
    total: Amount = 0.0
    for name, amount in demand.amounts.items():
        if RESOURCES[name].path == path:
            total = total + amount
    return total


def _named(
    times: Mapping[Region, npt.NDArray[np.float64]], regions: tuple[Region, ...]
) -> str | npt.NDArray[np.str_]:
    """Return the region that needs most time; of equals the first."""
    names = np.array(regions)
    chosen = names[np.argmax(np.stack([times[region] for region in regions]), axis=0)]
    return str(chosen) if chosen.ndim == 0 else chosen


def _ratio(above: Amount, below: Amount) -> Amount:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _plain(np.divide(above, below))


def _shaped(amount: Amount, shape: tuple[int, ...]) -> Amount:
    return _plain(np.broadcast_to(amount, shape))


def _plain(value: npt.ArrayLike) -> Amount:
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
