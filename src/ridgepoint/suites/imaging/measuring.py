"""Measure the stages of the imaging pipeline, warm and cold, and separate gridding."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import document_kind
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement, State
from ridgepoint.profiling.calls import Subject, measure_all, subject
from ridgepoint.profiling.calls.knobs import IN_PYTHON, Knobs
from ridgepoint.suites.imaging.stages import Scene, Stage
from ridgepoint.suites.imaging.whole import WholeRun
from ridgepoint.suites.study import Study

DIFFERENCES = {"grid": ("invert", "ifft"), "degrid": ("predict", "fft")}
"""Stages that no call does alone: what one call does more than another."""
# Work is the same in each call; but memory that a call allocates may lie elsewhere in each, which
# changes the traffic of a single call. So several calls of short stages are counted.
LIMIT_S = 5.0
_COUNTED_S = 0.1
_SLOWER = 45  # factor by which counting slows a call
_LEAST_CALLS = 4
_UNCOUNTED = 4  # calls that precede the counted ones
_START_S = 8.0
_LONG_S = 600.0  # from here on stages are measured one by one, to show the progress


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """Time and work of one execution of a stage.

    Parameters
    ----------
    name : str
    summary : str
    state : {"warm", "cold"}
        State of the caches.
    threads : int
    visibilities : int
        Number of visibilities; 0: none.
    gridded : int
        Number of visibilities that were gridded to measure it.
    expected_flop : float
    expected_bytes : float or None
        Bytes at DRAM by formula; None: no formula.
    work_flop : float or None
        Counted flop; None: it could not be measured.
    moved_bytes : float or None
        Bytes at DRAM, read and written; None: not measured.
    runtime_s : Estimate or None
    failure : str or None
        Why it could not be measured.
    cautions : tuple of Caution
    """

    name: str
    summary: str
    state: State
    threads: int
    visibilities: int
    expected_flop: float
    expected_bytes: float | None
    work_flop: float | None = None
    moved_bytes: float | None = None
    runtime_s: Estimate | None = None
    failure: str | None = None
    gridded: int = 0
    cautions: tuple[Caution, ...] = ()

    @property
    def work_ratio(self) -> float | None:
        """Counted work over that of the formula; None: unknown."""
        return None if self.work_flop is None else self.work_flop / self.expected_flop

    @property
    def visibilities_per_s(self) -> float | None:
        """Throughput, visibilities per second; None: no visibilities, or no time."""
        if self.runtime_s is None or not self.visibilities:
            return None
        return self.visibilities / self.runtime_s.median


@document_kind("imaging", remedy="give a file written by 'ridgepoint suite imaging --json'")
class ImagingStudy(Study, msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Measured stages of a pipeline that images one scene.

    Parameters
    ----------
    size : int
        Pixels along a side.
    rows, channels, visibilities : int
        Size of the observation.
    results : tuple of StageResult
    device : str or None
        Name of the GPU, where nothing is counted; None: this host's CPUs.
    whole : WholeRun or None
        Time of the whole pipeline, by its parts; None: it was not run, or could not.
    whole_failure : str or None
        Why it could not be run.
    """

    size: int
    rows: int
    channels: int
    visibilities: int
    device: str | None = None
    results: tuple[StageResult, ...]
    whole: WholeRun | None = None
    whole_failure: str | None = None

    @property
    def where(self) -> str:
        """Name of the GPU, or else of the host's CPUs."""
        return self.device or "this host's CPUs"

    @property
    def unmeasured(self) -> dict[str, str]:
        """Why stages could not be measured, by stage and state of the caches."""
        stages = {
            f"{result.name}, {result.state}": result.failure
            for result in self.results
            if result.failure is not None
        }
        whole = {} if self.whole_failure is None else {"the whole pipeline": self.whole_failure}
        return {**whole, **stages}


