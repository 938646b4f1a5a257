"""Units of work on a plane of the Ridgeline: their intensities, times and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, ratio
from ridgepoint.core.bound import Bound
from ridgepoint.core.longest import as_long, longest
from ridgepoint.models.thresholds import SAME

Region = Literal["compute", "memory", "network", "remote memory", "storage"]

REGIONS: dict[Region, str] = {
    "compute": "compute",
    "memory": "dram",
    "network": "network",
    "remote memory": "remote",
    "storage": "storage",
}
"""Regions of a plane, each with the path of the bound that takes most of the time there. The paper
has the first three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Units of work on the plane, and their limits there; shape (...,) or single.

    Parameters
    ----------
    bound : Bound
        Bound of one node; each path on the machine that is slowest at it.
    own_times_s : tuple of float or ndarray
        The bound's time of each machine by itself, in seconds.
    regions : tuple of str
        Regions of the resources that the machines have ceilings of.
    """

    bound: Bound
    own_times_s: tuple[Amount, ...]
    regions: tuple[Region, ...] = ("compute", "memory", "network")

    @property
    def work(self) -> Amount:
        """F, flop or BOP of one node."""
        return self._shaped(self.bound.work)

    @property
    def memory_bytes(self) -> Amount:
        """B_M, byte of one node."""
        return self.bytes_of("memory")

    @property
    def network_bytes(self) -> Amount:
        """B_N, byte of one node."""
        return self.bytes_of("network")

    def bytes_of(self, region: Region) -> Amount:
        """Return the bytes that one node moves at a region's resource."""
        return self._shaped(self.bound.demand.amount(REGIONS[region]))

    def intensity(self, region: Region) -> Amount:
        """Return the work per byte of a region's resource: I_A, I_N, I_R or I_S.

        It is infinite without such bytes, NaN with neither.
        """
        return self._shaped(self.bound.intensity(REGIONS[region]))

    @property
    def times_s(self) -> dict[Region, Amount]:
        """Seconds that each region's path needs, on the machine that is slowest at it."""
        times = self.bound.times_s
        return {name: self._shaped(times.get(REGIONS[name], 0.0)) for name in self.regions}

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
        return self.intensity("memory")

    @property
    def network_intensity(self) -> Amount:
        """I_N = F / B_N; infinite without network bytes, NaN with neither."""
        return self.intensity("network")

    @property
    def performance(self) -> Amount:
        """Attainable flop/s or BOP/s of one node."""
        return self.bound.attainable

    def _shaped(self, amount: Amount) -> Amount:
        return plain(np.broadcast_to(amount, np.shape(self.bound.time_s)))


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
