"""What the marks, rows and panels of a page speak of: programs, their parts, machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import FunctionCounts, LineCounts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.explanations import Explanation
from ridgepoint.models.ranking import cautions_that_matter
from ridgepoint.models.untimed import untimed_functions
from ridgepoint.models.work import Metric, work_total
from ridgepoint.show.page.document import (
    Advised,
    Coverage,
    Doubt,
    Fact,
    Input,
    RuledOut,
    SourceLine,
    Subject,
)
from ridgepoint.show.page.facts import PartKind, facts
from ridgepoint.show.page.machine_facts import machine_facts
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.symbols import shown_symbol
from ridgepoint.show.tables.time_and_advice import SENSES, shown_gain_of, what
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import UNKNOWN, machine_title, percent, printable, shown_name
from ridgepoint.show.work import shown_work

_PARTS = 2  # of the time, in a line
_LEAST_TIME, _LEAST_AMOUNT = 0.001, 0.01
"""Shares of a program's time, and of its instructions, work or bytes at a level, from which on all
is told of a function; of others the table has the figures."""
_LONGEST_LINE = 200
_COPIES = "native"
"""The meter that counts copies of code, and by samples tells what it did not copy; others count
every instruction."""
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
    runtime : Estimate or None
        Its time, however uncertain; None: nothing is known of it.
    is_timed : bool
        Whether its time is known well enough for a point.
    """

    subject: Subject
    analysis: Analysis
    runtime: Estimate | None
    is_timed: bool


def parts_of(record: ShownRecord, analysis: Analysis, *, minor: bool) -> tuple[Part, ...]:
    """Return a measured program, its regions and its functions, in this order.

    Parameters
    ----------
    record : ShownRecord
    analysis : Analysis
    minor : bool
        Whether to return those functions too that hardly did anything.
    """
    own = (_part(record, analysis, analysis, key=record.key, kind="program", name=record.name),)
    return (*own, *_regions(record, analysis), *_functions(record, analysis, minor))


def _regions(record: ShownRecord, whole: Analysis) -> Iterator[Part]:
    counted = whole.measurement.counted
    for number, (region, part) in enumerate(zip(counted.regions, whole.regions, strict=True)):
        key = f"{record.key}/region/{number}"
        yield _part(record, whole, part, key=key, kind="region", name=printable(region.name))


def _functions(record: ShownRecord, whole: Analysis, minor: bool) -> Iterator[Part]:
    """Yield the functions that were timed, and those that were counted alone."""
    for number, (counts, part, runtime) in enumerate(_alone(whole)):
        if not minor and _is_minor(part, whole, _share(runtime, whole)):
            continue
        yield _part(
            record, whole, part, key=f"{record.key}/function/{number}", kind="function",
            name=shown_symbol(counts.name, counts.object), runtime=runtime, lines=counts.lines,
        )  # fmt: skip


def _alone(whole: Analysis) -> Iterator[tuple[FunctionCounts, Analysis, Estimate | None]]:
    """Yield each function that was counted, its analysis alone, and its time."""
    for each in whole.functions:
        if each.analysis is not None and each.counts is not None:
            yield each.counts, each.analysis, each.timed.runtime_s
    for counts, alone in untimed_functions(whole):
        yield counts, alone, None


def _part(
    record: ShownRecord,
    whole: Analysis,
    part: Analysis,
    *,
    key: str,
    kind: PartKind,
    name: str,
    runtime: Estimate | None = None,
    lines: Sequence[LineCounts] = (),
) -> Part:
    """Return a program or a part of it; a time that is uncertain is given apart."""
    is_whole, timed = kind == "program", part.measurement.timed
    runtime = runtime if timed is None else timed.runtime_s
    share = _share(runtime, whole)
    parent = None if is_whole else record.key
    if kind == "function" and _is_minor(part, whole, share):
        subject = Subject(key=key, name=name, kind=kind, parent=parent, share=share)
        return Part(subject=subject, analysis=part, runtime=runtime, is_timed=timed is not None)
    subject = Subject(
        key=key,
        name=name,
        kind=kind,
        parent=parent,
        share=share,
        facts=(*_verdict(part), *facts(part, uncertain=runtime)),
        advice=tuple(_advised(whole if is_whole else part)),
        ruled_out=tuple(_ruled_out(part)),
        cautions=tuple(_doubts(part) if is_whole else ()),
        lines=tuple(_source_lines(lines, part.metric, record.sources)),
    )
    return Part(subject=subject, analysis=part, runtime=runtime, is_timed=timed is not None)


def _is_minor(part: Analysis, whole: Analysis, share: float | None) -> bool:
    """Return whether a function did too little of anything for what it did to matter."""
    if share is not None and share >= _LEAST_TIME:
        return False
    own, every = part.measurement, whole.measurement
    amounts = [
        (own.counted.counts.instructions, every.counted.counts.instructions),
        *(
            (traffic.known_bytes, whole_traffic.known_bytes)
            for traffic in own.counted.traffic
            if (whole_traffic := every.traffic_at(traffic.level)) is not None
        ),
        (
            work_total(own.counted.counts, part.metric) or 0,
            work_total(every.counted.counts, part.metric) or 0,
        ),
    ]
    return all(amount < _LEAST_AMOUNT * total for amount, total in amounts if total)


