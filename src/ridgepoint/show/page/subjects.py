"""What the marks, rows and panels of a page speak of: programs, their parts, machines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import LineCounts, Traffic
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.advice import Advice
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.thresholds import CERTAIN
from ridgepoint.models.work import Metric
from ridgepoint.show.page.document import (
    Advised,
    Coverage,
    Doubt,
    Fact,
    Input,
    RuledOut,
    SourceLine,
    Subject,
    SubjectKind,
)
from ridgepoint.show.page.facts import facts, machine_facts
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.symbols import shown_symbol
from ridgepoint.show.tables.time_and_advice import shown_gain_of
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import UNKNOWN, machine_title, percent, printable, shown_name
from ridgepoint.show.work import shown_work

_MOST_LINES = 40
"""Of a function: those that executed most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A program or a part of it, as a page shows it.

    Parameters
    ----------
    subject : Subject
    analysis : Analysis
        Of it alone.
    is_timed : bool
        Whether its time is known well enough for a point.
    """

    subject: Subject
    analysis: Analysis
    is_timed: bool


def parts_of(record: ShownRecord, analysis: Analysis) -> tuple[Part, ...]:
    """Return a measured program, its regions and its functions, in this order."""
    whole = Part(
        subject=_subject(record, analysis, analysis, key=record.key, kind="program",
                         name=record.name, share=1.0),
        analysis=analysis,
        is_timed=analysis.measurement.timed is not None,
    )  # fmt: skip
    return (whole, *_regions(record, analysis), *_functions(record, analysis))


def _regions(record: ShownRecord, whole: Analysis) -> Iterator[Part]:
    counted = whole.measurement.counted
    for number, (region, part) in enumerate(zip(counted.regions, whole.regions, strict=True)):
        subject = _subject(
            record, whole, part, key=f"{record.key}/region/{number}", kind="region",
            name=printable(region.name), share=_share(part, whole),
        )  # fmt: skip
        is_timed = part.measurement.timed is not None
        yield Part(subject=subject, analysis=part, is_timed=is_timed)


def _functions(record: ShownRecord, whole: Analysis) -> Iterator[Part]:
    """Yield the functions that were timed, and those that were counted alone."""
    for number, part in enumerate(whole.functions):
        if part.analysis is None or part.counts is None:
            continue
        share = _of(part.timed.runtime_s.median, whole)
        subject = _subject(
            record, whole, part.analysis, key=f"{record.key}/function/{number}", kind="function",
            name=shown_symbol(part.counts.name, part.counts.object), share=share,
            lines=part.counts.lines,
        )  # fmt: skip
        is_timed = part.timed.relative_error <= CERTAIN
        yield Part(subject=subject, analysis=part.analysis, is_timed=is_timed)
    number = len(whole.functions)
    for function, alone in whole.untimed_functions:
        subject = _subject(
            record, whole, alone, key=f"{record.key}/function/{number}", kind="function",
            name=shown_symbol(function.name, function.object), share=None, lines=function.lines,
        )  # fmt: skip
        yield Part(subject=subject, analysis=alone, is_timed=False)
        number += 1


def _subject(
    record: ShownRecord,
    whole: Analysis,
    part: Analysis,
    *,
    key: str,
    kind: SubjectKind,
    name: str,
    share: float | None,
    lines: Sequence[LineCounts] = (),
) -> Subject:
    is_whole = kind == "program"
    return Subject(
        key=key,
        name=name,
        kind=kind,
        parent=None if is_whole else record.key,
        share=share,
        facts=(*_verdict(part), *facts(part, kind=kind)),
        advice=tuple(_advised(whole, part, name, is_whole=is_whole)),
        ruled_out=tuple(_ruled_out(part)),
        cautions=tuple(_doubts(part) if is_whole else ()),
        lines=tuple(_source_lines(lines, part.metric)),
    )


def _verdict(analysis: Analysis) -> Iterator[Fact]:
    """Yield the verdict in sentences."""
    if analysis.conclusion is not None:
        sentences = verdict(analysis.conclusion, advised=bool(analysis.advice))
        text = " ".join(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in sentences)
        yield Fact(key="verdict", name="verdict", text=printable(text), source="docs/placing.md")


def _advised(whole: Analysis, part: Analysis, name: str, *, is_whole: bool) -> Iterator[Advised]:
    """Yield the advice on a program, or what of it is about a part."""
    for advice in whole.advice if is_whole else part.advice:
        yield Advised(
            seen=printable(f"{advice.about}: {advice.seen}" if _is_elsewhere(advice, name)
                           else advice.seen),
            what=printable(advice.what),
            gain=shown_gain_of(advice),
        )  # fmt: skip


def _is_elsewhere(advice: Advice, name: str) -> bool:
    return advice.about != name


def _ruled_out(analysis: Analysis) -> Iterator[RuledOut]:
    return iter(())


def _doubts(analysis: Analysis) -> Iterator[Doubt]:
    for caution, matters in analysis.doubts.items():
        yield _doubt(caution, matters=matters)


def _doubt(caution: Caution, *, matters: bool) -> Doubt:
    return Doubt(
        code=caution.code, text=printable(f"{caution.seen}; {caution.remedy}"), matters=matters
    )


def _source_lines(lines: Sequence[LineCounts], metric: Metric) -> Iterator[SourceLine]:
    """Yield the lines that executed most, in the order of the file."""
    most = sorted(lines, key=lambda line: -line.counts.instructions)[:_MOST_LINES]
    for line in sorted(most, key=lambda line: (line.source, line.line)):
        moved = [
            Input(name=f"Q {shown_name(part.level)}", text=_moved(part)) for part in line.traffic
        ]
        yield SourceLine(
            file=printable(line.source),
            line=line.line,
            facts=(
                Input(name="W", text=shown_work(line.counts, metric)),
                Input(name="instructions", text=format_si(line.counts.instructions, "").rstrip()),
                *moved,
            ),
        )


def _moved(part: Traffic) -> str:
    return UNKNOWN if part.total_bytes is None else format_si(part.total_bytes, "B")


def _share(part: Analysis, whole: Analysis) -> float | None:
    timed = part.measurement.timed
    return None if timed is None else _of(timed.runtime_s.median, whole)


def _of(seconds: float, whole: Analysis) -> float | None:
    """Return which share of a program's time some seconds are."""
    timed = whole.measurement.timed
    if timed is None or not timed.runtime_s.median or not math.isfinite(seconds):
        return None
    return seconds / timed.runtime_s.median


