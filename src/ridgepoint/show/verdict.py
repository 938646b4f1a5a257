"""What bounds a program, in plain sentences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from ridgepoint.core.resources import LEVELS, LINKS, RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.conclusion import Conclusion, Kind
from ridgepoint.models.explanations import (
    CHAINED,
    DIVIDE,
    KERNEL,
    MISSES,
    START,
    WAITING,
    Explained,
)
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import ABOVE_ROOF, SAID_OUTSIDE
from ridgepoint.models.work import WORK_UNITS, used_precisions
from ridgepoint.show.own_roofs import shown_mix
from ridgepoint.show.words import percent, shown_cores, shown_name
from ridgepoint.show.work import hardly_any_text

_NO_ROOF: dict[Kind, str] = {
    "no-ceiling": "the machine has no ceiling for any resource that the program uses",
    "nothing-asked": "no bytes and no flop of the program were counted",
}
_SPECIAL = re.compile(r"[^A-Za-z0-9_.:~<>, ]")
_DOES = {START: "starting up", KERNEL: "in the kernel", WAITING: "waiting"}
_LATENCIES = {
    MISSES: ("cache misses", "if each waits for the previous one, they take"),
    CHAINED: (
        "floating-point operations that wait for each other",
        "a chain of its additions, divisions and square roots takes",
    ),
}
_CERTAIN = {
    DIVIDE: ("divisions and square roots", "they take"),
    ISSUE: ("the rate at which cores start instructions", "its instructions take"),
}
_LOOK_AT = "check latency, dependent operations, integer work, start-up and system calls"


def verdict(conclusion: Conclusion, *, advised: bool = False) -> tuple[str, ...]:
    """Return what bounds a program, what that leaves to gain, and what would bound it next.

    Parameters
    ----------
    conclusion : Conclusion
    advised : bool
        Whether advice follows, which says where to look.

    Returns
    -------
    tuple of str
        One or more sentences without a full stop.
    """
    metric = conclusion.placement.metric
    sentences = [] if conclusion.is_worth_a_roof else [
        f"{hardly_any_text(conclusion.counts, metric)}: a {WORK_UNITS[metric]} roofline says "
        "nothing about this program"
    ]  # fmt: skip
    if conclusion.kind in _NO_ROOF:
        sentences.append(f"no roof applies: {_NO_ROOF[conclusion.kind]}")
    else:
        sentences += _bounds(conclusion, advised=advised)
        if conclusion.explained is not None:
            sentences += _outside(conclusion.explained)
        sentences += (
            f"{shown_name(level)} writes are not in the bound: the true efficiency may be higher"
            for level in conclusion.reads_only
        )
    if conclusion.hottest is not None:
        name, share = conclusion.hottest
        sentences.append(
            f"to place its largest part by itself, {percent(share)} of the instructions: "
            f"--function {shlex.quote(re.escape(name) if _SPECIAL.search(name) else name)}"
        )
    return tuple(sentences)


def _bounds(conclusion: Conclusion, *, advised: bool) -> tuple[str, ...]:
    """Return the sentences about what explains the time."""
    say: dict[Kind, Callable[[Conclusion], tuple[str, ...]]] = {
        "not-timed": _untimed,
        "above-mix": _own_mix,
        "mix": _own_mix,
        "issue": _issue_rate,
        "above-roof": _roof,
        "at-roof": _roof,
        "roof": _roof,
        "cause": _because,
    }
    if conclusion.kind in say:
        return say[conclusion.kind](conclusion)
    placement, explained = conclusion.placement, conclusion.explained
    # Where parts of its time are listed, there is more to say than where to look.
    look = () if advised or (explained is not None and explained.parts) else (_LOOK_AT,)
    look = (*_far_from_issue(placement), *look)
    if conclusion.kind == "traffic-alone":
        return (_traffic_alone(placement), *look)
    return (_unexplained(placement), *look, *_next_roof(conclusion))


def limit_name(constraint: str, placement: Placement) -> str:
    """Return a constraint of a bound in words.

    Parameters
    ----------
    constraint : str
        As in `Bound.constraints_s` or `Bound.times_s`.
    placement : Placement
        Whose demand says which precisions ``compute`` is of.
    """
    if constraint in RESOURCES and RESOURCES[constraint].path in LEVELS:
        resource = RESOURCES[constraint]
        direction = f" {resource.direction}" if resource.direction else ""
        return f"{shown_name(resource.path)}{direction} bandwidth"
    if constraint in LINKS:
        return f"{shown_name(constraint)} bandwidth"
    used = used_precisions(placement.demand.amounts)
    return f"peak {' and '.join(map(shown_name, used))} performance" if used else "peak performance"


def _untimed(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentences about a program of which only the counts are known."""
    placement = conclusion.placement
    assert placement.bound is not None
    limit = _limits(placement)
    best = [format_si(float(placement.bound.time_s), "s", digits=3)]
    unknown = "how close it comes to that is"
    if placement.attainable_per_s is not None and conclusion.is_worth_a_roof:
        unit = f"{WORK_UNITS[placement.metric]}/s"
        best.insert(0, format_si(placement.attainable_per_s, unit, digits=3))
        unknown = "its performance and how close it comes to that are"
    return (
        f"what would bound it is {limit}: {' and '.join(best)} at best, "
        f"on {shown_cores(placement.cores)}",
        f"its time was not measured, so {unknown} unknown",
    )


