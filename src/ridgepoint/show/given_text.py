"""What limits a point of which only figures are given, and what is doubtful about it, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.show.words import shown_limit


def limits_of(placed: PlacedPoint) -> str:
    """Return what limits a given point in a few words; empty: nothing that is known."""
    if placed.attainable is None:
        return ""
    return " and ".join(shown_limit(name, [placed.point.resource]) for name in placed.bindings)


def notes_of(placed: PlacedPoint) -> Iterator[str]:
    """Yield what is missing of a given point, or wrong."""
    if placed.performance is not None and placed.intensity is None:
        yield "no DRAM traffic: its intensity is infinite, so its point is at the right edge"
    if placed.is_above_roof:
        yield (
            "it is faster than its roof allows: a figure or a ceiling is wrong, or its data "
            "stay in a cache"
        )
    missing = [name for name in placed.bound.left_out if placed.bound.demand.amounts[name]]
    if missing:
        names = " or ".join(RESOURCES[name].label for name in missing)
        yield f"this machine has no ceiling of {names}: its bound holds without it"