def study_of(
    scene: Scene,
    results: Sequence[StageResult],
    *,
    device: str | None = None,
    whole: WholeRun | RidgepointError | None = None,
) -> ImagingStudy:
    """Return the results of a scene's stages, with a description of the scene.

    Parameters
    ----------
    scene : Scene
    results : sequence of StageResult
    device : str or None
        Name of the GPU; None: this host's CPUs.
    whole : WholeRun or RidgepointError or None
        Time of the whole pipeline, or why it could not be run; None: it was not.
    """
    rows, channels = scene.observation.shape
    return ImagingStudy(
        size=scene.geometry.size,
        rows=rows,
        channels=channels,
        visibilities=scene.observation.visibilities,
        device=device,
        results=tuple(results),
        whole=whole if isinstance(whole, WholeRun) else None,
        whole_failure=str(whole) if isinstance(whole, RidgepointError) else None,
    )


def measure_stages(
    stages: Sequence[Stage],
    *,
    states: Sequence[State],
    threads: int = 1,
    repetitions: int | None = None,
    limit_s: float = LIMIT_S,
    knobs: Knobs = IN_PYTHON,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[StageResult, ...]:
    """Measure stages; a stage that fails does not stop the others.

    Parameters
    ----------
    stages : sequence of Stage
    states : sequence of {"warm", "cold"}
    threads : int
        Number of threads for which the scene was made.
    repetitions : int or None
        Samples of each runtime.
    limit_s : float
        Time limit for the samples of one stage, in seconds; long calls exceed it for a few samples.
    knobs : Knobs
        How messages name what the user can change.
    report : callable
        Called with a description of each step as it begins.

    Returns
    -------
    tuple of StageResult
        State by state; gridding and degridding follow the stages if their parts were measured.
        Transforms are then without the gridding of the few visibilities that they were measured
        with.

    Raises
    ------
    MeterUnavailable
        If the meter does not work here.
    """
    cases = [(stage, state) for state in states for stage in stages]
    calls_s = [_call_s(stage) for stage in stages]
    duration_s = expected_s(calls_s) * len(states)
    report(f"measuring takes about {_minutes(duration_s)}")
    groups = [[case] for case in cases] if duration_s > _LONG_S else [cases]
    measured = [
        outcome
        for i, group in enumerate(groups)
        for outcome in measure_all(
            [_subject(stage, state, threads) for stage, state in group],
            repetitions=repetitions,
            limit_s=max(limit_s, _LEAST_CALLS * max(calls_s)),
            counted_s=_COUNTED_S,
            knobs=knobs,
            report=report if len(groups) == 1 else _numbered(report, i + 1, len(groups)),
        )
    ]
    results = [
        _result(stage, state, threads, outcome)
        for (stage, state), outcome in zip(cases, measured, strict=True)
    ]
    by_state = [[result for result in results if result.state == state] for state in states]
    return tuple(result for group in by_state for result in taken_apart(group))


def _subject(stage: Stage, state: State, threads: int) -> Subject:
    """Return a stage with a copy of its data, which exists only while it is measured."""
    return subject(
        stage.function, *stage.arguments, state=state, threads=threads,
        name=f"{stage.name}, {state}",
    )  # fmt: skip


def _call_s(stage: Stage) -> float:
    begin = time.perf_counter()
    stage.function(*stage.arguments)
    return time.perf_counter() - begin


def expected_s(calls_s: Sequence[float]) -> float:
    """Return the approximate measuring time in one state, s, from the time of one call of each."""
    counted = (_UNCOUNTED * call_s + max(call_s, _COUNTED_S) for call_s in calls_s)
    return _START_S + _SLOWER * sum(counted)


def _minutes(seconds: float) -> str:
    return "a minute" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def _numbered(report: Callable[[str], None], i: int, n: int) -> Callable[[str], None]:
    return lambda what: report(f"{what} ({i} of {n})")


def _result(
    stage: Stage, state: State, threads: int, outcome: Measurement | RidgepointError
) -> StageResult:
    work: float | None = None
    moved: float | None = None
    runtime: Estimate | None = None
    failure: str | None = None
    cautions: tuple[Caution, ...] = ()
    if isinstance(outcome, RidgepointError):
        failure = str(outcome)
    else:
        work = float(outcome.counted.counts.work_flop)
        traffic = outcome.traffic_at("dram")
        total = None if traffic is None else traffic.total_bytes
        moved = None if total is None else float(total)
        runtime = None if outcome.timed is None else outcome.timed.runtime_s
        cautions = (*outcome.counted.cautions, *outcome.cautions)
        cautions += () if outcome.timed is None else outcome.timed.cautions
    return StageResult(
        name=stage.name, summary=stage.summary, state=state, threads=threads,
        visibilities=stage.visibilities, expected_flop=stage.expected.flop,
        expected_bytes=stage.expected.moved_bytes, work_flop=work, moved_bytes=moved,
        runtime_s=runtime, failure=failure, gridded=stage.gridded, cautions=cautions,
    )  # fmt: skip


def taken_apart(results: Sequence[StageResult]) -> list[StageResult]:
    """Return results with gridding separated from transforms, where both calls were measured."""
    by_name = {result.name: result for result in results}
    for name, (whole, part) in DIFFERENCES.items():
        if whole in by_name and part in by_name:
            by_name[name], by_name[part] = split(name, by_name[whole], by_name[part])
    return list(by_name.values())


def split(name: str, whole: StageResult, part: StageResult) -> tuple[StageResult, StageResult]:
    """Return the time and work of gridding, and of the transforms.

    Parameters
    ----------
    name : str
        Name of the gridding stage.
    whole, part : StageResult
        The same transforms with all visibilities, and with few, in the same state.

    Returns
    -------
    tuple of StageResult
        Gridding of all visibilities; the transforms with none.

    Notes
    -----
    Each visibility takes the same, g, and the transforms F: ``whole = F + n g, part = F + k g``. So
    ``n g = (whole - part) / (1 - k/n)`` and ``F = part - k g``. The interval of a time reaches from
    the smallest to the largest value that the two intervals allow. If it includes 0, it is unknown.
    """
    share = part.gridded / whole.gridded if whole.gridded else 0.0
    grid = StageResult(
        name=name,
        summary=f"{whole.name} less {part.name}",
        state=whole.state,
        threads=whole.threads,
        visibilities=whole.visibilities,
        gridded=whole.gridded,
        expected_flop=whole.expected_flop - part.expected_flop,
        expected_bytes=_less(whole.expected_bytes, part.expected_bytes, 0.0),
        work_flop=_less(whole.work_flop, part.work_flop, share),
        moved_bytes=_less(whole.moved_bytes, part.moved_bytes, share),
        runtime_s=_less_time(whole.runtime_s, part.runtime_s, share),
        failure=whole.failure or part.failure,
        cautions=(*whole.cautions, *part.cautions),
    )
    rest = replace(
        part,
        gridded=0,
        work_flop=_without(part.work_flop, grid.work_flop, share),
        moved_bytes=_without(part.moved_bytes, grid.moved_bytes, share),
        runtime_s=_without_time(part.runtime_s, grid.runtime_s, share),
    )
    return grid, rest


def _less(whole: float | None, part: float | None, share: float) -> float | None:
    if whole is None or part is None or whole <= part:
        return None
    return (whole - part) / (1 - share)


def _without(part: float | None, grid: float | None, share: float) -> float | None:
    """Return the part without its share of gridding; unchanged if gridding is lost in it."""
    return part if part is None or grid is None else max(part - share * grid, 0.0)


def _less_time(whole: Estimate | None, part: Estimate | None, share: float) -> Estimate | None:
    if whole is None or part is None or whole.median <= part.median:
        return None
    rest = 1 - share
    median = (whole.median - part.median) / rest
    ends = (whole.low, whole.high, part.low, part.high)
    if None in ends:
        return Estimate([median])
    low, high, least, most = (float(end or 0.0) for end in ends)
    if low <= most:
        return None
    return Estimate([median], interval=((low - most) / rest, (high - least) / rest))


def _without_time(part: Estimate | None, grid: Estimate | None, share: float) -> Estimate | None:
    """Return the samples minus the time of the few visibilities, as far as that is known."""
    if part is None or grid is None or min(part.samples) <= share * grid.median:
        return part
    return Estimate([sample - share * grid.median for sample in part.samples])
