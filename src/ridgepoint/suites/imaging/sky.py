"""A known sky and its visibilities, by the direct sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.imaging.telescope import SPEED_OF_LIGHT_M_PER_S, Observation

Visibilities = npt.NDArray[np.complex128]

_ROWS_AT_ONCE = 1 << 15
_SIGMA_PER_FWHM = 1 / math.sqrt(8 * math.log(2))
_TRIES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source: a point, or round with a Gaussian profile.

    Parameters
    ----------
    flux_jy : float
        Flux at the reference frequency, integrated over the source.
    l, m : float
        Direction cosines from the middle of the field.
    fwhm : float
        Full width at half maximum, radian; 0: a point.
    index : float
        Spectral index: flux is proportional to (f / f0)^index.
    """

    flux_jy: float
    l: float  # noqa: E741 - what the field calls it
    m: float
    fwhm: float = 0.0
    index: float = 0.0


def seeded_sky(
    *, size: int, cell: float, points: int = 8, extended: int = 2, seed: int = 1
) -> tuple[Source, ...]:
    """Return sources in the inner half of an image, on pixels and apart from each other.

    Parameters
    ----------
    size : int
        Pixels along a side.
    cell : float
        Side of a pixel, radian.
    points, extended : int
        Numbers of sources; an extended one is 7 pixels wide at half maximum, and has at least ten
        times the flux of a point.
    seed : int

    Raises
    ------
    ValueError
        If there is no room for this many sources.
    """
    rng = np.random.default_rng(seed)
    apart = max(size // 16, 6)
    places: list[tuple[int, int]] = []
    for _ in range(_TRIES):
        if len(places) == points + extended:
            break
        row, column = (int(one) for one in rng.integers(-size // 4, size // 4, 2))
        if all(math.hypot(row - a, column - b) >= apart for a, b in places):
            places.append((row, column))
    else:
        raise ValueError(f"points and extended must fit into the image, got {points + extended}")
    return tuple(
        Source(
            flux_jy=float(rng.uniform(10, 15) if i < extended else rng.uniform(0.3, 1)),
            l=row * cell,
            m=column * cell,
            fwhm=7 * cell if i < extended else 0.0,
            index=float(rng.uniform(-1, 0)),
        )
        for i, (row, column) in enumerate(places)
    )


def visibilities(
    sky: Sequence[Source], observation: Observation, *, noise_jy: float = 0.0, seed: int = 1
) -> Visibilities:
    """Return the visibilities of a sky, by the direct sum over the sources.

    Parameters
    ----------
    sky : sequence of Source
    observation : Observation
    noise_jy : float
        Standard deviation of the noise in the real and in the imaginary part of each visibility.
    seed : int
        Seed of the noise.

    Returns
    -------
    ndarray of complex128, shape (rows, channels), Jy

    Notes
    -----
    ``V = sum S (f/f0)^index exp(-2 pi i f/c (u l + v m - w (n - 1)))``, and of a Gaussian with
    standard deviation s times ``exp(-2 pi^2 s^2 (u^2 + v^2) (f/c)^2)``. No primary beam.
    """
    observed = np.zeros(observation.shape, dtype=np.complex128)
    scale = observation.frequency_hz / SPEED_OF_LIGHT_M_PER_S
    for first in range(0, len(observed), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        for source in sky:
            observed[rows] += _of_source(source, observation, rows, scale)
    if noise_jy:
        rng = np.random.default_rng(seed)
        observed.real += rng.normal(0, noise_jy, observed.shape)
        observed.imag += rng.normal(0, noise_jy, observed.shape)
    return observed


def _of_source(
    source: Source, observation: Observation, rows: slice, scale: npt.NDArray[np.float64]
) -> Visibilities:
    u, v, w = observation.uvw_m[rows].T
    off = source.l**2 + source.m**2
    n_minus_one = -off / (1 + math.sqrt(1 - off))
    path = (u * source.l + v * source.m - w * n_minus_one)[:, None] * scale
    flux = source.flux_jy * (observation.frequency_hz / observation.reference_hz) ** source.index
    if source.fwhm:
        wide = source.fwhm * _SIGMA_PER_FWHM
        flux = flux * np.exp(-2 * (math.pi * wide * scale) ** 2 * (u**2 + v**2)[:, None])
    caused: Visibilities = flux * np.exp(-2j * math.pi * path)
    return caused
