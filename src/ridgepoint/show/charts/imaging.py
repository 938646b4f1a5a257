"""An image of a known sky: dirty image, model, residual, restored image."""

from __future__ import annotations

import math

from ridgepoint.core.units import format_si
from ridgepoint.show.axes import decade_ticks, decimal_ticks, plain_number
from ridgepoint.show.chart import Entry, Interval, Mark, Place
from ridgepoint.show.images import Image, Images
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.gridder import Floats
from ridgepoint.suites.imaging.stages import Scene

_ARCMIN = math.degrees(1) * 60
_SPREADS = 4.0  # spreads of the residual, to either side of zero
_FROM_EDGE = 0.06
_OUTLINE = 60
_SOURCE_INK, _SOURCE_SIZE = 5, 2.0


def sky_images(scene: Scene, imaged: Imaged) -> Images:
    """Return the images of a scene: observed sky, model found in it, residual, restored image."""
    geometry, plan = scene.geometry, scene.plan
    pixel_arcmin = geometry.cell * _ARCMIN
    half_arcmin = geometry.size / 2 * pixel_arcmin
    noise = float(imaged.residual.std())
    limits = (-5 * noise, float(imaged.restored.max()))
    residual = imaged.residual * 1e3
    spread = _SPREADS * noise * 1e3
    corner = -half_arcmin * (1 - 2 * _FROM_EDGE)
    beam = tuple(
        (corner + x * pixel_arcmin, corner + y * pixel_arcmin)
        for x, y in imaged.beam.half_maximum(_OUTLINE)
    )
    visibilities = format_si(scene.observation.visibilities, "", digits=3)
    model, sources = imaged.models[0], _sources(scene)
    peak = float(model.max())
    return Images(
        title=f"A known sky, imaged: {plan.algorithm.upper()}",
        subtitle=f"{visibilities} visibilities, {geometry.size} x {geometry.size} pixels, "
        f"{plan.major} major cycles, {imaged.minor_cycles} minor cycles, "
        f"residual {noise * 1e3:.2g} mJy/beam",
        half_arcmin=half_arcmin,
        images=(
            _image("dirty image", imaged.dirty, "Jy/beam", limits),
            _image("model", model, "Jy/pixel", (-peak / 1e3, peak), marks=sources),
            Image(
                title="residual",
                pixels=residual,
                unit="mJy/beam",
                limits=(-spread, spread),
                ticks=decimal_ticks((-spread, spread)),
            ),
            _image("restored image", imaged.restored, "Jy/beam", limits, beam=beam),
        ),
        key=_key(sources),
    )


def _image(
    title: str,
    pixels: Floats,
    unit: str,
    limits: Interval,
    *,
    linear: float | None = None,
    marks: tuple[Mark, ...] = (),
    beam: tuple[Place, ...] = (),
) -> Image:
    """Return an image whose colours are logarithmic above the noise."""
    linear = -limits[0] if linear is None else linear
    ticks = ((0.0, "0"), *decade_ticks((linear, limits[1]), plain_number))
    return Image(
        title=title, pixels=pixels, unit=unit, limits=limits, ticks=ticks, linear=linear,
        marks=marks, beam=beam,
    )  # fmt: skip


def _sources(scene: Scene) -> tuple[Mark, ...]:
    """Return the true places of all sources."""
    return tuple(
        Mark(
            at=(source.l * _ARCMIN, source.m * _ARCMIN),
            shape="square" if source.fwhm > 0 else "circle",
            face="hollow",
            ink=_SOURCE_INK,
            size=_SOURCE_SIZE,
            name="an extended source" if source.fwhm > 0 else "a point source",
        )
        for source in scene.sky
    )


def _key(sources: tuple[Mark, ...]) -> tuple[Entry, ...]:
    """Return the key of the kinds of sources that are marked."""
    kinds = {source.shape: source.name for source in sources}
    return tuple(
        Entry(
            text=f"true place of {kinds[shape]}",
            ink=_SOURCE_INK,
            shape=shape,
            face="hollow",
            is_abreast=True,
        )
        for shape in sorted(kinds)
    )
