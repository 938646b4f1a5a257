"""What bounds a program, in plain sentences."""

from __future__ import annotations

import re
import shlex

from ridgepoint.core.counts import Counts
from ridgepoint.core.resources import LEVELS, RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.explanations import (
    CHAINED,
    DIVIDE,
    KERNEL,
    MISSES,
    START,
    WAITING,
    Explained,
    Explanation,
)
from ridgepoint.models.own_roofs import COMPUTE, ISSUE
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import ABOVE_ROOF, NEAR
from ridgepoint.models.work import WORK_UNITS, hardly_any
from ridgepoint.show.charts.own_roofs import issue_sentence, own_sentences
from ridgepoint.show.words import percent, shown_cores, shown_name
from ridgepoint.show.work import hardly_any_text, used_precisions

# Time in the kernel and time spent waiting are worth a sentence from this share on.
_SAID_OUTSIDE = 0.1
# A function that does all but this of a program has the same place.
_ALL = 0.98
_SPECIAL = re.compile(r"[^A-Za-z0-9_.:~<>, ]")
_DOES = {START: "starting up", KERNEL: "in the kernel", WAITING: "waiting"}
_LATENCIES = {
    MISSES: ("cache misses", "if each waits for the one before, they take"),
    CHAINED: (
        "floating-point operations that wait for each other",
        "a chain of its additions, divisions and square roots takes",
    ),
}
_CERTAIN = {
    DIVIDE: ("divisions and square roots", "they take"),
    ISSUE: ("the rate at which cores start instructions", "its instructions take"),
}
_LOOK_AT = "look at latency, dependent operations, integer work, start-up, system calls"


def verdict(
    placement: Placement,
    counts: Counts,
    *,
    advised: bool = False,
    explained: Explained | None = None,
    hottest: tuple[str, float] | None = None,
) -> tuple[str, ...]:
    """Return what bounds a program, what that leaves to gain, and what would bound it next.

    Parameters
    ----------
    placement : Placement
    counts : Counts
        Of the program placed.
    advised : bool
        Whether advice follows, which says where to look.
    explained : Explained or None
        What explains its time; None: nothing but the roofs is known.
    hottest : tuple of str and float, or None
        The function that most instructions are of, and their share, if it can be placed alone.

    Returns
    -------
    tuple of str
        One or more sentences without a full stop.

    Notes
    -----
    The gain under a roof is 1 / efficiency. The gain if the binding path vanished is the
    runtime over the time of the path that needs the second most.
    """
    metric = placement.metric
    if not hardly_any(counts, metric):
        return (
            *_bounds(placement, explained, moves_only=False, advised=advised),
            *_alone(explained, hottest),
        )
    said = (
        f"{hardly_any_text(counts, metric)}: a {WORK_UNITS[metric]} roofline says nothing of this "
        "program"
    )
    return (
        said,
        *_bounds(placement, explained, moves_only=True, advised=advised),
        *_alone(explained, hottest),
    )


def _bounds(
    placement: Placement, explained: Explained | None, *, moves_only: bool, advised: bool
) -> tuple[str, ...]:
    """Return the sentences about the roofs; `moves_only`: its work is not worth one."""
    if placement.bound is None:
        return ("no roof applies: the machine has no ceiling for what the program asked for",)
    if not float(placement.bound.time_s) > 0:
        return ("no roof applies: the program moved no byte and did no flop that was counted",)
    if placement.efficiency is None:
        return (*_untimed(placement, moves_only=moves_only), *_left_out(placement))
    own = own_sentences(placement)
    if own:
        return (*own, *_outside(explained), *_left_out(placement))
    # Where parts of its time are listed, there is more to say than where to look.
    look = () if advised or (explained is not None and explained.parts) else (_LOOK_AT,)
    look = (*issue_sentence(placement), *look)
    if placement.efficiency >= NEAR:
        sentences: tuple[str, ...] = (
            _binding(placement, placement.efficiency),
            *_next(placement),
            *_outside(explained),
        )
    elif explained is not None and explained.cause is not None:
        sentences = (_because(placement, explained, explained.cause), *_outside(explained))
    elif moves_only:
        sentences = (
            _traffic_alone(placement),
            *look,
            *_outside(explained),
        )
    else:
        sentences = (
            _unexplained(placement),
            *look,
            *_next_roof(placement),
            *_outside(explained),
        )
    return (*sentences, *_left_out(placement))


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
    if constraint == "network":
        return "network bandwidth"
    used = used_precisions(placement.demand.amounts)
    return f"peak {' and '.join(map(shown_name, used))} performance" if used else "peak performance"