def machine_subject(key: str, machine: Machine) -> Subject:
    """Return a machine with its ceilings and its cautions."""
    cautions = [*machine.cautions]
    cautions += [caution for ceiling in machine.ceilings for caution in ceiling.cautions]
    return Subject(
        key=key,
        name=machine_title(machine),
        kind="machine",
        facts=machine_facts(machine),
        cautions=tuple(_doubt(caution, matters=True) for caution in dict.fromkeys(cautions)),
    )


def coverage_of(analyses: Sequence[Analysis]) -> Coverage | None:
    """Return how much of the time the counts explain, of the program where that is least."""
    found = [_coverage(analysis) for analysis in analyses]
    shares = [coverage for coverage in found if coverage.share is not None]
    if len(shares) == len(found) and found:
        return min(shares, key=lambda coverage: coverage.share or 0.0)
    return next((coverage for coverage in found if coverage.share is None), None)


def _coverage(analysis: Analysis) -> Coverage:
    counted, name = analysis.measurement.counted, printable(analysis.measurement.command[0])
    if counted.partial is not None:
        return Coverage(
            share=None,
            text=f"{name}: counts of a part of the run only ({printable(counted.partial)})",
        )
    coverage = counted.coverage
    if coverage is None:
        if counted.selected is not None:
            return Coverage(share=1.0, text=f"{name}: all of {printable(counted.selected)} was "
                            "counted; the rest of the program is left out")  # fmt: skip
        return Coverage(share=1.0, text=f"{name}: every instruction of the run was counted")
    if not coverage.is_known:
        return Coverage(
            share=None,
            text=f"{name}: {UNKNOWN} which share of its time was in counted code: "
            f"{coverage.samples} samples are too few",
        )
    text = f"{name}: {percent(coverage.share)} of its time was in counted code"
    missing = ", ".join(
        f"{shown_symbol(part.name, part.object)} {percent(part.share)}"
        for part in coverage.uncounted
    )
    return Coverage(
        share=coverage.share, text=f"{text}; not counted: {missing}" if missing else text
    )
