"""What the Ridgeline's figures are: frozen values in base units, on two logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.units import format_si
from ridgepoint.models.ridgeline import Region
from ridgepoint.show.charts.plane import Coordinates, Plane

Edge = Literal["left", "right", "top", "bottom"]
Style = Literal["ridge", "balance", "iso", "path", "roof", "network", "memory", "compute", "total"]
Ticks = tuple[tuple[float, str], ...]

_MOST_TICKS = 8
_LEAST_SI, _MOST_SI = 1e-15, 1e27


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A part of the plane.

    Parameters
    ----------
    region : str or None
        Which resource bounds there: its colour; None: that is not decided.
    corners : tuple of (float, float)
        Of a polygon whose sides are straight on the logarithmic axes.
    label : str
        Written in it, line by line; empty: nothing.
    """

    region: Region | None
    corners: tuple[Coordinates, ...]
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through places of the plane.

    Parameters
    ----------
    style : str
        What it means: its colour and stroke.
    places : tuple of (float, float)
        At least two; it may leave the frame.
    label : str
        Written along it; empty: nothing.
    name : str
        In the key; empty: it is not there.
    marked : bool
        Whether every place has a marker.
    joined : bool
        Whether a stroke joins the places.
    """

    style: Style
    places: tuple[Coordinates, ...]
    label: str = ""
    name: str = ""
    marked: bool = False
    joined: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A unit of work on the plane.

    Parameters
    ----------
    at : tuple of float
        Where it is drawn.
    label : str
    region : str
        What bounds it: its colour.
    edge : str or None
        It lies beyond this edge, at which it is drawn; None: it lies where it is drawn.
    """

    at: Coordinates
    label: str
    region: Region
    edge: Edge | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(Plane):
    """Areas, lines and dots on two logarithmic axes.

    Parameters
    ----------
    areas : tuple of Area
    lines : tuple of Line
    dots : tuple of Dot
    is_slanted : bool
        Whether texts below the horizontal axis are slanted, since they are long.
    """

    areas: tuple[Area, ...] = ()
    lines: tuple[Line, ...] = ()
    dots: tuple[Dot, ...] = ()
    is_slanted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartsFigure:
    """Charts side by side.

    Parameters
    ----------
    charts : tuple of Chart
        One or two.
    notes : tuple of str
        What a reader must know and the charts cannot show.
    """

    charts: tuple[Chart, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """A flat part of a surface over two logarithmic axes.

    Parameters
    ----------
    region : str
    corners : tuple of (float, float, float)
    """

    region: Region
    corners: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A line on the surface, and its shadow on the floor.

    Parameters
    ----------
    style : {"memory", "network"}
        Which roofline it is: with memory, or with the network.
    places : tuple of (float, float, float)
    name : str
    """

    style: Literal["memory", "network"]
    places: tuple[tuple[float, float, float], ...]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceFigure(Plane):
    """Performance over two intensities, in three dimensions.

    Parameters
    ----------
    z_label : str
    z_limits : tuple of float
    z_ticks : tuple of (float, str)
    faces : tuple of Face
    cuts : tuple of Cut
    """

    z_label: str
    z_limits: Coordinates
    z_ticks: Ticks
    faces: tuple[Face, ...]
    cuts: tuple[Cut, ...] = ()


def si_text(value: float, unit: str, *, digits: int = 4) -> str:
    """Return a value with a prefix, or with an exponent where there is none."""
    if value and not _LEAST_SI <= abs(value) < _MOST_SI:
        return f"{value:.{digits}g} {unit}"
    return format_si(value, unit, digits=digits)


def decades(values: Iterable[float], *, room: float = 1.0) -> Coordinates:
    """Return whole decades that hold positive values, and a factor beyond them."""
    known = list(values)
    low, high = min(known) / room, max(known) * room
    # A hair inside: 1e-3 is 10 ** -3 in two ways.
    bottom = 10.0 ** math.floor(math.log10(low) + 1e-9)
    return bottom, max(10.0 ** math.ceil(math.log10(high) - 1e-9), bottom * 10)


def decade_ticks(limits: Coordinates, shown: Callable[[float], str]) -> Ticks:
    """Return ticks at decades, at most so many that they can be read."""
    first, last = (round(math.log10(limit)) for limit in limits)
    step = max(-(-(last - first) // _MOST_TICKS), 1)
    return tuple((10.0**power, shown(10.0**power)) for power in range(first, last + 1, step))


def clipped(
    corners: Iterable[Coordinates], keeps: Iterable[Callable[[float, float], float]]
) -> tuple[Coordinates, ...]:
    """Return the part of a polygon in which every function is >= 0.

    Parameters
    ----------
    corners : iterable of (float, float)
        > 0; the sides are straight on logarithmic axes.
    keeps : iterable of callable
        Of the logarithms of both coordinates, and linear in them.
    """
    polygon = [(math.log10(x), math.log10(y)) for x, y in corners]
    for keep in keeps:
        kept: list[Coordinates] = []
        for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            inside, beyond = keep(*here), keep(*there)
            if inside >= 0:
                kept.append(here)
            if inside * beyond < 0:
                share = inside / (inside - beyond)
                kept.append(
                    (here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1]))
                )
        polygon = kept
    return tuple((10.0**x, 10.0**y) for x, y in polygon)
