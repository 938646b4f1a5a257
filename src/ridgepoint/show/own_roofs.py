"""What a program's own instructions allow, in words: the roof of its mix, and the rate of issue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ridgepoint.core.units import format_si
from ridgepoint.models.mix import SINGLE, Kind
from ridgepoint.models.own_roofs import COMPUTE, IssuePlace, MixPlace
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import ABOVE_MIX, NEAR
from ridgepoint.show.words import UNKNOWN, percent, shown_cores, shown_pattern

# Two bounds nearer than this are the same, but for noise.
_APART = 1.02
# A kind that takes less of the time is not worth a word.
_NAMED_SHARE = 0.05
_MOST_NAMED = 3
_PLURALS = {
    "add": "additions",
    "mul": "products",
    "fma": "FMA",
    "div": "divisions",
    "sqrt": "square roots",
    "dot": "dot products",
    SINGLE: "single operations",
    "other": "other operations",
    None: "operations",
}


def is_apart(placement: Placement) -> bool:
    """Return whether a program's own mix allows less than the machine's roof does."""
    own, machines = placement.mix, placement.bound
    if own is None or own.time_s is None or machines is None:
        return False
    return own.time_s > _APART * float(machines.time_s)


def mix_row(placement: Placement) -> str | None:
    """Return what a program's own mix allows; None: no more is known than of the machine's roof."""
    own = placement.mix
    if own is None or placement.bound is None:
        return None
    if own.bound is None:
        return f"{UNKNOWN}: {'; '.join(own.unknown)}"
    if own.attainable_per_s is None or not is_apart(placement):
        return None
    said = f"{format_si(own.attainable_per_s, 'flop/s')} of its own mix: {shown_mix(own)}"
    if own.efficiency is not None:
        said += f"; efficiency {percent(own.efficiency)}"
    if own.unknown:
        said += f"; not in this bound: {'; '.join(own.unknown)}"
    return said


def shown_mix(own: MixPlace) -> str:
    """Return which kinds of instruction take the time that a mix needs, with their shares."""
    assert own.bound is not None
    return _kinds(own.bound.shares[own.bound.binding])


def _kinds(shares: Mapping[Kind, float]) -> str:
    """Return the kinds that take most, in the order of their shares."""
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    named = [(kind, share) for kind, share in ranked if share >= _NAMED_SHARE][:_MOST_NAMED]
    precisions = {precision for (precision, _, _), _ in named}
    parts = []
    for (precision, width, operation), share in named:
        name = [] if width is None else [f"{width}-bit" if width else "scalar"]
        if len(precisions) > 1:
            name.append(precision)
        parts.append(f"{percent(share)} {' '.join([*name, _PLURALS[operation]])}")
    return shown_pattern(", ".join(parts))


def per_cycle_text(issue: IssuePlace | None) -> str | None:
    """Return the instructions in each cycle, and how many there may be; None: not known."""
    if issue is None or issue.per_cycle is None:
        return None
    most = issue.most_per_cycle
    return f"{issue.per_cycle:.2g} per cycle" + (f" of {most:.2g} at most" if most else "")


def own_sentences(placement: Placement) -> tuple[str, ...]:
    """Return what explains a program's time better than the machine's roof; empty: nothing does.

    Parameters
    ----------
    placement : Placement
        With an efficiency under the machine's roof.

    Returns
    -------
    tuple of str
        Sentences without a full stop, in the place of those about the machine's roof.
    """
    reached = placement.efficiency or 0.0
    mix = 0.0 if placement.mix is None else placement.mix.efficiency or 0.0
    issue = placement.issue.efficiency or 0.0
    best = max(mix, issue)
    if best < NEAR or best < _APART * reached or reached > _APART:
        return ()
    if mix >= issue:
        return tuple(_of_mix(placement))
    return tuple(_of_issue(placement))


def _of_mix(placement: Placement) -> Iterator[str]:
    own = placement.mix
    assert own is not None
    assert own.bound is not None
    assert own.efficiency is not None
    if own.limiter != COMPUTE:
        return
    what = shown_mix(own)
    if own.efficiency > ABOVE_MIX:
        yield (
            f"{own.efficiency:.3g} times as fast as its own mix ({what}) allows: a ceiling is too "
            "low, see the cautions"
        )
        return
    yield f"bound by its own mix ({what}): {percent(own.efficiency)} of what that allows"
    if placement.efficiency:
        gain = f"{1 / placement.efficiency:.2g}x"
        yield f"the machine's roof, which other instructions reach, would allow {gain} its speed"


def _of_issue(placement: Placement) -> Iterator[str]:
    own = placement.issue
    assert own.efficiency is not None
    yield (
        f"bound by the issue rate: {percent(own.efficiency)} of the instructions that "
        f"{shown_cores(placement.cores)} can start in its time"
    )
    yield "only fewer instructions for the same work make it faster, such as wider vectors"


def issue_sentence(placement: Placement) -> tuple[str, ...]:
    """Return how far a program that nothing explains is from the rate of issue."""
    own = placement.issue
    if own.per_cycle is None or own.most_per_cycle is None:
        return ()
    return (
        f"it executes {own.per_cycle:.2g} of the {own.most_per_cycle:.2g} instructions per cycle "
        "that a core can start",
    )
