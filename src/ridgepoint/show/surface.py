"""What a surface in three dimensions is: frozen values in base units, as of a chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ridgepoint.models.ridgeline.placed import Region
from ridgepoint.show.chart import Axis


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
    region : {"memory", "network"}
        Which roofline it is: with memory, or with the network.
    places : tuple of (float, float, float)
    name : str
    """

    region: Literal["memory", "network"]
    places: tuple[tuple[float, float, float], ...]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """Performance over two intensities, in three dimensions.

    Parameters
    ----------
    title, subtitle : str
    x, y, z : Axis
    faces : tuple of Face
    cuts : tuple of Cut
    """

    title: str
    subtitle: str
    x: Axis
    y: Axis
    z: Axis
    faces: tuple[Face, ...]
    cuts: tuple[Cut, ...] = ()
