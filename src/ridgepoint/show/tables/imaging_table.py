"""Measured stages of the imaging pipeline for the terminal, beside the formulas."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.show.tables.layout import caution_list, not_measured, plain_table, sections
from ridgepoint.show.words import (
    UNKNOWN,
    WITHIN,
    percent,
    printable,
    shown_amount,
    shown_intensity,
    shown_within,
)
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.measuring import ImagingStudy, StageResult
from ridgepoint.suites.imaging.recovered import Recovered
from ridgepoint.suites.imaging.stages import Stage
from ridgepoint.suites.imaging.whole import WholeRun

# Doubts of what is counted are the same in all stages; those of a time are its interval.
_TOLD = ("avx2-path", "zeros", "few-replicas", "work-varies")
_LEGEND = f"""\
{WITHIN}
work / formula: the formula of grid and degrid counts cells and kernel; that of FFTs is 10 N^2
log2 N, and ducc0 leaves out rows and columns that hold nothing; that of hogbom counts the search,
which does no flop; that of msmfs is the reference library's
traffic: at DRAM; with cold caches, what a call is given comes from DRAM, while what it makes itself
may stay in a cache"""

_ON_DEVICE = f"""\
{WITHIN}
Stages are timed with warm caches by the device's own clock, waits for the host included. Nothing is
counted on a GPU: the work is that of the formulas, and the traffic is unknown."""


def stage_table(study: ImagingStudy) -> RenderableType:
    """Return a table of the stages, state by state; below it, what could not be measured.

    Parameters
    ----------
    study : ImagingStudy
    """
    stages = _of_host(study) if study.device is None else _of_gpu(study, study.device)
    return (
        stages
        if study.whole is None
        else sections(stages, _of_whole(study.whole, is_gpu=study.device is not None))
    )


def _of_whole(whole: WholeRun, *, is_gpu: bool) -> RenderableType:
    """Return the parts of the whole pipeline, and what they come to."""
    alone, faster = "on one core only", "more cores make"
    if is_gpu:
        alone, faster = "outside the GPU", "a faster GPU makes"
    right = ("executions", "time", "share", "cores busy")
    table = plain_table("the whole pipeline", *right, "Eq. (11)", "", right=right)
    seconds = whole.time_s.median
    for part in whole.parts:
        busy = part.busy_cores
        table.add_row(
            part.name,
            f"{part.executions}",
            format_si(part.time_s.median, "s", digits=3),
            percent(part.time_s.median / seconds),
            "" if busy is None else f"{busy:.2f}",
            "Ti" if part.is_stage else "Tc",
            part.summary,
        )
    runs = "1 run" if whole.time_s.n == 1 else f"medians of {whole.time_s.n} runs"
    ran, stages, host = map(_of_runs, (whole.time_s, whole.stages_s, whole.host_s))
    lines = [
        f"from file to files {ran}, {runs}: the stages {stages} and the host's Tc {host}",
        f"{alone} {_of_runs(whole.one_core_s)}: {faster} the whole at most {_most(whole)} times as "
        "fast",
        _files(whole),
    ]
    parts: list[RenderableType] = [table, *map(Text, lines)]
    if whole.cautions:
        parts.append(caution_list(whole.cautions))
    return Group(*parts)


def _files(whole: WholeRun) -> str:
    """Return how much was read and written, and where from and to."""
    read, written = (
        format_si(amount, "B", digits=3) for amount in (whole.read_bytes, whole.written_bytes)
    )
    if whole.is_from_memory:
        return f"read {read}, at least in part from memory; written {written}"
    return f"read {read}, which the page cache had dropped before; written {written}, with fsync"


def _of_runs(seconds: Estimate) -> str:
    """Return a time, and the range of several runs."""
    shown = format_si(seconds.median, "s", digits=3)
    if seconds.n == 1:
        return shown
    ends = (format_si(end, "s", digits=3) for end in (min(seconds.samples), max(seconds.samples)))
    return f"{shown} ({' to '.join(ends)})"


def _most(whole: WholeRun) -> str:
    """Return the limit of the speed-up by Amdahl's law."""
    return f"{whole.time_s.median / whole.one_core_s.median:.3g}"


