"""The Ridgeline: the one equation seen on the plane of two intensities, with a network.

It divides nothing by a capacity itself: times are those of `ridgepoint.core.bound`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, ratio
from ridgepoint.core.bound import Bound, Overlap, bound, exponent_of, slowest
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.ridgeline.placed import REGIONS, Placed, Region

PAPER: tuple[Region, ...] = ("compute", "memory", "network")
"""The regions of the paper, which every Ridgeline has."""


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
    def regions(self) -> tuple[Region, ...]:
        """The paper's regions, and those of links that any of the machines has a ceiling of."""
        others = (
            region
            for region, path in REGIONS.items()
            if region not in PAPER and any(machine.knows(path) for machine in self.machines)
        )
        return (*PAPER, *others)

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
        remote_bytes: npt.ArrayLike | None = None,
        storage_bytes: npt.ArrayLike | None = None,
    ) -> Placed:
        """Return the positions of units of work on the plane, with their bounds.

        Parameters
        ----------
        work, memory_bytes, network_bytes : array_like, shape (...,)
            F in flop or BOP, B_M and B_N in byte, of one node; finite and >= 0.
        remote_bytes, storage_bytes : array_like or None
            B_R, bytes of memory outside of the node, and B_S, bytes of storage; finite and >= 0.
            None: none.

        Raises
        ------
        UnknownCeiling
            If a machine lacks a ceiling.
        ValueError
            If an amount is negative or not finite, or a unit of work asks for nothing at all.
        """
        amounts = {self.work: work, "dram": memory_bytes, "network": network_bytes}
        others = {"remote": remote_bytes, "storage": storage_bytes}
        amounts |= {name: each for name, each in others.items() if each is not None}
        return self.place_demand(Demand(amounts))

    def place_demand(self, demand: Demand) -> Placed:
        """Return the position of a demand on the plane; see `place`.

        Parameters
        ----------
        demand : Demand
            Compute (of one metric, in any precisions), ``dram`` (or its directions), ``network``,
            ``remote`` and ``storage``; a resource that it does not name is 0.

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
        return Placed(
            bound=slowest(bounds),
            own_times_s=tuple(own.time_s for own in bounds),
            regions=self.regions,
        )

    def attainable(
        self,
        memory_intensity: npt.ArrayLike,
        arithmetic_intensity: npt.ArrayLike,
        *,
        link: Region = "network",
    ) -> Amount:
        """Return the attainable performance at places of the plane.

        Parameters
        ----------
        memory_intensity : array_like, shape (...,)
            I_M, byte/byte; > 0, infinite: no network bytes.
        arithmetic_intensity : array_like, shape (...,)
            I_A, flop/byte; finite, > 0.
        link : str
            Region of the link whose bytes are meant: the network, remote memory or storage.

        Returns
        -------
        float or ndarray, shape (...,)
            flop/s or BOP/s.
        """
        y = np.asarray(arithmetic_intensity, dtype=np.float64)
        demand = {self.work: y, **_bytes_of(memory_intensity, link)}
        return self.place_demand(Demand(demand)).performance

    def attainable_by_network(self, network_intensity: npt.ArrayLike) -> Amount:
        """Return the compute-network roofline: attainable flop/s over I_N, flop/byte.

        Memory is assumed not to limit; otherwise use `attainable` at (I_N / I_A, I_A).
        """
        i = np.asarray(network_intensity, dtype=np.float64)
        return self.place_demand(Demand({self.work: i, "network": 1.0})).performance

    def iso_performance(
        self, rate: float, memory_intensity: npt.ArrayLike, *, link: Region = "network"
    ) -> Amount:
        """Return the line of the plane on which the attainable performance is `rate`.

        Parameters
        ----------
        rate : float
            flop/s or BOP/s; > 0 and at most the peak.
        memory_intensity : array_like, shape (...,)
            I_M, byte/byte; > 0.
        link : str
            As for `attainable`.

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
        bytes_alone, k = Demand(_bytes_of(memory_intensity, link)), exponent_of(self.overlap)
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


def _bytes_of(memory_intensity: npt.ArrayLike, link: Region) -> dict[str, npt.ArrayLike]:
    """Return the bytes of each resource per byte of memory at a memory intensity."""
    x = np.asarray(memory_intensity, dtype=np.float64)
    if not (x > 0).all():
        raise ValueError(f"memory_intensity must be > 0, got {memory_intensity!r}")
    if link in ("compute", "memory"):
        raise ValueError(f"link must be the network, remote memory or storage, got {link!r}")
    return {"dram": 1.0, REGIONS[link]: 1.0 / x}
