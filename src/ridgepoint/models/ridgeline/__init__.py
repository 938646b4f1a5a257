"""The Ridgeline: the one equation seen on the plane of two intensities, with a network.

It divides nothing by a capacity itself: times are those of `ridgepoint.core.bound`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, ratio
from ridgepoint.core.bound import Bound, Overlap, bound, exponent_of, slowest
from ridgepoint.core.demand import Demand
from ridgepoint.core.longest import as_long, longest
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.thresholds import SAME

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
    """Units of work on the plane, and their limits there; shape (...,) or single.

    Parameters
    ----------
    bound : Bound
        Bound of one node; each path on the machine that is slowest at it.
    own_times_s : tuple of float or ndarray
        The bound's time of each machine by itself, in seconds.
    """

    bound: Bound
    own_times_s: tuple[Amount, ...]

    @property
    def work(self) -> Amount:
        """F, flop or BOP of one node."""
        return self._shaped(self.bound.work)

    @property
    def memory_bytes(self) -> Amount:
        """B_M, byte of one node."""
        return self._shaped(self.bound.demand.amount("dram"))

    @property
    def network_bytes(self) -> Amount:
        """B_N, byte of one node."""
        return self._shaped(self.bound.demand.amount("network"))

    @property
    def times_s(self) -> dict[Region, Amount]:
        """Seconds that each region's path needs, on the machine that is slowest at it."""
        times = self.bound.times_s
        return {name: self._shaped(times.get(path, 0.0)) for name, path in REGIONS.items()}

    @property
    def time_s(self) -> Amount:
        """The paths' times combined: the lower bound of the runtime, in seconds."""
        return self.bound.time_s

    @property
    def limiter(self) -> str | npt.NDArray[np.str_]:
        """Region whose path needs most time; of equal ones the first, compute first."""
        return longest(self.times_s)

    @property
    def slowest(self) -> list[tuple[int, ...]]:
        """Of each unit of work the indices of the machines that bound: the slowest, in order.

        Machines whose own bounds differ by no more than `ridgepoint.models.thresholds.SAME`
        bound together, in whatever order they are.
        """
        return _together(dict(enumerate(self.own_times_s)), np.shape(self.bound.time_s))

    @property
    def limiters(self) -> list[tuple[Region, ...]]:
        """Of each unit of work the limiter, and the other regions whose paths need as much time.

        Times that differ by no more than `ridgepoint.models.thresholds.SAME` are equally long.
        """
        return _together(self.times_s, np.shape(self.bound.time_s))

    @property
    def roofline_limiters(self) -> list[tuple[Region, ...]]:
        """The limiters by the roofline, which ignores the network; see `limiters`."""
        return _together(self._of_roofline(), np.shape(self.bound.time_s))

    @property
    def roofline_limiter(self) -> str | npt.NDArray[np.str_]:
        """The limiter by the roofline, which ignores the network: ``compute`` or ``memory``."""
        return longest(self._of_roofline())

    def _of_roofline(self) -> dict[Region, Amount]:
        times = self.times_s
        return {"compute": times["compute"], "memory": times["memory"]}

    @property
    def memory_intensity(self) -> Amount:
        """I_M = B_M / B_N; infinite without network bytes, NaN with neither."""
        return ratio(self.memory_bytes, self.network_bytes)

    @property
    def arithmetic_intensity(self) -> Amount:
        """I_A = F / B_M; infinite without memory bytes, NaN with neither."""
        return self._shaped(self.bound.intensity("dram"))

    @property
    def network_intensity(self) -> Amount:
        """I_N = F / B_N; infinite without network bytes, NaN with neither."""
        return self._shaped(self.bound.intensity("network"))

    @property
    def performance(self) -> Amount:
        """Attainable flop/s or BOP/s of one node."""
        return self.bound.attainable

    def _shaped(self, amount: Amount) -> Amount:
        return plain(np.broadcast_to(amount, np.shape(self.bound.time_s)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridgeline:
    """The Ridgeline of a machine, or of different nodes that all do the same work.

    Parameters
    ----------
    machines : tuple of Machine
        At least one. With several, the slowest bounds, point by point; the limiter is the resource
        for which any of them needs the most time.
    work : str
        ``fp64``, ``fp32``, ..., or ``bop``.
    overlap : {"full", "none"} or float
        As in `ridgepoint.core.bound.bound`. The paper's is ``full``.
    cores : float or None
        Number of busy cores of every node; None: all.

    References
    ----------
    .. [1] F. Checconi, J. J. Tithi, F. Petrini, "Ridgeline: a 2D roofline model for distributed
       systems", :arxiv:`2209.01368`.

    Examples
    --------
    >>> from ridgepoint.published.machines import load
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
            known = ", ".join(
                name for name, resource in RESOURCES.items() if resource.path == "compute"
            )
            raise ValueError(f"work must be one of {known}, got {self.work!r}")
        exponent_of(self.overlap)

    @property
    def unit(self) -> str:
        """Unit of the work: ``flop``, ``op`` or ``BOP``."""
        return RESOURCES[self.work].unit

    def rate(self, resource: str) -> float:
        """Return the lowest capacity of the machines for a resource, per second.

        Raises
        ------
        UnknownCeiling
            If a machine has no such ceiling.
        """
        return min(float(machine.rate(resource, cores=self.cores)) for machine in self.machines)

    @property
    def peak(self) -> float:
        """Peak performance pi, flop/s or BOP/s, the lowest of the machines."""
        return self.rate(self.work)

    @property
    def ridge(self) -> RidgePoint:
        """The point where the regions meet."""
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
        """Return the positions of units of work on the plane, with their bounds.

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
        """Return the position of a demand on the plane; see `place`.

        Parameters
        ----------
        demand : Demand
            Compute (of one metric, in any precisions), ``dram`` (or its directions) and
            ``network``; a resource that it does not name is 0.

        Raises
        ------
        ValueError
            If it also names another memory level.
        """
        strange = [n for n in demand.amounts if RESOURCES[n].path not in REGIONS.values()]
        if strange:
            raise ValueError(f"demand must take its memory from 'dram', got {strange[0]!r}")
        if not np.all(sum(demand.amounts.values()) > 0):
            raise ValueError("work, memory_bytes and network_bytes must not all be 0")
        bounds = self._bounds(demand)
        return Placed(bound=slowest(bounds), own_times_s=tuple(own.time_s for own in bounds))

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

        Memory is assumed not to limit; otherwise use `attainable` at (I_N / I_A, I_A).
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
        lines = []
        for machine, least in zip(self.machines, self._bounds(bytes_alone), strict=True):
            own_peak = float(machine.rate(self.work, cores=self.cores))
            # With full overlap k is infinite, and (P/pi)^k is 0 up to the peak, and there too.
            left = 1.0 if np.isinf(k) else 1.0 - (rate / own_peak) ** k
            lines.append(ratio(rate * np.asarray(least.time_s), left ** (1 / k)))
        return plain(np.maximum.reduce(np.broadcast_arrays(*lines)))

    def _bounds(self, demand: Demand) -> list[Bound]:
        """Return the bound of each machine."""
        return [
            bound(demand, machine, overlap=self.overlap, cores=self.cores)
            for machine in self.machines
        ]


_Name = TypeVar("_Name", int, Region)


def _together(times_s: Mapping[_Name, Amount], shape: tuple[int, ...]) -> list[tuple[_Name, ...]]:
    """Return for each unit of work whose times are the longest, the longest first."""
    names = list(times_s)
    times = np.stack([np.ravel(np.broadcast_to(each, shape)) for each in times_s.values()])
    alike = as_long({str(name): each for name, each in zip(names, times, strict=True)}, within=SAME)
    order = np.argsort(-times, axis=0, kind="stable")  # of equals the first, as for the limiter
    found = np.take_along_axis(np.stack(list(alike.values())), order, axis=0)
    return [
        tuple(names[row] for row, is_one in zip(own, ones, strict=True) if is_one)
        for own, ones in zip(order.T.tolist(), found.T.tolist(), strict=True)
    ]


def _bytes_of(memory_intensity: npt.ArrayLike) -> dict[str, npt.ArrayLike]:
    """Return the bytes of each resource per byte of memory at a memory intensity."""
    x = np.asarray(memory_intensity, dtype=np.float64)
    if not (x > 0).all():
        raise ValueError(f"memory_intensity must be > 0, got {memory_intensity!r}")
    return {"dram": 1.0, "network": 1.0 / x}
