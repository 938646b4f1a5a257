"""A diagnosis of a program as Markdown, to read, to hear, or to paste into an issue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.models.causes import Cause
from ridgepoint.models.diagnosis import Check, Diagnosis, Step
from ridgepoint.show.diagnosis_text import (
    certainty_sentences,
    evidence,
    range_text,
    verdict_sentences,
)
from ridgepoint.show.machine_markdown import CEILING_NUMBERS, CEILINGS, ceiling_row
from ridgepoint.show.markdown import block, code, escaped, sentence, table
from ridgepoint.show.tables.time_and_advice import shown_gain_of
from ridgepoint.show.words import (
    measured_name,
    shown_command,
    with_quartiles,
)


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
        *_causes("What limits it, and what takes part", _found(diagnosis)),
        *_steps(diagnosis.steps, _found(diagnosis)),
        *_certainty(diagnosis),
        *_causes("What was ruled out", diagnosis.by("ruled out")),
        *_causes("What is not ruled out", diagnosis.by("unknown"), settle=True),
        *_evidence(diagnosis),
        *_where(measurement),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _found(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    return (*diagnosis.by("limits"), *diagnosis.by("contributes"))


def _verdict(diagnosis: Diagnosis) -> Iterator[str]:
    first, *others = verdict_sentences(diagnosis)
    if diagnosis.is_stable is False:
        others.append("this verdict is not certain: see how sure it is, below")
    yield " ".join([f"**{sentence(first)}**", *map(sentence, others)])
    yield ""
    partial = diagnosis.analysis.measurement.counted.partial
    if partial is not None:
        yield f"**{sentence(f'The counts are of a part of the run only: {partial}')}**"
        yield ""


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
    yield "The ceilings behind the roofs, by what moves at each level:"
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
        yield (
            "Other programs disturbed this measurement. Before anything else, "
            f"{escaped(what.removesuffix(', then'))} and measure again: {code(command)}."
        )
        yield ""
    if not steps:
        yield "The numbers support no advice: see the cautions, and what is not ruled out."
    for number, step in enumerate(steps, start=1):
        advice = step.advice
        gain = shown_gain_of(advice)
        if step.gain is not None:
            gain += range_text(step.gain, lambda factor: f"{factor:.2g}x")
        yield (
            f"{number}. **{escaped(gain)}**, {escaped(advice.about)}: {escaped(advice.seen)}. "
            f"{sentence(advice.what)}"
        )
    yield ""


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
