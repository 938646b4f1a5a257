"""Where the imaging pipeline runs: on this host's CPUs, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.ceilings.gpu import arrays
from ridgepoint.ceilings.gpu.arrays import Arrays
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.measurement import State
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs
from ridgepoint.suites.imaging import continuum, measuring
from ridgepoint.suites.imaging.clock import Timed
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.device import (
    gridder_on,
    image_on,
    stages_on,
    time_stages,
)
from ridgepoint.suites.imaging.gridder import Complexes, Gridding, require_ducc
from ridgepoint.suites.imaging.measuring import LIMIT_S, ImagingStudy, study_of
from ridgepoint.suites.imaging.nufft import NufftGridder
from ridgepoint.suites.imaging.stages import Scene, Stage, chosen, scene, stages
from ridgepoint.suites.imaging.telescope import Observation
from ridgepoint.suites.imaging.whole import WholeRun, run_whole


@dataclass(frozen=True, slots=True)
class Place:
    """A place where a scene is imaged and its stages are measured.

    Parameters
    ----------
    scene : Scene
    gpu : Arrays or None
        GPU to use; None: this host's CPUs.
    gridder : NufftGridder or None
        Gridder on the GPU; None: this host's CPUs are used.
    """

    scene: Scene
    gpu: Arrays | None = None
    gridder: NufftGridder | None = None

    @property
    def gridding(self) -> Gridding | None:
        """Gridding on a GPU; None: ducc0 grids."""
        return None if self.gridder is None else self.gridder.gridding

    def stages(self, names: Sequence[str] = ()) -> tuple[Stage, ...]:
        """Return the stages of these names, with their data; without a name, all."""
        if self.gpu is None or self.gridder is None:
            return chosen(stages(self.scene), names)
        return chosen(stages_on(self.gpu, self.scene, self.gridder), names)

    def image(self, *, report: Callable[[str], None]) -> Imaged:
        """Image the scene."""
        if self.gpu is not None and self.gridder is not None:
            return image_on(self.gpu, self.scene, self.gridder, report=report)
        scene = self.scene
        return continuum.image(
            scene.visibilities, scene.observation, scene.geometry, scene.plan,
            weights=scene.weights, report=report,
        )  # fmt: skip

    def run(
        self, *, folder: Path | None = None, report: Callable[[str], None]
    ) -> tuple[WholeRun, Imaged]:
        """Run the whole pipeline from a file to files, and time its parts.

        Parameters
        ----------
        folder : Path or None
            Where the files are, until the end; None: the temporary folder.
        report : callable
            Called with a description of each step as it begins.

        Raises
        ------
        CannotImage
        CannotMeasure
            If a device refuses.
        """
        scene, gpu, gridder = self.scene, self.gpu, self.gridder

        def imaging(visibilities: Complexes, observation: Observation, timed: Timed) -> Imaged:
            if gpu is not None and gridder is not None:
                return image_on(
                    gpu, scene, gridder, visibilities=visibilities, timed=timed, report=report
                )
            return continuum.image(
                visibilities, observation, scene.geometry, scene.plan, timed=timed, report=report
            )

        return run_whole(
            scene,
            imaging,
            folder=folder,
            on_device=gpu is not None,
            settle=(lambda: None) if gpu is None else gpu.settle,
            report=report,
        )

    def measure(
        self,
        names: Sequence[str],
        *,
        states: Sequence[State],
        report: Callable[[str], None],
        repetitions: int | None = None,
        limit_s: float | None = None,
        knobs: Knobs = IN_PYTHON,
        whole: WholeRun | RidgepointError | None = None,
    ) -> ImagingStudy:
        """Measure the stages of these names; one that cannot be measured stops no other.

        A GPU's stages are measured with warm caches, whatever the states. What was found of the
        whole pipeline, or why nothing was, is kept with them. Samples and time limit of a stage
        are the usual ones if they are None.
        """
        measured = self.stages(names)
        if self.gpu is not None:
            results = time_stages(
                measured,
                self.gpu,
                repetitions=repetitions,
                limit_s=limit_s or LIMIT_S,
                report=report,
            )
            name = self.gpu.device.facts.name
            return study_of(self.scene, results, device=name, whole=whole)
        threads = self.scene.geometry.threads
        results = measuring.measure_stages(
            measured,
            states=states,
            threads=threads,
            repetitions=repetitions,
            limit_s=limit_s or LIMIT_S,
            knobs=knobs,
            report=report,
        )
        return study_of(self.scene, results, whole=whole)


def on_host(size: int, *, threads: int = 1, gain: float = 0.1) -> Place:
    """Return a scene, as `scene` makes it, for this host's CPUs.

    Raises
    ------
    ValueError
        If the size is out of range.
    CannotImage
        If ducc0 is not installed, or memory does not hold the images.
    """
    require_ducc()
    return Place(scene(size, threads=threads, gain=gain))


def on_gpu(index: int, size: int, *, gain: float = 0.1) -> Place:
    """Return a scene, as `scene` makes it, for the GPU of this number, from 0.

    Raises
    ------
    ValueError
        If the size is out of range.
    MeterUnavailable
        If there is no such GPU, or it cannot be used.
    CannotImage
        If memory does not hold the images.
    CannotMeasure
        If the device refuses.
    """
    device = arrays.open_arrays(index)
    new_scene = scene(size, gain=gain, on_host=False)
    return Place(new_scene, device, gridder_on(device, new_scene))
