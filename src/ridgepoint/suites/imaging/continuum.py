"""The continuum imaging pipeline, in the major cycles of the SKA's reference library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ridgepoint.suites.imaging.arrays import Array, namespace, on_host
from ridgepoint.suites.imaging.clean import Cleaned, Minor, hogbom
from ridgepoint.suites.imaging.clock import Timed, untimed
from ridgepoint.suites.imaging.gridder import (
    Complexes,
    DuccGridder,
    Floats,
    Geometry,
    Gridder,
    uniform_weights,
)
from ridgepoint.suites.imaging.msmfs import Basis, minor_cycles, prepare, smoothed
from ridgepoint.suites.imaging.restore import Beam, fit_beam, restore
from ridgepoint.suites.imaging.telescope import Observation

Algorithm = Literal["hogbom", "msmfs"]
Transfer = Callable[[Array], Any]
"""Copies an image to where deconvolution runs; ``cupy.asarray`` for a GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Plan for imaging an observation.

    Parameters
    ----------
    algorithm : {"hogbom", "msmfs"}
        Deconvolve by points, or in scale and frequency.
    minor : Minor
        Parameters of each major cycle's minor cycles.
    major : int
        Number of major cycles, >= 0. As in the reference library the loop needs at least 2.
    scales : tuple of float
        MSMFS only: diameters, pixels; the first is 0.
    terms : int
        MSMFS only: number of Taylor terms.
    """

    algorithm: Algorithm = "msmfs"
    minor: Minor = field(default_factory=Minor)
    major: int = 5
    scales: tuple[float, ...] = (0.0, 6.0, 14.0)
    terms: int = 2

    def __post_init__(self) -> None:
        if self.major < 0:
            raise ValueError(f"major must be >= 0, got {self.major!r}")
        if self.terms < 1:
            raise ValueError(f"terms must be >= 1, got {self.terms!r}")

    @property
    def images(self) -> int:
        """Number of Taylor terms that are imaged."""
        return self.terms if self.algorithm == "msmfs" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Imaged:
    """Images made from an observation.

    Parameters
    ----------
    psf, dirty : ndarray, shape (size, size)
        Jy/beam.
    models : tuple of ndarray
        For each Taylor term, Jy/pixel.
    residual, restored : ndarray
        Images of Taylor term 0, Jy/beam.
    beam : Beam
    executions : Mapping of str to int
        Number of executions of ``invert``, ``predict`` and ``deconvolve``.
    minor_cycles : int
        Number of minor cycles in all major cycles.
    residual_visibilities : ndarray of complex128, shape (rows, channels)
        What the models leave of the visibilities, Jy.
    """

    psf: Floats
    dirty: Floats
    models: tuple[Floats, ...]
    residual: Floats
    restored: Floats
    beam: Beam
    executions: Mapping[str, int]
    minor_cycles: int
    residual_visibilities: Complexes


class Imager:
    """Images and predicts the Taylor terms of one observation, and counts the executions.

    Parameters
    ----------
    observation : Observation
    geometry : Geometry
    weights : ndarray of float64, shape (rows, channels)
    terms : int
    gridder : Gridder or None
        Gridder for this observation and geometry, which sets the array library; None: ducc0's.
    timed : callable
        Times the gridder's calls, and the arithmetic around them.
    """

    def __init__(
        self,
        observation: Observation,
        geometry: Geometry,
        weights: Floats,
        terms: int,
        *,
        gridder: Gridder | None = None,
        timed: Timed = untimed,
    ) -> None:
        self.observation, self.geometry, self.terms = observation, geometry, terms
        self.gridder = DuccGridder(observation, geometry) if gridder is None else gridder
        self.weights = self.gridder.array(weights)
        self.executions: Counter[str] = Counter()
        self._timed = timed

    def invert(self, visibilities: Array, *, orders: int | None = None) -> list[Array]:
        """Return an image for each Taylor term, or so many orders, over the sum of the weights."""
        self.executions["invert"] += 1
        with self._timed("arithmetic"):
            total = float(namespace(self.weights).sum(self.weights))
            images = []
            for order in range(self.terms if orders is None else orders):
                weights = self.weights * self._taylor(order)
                with self._timed("invert"):
                    image = self.gridder.invert(visibilities, weights)
                image /= total
                images.append(image)
        return images

    def predict(self, models: Sequence[Array]) -> Array:
        """Return the visibilities of a model of Taylor terms."""
        self.executions["predict"] += 1
        with self._timed("arithmetic"):
            visibilities = self._predicted(models[0])
            for order, model in enumerate(models[1:], start=1):
                term = self._predicted(model)
                term *= self._taylor(order)
                visibilities += term
        return visibilities

    def left(self, visibilities: Array, models: Sequence[Array]) -> Array:
        """Return what a model leaves of visibilities."""
        predicted = self.predict(models)
        with self._timed("arithmetic"):
            return visibilities - predicted

    def _predicted(self, model: Array) -> Array:
        with self._timed("predict"):
            return self.gridder.predict(model)

    def responses(self, orders: int) -> list[Array]:
        """Return point-spread functions up to an order: the first is 1 in the centre."""
        ones = self.gridder.array(np.ones(self.observation.shape, dtype=np.complex128))
        images = self.invert(ones, orders=orders)
        at = self.geometry.size // 2
        height = float(images[0][at, at])
        return [image / height for image in images]  # 1, up to the rounding of gridding

    def _taylor(self, order: int) -> Array:
        return self.gridder.array(self.observation.taylor(order))


def image(
    visibilities: Complexes,
    observation: Observation,
    geometry: Geometry,
    plan: Plan,
    *,
    weights: Floats | None = None,
    gridder: Gridder | None = None,
    transfer: Transfer | None = None,
    report: Callable[[str], None] = lambda what: None,
    timed: Timed = untimed,
) -> Imaged:
    """Image an observation: invert, deconvolve, predict and subtract repeatedly; then restore.

    Parameters
    ----------
    visibilities : ndarray of complex128, shape (rows, channels)
        Jy.
    observation : Observation
    geometry : Geometry
    plan : Plan
    weights : ndarray of float64 or None
        None: uniform ones.
    gridder : Gridder or None
        Gridder for this observation and geometry; None: ducc0's.
    transfer : callable or None
        Copies an image to where deconvolution runs; None: it runs where the gridder works.
    report : callable
        Called with a description of each step as it begins.
    timed : callable
        Times the parts: ``weights``, ``arithmetic``, ``invert``, ``predict``, ``smooth``,
        ``deconvolve``, ``restore``.

    Raises
    ------
    CannotImage
        If ducc0 is not installed.
    Diverged
        If deconvolution makes the residual larger.
    ValueError
        If sizes do not fit.

    Notes
    -----
    The structure is that of the reference library's continuum imaging: the point-spread function;
    residual and deconvolution; both again in every major cycle, if there are at least two; the
    last residual. See `ridgepoint.demands.formulas.major_cycles`.
    """
    if visibilities.shape != observation.shape:
        raise ValueError(f"visibilities must be {observation.shape}, got {visibilities.shape}")
    if weights is None:
        with timed("weights"):
            weights = uniform_weights(observation, geometry)
    imager = Imager(observation, geometry, weights, plan.images, gridder=gridder, timed=timed)
    array = imager.gridder.array
    observed = array(visibilities)
    report("point-spread function")
    psfs = imager.responses(2 * plan.images - 1)
    with timed("restore"):
        beam = fit_beam(psfs[0])
    moved = transfer or (lambda image: image)
    deconvolver = Deconvolver(plan, [moved(psf) for psf in psfs], timed=timed)
    models = [namespace(psfs[0]).zeros_like(psfs[0]) for _ in range(plan.images)]
    first: Array | None = None
    taken = 0
    for cycle in range(1 + (plan.major if plan.major > 1 else 0)):
        report(f"major cycle {cycle}")
        residuals = imager.invert(imager.left(observed, models))
        first = residuals[0] if first is None else first
        imager.executions["deconvolve"] += 1
        cleaned = deconvolver([moved(residual) for residual in residuals])
        taken += cleaned.iterations
        with timed("arithmetic"):
            pairs = zip(models, cleaned.models, strict=True)
            models = [model + array(more) for model, more in pairs]
    report("restoring")
    left = imager.left(observed, models)
    residual = imager.invert(left)[0]
    with timed("restore"):
        restored = restore(models[0], residual, beam)
    assert first is not None  # the loop runs once at least
    return Imaged(
        psf=on_host(psfs[0]), dirty=on_host(first), models=tuple(map(on_host, models)),
        residual=on_host(residual), restored=on_host(restored), beam=beam,
        executions=dict(imager.executions), minor_cycles=taken,
        residual_visibilities=on_host(left),
    )  # fmt: skip


class Deconvolver:
    """A deconvolution, prepared for its point-spread functions.

    Parameters
    ----------
    plan : Plan
    psfs : sequence of array, shape (size, size)
    timed : callable
        Times the smoothing and the minor cycles.
    """

    def __init__(self, plan: Plan, psfs: Sequence[Array], *, timed: Timed = untimed) -> None:
        self._minor, self._psf, self._timed = plan.minor, psfs[0], timed
        self._basis: Basis | None = None
        if plan.algorithm == "msmfs":
            with timed("smooth"):
                self._basis = prepare(psfs, plan.scales)

    def __call__(self, dirty: Sequence[Array]) -> Cleaned:
        """Deconvolve dirty images, which are not changed."""
        if self._basis is None:
            with self._timed("deconvolve"):
                return hogbom(dirty[0], self._psf, self._minor)
        with self._timed("smooth"):
            images = smoothed(dirty, self._basis)
        with self._timed("deconvolve"):
            return minor_cycles(images, self._basis, self._minor)
