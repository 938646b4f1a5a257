"""What a diagnosis says in sentences and figures, in Markdown and in JSON alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ridgepoint.core.units import format_si
from ridgepoint.models.diagnosis import Diagnosis, Range
from ridgepoint.models.work import WORK_UNITS
from ridgepoint.show.page.document import Fact
from ridgepoint.show.page.facts import facts
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import machine_title, percent, shown_cores

_NOTHING = "nothing that is known"
_NO_ROOFS = "There is no machine to bound it by: ridgepoint machine measures this one"


def verdict_sentences(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the verdict: what bounds it, what it reaches, and between what that lies."""
    conclusion = diagnosis.analysis.conclusion
    if conclusion is None:
        return (_NO_ROOFS,)
    return (
        *verdict(conclusion, advised=bool(diagnosis.steps)),
        *(text for text in (_attainable(diagnosis), _efficiency(diagnosis)) if text),
    )


def evidence(diagnosis: Diagnosis) -> tuple[Fact, ...]:
    """Return the numbers that the verdict rests on, each with how it was obtained."""
    return tuple(_reaching(fact, diagnosis) for fact in facts(diagnosis.analysis))


def _reaching(fact: Fact, diagnosis: Diagnosis) -> Fact:
    """Return a fact with what the ranges of runtime and ceilings add to it."""
    unit = f"{WORK_UNITS[diagnosis.analysis.metric]}/s"
    if fact.key == "attainable" and diagnosis.attainable_per_s is not None:
        between = range_text(diagnosis.attainable_per_s, lambda rate: format_si(rate, unit))
        of = "the ceilings"
    elif fact.key == "efficiency" and diagnosis.efficiency is not None:
        between, of = range_text(diagnosis.efficiency, percent), "the runtime and the ceilings"
    else:
        return fact
    if not between:
        return fact
    how = f"{fact.how.rstrip('.')}. The range is that of {of}."
    return replace(fact, text=f"{fact.text}{between}", how=how)


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


def _attainable(diagnosis: Diagnosis) -> str:
    placement = diagnosis.analysis.placement
    conclusion, found = diagnosis.analysis.conclusion, diagnosis.attainable_per_s
    if placement is None or placement.attainable_per_s is None or found is None:
        return ""
    if conclusion is None or not conclusion.is_worth_a_roof:
        return ""
    unit = f"{WORK_UNITS[placement.metric]}/s"
    between = range_text(found, lambda rate: format_si(rate, unit, digits=3))
    return (
        f"attainable are {format_si(placement.attainable_per_s, unit, digits=3)}{between}, on "
        f"{shown_cores(placement.cores)} of {machine_title(placement.machine)}"
    )


def _efficiency(diagnosis: Diagnosis) -> str:
    placement, found = diagnosis.analysis.placement, diagnosis.efficiency
    if placement is None or placement.efficiency is None or found is None:
        return ""
    return f"its efficiency is {percent(placement.efficiency)}{range_text(found, percent)}"


def range_text(found: Range, show: Callable[[float], str]) -> str:
    """Return a range in brackets, to stand after its value; empty: both ends read the same."""
    low, high = map(show, found)
    return "" if low == high else f" ({low} to {high})"