def _untimed(placement: Placement, *, moves_only: bool) -> tuple[str, ...]:
    """Return the sentences about a program of which only the counts are known."""
    assert placement.bound is not None
    limit = limit_name(str(placement.bound.binding), placement)
    best = [format_si(float(placement.bound.time_s), "s", digits=3)]
    unknown = "how near it comes to that is"
    if placement.attainable_per_s is not None and not moves_only:
        unit = f"{WORK_UNITS[placement.metric]}/s"
        best.insert(0, format_si(placement.attainable_per_s, unit, digits=3))
        unknown = "its performance and how near it comes to that are"
    return (
        f"what would bound it is {limit}: {' and '.join(best)} at best, "
        f"on {shown_cores(placement.cores)}",
        f"its time was not measured, so {unknown} unknown",
    )


def _binding(placement: Placement, efficiency: float) -> str:
    """Return the sentence about the roof that binds and is near."""
    assert placement.bound is not None
    binding = str(placement.bound.binding)
    limit, reached = limit_name(binding, placement), percent(efficiency)
    if efficiency > ABOVE_ROOF:
        return (
            f"{efficiency:.3g} times as fast as {limit} allows: a count or a ceiling is off, "
            "see the cautions"
        )
    change = _unless(binding, placement)
    if efficiency > 1 / ABOVE_ROOF:
        return f"bound by {limit}: at its roof ({reached} of attainable), {change}"
    return (
        f"bound by {limit}: {reached} of attainable; at best {_times(1 / efficiency)} faster "
        f"{change}"
    )


def _unexplained(placement: Placement) -> str:
    """Return the sentence about the nearest roof, which is far."""
    assert placement.bound is not None
    assert placement.efficiency is not None
    limit = limit_name(str(placement.bound.binding), placement)
    return (
        f"no measured roof explains its time: the nearest, {limit}, would allow "
        f"{_times(1 / placement.efficiency)} its speed"
    )


def _because(placement: Placement, explained: Explained, cause: Explanation) -> str:
    """Return the sentence about what explains the time, where the machine's roofs alone do not."""
    part = cause.seconds / explained.inside_s
    share = f"all ({percent(part)})" if part > ABOVE_ROOF else percent(part)
    where = (
        " of its time"
        if explained.outside_s < _SAID_OUTSIDE * explained.runtime_s
        else f" of the {percent(explained.inside_s / explained.runtime_s)} of its time in which "
        "it computes and moves data"
    )
    if cause.sense == "most":
        who, how = _LATENCIES[cause.code]
        return (
            f"bound by the latency of {who}, it seems: {how} {share}{where}{_per_cycle(explained)}"
        )
    if cause.code == COMPUTE:
        of = "of its own mix of instructions" if placement.metric == "flop" else ""
        peak = limit_name(COMPUTE, placement)
        return f"bound by {f'{peak} {of}'.strip()}: at that rate its work takes {share}{where}"
    limit, what = _CERTAIN.get(cause.code) or (_of_path(cause.code, placement), "its traffic takes")
    return f"bound by {limit}: at full rate {what} {share}{where}"


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
    return f", and {explained.per_cycle:.2g} instructions end per cycle"