def _verdict(analysis: Analysis) -> Iterator[Fact]:
    """Yield the verdict in sentences."""
    if analysis.conclusion is not None:
        sentences = verdict(analysis.conclusion, advised=bool(analysis.advice))
        text = " ".join(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in sentences)
        yield Fact(key="verdict", name="verdict", text=printable(text), source="docs/method.md")
    explained = analysis.explained
    if explained is not None and explained.parts:
        yield Fact(
            key="time-parts",
            name="where its time may go",
            text=_parts_of_time(explained.parts, analysis.metric),
            how="What takes time and is known; parts overlap. A roof gives the least time of "
            "something, a latency the most.",
            inputs=tuple(
                Input(name=what(part, analysis.metric), text=_taken(part))
                for part in explained.parts
            ),
            source="docs/method.md",
        )


def _parts_of_time(parts: Sequence[Explanation], metric: Metric) -> str:
    """Return the parts that take most, and how many there are beside them."""
    shown = [f"{_taken(part)}: {what(part, metric)}" for part in parts[:_PARTS]]
    more = len(parts) - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more else [])])


def _taken(part: Explanation) -> str:
    """Return how much of the time something takes: exactly, at least or at most."""
    sense = f"{SENSES[part.sense]} ".lstrip()
    return f"{sense}{percent(part.share)}, {format_si(part.seconds, 's', digits=3)}"


def _advised(analysis: Analysis) -> Iterator[Advised]:
    """Yield what to do next, of what was timed."""
    if analysis.measurement.timed is None:
        return
    own = None if analysis.subject is None else analysis.subject.name
    for advice in analysis.advice:
        about = "" if advice.about == own else f"{advice.about}: "
        yield Advised(
            seen=printable(f"{about}{advice.seen}"),
            what=printable(advice.what),
            gain=shown_gain_of(advice),
        )


def _ruled_out(analysis: Analysis) -> Iterator[RuledOut]:
    """Yield what does not hold it back, and what may and is not known to."""
    for cause in analysis.causes:
        if cause.standing == "ruled out":
            yield RuledOut(what=printable(cause.what), why=printable(cause.why))
    if analysis.measurement.timed is None:
        return  # little is known then of anything that takes time
    for cause in analysis.causes:
        if cause.standing == "unknown":
            settle = f"; to know: {cause.settle}" if cause.settle else ""
            yield RuledOut(
                what=printable(cause.what), why=printable(f"{cause.why}{settle}"), is_open=True
            )


def _doubts(analysis: Analysis) -> Iterator[Doubt]:
    for caution, matters in analysis.doubts.items():
        yield doubt(caution, matters=matters)


def doubt(caution: Caution, *, matters: bool) -> Doubt:
    """Return a caution as a page has it."""
    return Doubt(
        code=caution.code, text=printable(f"{caution.seen}; {caution.remedy}"), matters=matters
    )


def _source_lines(
    lines: Sequence[LineCounts], metric: Metric, sources: Mapping[str, tuple[str, ...]]
) -> Iterator[SourceLine]:
    """Yield the lines that executed most, in the order of the file."""
    most = sorted(lines, key=lambda line: -line.counts.instructions)[:_MOST_LINES]
    for line in sorted(most, key=lambda line: (line.source, line.line)):
        moved = [
            Input(name=f"Q {shown_name(part.level)}", text=_moved(part)) for part in line.traffic
        ]
        yield SourceLine(
            file=printable(line.source),
            line=line.line,
            text=_text_of(sources.get(line.source, ()), line.line),
            facts=(
                Input(name="W", text=shown_work(line.counts, metric)),
                Input(name="instructions", text=format_si(line.counts.instructions, "").rstrip()),
                *moved,
            ),
        )


def _text_of(lines: Sequence[str], number: int) -> str | None:
    """Return the text of a line of a file; None: it is not known."""
    if not 1 <= number <= len(lines):
        return None
    return printable(lines[number - 1].expandtabs(4).rstrip()[:_LONGEST_LINE])


def _moved(part: Traffic) -> str:
    return UNKNOWN if part.total_bytes is None else format_si(part.total_bytes, "B")


def _share(runtime: Estimate | None, whole: Analysis) -> float | None:
    """Return which share of a program's time something took."""
    timed = whole.measurement.timed
    if runtime is None or timed is None or not timed.runtime_s.median:
        return None
    return runtime.median / timed.runtime_s.median


def machine_subject(key: str, machine: Machine) -> Subject:
    """Return a machine with its ceilings and its cautions."""
    marked = cautions_that_matter(machine)
    doubts = dict.fromkeys(machine.cautions, True)
    for ceiling in machine.ceilings:
        for caution in ceiling.cautions:
            is_serious = caution in marked.get(ceiling.key, set())
            doubts[caution] = doubts.get(caution, False) or is_serious
    return Subject(
        key=key,
        name=machine_title(machine),
        kind="machine",
        facts=machine_facts(machine),
        cautions=tuple(doubt(caution, matters=matters) for caution, matters in doubts.items()),
    )


def coverage_of(programs: Sequence[tuple[str, Analysis]]) -> Coverage | None:
    """Return how much of the time the counts explain, of the program where that is least.

    Parameters
    ----------
    programs : sequence of (str, Analysis)
        With their names.
    """
    found = [_coverage(name, analysis) for name, analysis in programs]
    shares = [coverage for coverage in found if coverage.share is not None]
    if len(shares) == len(found) and found:
        return min(shares, key=lambda coverage: coverage.share or 0.0)
    return next((coverage for coverage in found if coverage.share is None), None)


def _coverage(name: str, analysis: Analysis) -> Coverage:
    counted = analysis.measurement.counted
    if counted.partial is not None:
        return Coverage(
            share=None,
            text=f"{name}: counts of a part of the run only ({printable(counted.partial)})",
        )
    coverage = counted.coverage
    if coverage is None:
        if counted.meter.startswith(_COPIES):
            return Coverage(
                share=None,
                text=f"{name}: {UNKNOWN} which share of its time was in counted code: no sample "
                "was taken",
            )
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
