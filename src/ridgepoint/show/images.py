"""What images of a field are: pixels and what is marked on them, as of a chart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.show.chart import Entry, Interval, Mark, Place, Ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Pixels of a square field.

    Parameters
    ----------
    title : str
    pixels : ndarray, shape (size, size)
        The first axis is horizontal.
    unit : str
    limits : tuple of float
        What the ends of the colours mean.
    ticks : tuple of (float, str)
        Of the bar of colours.
    linear : float or None
        Below it colours follow the value, above it the logarithm; None: they follow the value
        everywhere, to either side of 0.
    marks : tuple of Mark
        In minutes of arc from the middle of the field.
    beam : tuple of (float, float)
        The outline of the beam at half its maximum, in the same unit; empty: there is none.
    """

    title: str
    pixels: npt.NDArray[np.float64]
    unit: str
    limits: Interval
    ticks: Ticks
    linear: float | None = None
    marks: tuple[Mark, ...] = ()
    beam: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """Images of one field, two in a row.

    Parameters
    ----------
    title, subtitle : str
    half_arcmin : float
        From the middle of the field to its edge.
    images : tuple of Image
    key : tuple of Entry
    """

    title: str
    subtitle: str
    half_arcmin: float
    images: tuple[Image, ...]
    key: tuple[Entry, ...]
