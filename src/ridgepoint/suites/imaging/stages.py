"""The stages of the pipeline taken apart, with data to measure each of them by itself.

ducc0 grids and transforms in one call. What is not gridding is measured by the same call with few
rows of visibilities, which need the same transforms: what more visibilities take is gridding. What
a stage gives out goes to an argument, so that it is as cold as what it takes in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from ridgepoint.demands import formulas
from ridgepoint.demands.formulas import Work
from ridgepoint.suites.imaging import gridder
from ridgepoint.suites.imaging.arrays import Array, namespace
from ridgepoint.suites.imaging.clean import Cleaned, Minor, hogbom
from ridgepoint.suites.imaging.continuum import Imager, Plan
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.gridder import Complexes, Floats, Geometry, Gridding
from ridgepoint.suites.imaging.msmfs import Basis, minor_cycles, prepare, smoothed
from ridgepoint.suites.imaging.sky import Source, seeded_sky, visibilities
from ridgepoint.suites.imaging.telescope import Observation, observe, three_arms

LEAST_SIZE, MOST_SIZE = 64, 16384
MINOR_CYCLES = 500
"""Of one deconvolution of the whole pipeline."""
_ARM_M = 600.0
_BAND_HZ = (1.2e9, 1.6e9)
_CHANNELS = 4
_PIXELS_PER_FRINGE = 5
_NOISE_JY = 0.05
_THRESHOLD = 3.0  # times the noise of the image
_COMPLEX_BYTES = 16
_MOST_CYCLES = {"hogbom": 100, "msmfs": 20}
_LEAST_CYCLES = {"hogbom": 10, "msmfs": 4}
_FEW_PIXELS = 256  # along a side: of larger images fewer minor cycles are measured
# Images that all parts hold together: of MSMFS beams of 6 pairs of scales in 3 orders, 6 smoothed
# residuals and their temporaries, and a grid of 4 times the pixels in complex numbers. While MSMFS
# is measured there are five copies more of the 27 that it is given: two here, three where it is
# counted.
_IMAGES_HELD = 44 + 5 * 27
_BYTES_PER_VISIBILITY = 100 + 5 * 60
_PROCESSES_BYTES = 300_000_000  # this one and the one that counts, without data
# Where a device does all that: what it gives back, and what is drawn of it.
_IMAGES_TAKEN, _BYTES_PER_VISIBILITY_SENT = 16, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A known sky with its observation and visibilities.

    Parameters
    ----------
    sky : tuple of Source
    observation : Observation
    geometry : Geometry
    plan : Plan
    visibilities : ndarray of complex128, shape (rows, channels)
        Jy, with noise.
    weights : ndarray of float64, shape (rows, channels)
    """

    sky: tuple[Source, ...]
    observation: Observation
    geometry: Geometry
    plan: Plan
    visibilities: Complexes
    weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A part of the pipeline that can be called again and again.

    Parameters
    ----------
    name : str
    summary : str
        Description of one call.
    function : callable
    arguments : tuple
    expected : Work
        Work by the formulas of `ridgepoint.demands.formulas`.
    visibilities : int
        Number of visibilities that one call reads or writes; 0: none, or too few to count.
    gridded : int
        Number of visibilities that one call grids, even if they are few.
    """

    name: str
    summary: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    expected: Work
    visibilities: int = 0
    gridded: int = 0


def scene(
    size: int,
    *,
    threads: int = 1,
    gain: float = 0.1,
    major: int = 5,
    seed: int = 1,
    on_host: bool = True,
) -> Scene:
    """Return a sky with its observation by the model array.

    Parameters
    ----------
    size : int
        Pixels along a side of the image; even, 64 to 16384. There are ``size / 4`` snapshots of
        351 baselines in four channels, 1.2 to 1.6 GHz.
    threads : int
        Number of threads of the gridder.
    gain : float
        Gain of the deconvolution, > 0 and <= 1.
    major : int
        Number of major cycles.
    seed : int
        Seed of sky and noise.
    on_host : bool
        Whether this host's memory holds all data for imaging; else a device's does.

    Raises
    ------
    ValueError
        If the size is out of range.
    CannotImage
        If the data do not fit into memory.
    """
    if not LEAST_SIZE <= size <= MOST_SIZE or size % 2:
        raise ValueError(f"size must be even, {LEAST_SIZE} to {MOST_SIZE}, got {size!r}")
    frequency_hz = np.linspace(*_BAND_HZ, _CHANNELS)
    antennas = three_arms(_ARM_M)
    moments = max(size // 4, 16)
    number = len(antennas) * (len(antennas) - 1) // 2 * moments * _CHANNELS
    needed = memory_bytes(size, number, images=_IMAGES_TAKEN, each=_BYTES_PER_VISIBILITY_SENT)
    if on_host:
        needed = _PROCESSES_BYTES + memory_bytes(
            size, number, images=_IMAGES_HELD, each=_BYTES_PER_VISIBILITY
        )
    require_memory(size, needed, available=psutil.virtual_memory().available)
    observation = observe(antennas, moments=moments, frequency_hz=frequency_hz)
    cell = 1 / (_PIXELS_PER_FRINGE * observation.longest_wavelengths)
    geometry = Geometry(size=size, cell=cell, threads=threads)
    sky = seeded_sky(size=size, cell=cell, points=6 if size < 128 else 10, extended=2, seed=seed)
    weights = gridder.uniform_weights(observation, geometry)
    # What a deconvolution leaves at extended sources is as high as where it stops.
    threshold_jy = _THRESHOLD * _NOISE_JY * math.sqrt((weights**2).sum()) / float(weights.sum())
    return Scene(
        sky=sky,
        observation=observation,
        geometry=geometry,
        plan=Plan(
            major=major,
            minor=Minor(gain=gain, iterations=MINOR_CYCLES, threshold_jy=threshold_jy),
        ),
        visibilities=visibilities(sky, observation, noise_jy=_NOISE_JY, seed=seed),
        weights=weights,
    )


def memory_bytes(size: int, number: int, *, images: int, each: int) -> int:
    """Return what so many images take, and so many bytes for each of a number of visibilities."""
    return images * size * size * np.dtype(np.float64).itemsize + each * number


def require_memory(size: int, needed: int, *, available: int) -> None:
    """Refuse an image that memory does not hold.

    Parameters
    ----------
    size : int
        Pixels along a side.
    needed, available : int
        Bytes needed and available.

    Raises
    ------
    CannotImage
    """
    if needed > available:
        raise CannotImage(
            f"cannot image {size} x {size} pixels",
            reason=f"it takes {needed / 1e9:.1f} GB, and {available / 1e9:.1f} GB are available",
            remedy="choose a smaller size",
        )


def stages(scene: Scene) -> tuple[Stage, ...]:
    """Return the stages of a scene, with their data.

    Raises
    ------
    CannotImage
        If ducc0 is not installed.
    """
    observation, geometry = scene.observation, scene.geometry
    used = gridder.gridding(observation, geometry)
    imager = Imager(observation, geometry, scene.weights, scene.plan.terms)
    return (*_inverting(scene, observation, geometry, used), *deconvolving(scene, imager))


def _inverting(
    scene: Scene, observation: Observation, geometry: Geometry, used: Gridding
) -> tuple[Stage, ...]:
    """Return what goes from visibilities to an image and back, and of each the transforms alone."""
    few, rows = gridder.same_transforms(observation, geometry, used)
    several = f"{used.planes} FFTs of {used.grid} x {used.grid}"
    vis, wgt = scene.visibilities, scene.weights
    model, image = points_of(scene), np.ones((geometry.size, geometry.size))
    both, transforms = gridding_work(observation.visibilities, used)
    n, k = observation.visibilities, few.visibilities
    return (
        Stage(name="invert", summary="grid, then FFTs", function=invert_to,
              arguments=(vis, wgt, observation, geometry, image), expected=both, visibilities=n,
              gridded=n),
        Stage(name="ifft", summary=several, function=invert_to,
              arguments=(vis[rows], wgt[rows], few, geometry, image), expected=transforms,
              gridded=k),
        Stage(name="predict", summary="FFTs, then degrid", function=predict_to,
              arguments=(model, observation, geometry, np.ones_like(vis)), expected=both,
              visibilities=n, gridded=n),
        Stage(name="fft", summary=several, function=predict_to,
              arguments=(model, few, geometry, np.ones_like(vis[rows])), expected=transforms,
              gridded=k),
    )  # fmt: skip


def gridding_work(visibilities: int, used: Gridding) -> tuple[Work, Work]:
    """Return the work of gridding with its transforms, and of the transforms alone, by formula."""
    gridded = formulas.grid(
        visibilities=visibilities, support=used.support, kernel="real", reuse="all",
        planes=used.support, degree=_degree(used.support),
    )  # fmt: skip
    transformed = formulas.fft(size=used.grid, complex_bytes=_COMPLEX_BYTES)
    transforms = Work(
        flop=transformed.flop * used.planes,
        moved_bytes=(transformed.moved_bytes or 0.0) * used.planes,
    )
    both = Work(
        flop=gridded.flop + transforms.flop,
        moved_bytes=(gridded.moved_bytes or 0.0) + (transforms.moved_bytes or 0.0),
    )
    return both, transforms


def _degree(support: int) -> int:
    """Return the degree of ducc0's polynomials, one of which stands for each cell of a kernel."""
    return support + 3 + (support + 3 + 1) % 2  # odd: even and odd powers are summed apart


