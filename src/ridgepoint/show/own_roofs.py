"""What a program's own instructions allow, in words: the roof of its mix, and the rate of issue."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.units import format_si
from ridgepoint.models.conclusion import is_apart
from ridgepoint.models.mix import SINGLE, Kind
from ridgepoint.models.own_roofs import IssuePlace, MixPlace
from ridgepoint.models.placement import Placement
from ridgepoint.show.words import UNKNOWN, percent, shown_pattern

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


def mix_row(placement: Placement) -> str | None:
    """Return what a program's own mix allows; None: no more is known than of the machine's roof."""
    own = placement.mix
    if own is None or placement.bound is None:
        return None
    if own.bound is None:
        return f"{UNKNOWN}: {'; '.join(own.unknown)}"
    if own.attainable_per_s is None or not is_apart(placement):
        return None
    row = f"{format_si(own.attainable_per_s, 'flop/s')} of its own mix: {shown_mix(own)}"
    if own.efficiency is not None:
        row += f"; efficiency {percent(own.efficiency)}"
    if own.unknown:
        row += f"; not in this bound: {'; '.join(own.unknown)}"
    return row


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
