"""Actions for each stage: the memo's six kinds, with their gain for the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.bound import combined
from ridgepoint.core.machine import OTHER_NODE, Ceiling, Machine
from ridgepoint.models.analysis import analyse
from ridgepoint.models.pipeline.assessment import Assessment, StageFigures
from ridgepoint.models.thresholds import FAR_BELOW_MEMORY, LEAST_PIPELINE_GAIN, NEAR_ROOF

Kind = Literal[
    "more-work-per-byte",
    "fewer-bytes",
    "parallelism",
    "multiply-add",
    "affinity",
    "prefetch",
]

KINDS: Mapping[Kind, str] = {
    "more-work-per-byte": "raise intensity: more work per byte",
    "fewer-bytes": "raise intensity: fewer bytes",
    "parallelism": "climb: instruction parallelism and vectors",
    "multiply-add": "climb: multiply-add",
    "affinity": "climb: memory affinity",
    "prefetch": "climb: prefetch",
}
"""The six of section 3.2, in its order; the first two move a stage right, the others up."""

_MOST_BY_FMA = 2.0
# Codes of the advice on a measured program, by the memo's kind.
_KIND_OF: Mapping[str, Kind] = {
    "fewer-bytes": "fewer-bytes",
    "part-of-lines": "fewer-bytes",
    "write-allocate": "fewer-bytes",
    "latency": "prefetch",
    "scalar": "parallelism",
    "narrow-vectors": "parallelism",
    "dependent": "parallelism",
    "overhead": "parallelism",
    "imbalance": "parallelism",
    "no-fma": "multiply-add",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageAdvice:
    """One action on one stage.

    Parameters
    ----------
    stage : str
    kind : str
        One of `KINDS`.
    seen : str
        The evidence, in numbers.
    what : str
        What to do.
    gain : float
        Upper limit of the stage's speed-up.
    pipeline_gain : float
        Resulting speed-up of the pipeline (Amdahl's law over the stage's share of the time).
    is_measured : bool
        Whether the stage's instructions were counted; otherwise the advice follows from its place
        alone, which cannot distinguish between several actions.
    """

    stage: str
    kind: Kind
    seen: str
    what: str
    gain: float
    pipeline_gain: float
    is_measured: bool


def pipeline_advice(assessment: Assessment) -> tuple[StageAdvice, ...]:
    """Return actions, largest gain for the pipeline first; empty if nothing gains.

    Notes
    -----
    Gains are upper limits: a stage that moves fewer bytes, or does more with them, is no faster
    than its compute roof allows at the same programming efficiency; one that climbs is no faster
    than its roof. The instructions of a measured stage distinguish the kinds of climbing;
    otherwise its place does, as far as possible.
    """
    given = [advice for stage in assessment.stages for advice in _of_stage(assessment, stage)]
    given += _fusions(assessment)
    kept = [advice for advice in given if advice.pipeline_gain >= LEAST_PIPELINE_GAIN]
    return tuple(sorted(kept, key=lambda advice: -advice.pipeline_gain))


def _whole_s(assessment: Assessment) -> float:
    return (assessment.total_s or assessment.time_s).median


def _advice(
    assessment: Assessment,
    figures: StageFigures,
    kind: Kind,
    gain: float,
    *,
    seen: str,
    what: str,
    is_measured: bool = False,
) -> StageAdvice:
    whole = _whole_s(assessment)
    return StageAdvice(
        stage=figures.stage.name,
        kind=kind,
        seen=seen,
        what=what,
        gain=gain,
        pipeline_gain=whole / (whole - figures.time_s + figures.time_s / gain),
        is_measured=is_measured,
    )


def _of_stage(assessment: Assessment, figures: StageFigures) -> Iterator[StageAdvice]:
    counted = tuple(_counted(assessment, figures))
    yield from counted
    kinds = {advice.kind for advice in counted}
    if figures.limiter == "dram" and figures.work and "fewer-bytes" not in kinds:
        gain = 1 / figures.roofline_efficiency
        yield _advice(
            assessment, figures, "fewer-bytes", gain,
            seen=(
                f"its intensity, {_flop_per_byte(figures)} flop/byte, is below the ridge at "
                f"{assessment.ridge:.3g}"
            ),
            what=(
                "keep its data in caches (block, reorder), store the data in fewer bytes, and "
                "write it only once"
            ),
        )  # fmt: skip
    if figures.programming_efficiency < NEAR_ROOF and not kinds - {"fewer-bytes"}:
        yield from _climbs(assessment, figures)


def _climbs(assessment: Assessment, figures: StageFigures) -> Iterator[StageAdvice]:
    """Yield actions that may lift a stage to its roof, as far as its place shows."""
    gain = 1 / figures.programming_efficiency
    reached = f"it reaches {100 * figures.programming_efficiency:.2g} % of its"
    if figures.limiter == "dram":
        seen = f"{reached} bandwidth roof"
        yield _advice(
            assessment, figures, "prefetch", gain, seen=seen,
            what=(
                "request data before it is needed: prefetch, keep more loads in flight, work "
                "on longer runs of data"
            ),
        )  # fmt: skip
        nodes = _nodes(assessment.machine)
        if nodes:
            far = next((each.rate for each in nodes if each.name == OTHER_NODE), None)
            share = 0.0 if far is None else far.median / assessment.bandwidth
            yield _advice(
                assessment, figures, "affinity", min(gain, 1 / share) if share else gain,
                seen=f"{seen}, on a machine of several nodes" + (
                    f", where memory of another node gives {100 * share:.0f} %" if share else ""
                ),
                what=(
                    "keep each thread's data on its own node: pin threads, and let the thread "
                    "that uses a page touch it first"
                ),
            )  # fmt: skip
        return
    seen = f"{reached} compute roof"
    yield _advice(
        assessment, figures, "parallelism", gain, seen=seen,
        what="vectorise, unroll with several accumulators, keep all lanes and pipes busy"
        + ("" if figures.programming_efficiency >= FAR_BELOW_MEMORY else
           "; if it passes over data in caches again and again, fuse the passes"),
    )  # fmt: skip
    yield _advice(
        assessment, figures, "multiply-add", min(gain, _MOST_BY_FMA), seen=seen,
        what="let products and additions fuse, where they come in pairs",
    )  # fmt: skip


def _nodes(machine: Machine) -> list[Ceiling]:
    """Return the ceilings of memory of parts of a machine; none: it is of one piece."""
    return [each for each in machine.ceilings if each.part is not None and each.resource == "dram"]


def _counted(assessment: Assessment, figures: StageFigures) -> Iterator[StageAdvice]:
    """Yield actions that follow from the counts of a measured stage."""
    measured = figures.stage.measurement
    if measured is None:
        return
    analysis = analyse(measured, assessment.machine, cores=assessment.cores, metric="flop")
    best: dict[Kind, StageAdvice] = {}
    for advice in analysis.advice:
        kind = _KIND_OF.get(advice.code)
        if kind is None or advice.gain is None:
            continue
        given = _advice(
            assessment, figures, kind, advice.gain, seen=f"{advice.about}: {advice.seen}",
            what=advice.what, is_measured=True,
        )  # fmt: skip
        if kind not in best or given.gain > best[kind].gain:
            best[kind] = given
    yield from best.values()


def _fusions(assessment: Assessment) -> Iterator[StageAdvice]:
    """Yield fusions of memory-bound stages with a neighbour, whose work needs the same bytes.

    Additional work only for intensity gains nothing; work taken from a neighbour does.
    """
    for index, figures in enumerate(assessment.stages):
        if figures.limiter != "dram":
            continue
        around = (
            *assessment.stages[max(index - 1, 0) : index],
            *assessment.stages[index + 1 : index + 2],
        )
        other = max(
            (neighbour for neighbour in around if neighbour.limiter == "compute"),
            key=lambda neighbour: neighbour.time_s,
            default=None,
        )
        if other is None:
            continue
        saved = _overlapped(figures, other)
        whole = _whole_s(assessment)
        both = figures.time_s + other.time_s
        yield StageAdvice(
            stage=figures.stage.name,
            kind="more-work-per-byte",
            seen=(
                f"it moves data while nothing computes, and its neighbour {other.stage.name} "
                "computes"
            ),
            what=(
                f"do both in one pass, so that {other.stage.name} computes while this stage "
                "moves data"
            ),
            gain=both / (both - saved),
            pipeline_gain=whole / (whole - saved),
            is_measured=False,
        )


def _overlapped(figures: StageFigures, other: StageFigures) -> float:
    """Return the upper limit of the seconds saved by running two stages as one.

    Each path keeps its stage's present share of the roof; the bytes that would no longer be
    handed on are not counted.
    """
    both = (figures, other)
    compute_s = sum(stage.compute_s / stage.programming_efficiency for stage in both)
    memory_s = sum(stage.memory_s / stage.programming_efficiency for stage in both)
    return figures.time_s + other.time_s - float(combined((compute_s, memory_s)))


def _flop_per_byte(figures: StageFigures) -> str:
    return "infinitely many" if figures.intensity is None else f"{figures.intensity:.3g}"
