"""Rooflines, in flop and in basic operations: the one equation over an intensity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain, positive
from ridgepoint.core.bound import bound, ridge
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import Presentable, quoted
from ridgepoint.core.rates import Rates
from ridgepoint.core.resources import LEVELS, RESOURCES, Direction

Bottleneck = Literal["calculation", "memory access"]
_BOTTLENECKS: dict[str, Bottleneck] = {"compute": "calculation", "dram": "memory access"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """One line of a roofline plot.

    Parameters
    ----------
    resource : str
        ``fp64``, ... for a horizontal roof; ``dram``, ``l1_read``, ... for a diagonal one.
    rate : float
        Height or slope: flop/s (or BOP/s), or byte/s.
    """

    resource: str
    rate: float

    @property
    def is_compute(self) -> bool:
        """Whether it bounds performance equally at every intensity."""
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
        Number of busy cores; None: all.
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
        """Description in one line."""
        roofs = [RESOURCES[roof.resource].shown_rate(roof.rate) for roof in self.roofs]
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
            flop/byte of that level, in this roofline's direction; > 0; infinite: no bytes.
        level : str

        Returns
        -------
        float or ndarray, shape (...,)
            ``min(pi, beta I)``, flop/s.
        """
        demand = _demand(self.work, self.resource(level), intensity)
        return bound(demand, self.machine, cores=self.cores).attainable


@dataclass(frozen=True, slots=True, kw_only=True)
class DCRoofline:
    """The DC-Roofline of a machine, or of the same machine under one of its lower ceilings.

    Parameters
    ----------
    machine : Machine
    work : str
        ``bop``; ``fp64`` for the roofline in flop that the paper sets beside it.
    ceiling : str or None
        Name of a ceiling of `work` to stand for the peak, such as ``ILP``; None: the best.
    cores : float or None
        Number of busy cores; None: all.

    Raises
    ------
    UnknownCeiling
        If the machine has no such ceiling.

    Examples
    --------
    >>> from ridgepoint.published.machines import load
    >>> dc = DCRoofline(machine=load("e5645"))
    >>> round(dc.attainable(1.2)), dc.bottleneck(1.2), round(dc.ridge, 4)
    (15840000000, 'memory access', 6.5455)
    """

    machine: Machine = field(kw_only=False)
    work: str = "bop"
    ceiling: str | None = None
    cores: float | None = None

    def __post_init__(self) -> None:
        if self.ceiling is None:
            return
        ceilings = self.machine.ceilings
        named = [c for c in ceilings if (c.resource, c.name) == (self.work, self.ceiling)]
        if not any(c.rate for c in named):
            known = ", ".join(dict.fromkeys(c.name for c in ceilings if c.resource == self.work))
            raise UnknownCeiling(
                f"cannot bound by the {self.work} ceiling {self.ceiling!r} on {self.machine.name}",
                reason=f"the machine has no such ceiling (known: {known or 'none'})",
                remedy="name a known ceiling, or measure this one with 'ridgepoint machine'",
            )

    @property
    def rates(self) -> Rates:
        """The rates that bound."""
        patterns = {} if self.ceiling is None else {self.work: (self.ceiling,)}
        return Rates(machine=self.machine, cores=self.cores, patterns=patterns)

    @property
    def peak(self) -> float:
        """The compute ceiling, BOP/s."""
        return float(self.rates.rate(self.work))

    @property
    def ridge(self) -> float:
        """The intensity above which calculation is the bottleneck, BOP/byte."""
        return float(ridge(self.rates, self.work))

    def attainable(self, intensity: npt.ArrayLike) -> Amount:
        """Return the bound of Eq. (7), BOP/s, at intensities of DRAM, BOP/byte."""
        return bound(_demand(self.work, "dram", intensity), self.rates).attainable

    def bottleneck(self, intensity: npt.ArrayLike) -> Bottleneck | npt.NDArray[np.str_]:
        """Return what bounds programs of these intensities, BOP/byte; calculation in a tie."""
        limiter = bound(_demand(self.work, "dram", intensity), self.rates).limiter
        if isinstance(limiter, str):
            return _BOTTLENECKS[limiter]
        return np.where(limiter == "dram", _BOTTLENECKS["dram"], _BOTTLENECKS["compute"])

    def balanced_bytes_per_s(self, intensity: npt.ArrayLike) -> Amount:
        """Return the bandwidth below which memory bounds programs of these intensities.

        Parameters
        ----------
        intensity : array_like
            BOP/byte.

        Returns
        -------
        float or ndarray
            byte/s: upper limit of the bandwidth of a machine on which memory access is the
            bottleneck.
        """
        return plain(self.peak / positive("intensity", intensity))


def _demand(work: str, resource: str, intensity: npt.ArrayLike) -> Demand:
    """Return a demand with this intensity; it has no bytes where the intensity is infinite."""
    per_byte = np.asarray(intensity, dtype=np.float64)
    if not (per_byte > 0).all():
        raise ValueError(f"intensity must be > 0, got {intensity!r}")
    moves = np.isfinite(per_byte)
    return Demand({work: np.where(moves, per_byte, 1.0), resource: moves})
