"""Flop and bytes of the stages of an imaging pipeline, by formula.

The bytes assume caches that hold nothing, or only the part that a formula states. Where no model
of the bytes is known, they are None, and a measured or assumed intensity has to stand in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ridgepoint.core.demand import Demand

_CELL_BYTES = 8.0
"""A complex grid cell in single precision (c64)."""
_VISIBILITY_BYTES = 20.0
"""A visibility as it streams by: 8 byte of value, 12 of place."""
_REUSES = ("none", "grid", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Flop and bytes of one execution.

    Parameters
    ----------
    flop : float
    moved_bytes : float or None
        Bytes moved at DRAM; None: no formula is known.
    """

    flop: float
    moved_bytes: float | None

    def demand(self, precision: str) -> Demand | None:
        """Return the work as a demand; None: its bytes are not known."""
        if self.moved_bytes is None:
            return None
        return Demand({precision: self.flop, "dram": self.moved_bytes})

    @property
    def intensity(self) -> float | None:
        """Flop per byte; None: not known, or infinite."""
        return self.flop / self.moved_bytes if self.moved_bytes else None


def grid(
    *,
    visibilities: float,
    support: float,
    polarisations: float = 1,
    kernel: str = "complex",
    reuse: str = "none",
    planes: float = 1,
    degree: float = 0,
) -> Work:
    """Return the work of gridding; degridding does the same.

    Parameters
    ----------
    visibilities : float
        Number of visibilities of each polarisation.
    support : float
        S: the kernel covers S x S cells.
    polarisations : float
    kernel : {"complex", "real"}
        Complex: ``8 S^2`` flop for each visibility. Real and separable (ducc, cufinufft):
        ``4 S^2``, no traffic for the kernel.
    reuse : {"none", "grid", "all"}
        Which data the caches hold: none, the grid, or the grid and the kernel.
    planes : float
        Number of w-planes that a visibility touches: S with w-gridding, 1 without.
    degree : float
        Degree of the polynomials that evaluate a real kernel, one for each of its S values along
        u and along v: ``4 S degree`` additional flop in each plane; 0: not counted.
    """
    if kernel not in ("complex", "real"):
        raise ValueError(f"kernel must be 'complex' or 'real', got {kernel!r}")
    if reuse not in _REUSES:
        raise ValueError(f"reuse must be one of {', '.join(_REUSES)}, got {reuse!r}")
    if kernel == "complex" and degree:
        raise ValueError("degree applies only to a real kernel")
    cells, samples = support * support * planes, visibilities * polarisations
    flop = (8 if kernel == "complex" else 4) * cells + 4 * support * degree * planes
    moved = _VISIBILITY_BYTES
    if reuse == "none":
        moved += 2 * _CELL_BYTES * cells  # the grid is read and written
    if kernel == "complex" and reuse != "all":
        moved += _CELL_BYTES * cells
    return Work(flop=samples * flop, moved_bytes=samples * moved)


def idg(*, visibilities: float, subgrid: float) -> Work:
    """Return the flop of image-domain gridding: 17 FMA for each visibility and subgrid pixel.

    A sine and a cosine for each pair are needed too; they do not count as flop here.
    """
    return Work(flop=34 * visibilities * subgrid * subgrid, moved_bytes=None)


def fft(*, size: float, complex_bytes: float = 8, real: float = 0) -> Work:
    """Return the work of a Fourier transform of an image: textbook flop, two passes over the data.

    Parameters
    ----------
    size : float
        N, for an image of N x N points.
    complex_bytes : float
        8 (c64) or 16 (c128).
    real : {0, 1}
        1: from or to real data, which halves both flop and bytes; 0: complex data.
    """
    if complex_bytes not in (8, 16):
        raise ValueError(f"complex_bytes must be 8 or 16, got {complex_bytes:g}")
    if not size > 1:
        raise ValueError(f"size must be > 1, got {size:g}")
    if real not in (0, 1):
        raise ValueError(f"real must be 0 or 1, got {real:g}")
    share = 0.5 if real else 1.0
    return Work(
        flop=share * 10 * size * size * math.log2(size),
        moved_bytes=share * 4 * complex_bytes * size * size,
    )


def hogbom(*, size: float, psf: float, iterations: float = 1) -> Work:
    """Return the work of Hogbom's CLEAN: searching the image, subtracting the PSF patch.

    Parameters
    ----------
    size, psf : float
        N and P: pixels along a side of the image and of the patch subtracted.
    iterations : float
        Minor cycles.
    """
    n, p = size * size, psf * psf
    return Work(flop=iterations * (2 * n + 2 * p), moved_bytes=iterations * (4 * n + 12 * p))


def msmfs(*, size: float, psf: float, scales: float, terms: float, iterations: float = 1) -> Work:
    """Return the flop of multi-scale multi-frequency CLEAN, as the reference library does it.

    Parameters
    ----------
    size, psf : float
        N and P, pixels along a side.
    scales, terms : float
        Scales and Taylor terms.
    iterations : float
        Minor cycles.
    """
    n, p = size * size, psf * psf
    search = scales * n * (2 * terms * terms + terms + 2)
    update = p * (2 * scales * terms * terms + 2 * scales * terms + 3 * terms)
    return Work(flop=iterations * (search + update), moved_bytes=None)


FORMULAS: Mapping[str, Callable[..., Work]] = {
    "grid": grid,
    "degrid": grid,
    "idg": idg,
    "fft": fft,
    "ifft": fft,
    "hogbom": hogbom,
    "msmfs": msmfs,
}
"""By the name of the stage; ``ifft`` is the transform from grid to image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorCycles:
    """How often the continuum imaging pipeline of the reference library runs each part.

    Parameters
    ----------
    invert : int
        Gridding and inverse transform: visibilities to an image.
    predict : int
        Transform and degridding: a model image to visibilities.
    deconvolve : int
    """

    invert: int
    predict: int
    deconvolve: int


def major_cycles(cycles: int) -> MajorCycles:
    """Return the executions of each part for a number of major cycles.

    The point-spread function and the residual come first; one residual follows the last cycle.
    With one cycle or none, the loop of the library is not entered.

    Examples
    --------
    >>> major_cycles(5)
    MajorCycles(invert=8, predict=7, deconvolve=6)
    """
    if cycles > 1:
        return MajorCycles(invert=cycles + 3, predict=cycles + 2, deconvolve=cycles + 1)
    return MajorCycles(invert=3, predict=2, deconvolve=1)
