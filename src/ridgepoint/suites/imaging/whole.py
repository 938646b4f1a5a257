"""The whole pipeline run as a user would: from a file of visibilities to files of images.

What its stages leave of its time is the host's: T_c of the memo's Eq. (11).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import reason_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.host import System, of_activity, page_cache
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.suites.imaging.arrays import Array
from ridgepoint.suites.imaging.clock import Clock, Spent, Timed
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.gridder import Complexes
from ridgepoint.suites.imaging.stages import Scene
from ridgepoint.suites.imaging.telescope import Observation

PARTS: Mapping[str, str] = {
    "read": "visibilities from a file",
    "weights": "uniform weights",
    "arithmetic": "differences, sums",
    "invert": "grid, then FFTs",
    "smooth": "smooth by the scales",
    "deconvolve": "minor cycles",
    "predict": "FFTs, then degrid",
    "restore": "fit the beam, restore",
    "write": "images to a file",
    "rest": "all between them",
}
"""Of a run, in its order, with what they do."""
STAGES = ("invert", "deconvolve", "predict")
"""Those that the stages of a pipeline's file stand for."""
_PARALLEL = ("invert", "predict")
"""Those that take several threads: ducc0's. All others are NumPy's, which takes one."""
MOST_RUNS = 3
_LIMIT_S = 60.0
_LITTLE = 0.01
"""Of a file: so much of it may be in memory where it is read from a disk."""

Imaging = Callable[[Complexes, Observation, Timed], Imaged]
"""Images visibilities, and tells a clock which part is running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a run, all its executions together.

    Parameters
    ----------
    name, summary : str
    executions : int
    is_stage : bool
        Whether a stage of the pipeline stands for it; otherwise its time is the host's.
    is_parallel : bool
        Whether it can use several cores, or a GPU.
    time_s : Estimate
        Elapsed time, by run.
    cpu_s : Estimate
        CPU time of all threads, by run.
    """

    name: str
    summary: str
    executions: int
    is_stage: bool
    is_parallel: bool
    time_s: Estimate
    cpu_s: Estimate

    @property
    def busy_cores(self) -> float | None:
        """CPU time over elapsed time; None: it takes no time."""
        seconds = self.time_s.median
        return self.cpu_s.median / seconds if seconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """Runs of the whole pipeline, from file to file.

    Parameters
    ----------
    parts : tuple of Part
    time_s : Estimate
        Elapsed time, by run.
    stages_s, host_s : Estimate
        That of the stages, and what they leave: T_c.
    one_core_s : Estimate
        That of the parts which run on one core only.
    minor_cycles : int
        Number of minor cycles in a run.
    read_bytes, written_bytes : int
    in_memory : float
        Largest share of the file that was in memory before it was read; 0: it came from its disk.
    cautions : tuple of Caution
    """

    parts: tuple[Part, ...]
    time_s: Estimate
    stages_s: Estimate
    host_s: Estimate
    one_core_s: Estimate
    minor_cycles: int
    read_bytes: int
    written_bytes: int
    in_memory: float = 0.0
    cautions: tuple[Caution, ...] = ()

    @property
    def is_from_memory(self) -> bool:
        """Whether visibilities, or a part of them, were read from memory and not from a disk."""
        return self.in_memory > _LITTLE


