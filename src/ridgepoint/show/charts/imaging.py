"""An image of a known sky as a figure: dirty image, model, residual, restored image."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.units import format_si
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.gridder import Floats
from ridgepoint.suites.imaging.restore import Beam
from ridgepoint.suites.imaging.stages import Scene

_ARCMIN = math.degrees(1) * 60
_SPREADS = 4.0  # of the residual, to either side of zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture.

    Parameters
    ----------
    title : str
    unit : str
    pixels : ndarray, shape (size, size)
    low, high : float
        What the ends of its colours mean.
    linear : float
        Below it colours follow the value, above it the logarithm.
    has_marks : bool
        Whether the sources are to be marked.
    """

    title: str
    unit: str
    pixels: npt.NDArray[np.float64]
    low: float
    high: float
    linear: float
    has_marks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagingFigure:
    """Four pictures of one field.

    Parameters
    ----------
    title, subtitle : str
    half_arcmin : float
        From the middle of the field to its edge.
    panels : tuple of Panel
    sources_arcmin : tuple of (float, float, bool)
        Of every source its two coordinates, and whether it is extended.
    beam : Beam
        Of the restored image.
    pixel_arcmin : float
    """

    title: str
    subtitle: str
    half_arcmin: float
    panels: tuple[Panel, ...]
    sources_arcmin: tuple[tuple[float, float, bool], ...]
    beam: Beam
    pixel_arcmin: float


def imaging_figure(seen: Scene, found: Imaged) -> ImagingFigure:
    """Return the figure of a scene and its image."""
    geometry, plan = seen.geometry, seen.plan
    noise = float(found.residual.std())
    bright = float(found.restored.max())
    most = _SPREADS * noise
    linear = 5 * noise
    model = found.models[0]
    peak = float(model.max())
    panels = (
        _panel("dirty image", "Jy/beam", found.dirty, high=bright, linear=linear),
        Panel(title="model", unit="Jy/pixel", pixels=model, low=-peak / 1e3, high=peak,
              linear=peak / 1e3, has_marks=True),
        Panel(title="residual", unit="mJy/beam", pixels=found.residual * 1e3, low=-most * 1e3,
              high=most * 1e3, linear=most * 1e3),
        _panel("restored image", "Jy/beam", found.restored, high=bright, linear=linear),
    )  # fmt: skip
    visibilities = format_si(seen.observation.visibilities, "", digits=3)
    return ImagingFigure(
        title=f"A known sky, imaged: {plan.algorithm.upper()}",
        subtitle=f"{visibilities} visibilities, {geometry.size} x {geometry.size} pixels, "
        f"{plan.major} major cycles, {found.minor_cycles} minor cycles, "
        f"residual {noise * 1e3:.2g} mJy/beam",
        half_arcmin=geometry.size / 2 * geometry.cell * _ARCMIN,
        panels=panels,
        sources_arcmin=tuple((one.l * _ARCMIN, one.m * _ARCMIN, one.fwhm > 0) for one in seen.sky),
        beam=found.beam,
        pixel_arcmin=geometry.cell * _ARCMIN,
    )


def _panel(title: str, unit: str, pixels: Floats, *, high: float, linear: float) -> Panel:
    return Panel(title=title, unit=unit, pixels=pixels, low=-linear, high=high, linear=linear)
