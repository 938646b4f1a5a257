"""Where the imaging pipeline runs: on this host's CPUs, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ridgepoint.ceilings.gpu import arrays
from ridgepoint.ceilings.gpu.arrays import Arrays
from ridgepoint.core.measurement import State
from ridgepoint.suites.imaging import continuum, measuring
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.device import gridder_on, image_on, stages_on, time_stages
from ridgepoint.suites.imaging.gridder import Gridding, require_ducc
from ridgepoint.suites.imaging.measuring import ImagingStudy, study_of
from ridgepoint.suites.imaging.nufft import NufftGridder
from ridgepoint.suites.imaging.stages import Scene, Stage, chosen, scene, stages


class Place(Protocol):
    """Where a scene is imaged, and the stages of that are measured."""

    @property
    def scene(self) -> Scene:
        """What is imaged."""

    @property
    def gpu(self) -> Arrays | None:
        """The GPU; None: this host's CPUs."""

    @property
    def device(self) -> str | None:
        """Name of the GPU; None: this host's CPUs."""

    @property
    def gridding(self) -> Gridding | None:
        """How a GPU grids; None: as ducc0 does."""

    def stages(self, names: Sequence[str] = ()) -> tuple[Stage, ...]:
        """Return the stages of these names, with their data; without a name, all."""

    def image(self, *, report: Callable[[str], None]) -> Imaged:
        """Image the scene."""

    def measure(
        self, names: Sequence[str], *, states: Sequence[State], report: Callable[[str], None]
    ) -> ImagingStudy:
        """Measure the stages of these names; one that cannot be measured stops no other."""


@dataclass(frozen=True, slots=True)
class _Host:
    scene: Scene
    gpu: None = None
    device: None = None
    gridding: None = None

    def stages(self, names: Sequence[str] = ()) -> tuple[Stage, ...]:
        return chosen(stages(self.scene), names)

    def image(self, *, report: Callable[[str], None]) -> Imaged:
        scene = self.scene
        return continuum.image(
            scene.visibilities, scene.observation, scene.geometry, scene.plan,
            weights=scene.weights, report=report,
        )  # fmt: skip

    def measure(
        self, names: Sequence[str], *, states: Sequence[State], report: Callable[[str], None]
    ) -> ImagingStudy:
        results = measuring.measure_stages(
            self.stages(names),
            states=states,
            threads=self.scene.geometry.threads,
            report=report,
        )
        return study_of(self.scene, results)


@dataclass(frozen=True, slots=True)
class _Gpu:
    scene: Scene
    gpu: Arrays
    gridder: NufftGridder

    @property
    def device(self) -> str:
        return self.gpu.device.facts.name

    @property
    def gridding(self) -> Gridding:
        return self.gridder.gridding

    def stages(self, names: Sequence[str] = ()) -> tuple[Stage, ...]:
        return chosen(stages_on(self.gpu, self.scene, self.gridder), names)

    def image(self, *, report: Callable[[str], None]) -> Imaged:
        return image_on(self.gpu, self.scene, self.gridder, report=report)

    def measure(
        self, names: Sequence[str], *, states: Sequence[State], report: Callable[[str], None]
    ) -> ImagingStudy:
        # A GPU's caches are warm: there is one state.
        results = time_stages(self.stages(names), self.gpu, report=report)
        return study_of(self.scene, results, device=self.device)


def on_host(size: int, *, threads: int = 1, gain: float = 0.1) -> Place:
    """Return a scene that this host's CPUs image.

    Parameters
    ----------
    size, threads, gain
        As `ridgepoint.suites.imaging.stages.scene` takes them.

    Raises
    ------
    ValueError
        If the size is out of range.
    CannotImage
        If ducc0 is not installed, or memory does not hold the images.
    """
    require_ducc()
    return _Host(scene(size, threads=threads, gain=gain))


def on_gpu(index: int, size: int, *, gain: float = 0.1) -> Place:
    """Return a scene that a GPU images.

    Parameters
    ----------
    index : int
        Which GPU, from 0.
    size, gain
        As `ridgepoint.suites.imaging.stages.scene` takes them.

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
    return _Gpu(new_scene, device, gridder_on(device, new_scene))