def run_whole(
    scene: Scene,
    imaging: Imaging,
    *,
    folder: Path | None = None,
    on_device: bool = False,
    settle: Callable[[], object] = lambda: None,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[WholeRun, Imaged]:
    """Run the whole pipeline up to three times, and time its parts.

    Parameters
    ----------
    scene : Scene
    imaging : callable
        Images visibilities.
    folder : Path or None
        Where the files are; they are removed afterwards. None: the temporary folder.
    on_device : bool
        Whether stages run on a GPU.
    settle : callable
        Waits for a GPU.
    report : callable
        Called with a description of each step as it begins.

    Returns
    -------
    tuple of WholeRun and Imaged
        The latter from the last run.

    Raises
    ------
    CannotImage
        If a file cannot be written or read, or the image cannot be made.

    Notes
    -----
    Before each run the file's pages are dropped from the page cache (`ridgepoint.host.page_cache`);
    what is written counts as written when the disk has it (``fsync``).
    """
    runs: list[Mapping[str, Spent]] = []
    kept: list[float] = []
    with _files_in(folder), scratch_folder(within=folder) as name:
        observed, results = Path(name, "visibilities"), Path(name, "images")
        write_arrays(observed, (scene.observation.uvw_m, scene.observation.frequency_hz,
                                scene.visibilities))  # fmt: skip
        before = System().activity()
        begin = time.perf_counter()
        while not runs or _has_time(len(runs), time.perf_counter() - begin):
            report(f"the whole pipeline, run {len(runs) + 1}")
            kept.append(page_cache.drop(observed))
            clock = Clock(settle)
            with clock("rest"):
                with clock("read"):
                    uvw_m, frequency_hz, visibilities = read_arrays(observed, 3)
                    observation = Observation(uvw_m=uvw_m, frequency_hz=frequency_hz)
                imaged = imaging(visibilities, observation, clock)
                with clock("write"):
                    write_arrays(results, _results(imaged))
            runs.append(clock.spent)
        doubts = of_activity(before, System().activity())
        sizes = observed.stat().st_size, results.stat().st_size
    cautions = (*_of_file(max(kept)), *doubts)
    whole = _whole(runs, imaged, sizes, on_device=on_device)
    return replace(whole, in_memory=max(kept), cautions=cautions), imaged


def _has_time(runs: int, passed_s: float) -> bool:
    """Return whether one more run is wanted, and fits into the limit."""
    return runs < MOST_RUNS and passed_s * (runs + 1) / runs < _LIMIT_S


@contextmanager
def _files_in(folder: Path | None) -> Iterator[None]:
    """Say of files that cannot be written or read where they are, and what to do."""
    try:
        yield
    except OSError as error:
        where = "the temporary folder" if folder is None else repr(str(folder))
        raise CannotImage(
            f"cannot keep visibilities and images in {where}",
            reason=reason_of(error),
            remedy="name a folder with room for them by --scratch",
        ) from error


def write_arrays(path: Path, arrays: Sequence[Array]) -> None:
    """Write arrays to a file, one after the other, and wait until the disk has them."""
    with path.open("wb") as file:
        for array in arrays:
            np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def read_arrays(path: Path, number: int) -> list[Array]:
    """Return so many arrays of a file."""
    with path.open("rb") as file:
        return [_read_array(file) for _ in range(number)]


def _read_array(file: BinaryIO) -> Array:
    array: Array = np.load(file, allow_pickle=False)
    return array


def _results(imaged: Imaged) -> list[Array]:
    """Return what a user keeps of a run."""
    images = (imaged.psf, imaged.dirty, *imaged.models, imaged.residual, imaged.restored)
    return [*images, imaged.residual_visibilities]


def _whole(
    runs: Sequence[Mapping[str, Spent]],
    imaged: Imaged,
    sizes: tuple[int, int],
    *,
    on_device: bool,
) -> WholeRun:
    parts = tuple(
        Part(
            name=name,
            summary=summary,
            executions=runs[0][name].executions,
            is_stage=name in STAGES,
            is_parallel=name in (STAGES if on_device else _PARALLEL),
            time_s=Estimate([run[name].wall_s for run in runs]),
            cpu_s=Estimate([run[name].cpu_s for run in runs]),
        )
        for name, summary in PARTS.items()
        if name in runs[0]
    )

    def added(wanted: Callable[[Part], bool]) -> Estimate:
        chosen = [part.name for part in parts if wanted(part)]
        return Estimate([sum(run[name].wall_s for name in chosen) for run in runs])

    return WholeRun(
        parts=parts,
        time_s=added(lambda part: True),
        stages_s=added(lambda part: part.is_stage),
        host_s=added(lambda part: not part.is_stage),
        one_core_s=added(lambda part: not part.is_parallel),
        minor_cycles=imaged.minor_cycles,
        read_bytes=sizes[0],
        written_bytes=sizes[1],
    )


def _of_file(in_memory: float) -> tuple[Caution, ...]:
    if in_memory <= _LITTLE:
        return ()
    return (
        Caution(
            "file-in-memory",
            f"{100 * in_memory:.0f} % of the file of visibilities was in memory when it was read, "
            "as files of tmpfs always are",
            "name a folder on a disk by --scratch",
        ),
    )
