"""The pipeline on a GPU: its stages by CuPy and cufinufft, timed by the device's own clock.

Their work is not counted: it is that of the formulas, and traffic is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ridgepoint.ceilings.gpu.arrays import Arrays
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.profiling.repeats import wants_another
from ridgepoint.suites.imaging.clock import Timed, untimed
from ridgepoint.suites.imaging.continuum import Imaged, Imager, image
from ridgepoint.suites.imaging.gridder import Complexes
from ridgepoint.suites.imaging.measuring import LIMIT_S, StageResult, taken_apart
from ridgepoint.suites.imaging.nufft import NufftGridder
from ridgepoint.suites.imaging.stages import (
    Scene,
    Stage,
    deconvolving,
    gridding_work,
    memory_bytes,
    points_of,
    require_memory,
)
from ridgepoint.suites.study import attempt

_LEAST_REPETITIONS = 3
_SAMPLE_S = 0.02
_MOST_CALLS = 1000
_FP64_BYTES = 8
# Images held: 27 given to MSMFS, copies of 6 and 8 more; for each of two gridders two plans, with
# a complex grid of 4 times the pixels and as much for its FFT, and their screens.
_IMAGES_HELD = 27 + 6 + 8 + 4 * 16 + 24
_BYTES_PER_VISIBILITY = 200


def gridder_on(device: Arrays, scene: Scene) -> NufftGridder:
    """Return the gridder of a scene on a GPU.

    Raises
    ------
    CannotImage
        If the GPU's memory does not hold the images.
    CannotMeasure
        If the device refuses.
    """
    size, number = scene.geometry.size, scene.observation.visibilities
    needed = memory_bytes(size, number, images=_IMAGES_HELD, each=_BYTES_PER_VISIBILITY)
    require_memory(size, needed, available=device.device.facts.free_bytes)
    with device.current():
        return NufftGridder(
            scene.observation, scene.geometry, library=device.nufft, xp=device.xp,
            options=device.options,
        )  # fmt: skip


def image_on(
    device: Arrays,
    scene: Scene,
    gridder: NufftGridder,
    *,
    visibilities: Complexes | None = None,
    timed: Timed = untimed,
    report: Callable[[str], None] = lambda what: None,
) -> Imaged:
    """Image a scene with all data on a GPU; the results are copied to the host.

    Parameters
    ----------
    device : Arrays
    scene : Scene
    gridder : NufftGridder
        On that device, for the scene.
    visibilities : ndarray of complex128, shape (rows, channels), or None
        Those of the scene, from a file, whose weights are then computed anew; None: the scene's.
    timed : callable
        Times the parts, as for `ridgepoint.suites.imaging.continuum.image`.
    report : callable

    Raises
    ------
    Diverged
        If deconvolution makes the residual larger.
    CannotMeasure
        If the device refuses.
    """
    with device.current():
        return image(
            scene.visibilities if visibilities is None else visibilities,
            scene.observation, scene.geometry, scene.plan,
            weights=scene.weights if visibilities is None else None, gridder=gridder,
            report=report, timed=timed,
        )  # fmt: skip


def stages_on(device: Arrays, scene: Scene, gridder: NufftGridder) -> tuple[Stage, ...]:
    """Return the stages of a scene with their data on a GPU.

    Raises
    ------
    CannotMeasure
        If the device refuses.

    Notes
    -----
    The bytes of ``msmfs`` are those of a device that caches nothing: in a minor cycle each smoothed
    residual is read by the search, then read and written by the update, which reads a beam for
    each Taylor term of the component.
    """
    with device.current():
        few, rows = gridder.same_transforms()
        used, visibilities = gridder.gridding, gridder.array(scene.visibilities)
        weights, model = gridder.array(scene.weights), gridder.array(points_of(scene))
        n, k = scene.observation.visibilities, len(rows) * scene.observation.shape[1]
        both, transforms = gridding_work(n, used)
        several = f"{used.planes} FFTs of {used.grid} x {used.grid}"
        part = (gridder.array(scene.visibilities[rows]), gridder.array(scene.weights[rows]))
        imager = Imager(
            scene.observation, scene.geometry, scene.weights, scene.plan.terms, gridder=gridder
        )
        hogbom, msmfs = deconvolving(scene, imager)
        terms, iterations = scene.plan.terms, msmfs.arguments[-1].iterations
        images = iterations * len(scene.plan.scales) * terms * (3 + terms)
        moved = float(images * _FP64_BYTES * scene.geometry.size**2)
        return (
            Stage(name="invert", summary="grid, then FFTs", function=gridder.invert,
                  arguments=(visibilities, weights), expected=both, visibilities=n, gridded=n),
            Stage(name="ifft", summary=several, function=few.invert, arguments=part,
                  expected=transforms, gridded=k),
            Stage(name="predict", summary="FFTs, then degrid", function=gridder.predict,
                  arguments=(model,), expected=both, visibilities=n, gridded=n),
            Stage(name="fft", summary=several, function=few.predict, arguments=(model,),
                  expected=transforms, gridded=k),
            hogbom,
            replace(msmfs, expected=replace(msmfs.expected, moved_bytes=moved)),
        )  # fmt: skip


def time_stages(
    stages: Sequence[Stage],
    device: Arrays,
    *,
    repetitions: int | None = None,
    limit_s: float = LIMIT_S,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[StageResult, ...]:
    """Time stages on a GPU; a stage that fails does not stop the others.

    Parameters
    ----------
    stages : sequence of Stage
        Stages made by `stages_on`.
    device : Arrays
    repetitions : int or None
        Samples of each runtime, each of enough calls to fill 20 ms; None: 10 to 30, until the 95 %
        interval is within 2 % of the median.
    limit_s : float
        Time limit for the samples of one stage, in seconds; there are at least three samples.
    report : callable
        Called with a description of each step as it begins.

    Returns
    -------
    tuple of StageResult
        Warm results, without work and traffic; gridding is separated from transforms as on a CPU.
    """

    def timed(stage: Stage) -> Estimate:
        report(f"{stage.name}, on the GPU")
        return _timed(stage, device, repetitions, limit_s)

    outcomes = [(stage, attempt(timed, stage)) for stage in stages]
    return tuple(taken_apart([_result(stage, outcome) for stage, outcome in outcomes]))


def _result(stage: Stage, outcome: Estimate | RidgepointError) -> StageResult:
    return StageResult(
        name=stage.name, summary=stage.summary, state="warm", threads=1,
        visibilities=stage.visibilities, gridded=stage.gridded,
        expected_flop=stage.expected.flop, expected_bytes=stage.expected.moved_bytes,
        runtime_s=outcome if isinstance(outcome, Estimate) else None,
        failure=None if isinstance(outcome, Estimate) else str(outcome),
    )  # fmt: skip


def _timed(stage: Stage, device: Arrays, repetitions: int | None, limit_s: float) -> Estimate:
    def call() -> object:
        return stage.function(*stage.arguments)

    device.elapsed_s(call, 1)  # kernels are compiled, and plans made, when they first run
    once_s = device.elapsed_s(call, 1)
    calls = min(max(1, round(_SAMPLE_S / max(once_s, _SAMPLE_S / _MOST_CALLS))), _MOST_CALLS)
    # Before each sample there is one more call, which is not timed.
    fit = int(limit_s / max((calls + 1) * once_s, 1e-9))
    samples_s: list[float] = []
    while len(samples_s) < _LEAST_REPETITIONS or (
        len(samples_s) < fit
        and wants_another(samples_s, elapsed_s=0.0, repeat=repetitions, budget_s=limit_s)
    ):
        samples_s.append(device.elapsed_s(call, calls) / calls)
    return Estimate(samples_s)
