"""What a DC-Roofline figure is: frozen values in base units, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.estimate import Estimate
from ridgepoint.show.charts.plane import Coordinates, Plane, RidgeMark, RoofLine

Form = Literal["original", "optimised"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPoint:
    """What was measured of one form of a workload.

    Parameters
    ----------
    name : str
        Of the workload; its forms share it.
    form : {"original", "optimised"}
    bop, flop : float
        Work of one run, basic operations and floating-point ones.
    dram_bytes : float
        Moved between caches and memory, both ways.
    runtime_s : Estimate
    """

    name: str
    form: Form
    bop: float
    flop: float
    dram_bytes: float
    runtime_s: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One form of a workload on the plane.

    Parameters
    ----------
    form : {"original", "optimised"}
    at : tuple of float
        Where it is drawn: intensity per byte and median performance per second.
    low, high : float
        Quartiles of the performance.
    is_beyond : bool
        No byte moved: it is drawn at the right edge, since it lies at infinity.
    """

    form: Form
    at: Coordinates
    low: float
    high: float
    is_beyond: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload on the plane, before and after.

    Parameters
    ----------
    name : str
    marks : tuple of Mark
        The original first; empty: no such work, and its summary says so.
    summary : str
        Performance, share of what is attainable, bottleneck; for the key.
    """

    name: str
    marks: tuple[Mark, ...]
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DCPanel(Plane):
    """One roofline with workloads: in BOP, or in flop.

    Parameters
    ----------
    roofs : tuple of RoofLine
        Peak and bandwidth, then the lower ceilings.
    ridges : tuple of RidgeMark
    workloads : tuple of Workload
        In the same order in both panels.
    """

    roofs: tuple[RoofLine, ...]
    ridges: tuple[RidgeMark, ...]
    workloads: tuple[Workload, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DCFigure:
    """Both panels.

    Parameters
    ----------
    bop, flop : DCPanel
    notes : tuple of str
    """

    bop: DCPanel
    flop: DCPanel
    notes: tuple[str, ...]