def invert_to(
    vis: Complexes, weights: Floats, observation: Observation, geometry: Geometry, image: Floats
) -> Floats:
    """Image visibilities into an array."""
    return gridder.invert(vis, weights, observation, geometry, out=image)


def predict_to(
    model: Floats, observation: Observation, geometry: Geometry, vis: Complexes
) -> Complexes:
    """Predict visibilities into an array."""
    return gridder.predict(model, observation, geometry, out=vis)


def points_of(scene: Scene) -> Floats:
    """Return an image of the sky's points, one pixel each."""
    size = scene.geometry.size
    model = np.zeros((size, size))
    for source in scene.sky:
        row, column = (
            size // 2 + round(cosine / scene.geometry.cell) for cosine in (source.l, source.m)
        )
        model[row, column] = source.flux_jy
    return model


def deconvolving(scene: Scene, imager: Imager) -> tuple[Stage, ...]:
    """Return so many minor cycles of either deconvolution, where the imager's gridder works."""
    plan, size = scene.plan, scene.geometry.size
    psfs = imager.responses(2 * plan.terms - 1)
    dirty = imager.invert(imager.gridder.array(scene.visibilities))
    minors = {
        name: Minor(gain=plan.minor.gain, iterations=measured_cycles(name, size))
        for name in _MOST_CYCLES
    }
    by_points = formulas.hogbom(size=size, psf=size, iterations=minors["hogbom"].iterations)
    by_scales = formulas.msmfs(
        size=size, psf=size, scales=len(plan.scales), terms=plan.terms,
        iterations=minors["msmfs"].iterations,
    )  # fmt: skip
    basis = prepare(psfs, plan.scales)
    return (
        Stage(name="hogbom", summary=_cycles(minors["hogbom"]), function=hogbom,
              arguments=(dirty[0], psfs[0], minors["hogbom"]), expected=by_points),
        Stage(name="msmfs", summary=_cycles(minors["msmfs"]), function=msmfs_cycles,
              arguments=(smoothed(dirty, basis), basis, minors["msmfs"]), expected=by_scales),
    )  # fmt: skip


