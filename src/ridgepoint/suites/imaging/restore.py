"""The restored image: a model seen with a clean beam, and what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ridgepoint.suites.imaging.arrays import Array, convolved, middle, namespace, spectrum, to_host

_CORE = 11  # pixels along a side in which a main lobe is looked for
_HIGH = 0.35  # of the peak: below it a main lobe is no Gaussian
_REACH = 3  # full widths at half maximum: a Gaussian is below 2e-11 there
_FWHM_PER_SIGMA = math.sqrt(8 * math.log(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Beam:
    """A Gaussian: ``exp(-(a x^2 + b x y + c y^2))``, x along the first axis.

    Parameters
    ----------
    a, b, c : float
        Pixel^-2.
    """

    a: float
    b: float
    c: float

    @property
    def pixels(self) -> float:
        """Its integral, pixel: Jy/beam over so many is Jy/pixel."""
        return 2 * math.pi / math.sqrt(4 * self.a * self.c - self.b**2)

    @property
    def fwhm(self) -> tuple[float, float]:
        """Major and minor full width at half maximum, pixel."""
        values = np.linalg.eigvalsh([[self.a, self.b / 2], [self.b / 2, self.c]])
        wide, narrow = (_FWHM_PER_SIGMA / math.sqrt(2 * float(value)) for value in values)
        return wide, narrow

    def half_maximum(self, places: int) -> list[tuple[float, float]]:
        """Return places on the line of half its maximum, in pixels from its middle."""
        angle = np.linspace(0, 2 * math.pi, places)
        x, y = np.cos(angle), np.sin(angle)
        away = np.sqrt(math.log(2) / (self.a * x**2 + self.b * x * y + self.c * y**2))
        return list(zip((away * x).tolist(), (away * y).tolist(), strict=True))

    def image(self, like: Array) -> Array:
        """Return it in the middle of an image, 1 at its peak."""
        xp = namespace(like)
        size = int(like.shape[0])
        x = np.arange(size)[:, None] - size // 2
        y = x.T
        shape = np.exp(-(self.a * x**2 + self.b * x * y + self.c * y**2))
        return xp.asarray(shape, dtype=like.dtype)


def fit_beam(psf: Array) -> Beam:
    """Return the Gaussian that fits the main lobe of a point-spread function.

    Raises
    ------
    ValueError
        If there is no lobe of a few pixels.
    """
    core = to_host(middle(psf, _CORE))
    x, y = (index - _CORE // 2 for index in np.indices(core.shape))
    high = core > _HIGH
    columns = np.stack((x**2, x * y, y**2), axis=-1)[high]
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        raise ValueError("psf must have a main lobe of several pixels: cells are too large")
    # Near the peak the logarithm of anything smooth is a parabola.
    (a, b, c), *_ = np.linalg.lstsq(columns, -np.log(core[high]), rcond=None)
    if not (a > 0 and 4 * a * c > b * b):
        raise ValueError("psf must have its peak in the middle")
    return Beam(a=float(a), b=float(b), c=float(c))


def restore(model: Array, residual: Array, beam: Beam) -> Array:
    """Return a model seen with a beam, with the residual added, Jy/beam.

    What the beam carries beyond an edge is lost: it does not come in at the other one.
    """
    xp = namespace(model, residual)
    size = int(model.shape[0])
    around = math.ceil(_REACH * beam.fwhm[0])
    padded = xp.zeros((size + around, size + around), dtype=model.dtype)
    padded[:size, :size] = model
    return convolved(padded, spectrum(beam.image(padded)))[:size, :size] + residual
