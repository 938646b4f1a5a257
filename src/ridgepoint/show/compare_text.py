"""What text, Markdown and pictures say alike of two measurements that are compared."""

from __future__ import annotations

import math

from ridgepoint.core.estimate import Estimate
from ridgepoint.models.comparing.changes import Change
from ridgepoint.models.comparing.history import Moment
from ridgepoint.models.comparing.programs import Program, ProgramComparison
from ridgepoint.models.comparing.quantities import CPU_TIME, RUNTIME, TIMES
from ridgepoint.show.words import UNKNOWN, limit_text, percent, printable, shown_amount

_NAMES = {"bops": "BOP", CPU_TIME: "CPU time"}
_LEVELS = ("l1", "l2", "l3", "dram")
_NEAR_ONE = 0.1


def quantity_name(quantity: str) -> str:
    """Return a quantity as the field writes it.

    Examples
    --------
    >>> quantity_name("dram read"), quantity_name("bops"), quantity_name("runtime")
    ('DRAM read', 'BOP', 'runtime')
    """
    level, _, way = quantity.partition(" ")
    if level in _LEVELS:
        return f"{level.upper()} {way}".rstrip()
    return _NAMES.get(quantity, quantity)


def amount_text(value: Estimate | None, unit: str) -> str:
    """Return an amount; what is not known is said so."""
    return shown_amount(value, unit) if value is None or value.median else f"0 {unit}".rstrip()


def times_text(ratio: float) -> str:
    """Return a ratio; one that is not 1 does not read as 1.

    Examples
    --------
    >>> times_text(0.5), times_text(1.0499), times_text(1.0000004), times_text(250.0)
    ('x 0.5', 'x 1.05', 'x 1.0000004', 'x 250')
    """
    if ratio == 1 or not math.isfinite(ratio) or abs(ratio - 1) >= _NEAR_ONE:
        return f"x {float(f'{ratio:.3g}'):g}"
    places = max(3, -math.floor(math.log10(abs(ratio - 1))))
    return f"x {f'{ratio:.{places}f}'.rstrip('0')}"


def ratio_text(change: Change) -> str:
    """Return how many times as much it is after as before; ``=``: exactly as much."""
    if not change.is_known:
        return UNKNOWN
    if change.verdict == "equal":
        return "="
    if change.ratio is None:
        return "from 0"
    return times_text(change.ratio)


def interval_text(change: Change) -> str:
    """Return the interval of a ratio; empty: there is none, or the ratio is exact."""
    if change.low is None or change.high is None or change.low == change.high:
        return ""
    return f"{times_text(change.low)[2:]} to {times_text(change.high)[2:]}"


def interval_cell(change: Change) -> str:
    """Return the interval of a ratio for a column of 95 % intervals; another range says so."""
    interval = interval_text(change)
    return f"{interval} (drift)" if change.has_drift and interval else interval


def drift_note(comparison: ProgramComparison) -> str:
    """Return what a marked range is; empty: there is none."""
    if not any(change.has_drift for change in comparison.changes.values()):
        return ""
    return (
        "(drift): the runs of a measurement depend on each other, so this is not a 95 % interval, "
        "but the range of these runs and half as much again on each side"
    )


def verdict_text(change: Change) -> str:
    """Return what a change is in a word or two; what is not known says why."""
    is_time = change.quantity in TIMES
    if change.verdict == "unknown":
        return f"{UNKNOWN}: {change.why}"
    if change.verdict in {"same", "no difference seen"} and change.why:
        return f"{change.verdict} ({change.why})"
    words = {"more": "slower", "less": "faster"} if is_time else {}
    return words.get(change.verdict, change.verdict)


def headline(comparison: ProgramComparison) -> str:
    """Return in a sentence whether the program is faster or slower, and how sure that is."""
    change = comparison.changes[RUNTIME]
    title = printable(comparison.after.title)
    if change.before is None or change.after is None or change.ratio is None:
        whens = [
            printable(program.title)
            for program, value in (
                (comparison.before, change.before),
                (comparison.after, change.after),
            )
            if value is None
        ]
        which = " and ".join(whens)
        return f"the runtime of {which} is unknown" if whens else "a runtime is 0"
    amounts = f"{shown_amount(change.after, 's')} instead of {shown_amount(change.before, 's')}"
    interval = interval_text(change)
    ratio = f"{times_text(change.ratio)[2:]} times the runtime"
    sure = f", {change.interval_name} {interval}" if interval else ""
    found = {
        "more": f"{title} is slower: {ratio} ({amounts}{sure})",
        "less": f"{title} is faster: {ratio} ({amounts}{sure})",
        "same": f"{title} takes the same time within the tolerance: {ratio} ({amounts}{sure})",
        "no difference seen": f"no difference in runtime seen: {ratio} ({amounts}{sure})",
    }
    return found.get(
        change.verdict,
        f"whether {title} is faster or slower is unknown, {change.why}: {ratio} ({amounts}{sure})",
    )


def limit_of(program: Program) -> str:
    """Return what limits a program, and how near it comes; unknown where there is no bound."""
    placement = None if program.analysis is None else program.analysis.placement
    if placement is None or placement.bound is None:
        return UNKNOWN
    if placement.efficiency is None:
        return f"{limit_text(placement)}, not timed"
    return f"{limit_text(placement)}, {percent(placement.efficiency)} of the roof"


def limits_text(comparison: ProgramComparison) -> str:
    """Return what limits both programs."""
    before, after = limit_of(comparison.before), limit_of(comparison.after)
    first, last = comparison.limits
    if before == after == UNKNOWN:
        return "what limits them is unknown"
    if UNKNOWN in (before, after):
        return f"limited by: {before} before; {after} after"
    same = "still" if first == last else "now"
    return f"limited before by {before}; {same} by {after}"


def event_text(quantity: str, moment: Moment) -> str:
    """Return in a sentence what happened to an amount at a moment of its history."""
    change = moment.change
    assert change is not None  # an event is a change from the level before
    amounts = (
        f"{amount_text(change.before, change.unit)} to {amount_text(change.after, change.unit)}"
    )
    interval = interval_text(change)
    sure = f", {change.interval_name} {interval}" if interval else ""
    ratio = f"{ratio_text(change)}{sure}"
    after = {
        "change": "from here on",
        "once": "in this record only",
        "last": "in the last record, so nothing confirms it yet",
    }[moment.event]
    words = {"more": "higher", "less": "lower"}
    found = verdict_text(change) if quantity in TIMES else words[change.verdict]
    return f"{quantity_name(quantity)} is {found} {after}: {amounts} ({ratio})"
