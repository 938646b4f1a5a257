"""Causes that are the instructions themselves: scalar or narrow arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.units import format_si
from ridgepoint.models.advice.mix import has_widths, mix_time_s, widened, widest_bits
from ridgepoint.models.advice.subject import percent
from ridgepoint.models.causes.cause import MEASURE, NOTHING, Case, Cause, Finding, Settle
from ridgepoint.models.mix import Mix
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.thresholds import COMPUTES, LEAST_GAIN
from ridgepoint.models.work import hardly_any


def instructions(case: Case, resources: dict[str, Cause]) -> Iterator[Cause]:
    """Yield the cause that is partial vectorisation.

    Parameters
    ----------
    case : Case
    resources : dict of str to Cause
        Those that were judged already, by code.
    """
    standing, why, settle = _vectors(case, resources)
    yield Cause(
        code="vectors",
        what="scalar or narrow floating-point instructions (partial vectorisation)",
        standing=standing,
        why=why,
        settle=settle.text,
        again=settle.again,
    )


def _vectors(case: Case, resources: dict[str, Cause]) -> Finding:
    mix = case.mix
    if hardly_any(case.subject.counts):
        return "ruled out", "it does hardly any floating-point work", NOTHING
    if mix is None or not any(has_widths(case.subject.machine, name) for name, _, _ in mix):
        return _unknown(mix, case)
    narrow = _narrow(mix, case)
    wide = percent(1 - narrow) if narrow < 1 else "none"
    seen = f"{wide} of its flop are in the widest vectors of the machine"
    if narrow <= COMPUTES:
        return "ruled out", seen, NOTHING
    if case.nothing_left is not None and COMPUTE not in case.limits:
        return "ruled out", f"{seen}, but {case.nothing_left}", NOTHING
    paths = (resources[COMPUTE], resources[ISSUE])
    if all(path.standing == "ruled out" for path in paths):
        return "ruled out", f"{seen}, but {paths[0].why}; {paths[1].why}", NOTHING
    return _widened(mix, seen, case)


def _unknown(mix: Mix | None, case: Case) -> Finding:
    """Return why it is not known how wide its instructions are, or could be."""
    if mix is None:
        why = "which instructions a native run uses is not known"
        return "unknown", why, case.settled_by("--meter native")
    return "unknown", f"{case.subject.machine.name} has no ceilings of vectors", MEASURE


def _widened(mix: Mix, seen: str, case: Case) -> Finding:
    """Return what the widest vectors would change."""
    subject = case.subject
    if subject.placement.metric == "bop":
        return "unknown", seen, Settle(text="judge it by its floating-point work: --work flop")
    wide = widened(mix, subject.machine, lambda width, widest: width < widest)
    wide_s = mix_time_s(wide, subject.machine, subject.placement.cores)
    if wide_s is None:
        return "unknown", f"{seen}, whose ceilings were not measured", MEASURE
    now, then = (format_si(seconds, "s", digits=3) for seconds in (subject.mix_s, wide_s))
    compared = f"{seen}: at full rate they need {now}, and all in these would need {then}"
    if wide_s * LEAST_GAIN > subject.mix_s:
        return "ruled out", compared, NOTHING
    return ("contributes" if COMPUTE in case.limits else "unknown"), compared, NOTHING


def _narrow(mix: Mix, case: Case) -> float:
    """Return the share of flop in vectors narrower than the widest with a ceiling."""
    machine = case.subject.machine
    part = sum(
        flop for (name, width, _), flop in mix.items() if (width or 0) < widest_bits(machine, name)
    )
    return part / sum(mix.values())