def msmfs_cycles(smoothed: Sequence[Sequence[Array]], basis: Basis, minor: Minor) -> Cleaned:
    """Deconvolve what is smoothed already: minor cycles alone, on a copy.

    There are hundreds of them in a deconvolution that smooths once, and few in a call.
    """
    copies = [[namespace(image).positive(image) for image in terms] for terms in smoothed]
    return minor_cycles(copies, basis, minor)


def measured_cycles(name: str, size: int) -> int:
    """Return of how many minor cycles a call is that is measured.

    All of them do the same, and counting takes long: the larger the images, the fewer.

    Parameters
    ----------
    name : {"hogbom", "msmfs"}
    size : int
        Pixels along a side.
    """
    fewer = round(_MOST_CYCLES[name] * (_FEW_PIXELS / size) ** 2)
    return min(max(fewer, _LEAST_CYCLES[name]), _MOST_CYCLES[name])


def _cycles(minor: Minor) -> str:
    return f"{minor.iterations} minor cycles"


def chosen(stages: Sequence[Stage], names: Sequence[str]) -> tuple[Stage, ...]:
    """Return the stages of these names; without a name, all."""
    return tuple(stage for stage in stages if not names or stage.name in names)


NAMES = ("invert", "ifft", "predict", "fft", "hogbom", "msmfs")
"""Of the stages, in their order."""
