"""A model array on the rotating earth: its baselines in the (u, v, w) plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SPEED_OF_LIGHT_M_PER_S = 299_792_458.0
_ARMS = 3
_PER_ARM = 9
_GROWTH = 1.716  # so that stations of one configuration serve the next larger one too
_TILT_DEG = -5.0  # no baseline points exactly north


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Baselines and channels with which an array observes a field.

    Parameters
    ----------
    uvw_m : ndarray of float64, shape (rows, 3)
        A row for each baseline and moment.
    frequency_hz : ndarray of float64, shape (channels,)
        Ascending.
    """

    uvw_m: Floats
    frequency_hz: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and channels."""
        return self.uvw_m.shape[0], self.frequency_hz.shape[0]

    @property
    def visibilities(self) -> int:
        """Number of visibilities."""
        return self.shape[0] * self.shape[1]

    @property
    def reference_hz(self) -> float:
        """The frequency at the centre of spectral expansions: the middle of the band, Hz."""
        return float(self.frequency_hz[0] + self.frequency_hz[-1]) / 2

    @property
    def longest_wavelengths(self) -> float:
        """The largest of abs(u) and abs(v), in wavelengths."""
        largest = float(np.abs(self.uvw_m[:, :2]).max())
        return largest * float(self.frequency_hz[-1]) / SPEED_OF_LIGHT_M_PER_S

    def taylor(self, term: int) -> Floats:
        """Return ((f - f0) / f0)^term of every channel."""
        relative: Floats = (self.frequency_hz - self.reference_hz) / self.reference_hz
        return relative**term

    def ends(self) -> Observation:
        """Return three of its rows with the same extremes of w, so the same w-planes."""
        w = np.abs(self.uvw_m[:, 2])
        rows = [int(w.argmin()), int(w.argmax()), int(np.abs(self.uvw_m[:, :2]).max(1).argmax())]
        return Observation(uvw_m=self.uvw_m[rows].copy(), frequency_hz=self.frequency_hz)


def three_arms(arm_m: float) -> Floats:
    """Return the antennas of a model array: three arms of nine, distances growing as n^1.716.

    The pattern is after the Very Large Array [1]; the places are the model's, not surveyed. The
    exponent is such that station 2 n of one configuration is station n of the next larger, whose
    arms are 3.3 times as long: log2(3.3) = 1.71.

    Parameters
    ----------
    arm_m : float
        Length of an arm, metre, > 0.

    Returns
    -------
    ndarray of float64, shape (27, 2)
        East and north of the middle, metre.

    References
    ----------
    .. [1] P. J. Napier, A. R. Thompson, R. D. Ekers, "The Very Large Array: design and
       performance of a modern synthesis radio telescope", Proc. IEEE 71, 1983,
       doi:10.1109/PROC.1983.12765.
    """
    if not arm_m > 0:
        raise ValueError(f"arm_m must be > 0, got {arm_m!r}")
    along = arm_m * (np.arange(1, _PER_ARM + 1) / _PER_ARM) ** _GROWTH
    azimuth = np.deg2rad(_TILT_DEG + 360 / _ARMS * np.arange(_ARMS))
    east, north = np.sin(azimuth)[:, None] * along, np.cos(azimuth)[:, None] * along
    return np.stack((east.ravel(), north.ravel()), axis=1)


def observe(
    antennas_m: Floats,
    *,
    moments: int,
    frequency_hz: Any,
    latitude_deg: float = 34.0,
    declination_deg: float = 45.0,
    hours: float = 8.0,
) -> Observation:
    """Return the tracks of an array's baselines while the earth turns.

    Parameters
    ----------
    antennas_m : ndarray, shape (antennas, 2)
        East and north, metre, on a plane.
    moments : int
        Snapshots, evenly spread around the meridian.
    frequency_hz : array_like
        Frequencies of the channels, Hz; sorted here.
    latitude_deg, declination_deg : float
        Latitude of the array, and declination of the centre of the field.
    hours : float
        Sidereal hours from the first snapshot to the last.
    """
    latitude, declination = math.radians(latitude_deg), math.radians(declination_deg)
    first, second = np.triu_indices(len(antennas_m), k=1)
    east, north = (antennas_m[second] - antennas_m[first]).T
    # The equatorial frame: X to the meridian at the equator, Y east, Z to the pole.
    x, y, z = -north * math.sin(latitude), east, north * math.cos(latitude)
    angle = np.linspace(-hours / 2, hours / 2, moments)[:, None] * (math.pi / 12)
    sine, cosine = np.sin(angle), np.cos(angle)
    towards = x * cosine - y * sine
    u = x * sine + y * cosine
    v = -math.sin(declination) * towards + math.cos(declination) * z
    w = math.cos(declination) * towards + math.sin(declination) * z
    uvw_m = np.stack((u, v, w), axis=-1).reshape(-1, 3)
    return Observation(
        uvw_m=np.ascontiguousarray(uvw_m),
        frequency_hz=np.sort(np.atleast_1d(np.asarray(frequency_hz, dtype=np.float64))),
    )
