"""What holds a program of operators back, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ridgepoint.core.presenting import amount
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.advice.subject import percent
from ridgepoint.models.operators.placed import (
    ABOVE,
    CALLS,
    NO_CEILING,
    NOTHING,
    UNEXPLAINED,
    UNKNOWN,
    OperatorGroup,
    is_view,
)
from ridgepoint.models.thresholds import ABOVE_ROOF, LEAST_GAIN, NAMED, NEAR_ROOF, SAID_OUTSIDE

if TYPE_CHECKING:
    from ridgepoint.models.operators import OperatorAnalysis

_MOST_NAMED = 3
_IN_WORDS = {
    ABOVE: "in operators that are faster than their roofs allow",
    CALLS: "in calls too short for a roof to matter",
    UNEXPLAINED: "in operators whose roofs explain less than half of their time",
    NOTHING: "in views, which ask for nothing",
    UNKNOWN: "in operators of unknown demand",
    NO_CEILING: "in operators for which the machine has no ceiling",
}


def operator_verdict(analysis: OperatorAnalysis) -> tuple[str, ...]:
    """Return what holds a program back, which operators first, and what is not known.

    Returns
    -------
    tuple of str
        One or more sentences without a full stop.
    """
    whole = analysis.whole
    if not whole.operators:
        return ("no operator was called",)
    if analysis.machine is None:
        return ("no machine is known, so that nothing bounds the operators",)
    if not whole.limiters:
        return (f"no roof of {analysis.machine.name} applies to these operators",)
    if whole.time_s is None:
        return ("the operators were not timed", _least(analysis), *_fused(analysis))
    if analysis.is_elsewhere:
        return (*_of_elsewhere(analysis), *_fused(analysis))
    return (*_of_run(analysis), *_of_roofs(analysis), *_first(analysis), *_fused(analysis))


def _of_elsewhere(analysis: OperatorAnalysis) -> Iterator[str]:
    whole = analysis.whole
    yield _least(analysis)
    if whole.known_s and whole.known_least_s > 0:
        yield (
            f"the same operators took {format_si(whole.known_s, 's')} on "
            f"{analysis.profile.device_model}: by its roofs {analysis.machine_name} is at most "
            f"{_times(whole.known_s / whole.known_least_s)} times as fast"
        )
    if unknown := whole.unknown_share:
        yield f"{percent(unknown)} of the time was spent in operators of unknown demand"


def _least(analysis: OperatorAnalysis) -> str:
    least = analysis.whole.bound
    assert least is not None
    return (
        f"on {analysis.machine_name} the operators need at least "
        f"{format_si(float(least.time_s), 's')}{_limits(analysis.whole.limiters)}"
    )


def _limits(limiters: Mapping[str, float]) -> str:
    """Return which paths limit how much of the least time, as an addition to a sentence."""
    named = [(path, share) for path, share in limiters.items() if share >= NAMED]
    if not named:
        return ""
    if len(named) == 1:
        return f", limited by {_path(named[0][0])}"
    return f", limited by {_listed(f'{_path(path)} ({percent(share)})' for path, share in named)}"


def _of_run(analysis: OperatorAnalysis) -> Iterator[str]:
    """Yield how much of a run no operator takes."""
    outside_s, inside = analysis.outside_s, analysis.whole.time_s
    if outside_s is None or inside is None:
        return
    run_s = inside.median + outside_s
    own = "" if analysis.profile.startup_s is None else " (without imports, start and end)"
    if outside_s >= SAID_OUTSIDE * run_s:
        waits = "in Python" if analysis.profile.device == "cpu" else "the device waits"
        yield (
            f"at least {percent(outside_s / run_s)} of a run of {format_si(run_s, 's')}{own} is "
            f"outside of all operators, {waits}: no roof bounds that part"
        )


def _of_roofs(analysis: OperatorAnalysis) -> Iterator[str]:
    """Yield how much of the operators' time the roofs explain, and what else explains it."""
    whole = analysis.whole
    reached = whole.efficiency
    if reached is not None and whole.known_s is not None:
        known = " of known demand" if whole.unknown_share else ""
        yield (
            f"the roofs of {analysis.machine_name} explain {percent(reached)} of the "
            f"{format_si(whole.known_s, 's')} in operators{known}{_limits(whole.limiters)}"
            f"{_judged(reached)}"
        )
    shares = [
        f"{percent(share)} {_place(analysis, name)}"
        for name, share in whole.explained.items()
        if share >= NAMED or name == UNKNOWN
    ]
    if shares:
        yield f"the operators' time by what explains it: {_listed(shares)}"


def _judged(reached: float) -> str:
    if reached > ABOVE_ROOF:
        return ": more than all, so that a demand or a ceiling is wrong"
    return ": little is left to gain from each operator by itself" if reached >= NEAR_ROOF else ""


def _place(analysis: OperatorAnalysis, name: str) -> str:
    """Return what explains a share of the time, in words."""
    if name == CALLS and analysis.call_s is not None:
        return f"{_IN_WORDS[name]} (a call takes {format_si(analysis.call_s, 's', digits=2)})"
    if name == NOTHING and not any(is_view(placed.operator) for placed in analysis.operators):
        return "in loops and branches, which ask for nothing themselves"
    return _IN_WORDS[name] if name in _IN_WORDS else f"near the {_path(name)} roof"


def _fused(analysis: OperatorAnalysis) -> Iterator[str]:
    """Yield what fusing all operators could give at most, where that is worth a sentence."""
    gain, fused = analysis.fusion_gain, analysis.fused
    if gain is not None and fused is not None and gain >= LEAST_GAIN:
        least = format_si(float(fused.time_s), "s")
        yield (
            f"fused into one, the operators would need at least {least}: fusion can gain a factor "
            f"of {gain:.3g} at most"
        )


def _first(analysis: OperatorAnalysis) -> Iterator[str]:
    """Yield the operators with the most time beyond their roofs."""
    took = analysis.whole.time_s
    assert took is not None
    groups = [group for group in analysis.alike if group.excess_s is not None]
    worst = sorted(groups, key=lambda group: -(group.excess_s or 0.0))[:_MOST_NAMED]
    named = [g for g in worst if (g.excess_s or 0.0) >= NAMED * took.median]
    if named:
        names = Counter(group.name for group in named)
        yield f"look first at {_listed(_beyond(one, names[one.name] > 1) for one in named)}"


def _beyond(group: OperatorGroup, is_one_of_several: bool) -> str:
    """Return what a group took; of several with one name, with the shape of what it makes."""
    took = group.time_s
    assert took is not None
    least_s = 0.0 if group.bound is None else float(group.bound.time_s)
    modules = dict.fromkeys(placed.operator.module for placed in group.operators)
    where = next(iter(modules)) if len(modules) == 1 else amount(len(modules), "module")
    first = group.operators[0].operator
    phase = "" if first.phase == "forward" else f"{first.phase}, "
    outputs = first.call.outputs
    shape = "×".join(map(str, outputs[0].shape)) if outputs and is_one_of_several else ""
    return (
        f"{group.name}{f' to {shape}' if shape else ''}{f' in {where}' if where else ''} "
        f"({phase}{group.shown_calls}: "
        f"{format_si(took.median, 's', digits=2)}, at least "
        f"{format_si(least_s, 's', digits=2)})"
    )


def _times(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"


def _path(name: str) -> str:
    return RESOURCES[name].label if name in RESOURCES else name


def _listed(parts: Iterator[str] | list[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
