"""A diagnosis of a program as Markdown, to read, to hear, or to paste into an issue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.units import format_si
from ridgepoint.models.causes import Cause
from ridgepoint.models.diagnosis import Check, Diagnosis, Range, Step
from ridgepoint.models.work import WORK_UNITS
from ridgepoint.show.machine_markdown import CEILING_NUMBERS, CEILINGS, ceiling_row
from ridgepoint.show.markdown import block, code, escaped, sentence, table
from ridgepoint.show.page.document import Fact
from ridgepoint.show.page.facts import facts
from ridgepoint.show.tables.time_and_advice import shown_gain_of
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import (
    machine_title,
    measured_name,
    percent,
    shown_command,
    shown_cores,
    with_quartiles,
)

_NOTHING = "nothing that is known"
_NO_ROOFS = "There is no machine to bound it by: ridgepoint machine measures this one"


def diagnosis_markdown(diagnosis: Diagnosis, *, title: str | None = None) -> str:
    """Return a diagnosis of a measured program as Markdown.

    Parameters
    ----------
    diagnosis : Diagnosis
    title : str or None
        What the record is called; None: by its command.
    """
    measurement = diagnosis.analysis.measurement
    lines = [
        f"# Diagnosis of {escaped(title or measured_name(measurement))}",
        "",
        *_verdict(diagnosis),
        *_evidence(diagnosis),
        *_causes("What limits it, and what takes part", _found(diagnosis)),
        *_causes("What was ruled out", diagnosis.by("ruled out")),
        *_causes("What is not ruled out", diagnosis.by("unknown"), settle=True),
        *_steps(diagnosis.steps, _found(diagnosis)),
        *_certainty(diagnosis),
        *_where(measurement),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _found(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    return (*diagnosis.by("limits"), *diagnosis.by("contributes"))


def verdict_sentences(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the verdict: what bounds it, what it reaches, and between what that lies."""
    conclusion = diagnosis.analysis.conclusion
    if conclusion is None:
        return (_NO_ROOFS,)
    return (
        *verdict(conclusion, advised=bool(diagnosis.steps)),
        *(text for text in (_attainable(diagnosis), _efficiency(diagnosis)) if text),
    )


def _verdict(diagnosis: Diagnosis) -> Iterator[str]:
    first, *others = verdict_sentences(diagnosis)
    yield " ".join([f"**{sentence(first)}**", *map(sentence, others)])
    yield ""
    partial = diagnosis.analysis.measurement.counted.partial
    if partial is not None:
        yield f"**{sentence(f'The counts are of a part of the run only: {partial}')}**"
        yield ""


def _attainable(diagnosis: Diagnosis) -> str:
    placement = diagnosis.analysis.placement
    conclusion, found = diagnosis.analysis.conclusion, diagnosis.attainable_per_s
    if placement is None or placement.attainable_per_s is None or found is None:
        return ""
    if conclusion is None or not conclusion.is_worth_a_roof:
        return ""
    unit = f"{WORK_UNITS[placement.metric]}/s"
    between = _between(found, lambda rate: format_si(rate, unit, digits=3))
    return (
        f"attainable are {format_si(placement.attainable_per_s, unit, digits=3)}{between}, on "
        f"{shown_cores(placement.cores)} of {machine_title(placement.machine)}"
    )


def _efficiency(diagnosis: Diagnosis) -> str:
    placement, found = diagnosis.analysis.placement, diagnosis.efficiency
    if placement is None or placement.efficiency is None or found is None:
        return ""
    return f"its efficiency is {percent(placement.efficiency)}{_between(found, percent)}"


def _between(found: Range, show: Callable[[float], str]) -> str:
    low, high = map(show, found)
    return "" if low == high else f" ({low} to {high})"


def evidence(diagnosis: Diagnosis) -> tuple[Fact, ...]:
    """Return the numbers that the verdict rests on, each with how it was obtained."""
    return tuple(_reaching(fact, diagnosis) for fact in facts(diagnosis.analysis))


def _reaching(fact: Fact, diagnosis: Diagnosis) -> Fact:
    """Return a fact with what the ranges of runtime and ceilings add to it."""
    unit = f"{WORK_UNITS[diagnosis.analysis.metric]}/s"
    if fact.key == "attainable" and diagnosis.attainable_per_s is not None:
        between = _between(diagnosis.attainable_per_s, lambda rate: format_si(rate, unit))
        of = "the ceilings"
    elif fact.key == "efficiency" and diagnosis.efficiency is not None:
        between, of = _between(diagnosis.efficiency, percent), "the runtime and the ceilings"
    else:
        return fact
    if not between:
        return fact
    how = f"{fact.how.rstrip('.')}. The range is that of {of}."
    return replace(fact, text=f"{fact.text}{between}", how=how)


def _evidence(diagnosis: Diagnosis) -> Iterator[str]:
    yield "## Evidence"
    yield ""
    found = evidence(diagnosis)
    sources = tuple(dict.fromkeys(fact.source for fact in found if fact.source))
    rows = [
        (fact.name, fact.text, fact.how, str(sources.index(fact.source) + 1) if fact.source else "")
        for fact in found
    ]
    yield from table(("quantity", "value", "how it was obtained", "source"), rows)
    yield ""
    listed = (f"{number}: {source}" for number, source in enumerate(sources, start=1))
    yield sentence(f"Sources: {'; '.join(listed)}")
    yield ""
    yield from _ceilings(diagnosis)


