"""What figures of cores and nodes are: frozen values in base units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["curve", "limit", "level"]
"""A curve of the model; a limit that none passes; a level of no unit, drawn faintly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line.

    Parameters
    ----------
    label : str
    role : {"curve", "limit", "level"}
    x, y : tuple of float
    low, high : tuple of float
        Ends of a 95 % interval of y; empty: none.
    """

    label: str
    role: Role
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One place with a name: an optimum, or what is allocated."""

    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """One run: the median, and its quartiles."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvesFigure:
    """Lines over cores or nodes.

    Parameters
    ----------
    title, subtitle : str
    x_label, y_label : str
    y_unit : str
        Of ticks with prefixes; empty: none.
    y_scale : {"log", "share"}
        Powers of 2, or shares from 0 to 1.
    y_limits : tuple of float
    curves : tuple of Curve
    marks : tuple of Mark
    measured : tuple of MeasuredPoint
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    y_unit: str
    y_scale: Literal["log", "share"]
    y_limits: tuple[float, float]
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...] = ()
    measured: tuple[MeasuredPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceFigure:
    """Efficiency over cores and intensity.

    Parameters
    ----------
    title, subtitle : str
    x_label, y_label, z_label : str
    x, y : tuple of float
        Ascending; both on logarithmic axes.
    z : tuple of tuple of float
        Shares, by y and then by x.
    levels : tuple of float
        That are drawn as lines.
    marks : tuple of Mark
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    z_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    z: tuple[tuple[float, ...], ...]
    levels: tuple[float, ...]
    marks: tuple[Mark, ...] = ()


Figure = CurvesFigure | SurfaceFigure
