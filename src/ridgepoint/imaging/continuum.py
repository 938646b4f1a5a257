"""The continuum imaging pipeline, in the major cycles of the SKA's reference library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ridgepoint.imaging import gridder
from ridgepoint.imaging.arrays import Array, to_host
from ridgepoint.imaging.clean import Cleaned, Minor, hogbom
from ridgepoint.imaging.gridder import Complexes, Floats, Geometry
from ridgepoint.imaging.msmfs import Basis, msmfs, prepare
from ridgepoint.imaging.restore import Beam, fit_beam, restore
from ridgepoint.imaging.telescope import Observation

Algorithm = Literal["hogbom", "msmfs"]
Transfer = Callable[[Floats], Any]
"""Copies an image to where deconvolution runs; ``cupy.asarray`` for a GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How an observation is imaged.

    Parameters
    ----------
    algorithm : {"hogbom", "msmfs"}
        By points, or in scale and frequency.
    minor : Minor
        Of each major cycle.
    major : int
        Major cycles, >= 0. As in the reference library the loop is entered with 2 at least.
    scales : tuple of float
        Of MSMFS: diameters, pixel; the first is 0.
    terms : int
        Of MSMFS: Taylor terms.
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
        """Taylor terms that are imaged."""
        return self.terms if self.algorithm == "msmfs" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Imaged:
    """What an observation shows.

    Parameters
    ----------
    psf, dirty : ndarray, shape (size, size)
        Jy/beam.
    models : tuple of ndarray
        For each Taylor term, Jy/pixel.
    residual, restored : ndarray
        Of the term 0, Jy/beam.
    beam : Beam
    executions : Mapping of str to int
        How often ``invert``, ``predict`` and ``deconvolve`` ran.
    minor_cycles : int
        Of all major cycles.
    """

    psf: Floats
    dirty: Floats
    models: tuple[Floats, ...]
    residual: Floats
    restored: Floats
    beam: Beam
    executions: Mapping[str, int]
    minor_cycles: int


class Imager:
    """Images and predicts the Taylor terms of one observation, and counts how often.

    Parameters
    ----------
    observation : Observation
    geometry : Geometry
    weights : ndarray of float64, shape (rows, channels)
    terms : int
    """

    def __init__(
        self, observation: Observation, geometry: Geometry, weights: Floats, terms: int
    ) -> None:
        self.observation, self.geometry, self.weights = observation, geometry, weights
        self.terms = terms
        self.executions: Counter[str] = Counter()

    def invert(self, visibilities: Complexes, *, orders: int | None = None) -> list[Floats]:
        """Return an image for each Taylor term, or so many orders, over the sum of the weights."""
        self.executions["invert"] += 1
        total = float(self.weights.sum())
        found = []
        for order in range(self.terms if orders is None else orders):
            weights = self.weights * self.observation.taylor(order)
            image = gridder.invert(visibilities, weights, self.observation, self.geometry)
            image /= total
            found.append(image)
        return found

    def predict(self, models: Sequence[Floats]) -> Complexes:
        """Return the visibilities of a model of Taylor terms."""
        self.executions["predict"] += 1
        seen = np.zeros(self.observation.shape, dtype=np.complex128)
        for order, model in enumerate(models):
            term = gridder.predict(model, self.observation, self.geometry)
            term *= self.observation.taylor(order)
            seen += term
        return seen


def image(
    visibilities: Complexes,
    observation: Observation,
    geometry: Geometry,
    plan: Plan,
    *,
    weights: Floats | None = None,
    transfer: Transfer = np.asarray,
    report: Callable[[str], None] = lambda what: None,
) -> Imaged:
    """Image an observation: invert, deconvolve, predict, subtract, again and again; restore.

    Parameters
    ----------
    visibilities : ndarray of complex128, shape (rows, channels)
        Jy.
    observation : Observation
    geometry : Geometry
    plan : Plan
    weights : ndarray of float64 or None
        None: uniform ones.
    transfer : callable
        Copies an image to where deconvolution runs.
    report : callable
        Called with what begins now.

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
    residual and deconvolution; that again in every major cycle, if there are two at least; the last
    residual. See `ridgepoint.models.pipeline_formulas.major_cycles`.
    """
    if visibilities.shape != observation.shape:
        raise ValueError(f"visibilities must be {observation.shape}, got {visibilities.shape}")
    if weights is None:
        weights = gridder.uniform_weights(observation, geometry)
    imager = Imager(observation, geometry, weights, plan.images)
    report("point-spread function")
    ones = np.ones(observation.shape, dtype=np.complex128)
    psfs = imager.invert(ones, orders=2 * plan.images - 1)
    height = float(psfs[0][geometry.size // 2, geometry.size // 2])
    psfs = [one / height for one in psfs]  # 1, but for what gridding rounds
    beam = fit_beam(psfs[0])
    deconvolver = Deconvolver(plan, [transfer(one) for one in psfs])
    models = [np.zeros_like(psfs[0]) for _ in range(plan.images)]
    first: Floats | None = None
    minor_cycles = 0
    for cycle in range(1 + (plan.major if plan.major > 1 else 0)):
        report(f"major cycle {cycle}")
        residuals = imager.invert(visibilities - imager.predict(models))
        first = residuals[0] if first is None else first
        imager.executions["deconvolve"] += 1
        cleaned = deconvolver([transfer(one) for one in residuals])
        minor_cycles += cleaned.iterations
        pairs = zip(models, cleaned.models, strict=True)
        models = [model + to_host(more) for model, more in pairs]
    report("restoring")
    residual = imager.invert(visibilities - imager.predict(models))[0]
    assert first is not None  # the loop runs once at least
    return Imaged(
        psf=psfs[0], dirty=first, models=tuple(models), residual=residual,
        restored=restore(models[0], residual, beam), beam=beam,
        executions=dict(imager.executions), minor_cycles=minor_cycles,
    )  # fmt: skip


class Deconvolver:
    """A deconvolution, prepared for its point-spread functions.

    Parameters
    ----------
    plan : Plan
    psfs : sequence of array, shape (size, size)
    """

    def __init__(self, plan: Plan, psfs: Sequence[Array]) -> None:
        self._minor, self._psf = plan.minor, psfs[0]
        self._basis: Basis | None = None
        if plan.algorithm == "msmfs":
            self._basis = prepare(psfs, plan.scales)

    def __call__(self, dirty: Sequence[Array]) -> Cleaned:
        """Deconvolve dirty images, which are not changed."""
        if self._basis is None:
            return hogbom(dirty[0], self._psf, self._minor)
        return msmfs(dirty, self._basis, self._minor)
