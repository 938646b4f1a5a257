"""Rooflines: the one equation seen as performance over intensity."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy.typing as npt

from ridgepoint.core.amounts import Amount, positive
from ridgepoint.core.bound import bound
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import Presentable, quoted
from ridgepoint.core.resources import LEVELS, RESOURCES, Direction
from ridgepoint.core.units import format_si


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """One line of a roofline plot.

    Parameters
    ----------
    resource : str
        ``fp64``, ... for a horizontal roof; ``dram``, ``l1_read``, ... for a diagonal one.
    rate : float
        flop/s (or BOP/s), or byte/s.
    """

    resource: str
    rate: float

    @property
    def is_compute(self) -> bool:
        """Whether it bounds performance alike at every intensity."""
        return RESOURCES[self.resource].path == "compute"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Roofline(Presentable):
    """The roofline of one kind of work on a machine: hierarchical, read-only or write-only.

    Parameters
    ----------
    machine : Machine
    work : str
        ``fp64``, ``fp32``, ..., or ``bop``.
    cores : float or None
        Cores kept busy; None: all.
    direction : {"read", "write"} or None
        None: intensity is W / (Q_r + Q_w). ``read``: W / Q_r against the read bandwidth;
        ``write``: W / Q_w against the write bandwidth.

    Raises
    ------
    UnknownCeiling
        If the machine has no ceiling for `work`.

    References
    ----------
    .. [1] G. Ofenbeck, R. Steinmann, V. Caparros, D. Spampinato, M. Pueschel, "Applying the
       roofline model", ISPASS 2014, :doi:`10.1109/ISPASS.2014.6844463`; its Fig. 2(c) and (d)
       are the read-only and write-only rooflines.
    """

    machine: Machine = field(kw_only=False)
    work: str = "fp64"
    cores: float | None = None
    direction: Direction | None = None

    @property
    def headline(self) -> str:
        """What it is, in one line."""
        each = [(RESOURCES[roof.resource], roof.rate) for roof in self.roofs]
        roofs = [f"{one.label} {format_si(rate, one.rate_unit)}" for one, rate in each]
        return f"of {quoted(self.machine.name)}: {', '.join(roofs)}"

    def resource(self, level: str) -> str:
        """Return the name of the traffic resource at a level, in this roofline's direction."""
        return level if self.direction is None else f"{level}_{self.direction}"

    @property
    def peak(self) -> float:
        """Peak performance pi, flop/s."""
        return float(self.machine.rate(self.work, cores=self.cores))

    @property
    def levels(self) -> tuple[str, ...]:
        """Memory levels with a known bandwidth in this direction, from the core outwards."""
        return tuple(level for level in LEVELS if self.machine.knows(self.resource(level)))

    def bandwidth(self, level: str) -> float:
        """Return beta of a level, byte/s; one direction alone is no faster than both together."""
        rate = self.machine.rate(self.resource(level), cores=self.cores)
        both = self.machine.rate(level, cores=self.cores) if self.machine.knows(level) else rate
        return float(min(rate, both))

    @property
    def roofs(self) -> tuple[Roof, ...]:
        """The peak, then the bandwidths from the core outwards."""
        return (
            Roof(resource=self.work, rate=self.peak),
            *(Roof(resource=self.resource(n), rate=self.bandwidth(n)) for n in self.levels),
        )

    def ridge(self, level: str) -> float:
        """Return the ridge point of a level, flop/byte: pi / beta, the machine balance."""
        return self.peak / self.bandwidth(level)

    def attainable(self, intensity: npt.ArrayLike, *, level: str = "dram") -> Amount:
        """Return the attainable performance at an intensity of one level.

        Parameters
        ----------
        intensity : array_like, shape (...,)
            flop/byte of that level, in this roofline's direction; finite, > 0.
        level : str

        Returns
        -------
        float or ndarray, shape (...,)
            ``min(pi, beta I)``, flop/s.
        """
        i = positive("intensity", intensity)
        demand = Demand({self.work: i, self.resource(level): 1.0})
        return bound(demand, self.machine, cores=self.cores).attainable
