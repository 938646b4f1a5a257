"""From visibilities to an image and back, by the w-gridder of ducc0."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.imaging.arrays import Array, on_host
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.telescope import SPEED_OF_LIGHT_M_PER_S, Observation

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

# So narrow that ducc0 chooses one grid, whatever the number of visibilities.
_OVERSAMPLING = {"sigma_min": 1.99, "sigma_max": 2.01}
_STDOUT = 1
_TILE = 8  # points; ducc0 0.42 asks for each tile of 16 whether a visibility is in it
_CAPTURING = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Geometry and accuracy of an image.

    Parameters
    ----------
    size : int
        Pixels along a side; even, 32 at least.
    cell : float
        Side of a pixel, radian.
    epsilon : float
        Relative error of gridding.
    threads : int
    """

    size: int
    cell: float
    epsilon: float = 1e-7
    threads: int = 1

    def __post_init__(self) -> None:
        if self.size < 32 or self.size % 2:
            raise ValueError(f"size must be even and >= 32, got {self.size!r}")
        if not 0 < self.size * self.cell < 1:
            raise ValueError(f"size * cell must be > 0 and < 1 radian, got {self.size * self.cell}")
        if not 1e-12 <= self.epsilon <= 1e-2:
            raise ValueError(f"epsilon must be 1e-12 to 1e-2, got {self.epsilon!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gridding:
    """Parameters of the gridding, as the gridder reports them.

    Parameters
    ----------
    grid : int
        Points along a side of the oversampled grid.
    planes : int
        Number of w-planes, each of which is transformed.
    support : int
        A visibility touches support x support points of support planes.
    """

    grid: int
    planes: int
    support: int


class Gridder(Protocol):
    """Images and predicts one observation in one geometry, by arrays of one library."""

    def array(self, values: Array) -> Array:
        """Return values as an array of that library."""

    def invert(self, visibilities: Array, weights: Array) -> Array:
        """Return the image of weighted visibilities, not normalised."""

    def predict(self, model: Array) -> Array:
        """Return the visibilities of a model image."""


class DuccGridder:
    """The gridder of ducc0; see `invert` and `predict` of this module.

    Parameters
    ----------
    observation : Observation
    geometry : Geometry
    """

    def __init__(self, observation: Observation, geometry: Geometry) -> None:
        self._observation, self._geometry = observation, geometry

    def array(self, values: Array) -> npt.NDArray[Any]:
        """Return values as an array of NumPy."""
        return on_host(values)

    def invert(self, visibilities: Complexes, weights: Floats) -> Floats:
        """Return the image of weighted visibilities, not normalised."""
        return invert(visibilities, weights, self._observation, self._geometry)

    def predict(self, model: Floats) -> Complexes:
        """Return the visibilities of a model image."""
        return predict(model, self._observation, self._geometry)


def require_ducc() -> Any:
    """Return ducc0's gridder.

    Raises
    ------
    CannotImage
        If it is not installed.
    """
    try:
        from ducc0 import wgridder
    except ImportError as error:
        raise CannotImage(
            "cannot make an image",
            reason="ducc0 is not installed",
            remedy="pip install 'ridgepoint[suite]'",
        ) from error
    return wgridder


def invert(
    visibilities: Complexes,
    weights: Floats,
    observation: Observation,
    geometry: Geometry,
    *,
    verbosity: int = 0,
    out: Floats | None = None,
) -> Floats:
    """Return the image of weighted visibilities: gridded, transformed, corrected, not normalised.

    It is the adjoint of `predict`, followed by the weights.

    Parameters
    ----------
    visibilities : ndarray of complex128, shape (rows, channels)
        Jy.
    weights : ndarray of float64, shape (rows, channels)
    observation : Observation
    geometry : Geometry
    verbosity : int
        1: ducc0 reports its parameters on standard output.
    out : ndarray of float64, shape (size, size), or None
        Output array for the image; None: a new one.

    Returns
    -------
    ndarray of float64, shape (size, size)
        Jy/beam times the sum of the weights.
    """
    image: Floats = require_ducc().vis2dirty(
        uvw=observation.uvw_m, freq=observation.frequency_hz, vis=visibilities, wgt=weights,
        npix_x=geometry.size, npix_y=geometry.size, verbosity=verbosity, dirty=out,
        **_options(geometry),
    )  # fmt: skip
    return image


def predict(
    model: Floats,
    observation: Observation,
    geometry: Geometry,
    *,
    out: Complexes | None = None,
) -> Complexes:
    """Return the visibilities of a model image: transformed and degridded.

    Parameters
    ----------
    model : ndarray of float64, shape (size, size)
        Jy/pixel.
    observation : Observation
    geometry : Geometry
    out : ndarray of complex128, shape (rows, channels), or None
        Output array for the visibilities; None: a new one.

    Returns
    -------
    ndarray of complex128, shape (rows, channels), Jy
    """
    visibilities: Complexes = require_ducc().dirty2vis(
        uvw=observation.uvw_m, freq=observation.frequency_hz, dirty=model, vis=out,
        **_options(geometry),
    )  # fmt: skip
    return visibilities


def _options(geometry: Geometry) -> dict[str, Any]:
    return {
        "pixsize_x": geometry.cell, "pixsize_y": geometry.cell, "epsilon": geometry.epsilon,
        "do_wgridding": True, "divide_by_n": False, "nthreads": geometry.threads, **_OVERSAMPLING,
    }  # fmt: skip


def gridding(observation: Observation, geometry: Geometry) -> Gridding:
    """Return how the gridder images an observation, without imaging it.

    Raises
    ------
    CannotImage
        If the gridder does not report its parameters.
    """
    few = observation.ends()
    with _CAPTURING, _stdout_in_file() as report:
        nothing = np.zeros(few.shape)
        invert(nothing.astype(np.complex128) + 1, nothing + 1, few, geometry, verbosity=1)
        report.seek(0)
        text = report.read().decode(errors="replace")
    match = re.search(r"grid=\((\d+)x\d+x(\d+)\), supp=(\d+)", text)
    if match is None:
        raise CannotImage(
            "cannot find out how ducc0 grids",
            reason="its report has an unexpected form",
            remedy="install ducc0 0.42",
        )
    grid, planes, support = map(int, match.groups())
    return Gridding(grid=grid, planes=planes, support=support)


def same_transforms(
    observation: Observation, geometry: Geometry, used: Gridding
) -> tuple[Observation, npt.NDArray[np.intp]]:
    """Return a few rows of an observation that need the same transforms, and their indices.

    Parameters
    ----------
    observation : Observation
    geometry : Geometry
    used : Gridding
        Parameters of the gridding of the whole observation.

    Notes
    -----
    In each w-plane ducc0 only transforms the rows, or columns, of the grid that visibilities
    touch. So the returned rows reach every w-plane at every occupied u and v, in steps of
    half a tile, and have the same extremes of w.
    """
    scale = observation.frequency_hz / SPEED_OF_LIGHT_M_PER_S
    uvw = observation.uvw_m * np.where(observation.uvw_m[:, 2:] < 0, -1, 1)  # w >= 0, as in ducc0
    steps = geometry.cell * used.grid / _TILE
    u, v = (np.floor(uvw[:, i, None] * scale * steps).astype(np.int64) for i in (0, 1))
    w = uvw[:, 2, None] * scale
    between = max(used.planes - used.support, 1) / max(float(np.ptp(w)), 1e-300)
    plane = np.floor((w - w.min()) * between).astype(np.int64)
    channels = len(scale)
    chosen = [int(w.argmin()) // channels, int(w.argmax()) // channels]
    for along in (u, v):
        key = plane * (int(np.ptp(along)) + 1) + along - along.min()
        chosen += (np.unique(key, return_index=True)[1] // channels).tolist()
    rows = np.unique(chosen)
    few = Observation(uvw_m=observation.uvw_m[rows].copy(), frequency_hz=observation.frequency_hz)
    return few, rows


@contextmanager
def _stdout_in_file() -> Iterator[Any]:
    """Redirect C++ writes to standard output to a file meanwhile."""
    kept = os.dup(_STDOUT)
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), _STDOUT)
            try:
                yield file
            finally:
                os.dup2(kept, _STDOUT)
    finally:
        os.close(kept)


def uniform_weights(observation: Observation, geometry: Geometry) -> Floats:
    """Return weights that give every occupied cell of the (u, v) plane the same total weight.

    Parameters
    ----------
    observation : Observation
    geometry : Geometry
        A cell is 1 / (size * cell) wavelengths wide.

    Returns
    -------
    ndarray of float64, shape (rows, channels)
        1 over the number of visibilities in a cell, counted with their conjugates.
    """
    width = geometry.size * geometry.cell / SPEED_OF_LIGHT_M_PER_S
    scale = width * observation.frequency_hz
    u, v = (np.rint(observation.uvw_m[:, i, None] * scale).astype(np.int64) for i in (0, 1))
    other = (v < 0) | ((v == 0) & (u < 0))  # V(-u, -v) is the conjugate: one half plane is enough
    u, v = np.where(other, -u, u), np.where(other, -v, v)
    u -= u.min()
    flat = (v * (int(u.max()) + 1) + u).ravel()
    weights: Floats = 1.0 / np.bincount(flat)[flat].reshape(observation.shape)
    return weights
