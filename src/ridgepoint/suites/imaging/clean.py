"""Deconvolution by Hogbom's CLEAN, with the limits and stops that its relatives share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from ridgepoint.suites.imaging.arrays import Array, middle, namespace, overlap, peak_of
from ridgepoint.suites.imaging.failures import Diverged


class Stop(Enum):
    """Reason for which a deconvolution ended."""

    THRESHOLD = "threshold"
    ITERATIONS = "iterations"


# A residual may grow a little on the way: at an edge, or under a broad scale.
_GROWN = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Minor:
    """Parameters of minor cycles.

    Parameters
    ----------
    gain : float
        Share of a peak that is subtracted; > 0 and <= 1.
    iterations : int
        Maximum number of minor cycles.
    threshold_jy : float
        Stop when no peak is higher, Jy/beam.
    patch : int or None
        Side of the subtracted part of the point-spread function, pixels; None: all of it.
    """

    gain: float = 0.1
    iterations: int = 1000
    threshold_jy: float = 0.0
    patch: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.gain <= 1:
            raise ValueError(f"gain must be > 0 and <= 1, got {self.gain!r}")
        if self.iterations < 1:
            raise ValueError(f"iterations must be >= 1, got {self.iterations!r}")
        if not 0 <= self.threshold_jy < math.inf:
            raise ValueError(f"threshold_jy must be >= 0, got {self.threshold_jy!r}")
        if self.patch is not None and self.patch < 1:
            raise ValueError(f"patch must be >= 1, got {self.patch!r}")

    def patch_of(self, image: Array) -> int:
        """Return the side of the patch for an image."""
        size = int(image.shape[0])
        return size if self.patch is None else min(self.patch, size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """Result of a deconvolution.

    Parameters
    ----------
    models : tuple of array
        One image per Taylor term, Jy/pixel; Hogbom's CLEAN has one.
    residuals : tuple of array
        Dirty images after subtraction, as far as the patch reaches.
    iterations : int
        Number of minor cycles.
    stop : Stop
        Why it ended.
    """

    models: tuple[Array, ...]
    residuals: tuple[Array, ...]
    iterations: int
    stop: Stop


class Watchdog:
    """Stops a deconvolution whose peaks grow."""

    def __init__(self) -> None:
        self._least = math.inf

    def see(self, peak: float, iteration: int) -> None:
        """Record the peak before an iteration.

        Raises
        ------
        Diverged
            If it is not finite, or twice an earlier one.
        """
        if not math.isfinite(peak) or peak > _GROWN * self._least:
            raise Diverged(
                "cannot deconvolve",
                reason=f"it diverges: in minor cycle {iteration} the peak is {peak:.3g} Jy/beam, "
                f"after {self._least:.3g}",
                remedy="lower the gain, or make an image that covers all of the emission",
            )
        self._least = min(self._least, peak)


def require_peak(psf: Array, *, what: str = "psf") -> None:
    """Refuse a point-spread function without its peak of 1 in the centre.

    Raises
    ------
    ValueError
    """
    size = int(psf.shape[0])
    if psf.ndim != 2 or psf.shape[1] != size:
        raise ValueError(f"{what} must be square, got {psf.shape}")
    if not abs(float(psf[size // 2, size // 2]) - 1) < 1e-3:
        raise ValueError(f"{what} must be 1 in the middle")


def hogbom(dirty: Array, psf: Array, minor: Minor) -> Cleaned:
    """Deconvolve by subtracting point after point, each where the residual is largest.

    Parameters
    ----------
    dirty : array, shape (size, size)
        Jy/beam; it is not changed.
    psf : array, shape (size, size)
        1 in the middle.
    minor : Minor

    Raises
    ------
    ValueError
        If the shapes differ, or `psf` is not a point-spread function.
    Diverged

    References
    ----------
    .. [1] J. A. Hogbom, "Aperture synthesis with a non-regular distribution of interferometer
       baselines", A&AS 15, 417, 1974.
    """
    xp = namespace(dirty, psf)
    if dirty.shape != psf.shape:
        raise ValueError(f"dirty and psf must be equal in shape, got {dirty.shape}, {psf.shape}")
    require_peak(psf)
    patch = minor.patch_of(psf)
    beam = middle(psf, patch)
    residual, model = xp.positive(dirty), xp.zeros_like(dirty)  # the first is a copy
    watchdog = Watchdog()
    for iteration in range(minor.iterations):
        at = peak_of(xp.abs(residual))
        peak = float(residual[at])
        watchdog.see(abs(peak), iteration)
        if abs(peak) <= minor.threshold_jy:
            return _cleaned(model, residual, iteration, Stop.THRESHOLD)
        ours, theirs = overlap(at, size=int(dirty.shape[0]), patch=patch)
        model[at] += minor.gain * peak
        residual[ours] -= minor.gain * peak * beam[theirs]
    return _cleaned(model, residual, minor.iterations, Stop.ITERATIONS)


def _cleaned(model: Array, residual: Array, iterations: int, stop: Stop) -> Cleaned:
    return Cleaned(models=(model,), residuals=(residual,), iterations=iterations, stop=stop)