def _of_host(study: ImagingStudy) -> RenderableType:
    results = study.results
    number = max((result.threads for result in results), default=1)
    head = _head(study, "1 thread" if number == 1 else f"{number} threads")
    right = ("work", "/ formula", "traffic", "flop/byte", "time", "vis/s")
    table = plain_table("stage", "caches", *right, "one execution", right=right)
    for result in results:
        if result.failure is None:
            table.add_row(*map(Text, _row(result)))
    doubts = [caution for result in results for caution in result.cautions if caution.code in _TOLD]
    parts: list[RenderableType] = [Text(head), table, Text(_LEGEND), *not_measured(study)]
    if doubts:
        parts.append(caution_list(doubts, files=_libraries(doubts)))
    return Group(*parts)


def _of_gpu(study: ImagingStudy, name: str) -> RenderableType:
    right = ("work by formula", "time", "flop/s", "vis/s")
    table = plain_table("stage", *right, "one execution", right=right)
    for result in study.results:
        if result.failure is None:
            runtime, rate = result.runtime_s, result.visibilities_per_s
            table.add_row(
                result.name,
                format_si(result.expected_flop, "flop", digits=3),
                shown_within(runtime, "s"),
                UNKNOWN if runtime is None
                else format_si(result.expected_flop / runtime.median, "", digits=3),
                "" if rate is None else format_si(rate, "", digits=3),
                result.summary,
            )  # fmt: skip
    return Group(Text(_head(study, printable(name))), table, Text(_ON_DEVICE), *not_measured(study))


def _head(study: ImagingStudy, where: str) -> str:
    return (
        f"{study.size} x {study.size} pixels, {study.rows} rows x {study.channels} channels = "
        f"{study.visibilities} visibilities, {where}"
    )


def _libraries(doubts: Sequence[Caution]) -> list[str]:
    return [word.rstrip(",") for doubt in doubts for word in doubt.seen.split() if ".so" in word]


def stages_table(stages: Sequence[Stage]) -> RenderableType:
    """Return what would be measured."""
    table = plain_table("stage", "one execution", "flop by formula", right=("flop by formula",))
    for stage in stages:
        table.add_row(stage.name, stage.summary, format_si(stage.expected.flop, "", digits=3))
    return table


def source_table(sources: Sequence[Recovered], imaged: Imaged) -> RenderableType:
    """Return a table of the sources: what they are, and what the image says.

    Parameters
    ----------
    sources : sequence of Recovered
    imaged : Imaged
    """
    right = ("flux", "in the image", "index", "in the image ", "off by")
    table = plain_table("source", *right, right=right)
    for recovered in sources:
        table.add_row(
            "extended" if recovered.source.fwhm else "point",
            f"{recovered.source.flux_jy:.3f} Jy",
            f"{recovered.flux_jy:.3f} Jy",
            f"{recovered.source.index:.2f}",
            UNKNOWN if recovered.index is None else f"{recovered.index:.2f}",
            f"{recovered.offset_pixels:.2g} pixel",
        )
    ran = ", ".join(f"{name} {times}" for name, times in imaged.executions.items())
    major, minor = imaged.beam.fwhm
    foot = (
        f"executions: {ran}; {imaged.minor_cycles} minor cycles; beam {major:.2f} x {minor:.2f} "
        f"pixel; residual {imaged.residual.std() * 1e3:.2f} mJy/beam (dirty "
        f"{imaged.dirty.std() * 1e3:.0f})"
    )
    return Group(table, Text(foot))


def _row(result: StageResult) -> tuple[str, ...]:
    work, moved, rate = result.work_flop, result.moved_bytes, result.visibilities_per_s
    return (
        result.name,
        result.state,
        shown_amount(work, "flop", digits=3),
        UNKNOWN if result.work_ratio is None else f"{result.work_ratio:.2f}",
        shown_amount(moved, "B", digits=3),
        _intensity(work, moved),
        shown_within(result.runtime_s, "s"),
        "" if rate is None else format_si(rate, "", digits=3),
        result.summary,
    )


def _intensity(work: float | None, moved: float | None) -> str:
    if work is None or moved is None:
        return UNKNOWN
    return shown_intensity(work / moved) if moved else "no traffic"