def _ceilings(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the ceilings that the roofs are of, with their intervals."""
    rows = [ceiling_row(ceiling) for ceiling in diagnosis.ceilings]
    if not rows:
        return
    yield "The ceilings that these roofs are of:"
    yield ""
    yield from table(CEILINGS, rows, right=CEILING_NUMBERS)
    yield ""


def _causes(title: str, causes: Sequence[Cause], *, settle: bool = False) -> Iterator[str]:
    if not causes:
        return
    yield f"## {title}"
    yield ""
    for cause in causes:
        text = f"- **{escaped(cause.what)}**: {escaped(cause.why)}."
        if settle and cause.settle and not cause.again:
            text += f" To settle it: {_command(cause.settle)}."
        yield text
    yield ""


def _command(text: str) -> str:
    return code(text) if text.startswith("ridgepoint ") else escaped(text)


def _steps(steps: Sequence[Step], found: Sequence[Cause]) -> Iterator[str]:
    yield "## What to do next"
    yield ""
    first = next((cause for cause in found if cause.settle), None)
    if first is not None:
        what, _, command = first.settle.partition(": ")
        yield f"Before anything else, since others disturbed it: {escaped(what)}: {code(command)}."
        yield ""
    if not steps:
        yield "The numbers support no advice: see what is not ruled out, and the cautions."
    for number, step in enumerate(steps, start=1):
        advice = step.advice
        gain = shown_gain_of(advice)
        if step.gain is not None:
            gain += _between(step.gain, lambda factor: f"{factor:.2g}x")
        yield (
            f"{number}. **{escaped(gain)}**, {escaped(advice.about)}: {escaped(advice.seen)}. "
            f"{sentence(advice.what)}"
        )
    yield ""


def certainty_sentences(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield how sure the verdict is, but for its cautions."""
    if diagnosis.is_stable is not None:
        ranges = "the ranges of the runtime, the ceilings and the caches"
        ends = f"at all ends of {ranges}"
        others = {cause.code: cause.what for cause in diagnosis.analysis.causes}
        found = [f"{others.get(code, _NOTHING)} limits it" for code in diagnosis.other_limits]
        yield (
            f"the same limit is found {ends}"
            if diagnosis.is_stable
            else f"the verdict depends on {ranges}: at other ends of these, {' or '.join(found)}"
        )
    doubts = len(diagnosis.doubts)
    if diagnosis.analysis.placement is None:
        return
    yield (
        "no caution could change the verdict"
        if not doubts
        else f"{doubts} caution{'s' if doubts > 1 else ''} could change the verdict"
    )


def _certainty(diagnosis: Diagnosis) -> Iterator[str]:
    yield "## How sure this is"
    yield ""
    yield " ".join(map(sentence, certainty_sentences(diagnosis)))
    yield ""
    for caution in diagnosis.doubts:
        yield f"- {code(caution.code)}: {sentence(f'{caution.seen}; {caution.remedy}')}"
    if diagnosis.doubts:
        yield ""
    yield from _checks(diagnosis.checks)


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    commands = [check for check in checks if check.command.startswith("ridgepoint ")]
    for check in checks:
        if check not in commands:
            yield f"- To settle {escaped(', '.join(check.settles))}: {sentence(check.command)}"
    if len(commands) < len(checks):
        yield ""
    if not commands:
        return
    yield "To settle what is unknown or in doubt:"
    yield ""
    yield from block(check.command for check in commands)
    yield ""


def _where(measurement: Measurement) -> Iterator[str]:
    context = measurement.context
    versions = sorted(context.versions.items())
    yield (
        f"Measured: {code(shown_command(measurement.command))}, {escaped(context.started)}, on "
        f"{escaped(context.hostname)} ({escaped(context.cpu)})"
        f"{''.join(f', {escaped(name)} {escaped(version)}' for name, version in versions)}."
    )


def timing_markdown(timing: Timing, *, title: str | None = None) -> str:
    """Return what is known of a program that was timed and not counted."""
    name = title or shown_command(timing.command)
    why = timing.uncounted
    lines = [
        f"# Diagnosis of {escaped(name)}",
        "",
        "**What limits it is unknown: its work and its traffic were not counted.**",
        "",
        f"Its runtime is {escaped(with_quartiles(timing.timed.runtime_s, 's'))}; "
        f"{timing.timed.cores_busy:.2f} cores were busy on average.",
        "",
        "## What to do next",
        "",
        "1. " + sentence("count it" if why is None else f"{why.seen}; {why.remedy}"),
        "",
    ]
    others = [caution for caution in timing.all_cautions if caution is not why]
    lines += ["## How sure this is", "", "Nothing is ruled out. Cautions:", ""] if others else []
    lines += [f"- {code(one.code)}: {sentence(f'{one.seen}; {one.remedy}')}" for one in others]
    return "\n".join(lines).rstrip("\n") + "\n"
