"""Measured stages of the imaging pipeline for the terminal, beside the formulas."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ridgepoint.core.caution import Caution
from ridgepoint.core.units import format_si
from ridgepoint.show.tables.layout import caution_list, not_measured, plain_table
from ridgepoint.show.words import UNKNOWN, printable, shown_amount, shown_intensity
from ridgepoint.suites.imaging.continuum import Imaged
from ridgepoint.suites.imaging.measuring import ImagingStudy, StageResult
from ridgepoint.suites.imaging.recovered import Recovered
from ridgepoint.suites.imaging.stages import Stage

# Doubts of what is counted are the same in all stages; those of a time are its interval.
_TOLD = ("avx2-path", "zeros", "few-replicas", "work-varies")
_LEGEND = """\
work / formula: of grid and degrid, cells and kernel; of FFTs, 10 N^2 log2 N, and ducc0 leaves out
rows that nobody needs; of hogbom with a search that is no flop; of msmfs, the reference library's
traffic: at DRAM; cold is what a call is given, and not what it makes itself and a cache can hold"""

_ON_DEVICE = """\
warm, by the device's own clock, with what it waits for the host; nothing is counted there: work is
that of the formulas, traffic is unknown"""


def stage_table(study: ImagingStudy) -> RenderableType:
    """Return a table of the stages, state by state; below it, what could not be measured.

    Parameters
    ----------
    study : ImagingStudy
    """
    return _of_host(study) if study.device is None else _of_gpu(study, study.device)


def _of_host(study: ImagingStudy) -> RenderableType:
    results = study.results
    number = max((result.threads for result in results), default=1)
    head = _head(study, "1 thread" if number == 1 else f"{number} threads")
    right = ("work", "/ formula", "traffic", "flop/byte", "time", "vis/s")
    table = plain_table("stage", "caches", *right, "one execution", right=right)
    for one in results:
        if one.failure is None:
            table.add_row(*map(Text, _row(one)))
    doubts = [caution for one in results for caution in one.cautions if caution.code in _TOLD]
    parts: list[RenderableType] = [Text(head), table, Text(_LEGEND), *not_measured(study)]
    if doubts:
        parts.append(caution_list(doubts, files=_libraries(doubts)))
    return Group(*parts)


def _of_gpu(study: ImagingStudy, name: str) -> RenderableType:
    right = ("work by formula", "time", "flop/s", "vis/s")
    table = plain_table("stage", *right, "one execution", right=right)
    for one in study.results:
        if one.failure is None:
            known, rate = one.runtime_s, one.visibilities_per_s
            table.add_row(
                one.name,
                format_si(one.expected_flop, "flop", digits=3),
                shown_amount(known, "s", digits=3),
                UNKNOWN if known is None
                else format_si(one.expected_flop / known.median, "", digits=3),
                "" if rate is None else format_si(rate, "", digits=3),
                one.summary,
            )  # fmt: skip
    return Group(Text(_head(study, printable(name))), table, Text(_ON_DEVICE), *not_measured(study))


def _head(study: ImagingStudy, where: str) -> str:
    return (
        f"{study.size} x {study.size} pixels, {study.rows} rows x {study.channels} channels = "
        f"{study.visibilities} visibilities, {where}"
    )


def _libraries(doubts: Sequence[Caution]) -> list[str]:
    return [word.rstrip(",") for one in doubts for word in one.seen.split() if ".so" in word]


def stages_table(stages: Sequence[Stage]) -> RenderableType:
    """Return what would be measured."""
    table = plain_table("stage", "one execution", "flop by formula", right=("flop by formula",))
    for each in stages:
        table.add_row(each.name, each.summary, format_si(each.expected.flop, "", digits=3))
    return table


def source_table(sources: Sequence[Recovered], found: Imaged) -> RenderableType:
    """Return a table of the sources: what they are, and what the image says.

    Parameters
    ----------
    sources : sequence of Recovered
    found : Imaged
    """
    right = ("flux", "in the image", "index", "in the image ", "off by")
    table = plain_table("source", *right, right=right)
    for one in sources:
        table.add_row(
            "extended" if one.source.fwhm else "point",
            f"{one.source.flux_jy:.3f} Jy",
            f"{one.flux_jy:.3f} Jy",
            f"{one.source.index:.2f}",
            UNKNOWN if one.index is None else f"{one.index:.2f}",
            f"{one.offset_pixels:.2g} pixel",
        )
    ran = ", ".join(f"{name} {times}" for name, times in found.executions.items())
    major, minor = found.beam.fwhm
    foot = (
        f"executions: {ran}; {found.minor_cycles} minor cycles; beam {major:.2f} x {minor:.2f} "
        f"pixel; residual {found.residual.std() * 1e3:.2f} mJy/beam (dirty "
        f"{found.dirty.std() * 1e3:.0f})"
    )
    return Group(table, Text(foot))


def _row(one: StageResult) -> tuple[str, ...]:
    work, moved, rate = one.work_flop, one.moved_bytes, one.visibilities_per_s
    return (
        one.name,
        one.state,
        shown_amount(work, "flop", digits=3),
        UNKNOWN if one.work_ratio is None else f"{one.work_ratio:.2f}",
        shown_amount(moved, "B", digits=3),
        _intensity(work, moved),
        shown_amount(one.runtime_s, "s", digits=3),
        "" if rate is None else format_si(rate, "", digits=3),
        one.summary,
    )


def _intensity(work: float | None, moved: float | None) -> str:
    if work is None or moved is None:
        return UNKNOWN
    return shown_intensity(work / moved) if moved else "no traffic"