def _outside(explained: Explained | None) -> tuple[str, ...]:
    """Return the sentence about time that no roof is about."""
    if explained is None or explained.outside_s < _SAID_OUTSIDE * explained.runtime_s:
        return ()
    parts = [
        f"{percent(part.share)} of its time {_DOES[part.code]}"
        for part in explained.parts
        if part.code in _DOES
    ]
    return (f"it spends {' and '.join(parts)}, which no roof describes",) if parts else ()


def _alone(explained: Explained | None, hottest: tuple[str, float] | None) -> tuple[str, ...]:
    """Return how to place the part that matters alone, where the rest is in its way."""
    if explained is None or hottest is None:
        return ()
    name, share = hottest
    if explained.cause is not None or share > _ALL:
        return ()
    return (
        f"to place its largest part alone, {percent(share)} of the instructions: "
        f"--function {shlex.quote(re.escape(name) if _SPECIAL.search(name) else name)}",
    )


def _traffic_alone(placement: Placement) -> str:
    """Return how much of its time a program without work needs for its bytes."""
    assert placement.bound is not None
    assert placement.runtime_s is not None
    binding = str(placement.bound.binding)
    if binding == "compute":
        return "no measured roof explains its time: its memory traffic needs next to none of it"
    least, took = (
        format_si(value, "s", digits=3)
        for value in (float(placement.bound.time_s), placement.runtime_s.median)
    )
    limit = limit_name(binding, placement)
    return f"its memory traffic alone would need {least} of the {took} that it took, at {limit}"


def _unless(binding: str, placement: Placement) -> str:
    """Return what would lift the limit itself."""
    path = RESOURCES[binding].path if binding in RESOURCES else binding
    if path in LEVELS:
        resource = RESOURCES[binding]
        verb = {"read": "reads", "write": "writes", None: "moves"}[resource.direction]
        end = {"read": "from", "write": "to", None: "at"}[resource.direction]
        return f"unless it {verb} fewer bytes {end} {shown_name(path)}"
    if path == "network":
        return "unless it sends fewer bytes"
    if placement.metric == "bop":
        return "unless it does fewer basic operations"
    return "unless it does less floating-point work"


def _second(placement: Placement) -> tuple[str, float] | None:
    """Return the path that needs the second most time, and the runtime over that time."""
    assert placement.bound is not None
    assert placement.runtime_s is not None
    first = str(placement.bound.limiter)
    times = {name: float(time) for name, time in placement.bound.times_s.items()}
    rest = {name: time for name, time in times.items() if name != first and time > 0}
    if not rest:
        return None
    name = max(rest, key=lambda path: rest[path])
    return limit_name(name, placement), placement.runtime_s.median / rest[name]


def _next(placement: Placement) -> tuple[str, ...]:
    """Return the sentence about the roof that would bind if the nearest one vanished."""
    second = _second(placement)
    if second is None:
        return ("no other roof is known that would bind it next",)
    following, gain = second
    if gain < 1:
        return (f"it is faster than the next limit, {following}, allows too",)
    return (f"without that limit, {following} is next: at best {_times(gain)} faster than now",)


def _next_roof(placement: Placement) -> tuple[str, ...]:
    """Return the sentence about the second roof above a program that is far below both."""
    second = _second(placement)
    if second is None:
        return ()
    return (f"the next roof, {second[0]}, would allow {_times(second[1])}",)


def _left_out(placement: Placement) -> tuple[str, ...]:
    """Return a sentence for every level of which only the reads are in the bound."""
    amounts = placement.demand.amounts
    levels = [n for n in LEVELS if f"{n}_read" in amounts and f"{n}_write" not in amounts]
    return tuple(
        f"{shown_name(level)} writes are not in the bound: the true efficiency may be higher"
        for level in levels
    )


def _times(factor: float) -> str:
    """Return a factor, to two digits below a hundred."""
    return f"{factor:.2g}x" if factor < 99.5 else f"{factor:.0f}x"