def _roof(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentences about the roof that binds and is near, and about the next one."""
    return (_binding(conclusion), *_next(conclusion))


def _binding(conclusion: Conclusion) -> str:
    placement = conclusion.placement
    assert placement.bound is not None
    assert placement.efficiency is not None
    efficiency, limit = placement.efficiency, _limits(placement)
    reached = percent(efficiency)
    if conclusion.kind == "above-roof":
        return (
            f"{efficiency:.3g} times as fast as {limit} allows: a count or a ceiling is wrong, "
            "see the cautions"
        )
    limit += " alike" if len(placement.bindings) > 1 else ""
    change = _unless(placement)
    if conclusion.kind == "at-roof":
        return f"bound by {limit}: at its roof ({reached} of attainable), {change}"
    return (
        f"bound by {limit}: {reached} of attainable; at best {_times(1 / efficiency)} faster "
        f"{change}"
    )


def _own_mix(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentences about the roof of its own mix of instructions."""
    placement, own = conclusion.placement, conclusion.placement.mix
    assert own is not None
    assert own.efficiency is not None
    assert placement.efficiency is not None
    what = shown_mix(own)
    if conclusion.kind == "above-mix":
        return (
            f"{own.efficiency:.3g} times as fast as its own mix ({what}) allows: a ceiling is too "
            "low, see the cautions",
        )
    gain = _times(1 / placement.efficiency)
    return (
        f"bound by its own mix ({what}): {percent(own.efficiency)} of what that allows",
        f"with other instructions, the machine's roof would allow {gain} its speed",
    )


def _issue_rate(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentences about the rate at which cores start instructions."""
    placement = conclusion.placement
    assert placement.issue.efficiency is not None
    return (
        f"bound by the issue rate: {percent(placement.issue.efficiency)} of the instructions that "
        f"{shown_cores(placement.cores)} can start in its time",
        "only fewer instructions for the same work make it faster, such as wider vectors",
    )


def _far_from_issue(placement: Placement) -> tuple[str, ...]:
    """Return how far a program that nothing explains is from the rate of issue."""
    own = placement.issue
    if own.per_cycle is None or own.most_per_cycle is None:
        return ()
    return (
        f"it executes {own.per_cycle:.2g} of the {own.most_per_cycle:.2g} instructions per cycle "
        "that a core can start",
    )


def _unexplained(placement: Placement) -> str:
    """Return the sentence about the nearest roof, which is far."""
    assert placement.bound is not None
    assert placement.efficiency is not None
    limit = _limits(placement)
    return (
        f"no measured roof explains its time: the nearest, {limit}, would allow "
        f"{_times(1 / placement.efficiency)} its speed"
    )


def _because(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentence about what explains the time, where the machine's roofs alone do not."""
    placement, explained = conclusion.placement, conclusion.explained
    assert explained is not None
    assert explained.cause is not None
    cause = explained.cause
    part = cause.seconds / explained.inside_s
    share = f"all ({percent(part)})" if part > ABOVE_ROOF else percent(part)
    where = (
        " of its time"
        if explained.outside_s < SAID_OUTSIDE * explained.runtime_s
        else f" of the {percent(explained.inside_s / explained.runtime_s)} of its time in which "
        "it computes and moves data"
    )
    if cause.sense == "most":
        who, how = _LATENCIES[cause.code]
        sentence = f"the latency of {who}, it seems: {how} {share}{where}{_per_cycle(explained)}"
    elif cause.code == COMPUTE:
        of = " of its own mix of instructions" if placement.metric == "flop" else ""
        limit = limit_name(COMPUTE, placement)
        sentence = f"{limit}{of}: at that rate its work takes {share}{where}"
    else:
        of_path = (_of_path(cause.code, placement), "its traffic takes")
        limit, what = _CERTAIN.get(cause.code, of_path)
        sentence = f"{limit}: at full rate {what} {share}{where}"
    return (f"bound by {sentence}",)


def _of_path(path: str, placement: Placement) -> str:
    """Return the name of a path's tightest limit."""
    assert placement.bound is not None
    binding = str(placement.bound.binding)
    is_same = binding in RESOURCES and RESOURCES[binding].path == path
    return limit_name(binding if is_same else path, placement)


def _per_cycle(explained: Explained) -> str:
    """Return how many instructions end per cycle, where that is known."""
    if explained.per_cycle is None:
        return ""
    return f", and {explained.per_cycle:.2g} instructions retire per cycle"


def _outside(explained: Explained) -> tuple[str, ...]:
    """Return the sentence about time that no roof is about."""
    parts = [f"{percent(part.share)} of its time {_DOES[part.code]}" for part in explained.outside]
    return (f"it spends {' and '.join(parts)}, which no roof describes",) if parts else ()


def _traffic_alone(placement: Placement) -> str:
    """Return how much of its time a program without work needs for its bytes."""
    assert placement.bound is not None
    assert placement.runtime_s is not None
    binding = str(placement.bound.binding)
    if binding == "compute":
        return "no measured roof explains its time: its memory traffic needs almost none of it"
    least, took = (
        format_si(value, "s", digits=3)
        for value in (float(placement.bound.time_s), placement.runtime_s.median)
    )
    limit = limit_name(binding, placement)
    return f"its memory traffic alone would need {least} of the {took} that it took, at {limit}"


def _limits(placement: Placement) -> str:
    """Return what binds, in words: one constraint, or several that need equally long."""
    return " and ".join(limit_name(binding, placement) for binding in placement.bindings)


def _unless(placement: Placement) -> str:
    """Return what would lift the limits themselves."""
    return f"unless it {' and '.join(_relief(each, placement) for each in placement.bindings)}"


def _relief(binding: str, placement: Placement) -> str:
    """Return what a program would have to do less of, for one limit to be lifted."""
    path = RESOURCES[binding].path if binding in RESOURCES else binding
    if path in LEVELS:
        resource = RESOURCES[binding]
        verb = {"read": "reads", "write": "writes", None: "moves"}[resource.direction]
        end = {"read": "from", "write": "to", None: "at"}[resource.direction]
        return f"{verb} fewer bytes {end} {shown_name(path)}"
    if path in LINKS:
        return (
            "sends fewer bytes" if path == "network" else f"moves fewer bytes at {shown_name(path)}"
        )
    if placement.metric == "bop":
        return "does fewer basic operations"
    return "does less floating-point work"


def _next(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentence about the roof that would bind if the nearest one vanished."""
    if conclusion.following is None:
        return ("no further roof is known",)
    path, gain = conclusion.following
    limit = limit_name(path, conclusion.placement)
    if gain < 1:
        return (f"it is also faster than the next limit, {limit}, allows",)
    those = "these limits" if len(conclusion.placement.bindings) > 1 else "that limit"
    return (f"without {those}, {limit} is next: at best {_times(gain)} faster than now",)


def _next_roof(conclusion: Conclusion) -> tuple[str, ...]:
    """Return the sentence about the second roof above a program that is far below both."""
    if conclusion.following is None:
        return ()
    path, gain = conclusion.following
    return (f"the next roof, {limit_name(path, conclusion.placement)}, would allow {_times(gain)}",)


def _times(factor: float) -> str:
    """Return a factor, to two digits below a hundred."""
    return f"{factor:.2g}x" if factor < 99.5 else f"{factor:.0f}x"
