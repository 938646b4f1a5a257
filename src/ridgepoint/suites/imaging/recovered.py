"""Comparison of an image with the sources of a known sky."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ridgepoint.suites.imaging.arrays import overlap, peak_of
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.gridder import Floats
from ridgepoint.suites.imaging.sky import Source
from ridgepoint.suites.imaging.stages import Scene

_AROUND_POINT = 5  # pixels along a side
_EXTENT = 2.6  # full widths at half maximum, along a side: a Gaussian but for 0.4 %
_NEAR = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """A source as the image shows it.

    Parameters
    ----------
    source : Source
    flux_jy : float
        Flux of the model around the source's position.
    index : float or None
        Spectral index; None: there is no second Taylor term.
    offset_pixels : float
        Distance from the source's position to the nearby peak of the restored image.
    """

    source: Source
    flux_jy: float
    index: float | None
    offset_pixels: float


def recovered(scene: Scene, imaged: Imaged) -> tuple[Recovered, ...]:
    """Return every source of a scene as the image shows it."""
    return tuple(_of(source, scene.geometry.cell, imaged) for source in scene.sky)


def _of(source: Source, cell: float, imaged: Imaged) -> Recovered:
    size = imaged.dirty.shape[0]
    row, column = (size // 2 + round(one / cell) for one in (source.l, source.m))
    wide = max(_AROUND_POINT, 2 * round(_EXTENT * source.fwhm / cell / 2) + 1)
    sums = [float(_box(model, (row, column), wide).sum()) for model in imaged.models]
    peak = peak_of(_box(imaged.restored, (row, column), _NEAR))
    return Recovered(
        source=source,
        flux_jy=sums[0],
        index=sums[1] / sums[0] if len(sums) > 1 and sums[0] else None,
        offset_pixels=math.hypot(*(one - _NEAR // 2 for one in peak)),
    )


def _box(image: Floats, at: tuple[int, int], wide: int) -> Floats:
    ours, _ = overlap(at, size=image.shape[0], patch=wide)
    return image[ours]
