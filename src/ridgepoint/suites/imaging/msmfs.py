"""Deconvolution in scale and frequency: multi-scale multi-frequency CLEAN.

The sky is a sum of round blobs of a few sizes, each with a spectrum that is a polynomial in
(f - f0) / f0. In each minor cycle that blob is taken away which lessens chi square most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.imaging.arrays import (
    Array,
    convolved,
    middle,
    namespace,
    overlap,
    peak_of,
    spectrum,
)
from ridgepoint.suites.imaging.clean import Cleaned, Minor, Stop, Watchdog, require_peak

_WORST_CONDITION = 1e10


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Data that depend on the point-spread functions alone, shared by all major cycles.

    Parameters
    ----------
    scales : tuple of float
        Diameters of the blobs, pixels; 0: a point.
    terms : int
        Number of Taylor terms.
    blobs : tuple of array
        One for each scale, shape (size, size), of sum 1.
    beams : dict
        Point-spread function convolved with two blobs, by two scales and a sum of two terms. Whole
        images only in the lower triangle, since it is symmetric.
    inverses : tuple of ndarray, shape (terms, terms)
        One for each scale: inverse Hessian of chi square, from the centre of its beams.
    """

    scales: tuple[float, ...]
    terms: int
    blobs: tuple[Array, ...]
    beams: dict[tuple[int, int, int], Array]
    inverses: tuple[npt.NDArray[np.float64], ...]

    def beam(self, scale: int, other: int, order: int) -> Array:
        """Return the beam of two scales and a sum of two terms."""
        return self.beams[max(scale, other), min(scale, other), order]

    def reach(self, scale: int) -> int:
        """Return how far a blob reaches from its middle, pixel; a point does not."""
        return math.ceil(self.scales[scale] / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Component:
    """A blob that a minor cycle takes away: its scale, its pixel, its terms in Jy."""

    scale: int
    at: tuple[int, int]
    terms_jy: tuple[float, ...]


def blob(like: Array, diameter: float) -> Array:
    """Return a round blob in the centre of an image: a tapered parabola of sum 1.

    Parameters
    ----------
    like : array, shape (size, size)
    diameter : float
        Diameter, pixels; below 2 it is a point.
    """
    xp = namespace(like)
    size = int(like.shape[0])
    along = np.arange(size) - size // 2
    squared = (along[:, None] ** 2 + along**2) / max(diameter / 2, 0.5) ** 2
    # The taper goes to zero with its slope, so that the blob has no edge.
    profile = np.where(squared < 1, (1 - squared) * np.cos(np.sqrt(squared) * math.pi / 2), 0)
    return xp.asarray(profile / profile.sum(), dtype=like.dtype)


def prepare(psfs: Sequence[Array], scales: Sequence[float]) -> Basis:
    """Return the data that deconvolutions with these point-spread functions share.

    Parameters
    ----------
    psfs : sequence of array, shape (size, size)
        Of the orders 0 to 2 (terms - 1): weighted by ((f - f0) / f0)^order, all divided by the sum
        of the weights.
    scales : sequence of float
        Diameters, pixels; the first is 0, a point.

    Raises
    ------
    ValueError
        If there are no scales or an even number of functions; if the data do not tell the terms
        apart, or do not see a scale.
    """
    namespace(*psfs)
    if len(psfs) % 2 == 0:
        raise ValueError(f"psfs must be 2 terms - 1, got {len(psfs)}")
    size = int(psfs[0].shape[0])
    if not scales or scales[0] != 0 or not all(0 <= scale < size / 2 for scale in scales):
        raise ValueError(f"scales must be 0 first, then below half the image, got {list(scales)}")
    require_peak(psfs[0])
    blobs = tuple(blob(psfs[0], scale) for scale in scales)
    spectra = [spectrum(kernel) for kernel in blobs]
    beams = {
        (scale, other, order): convolved(psf, spectra[scale] * spectra[other])
        for scale, other in product(range(len(scales)), repeat=2)
        if other <= scale
        for order, psf in enumerate(psfs)
    }
    terms = (len(psfs) + 1) // 2
    inverses = tuple(_inverse(beams, scale, terms, size // 2) for scale in range(len(scales)))
    return Basis(scales=tuple(scales), terms=terms, blobs=blobs, beams=beams, inverses=inverses)


def _inverse(
    beams: dict[tuple[int, int, int], Array], scale: int, terms: int, at: int
) -> npt.NDArray[np.float64]:
    """Return the inverse of the Hessian of a scale.

    Raises
    ------
    ValueError
    """
    hessian = np.array(
        [[float(beams[scale, scale, t + q][at, at]) for q in range(terms)] for t in range(terms)]
    )
    values = np.linalg.eigvalsh(hessian)
    if not values[0] * _WORST_CONDITION > values[-1] > 0:
        raise ValueError("terms must be fewer, or channels more: the data do not distinguish them")
    return np.linalg.inv(hessian)


def msmfs(dirty: Sequence[Array], basis: Basis, minor: Minor) -> Cleaned:
    """Deconvolve in scale and frequency.

    Parameters
    ----------
    dirty : sequence of array, shape (size, size)
        One for each Taylor term, as for the point-spread functions of the basis; not changed.
    basis : Basis
    minor : Minor
        Its threshold is on the height of a point that would lessen chi square as much.

    Raises
    ------
    ValueError
        If terms or shapes are not those of the basis.
    Diverged

    Notes
    -----
    The residual is kept smoothed by every blob. Of scale s its terms at a pixel are R_s; the best
    coefficients there are ``a = inv(H_s) R_s`` and lessen chi square by ``R_s a``. The largest of
    these over pixels and scales is taken, and not the highest smoothed residual as in [1]: it needs
    no bias between scales.

    References
    ----------
    .. [1] U. Rau, T. J. Cornwell, "A multi-scale multi-frequency deconvolution algorithm for
       synthesis imaging in radio interferometry", A&A 532, A71, 2011,
       doi:10.1051/0004-6361/201117104.
    """
    return minor_cycles(smoothed(dirty, basis), basis, minor)


def smoothed(dirty: Sequence[Array], basis: Basis) -> list[list[Array]]:
    """Return every image smoothed by every blob, scale by scale: what minor cycles work on.

    Raises
    ------
    ValueError
        If terms or shapes are not those of the basis.
    """
    shape = basis.blobs[0].shape
    if len(dirty) != basis.terms or any(image.shape != shape for image in dirty):
        raise ValueError(f"dirty must be {basis.terms} image(s) of {shape}")
    spectra = [spectrum(kernel) for kernel in basis.blobs]
    return [[convolved(image, blurring) for image in dirty] for blurring in spectra]


def minor_cycles(smoothed: list[list[Array]], basis: Basis, minor: Minor) -> Cleaned:
    """Deconvolve smoothed images, which become the residuals; see `msmfs`.

    Parameters
    ----------
    smoothed : list of list of array
        By `smoothed`.
    basis : Basis
    minor : Minor

    Raises
    ------
    Diverged
    """
    xp = namespace(*smoothed[0])
    models = [xp.zeros_like(image) for image in smoothed[0]]
    watchdog = Watchdog()
    done, stop = minor.iterations, Stop.ITERATIONS
    for iteration in range(minor.iterations):
        scale, at, lessened = _best(smoothed, basis)
        height = math.sqrt(max(lessened, 0.0)) if math.isfinite(lessened) else math.nan
        watchdog.see(height, iteration)
        if height <= minor.threshold_jy:
            done, stop = iteration, Stop.THRESHOLD
            break
        here = np.array([float(term[at]) for term in smoothed[scale]])
        terms_jy = tuple(float(term) for term in minor.gain * basis.inverses[scale] @ here)
        component = _Component(scale=scale, at=at, terms_jy=terms_jy)
        _take_away(component, smoothed, basis, minor.patch_of(models[0]))
        _add(component, models, basis)
    # Smoothed by a point, they are as they were.
    return Cleaned(models=tuple(models), residuals=tuple(smoothed[0]), iterations=done, stop=stop)


def _best(smoothed: list[list[Array]], basis: Basis) -> tuple[int, tuple[int, int], float]:
    """Return the scale and the pixel of the blob that lessens chi square most, and how much.

    A blob is looked for where the whole of it lies inside of the image: nearer to an edge it would
    be cut, and what is smoothed there comes around from the other edge.
    """
    candidates = []
    for scale, (terms, inverse) in enumerate(zip(smoothed, basis.inverses, strict=True)):
        edge = basis.reach(scale)
        inner = slice(edge, terms[0].shape[0] - edge)
        lessened = _quadratic([term[inner, inner] for term in terms], inverse)
        row, column = peak_of(lessened)
        value = float(lessened[row, column])
        candidates.append((value, scale, (row + edge, column + edge)))
    value, scale, at = max(candidates)
    return scale, at, value


def _quadratic(terms: list[Array], matrix: npt.NDArray[np.float64]) -> Array:
    """Return ``R M R`` at every pixel."""
    total = 0.0
    for term, row in zip(terms, matrix, strict=True):
        solved = sum(float(value) * other for value, other in zip(row, terms, strict=True))
        total = total + term * solved
    return total


def _take_away(
    component: _Component, smoothed: list[list[Array]], basis: Basis, patch: int
) -> None:
    """Subtract what a component causes in the residuals of all scales and terms."""
    ours, theirs = overlap(component.at, size=int(basis.blobs[0].shape[0]), patch=patch)
    for scale, terms in enumerate(smoothed):
        for term, image in enumerate(terms):
            for order, flux_jy in enumerate(component.terms_jy):
                beam = middle(basis.beam(component.scale, scale, term + order), patch)
                image[ours] -= flux_jy * beam[theirs]


def _add(component: _Component, models: list[Array], basis: Basis) -> None:
    """Add a component to the models."""
    shape = basis.blobs[component.scale]
    wide = 2 * basis.reach(component.scale) + 1
    ours, theirs = overlap(component.at, size=int(shape.shape[0]), patch=wide)
    for model, flux_jy in zip(models, component.terms_jy, strict=True):
        model[ours] += flux_jy * middle(shape, wide)[theirs]
