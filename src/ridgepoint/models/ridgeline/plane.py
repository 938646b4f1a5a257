"""Planes of two intensities on which units of work are placed: the paper's, and its siblings.

The vertical axis is always the arithmetic intensity I_A. The paper's horizontal axis is the memory
intensity I_M = B_M / B_N; on the others it is the work per byte of one link, such as I_N = F / B_N.
Both show the same three resources: a point of the one is a point of the other, moved sideways by
its arithmetic intensity.

References
----------
.. [1] F. Checconi, J. J. Tithi, F. Petrini, "Ridgeline: a 2D roofline model for distributed
   systems", :arxiv:`2209.01368`, Section II: "it would be possible to carry out an equivalent
   analysis using arithmetic and network intensity".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, Array
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.placed import REGIONS, Placed, Region

Inequality = Callable[[float, float], float]
"""Of the logarithms of x and y; it holds where the value is >= 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """A plane of I_A over another intensity.

    Parameters
    ----------
    name : str
        Symbol of the horizontal axis.
    link : str
        Region of the link that the plane shows beside compute and memory.
    is_of_work : bool
        Whether the horizontal axis is work per byte of the link; False: bytes of memory.
    """

    name: str
    link: Region
    is_of_work: bool

    @property
    def regions(self) -> tuple[Region, Region, Region]:
        """The three regions of the plane."""
        return ("compute", "memory", self.link)

    def x_of(self, placed: Placed) -> Amount:
        """Return the horizontal positions of units of work; infinite or NaN as in `Placed`."""
        return placed.intensity(self.link) if self.is_of_work else placed.memory_intensity

    def ridge(self, ridgeline: Ridgeline) -> tuple[float, float]:
        """Return the point where the regions meet.

        Raises
        ------
        UnknownCeiling
            If a machine lacks a ceiling.
        """
        memory, link = ridgeline.rate("dram"), ridgeline.rate(REGIONS[self.link])
        above = ridgeline.peak if self.is_of_work else memory
        return above / link, ridgeline.peak / memory

    def inequalities(self, right: float, up: float) -> dict[Region, tuple[Inequality, ...]]:
        """Return where each resource needs most time, as inequalities of the intensities' logs.

        Parameters
        ----------
        right, up : float
            Logarithms of the ridge point.
        """
        if self.is_of_work:
            return {
                "compute": (lambda x, y: y - up, lambda x, y: x - right),
                "memory": (lambda x, y: up - y, lambda x, y: (x - right) - (y - up)),
                self.link: (lambda x, y: right - x, lambda x, y: (y - up) - (x - right)),
            }
        return {
            "compute": (lambda x, y: y - up, lambda x, y: x + y - right - up),
            "memory": (lambda x, y: up - y, lambda x, y: x - right),
            self.link: (lambda x, y: right - x, lambda x, y: right + up - x - y),
        }

    def attainable(self, ridgeline: Ridgeline, x: npt.ArrayLike, y: npt.ArrayLike) -> Amount:
        """Return the attainable performance at places of the plane, flop/s or BOP/s."""
        ratio = np.divide(x, y) if self.is_of_work else x
        return ridgeline.attainable(ratio, y, link=self.link)

    def line_of(
        self, ridgeline: Ridgeline, rate: float, ends: tuple[float, float], places: int
    ) -> tuple[Array, Array]:
        """Return the line on which the attainable performance is `rate`.

        Parameters
        ----------
        ridgeline : Ridgeline
        rate : float
            flop/s or BOP/s; > 0 and at most the peak.
        ends : tuple of float
            Least and largest memory intensity, over the bytes of `link`.
        places : int
            Number of places along the line.

        Returns
        -------
        tuple of ndarray, shape (n,)
            x and y, without places out of reach.
        """
        corner = ridgeline.rate("dram") / ridgeline.rate(REGIONS[self.link])
        ratio = np.unique([*np.geomspace(*ends, places), corner])
        y = np.asarray(ridgeline.iso_performance(rate, ratio, link=self.link))
        ratio, y = ratio[np.isfinite(y)], y[np.isfinite(y)]
        return (ratio * y if self.is_of_work else ratio), y


PLANES = {
    plane.name: plane
    for plane in (
        Plane(name="I_M", link="network", is_of_work=False),
        Plane(name="I_N", link="network", is_of_work=True),
        Plane(name="I_R", link="remote memory", is_of_work=True),
        Plane(name="I_S", link="storage", is_of_work=True),
    )
}
"""By the symbol of their horizontal axis; the first is the paper's."""


def planes_of(ridgeline: Ridgeline) -> tuple[Plane, ...]:
    """Return the planes for which the machines have the ceilings."""
    return tuple(plane for plane in PLANES.values() if plane.link in ridgeline.regions)
