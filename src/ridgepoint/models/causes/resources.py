"""Causes that are resources: a path of the bound, the rate of issue, the divider."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.resources import LEVELS, LINKS, RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.causes.cause import (
    MEASURE,
    NOTHING,
    Case,
    Cause,
    Finding,
    Settle,
    ends,
    is_small,
    part_of,
    path_name,
)
from ridgepoint.models.explanations import DIVIDE
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.thresholds import EXPLAINS, SAME
from ridgepoint.models.work import hardly_any

_BY_FLOP = Settle(text="judge it by its floating-point work: --work flop")
_ABOVE = (
    "the program is faster than its roof allows: a count or a ceiling is wrong, and no resource "
    "can be judged by them"
)


def resources(case: Case) -> Iterator[Cause]:
    """Yield a cause for each resource that the program uses, or that could not be judged."""
    asked = {RESOURCES[name].path for name in case.subject.measurement.demand.amounts}
    links = [link for link in LINKS if link in asked or link in case.needs]
    for path in (COMPUTE, *LEVELS, *links, ISSUE, DIVIDE):
        yield _judged(path, case)


def _judged(path: str, case: Case) -> Cause:
    standing, why, settle = _standing(path, case)
    need = case.needs.get(path)
    share = None if need is None else case.share(need)
    return Cause(
        code=path,
        what=path_name(path, case),
        standing=standing,
        why=why,
        share=share,
        sense=None if share is None else "least",
        settle=settle.text,
        again=settle.again,
    )


def _standing(path: str, case: Case) -> Finding:
    """Return where a resource stands, why, and what would settle it."""
    need = case.needs.get(path)
    if need is None:
        return _without_need(path, case)
    seen, share = _needed(path, need, case), case.share(need)
    if path in case.limits:
        return "limits", "; ".join(filter(None, (seen, case.at_work))), NOTHING
    if case.is_above:
        return "unknown", _ABOVE, MEASURE
    if share is not None and is_small(share):
        return "ruled out", seen, NOTHING
    if case.limiter is not None:
        return _beside(path, need, case.limiter, case)
    return ("unknown" if share is None else "contributes"), seen, NOTHING


def _beside(path: str, need: Estimate, limiter: str, case: Case) -> Finding:
    """Return where a resource stands beside the one that limits the program."""
    most, name = case.needs[limiter], path_name(limiter, case)
    needed = _needed(path, need, case)
    if ends(need)[1] < ends(most)[0]:
        # It limits nothing now, but whoever removes the limit meets it next, if it needs as much.
        share = case.share(need)
        part = need.median / most.median if share is None else share.median
        compared = f"{needed}; {name} needs more: {_least(most, case)}"
        return ("ruled out" if part < EXPLAINS else "contributes"), compared, NOTHING
    why = f"{needed}, and {name} {_least(most, case)}: these cannot be told apart"
    return "unknown", why, case.settled_by("--repeat 15")


def _without_need(path: str, case: Case) -> Finding:
    """Return where a resource stands of which no time is known."""
    if path == DIVIDE:
        return _without_divisions(case)
    if path in LEVELS and case.subject.traffic(path) is None:
        why = f"its traffic at {RESOURCES[path].label} was not counted"
        if "--no-traffic" in case.options:
            return "unknown", why, Settle(text="measure it again without --no-traffic")
        return "unknown", why, case.settled_by("--meter engine")
    if path == COMPUTE and hardly_any(case.subject.counts, case.subject.placement.metric):
        return "ruled out", "hardly any such work was counted", NOTHING
    if path == ISSUE and case.subject.doubted("avx2-path"):
        return "unknown", "a native run uses other instructions than were counted", NOTHING
    what = {COMPUTE: "for its work", ISSUE: "for instructions of any kind"}.get(path)
    what = f"for {RESOURCES[path].label}" if what is None else what
    on = f"{case.subject.machine.name} has no ceiling {what} on {case.subject.placement.cores:.3g}"
    return "unknown", f"{on} core{'' if case.subject.placement.cores == 1 else 's'}", MEASURE


def _without_divisions(case: Case) -> Finding:
    """Return where the divider stands if no time of it is known."""
    mix = case.mix
    if hardly_any(case.subject.counts):
        return "ruled out", "it does hardly any floating-point work", NOTHING
    if mix is None:
        settle = case.settled_by("--meter native")
        return "unknown", "which operations its flop are is not known", settle
    if not any(operation in {"div", "sqrt"} for _, _, operation in mix):
        return "ruled out", "hardly any of its flop are divisions or square roots", NOTHING
    if case.subject.placement.metric == "bop":
        return "unknown", "its basic operations are not told apart from divisions", _BY_FLOP
    return "unknown", "the machine has no ceiling for divisions and square roots", MEASURE


def _needed(path: str, need: Estimate, case: Case) -> str:
    """Return what a resource needs at its full rate."""
    peak_s = case.subject.placement.bound and case.subject.placement.bound.times_s.get(COMPUTE)
    if path == COMPUTE and need.median > SAME * float(peak_s or 0.0):
        return f"at the rate of its own instructions its work needs {_least(need, case)}"
    what = {
        COMPUTE: "its work needs",
        ISSUE: "its instructions need",
        DIVIDE: "its divisions and square roots need",
    }.get(path, "its traffic needs")
    return f"at full rate {what} {_least(need, case)}"


def _least(need: Estimate, case: Case) -> str:
    """Return a least time in seconds, and as a share of the program's if that is known."""
    seconds = format_si(need.median, "s", digits=3)
    share = case.share(need)
    if share is not None:
        return f"{seconds}, {part_of(share, case.its_time)}"
    low, high = (format_si(end, "s", digits=3) for end in ends(need))
    return seconds if low == high else f"{seconds} ({low} to {high})"
