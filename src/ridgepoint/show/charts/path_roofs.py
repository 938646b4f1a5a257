"""The roofs over kernels of many sizes: the fp64 peak, and DRAM in one direction or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ridgepoint.core.machine import Machine
from ridgepoint.show.charts.plane import Coordinates, RoofLine
from ridgepoint.show.charts.roofs import drawn_roofs
from ridgepoint.show.words import shown_name

Axis = Literal["total", "read", "write"]
"""Which bytes at DRAM the intensity is over: all, those read, or those written."""

WORK = "fp64"
"""The work of the reference suite."""

# Of two lower ceilings nearer than this only one is drawn: paths need the room of their labels.
_APART = 1.9
# Roofs of fewer cores that reach this much of those of all are the same line to the eye.
_ALIKE = 1.1


def roofs_along(
    machine: Machine, axis: Axis, *, cores: Sequence[float], corner: Coordinates, right: float
) -> tuple[RoofLine, ...]:
    """Return the roofs over the intensity of one axis.

    Parameters
    ----------
    machine : Machine
        By `machine_along`.
    axis : {"total", "read", "write"}
    cores : sequence of float
        Cores of which there are points, ascending; roofs of fewer than the most stand beside.
    corner : tuple of float
        Lower left corner of the frame, flop/byte and flop/s.
    right : float
        Its right edge, flop/byte.
    """
    most = cores[-1] if cores else 1.0
    drawn = drawn_roofs(
        machine,
        precisions=[WORK] if machine.knows(WORK) else [],
        cores=most,
        beside=cores[:-1] or ([1.0] if most > 1 else []),
        corner=corner,
        right=right,
    )
    return tuple(_named(roof, axis) for roof in _thinned(drawn))


def _thinned(roofs: Sequence[RoofLine]) -> list[RoofLine]:
    """Return roofs without those that are nearly another one, and would crowd the paths.

    Of the lower ceilings the lowest one stays.
    """
    outer = [roof for roof in roofs if roof.role == "outer"]
    beside = [roof for roof in roofs if roof.role == "beside"]
    kept = outer + [roof for roof in beside if not any(_are_alike(roof, own) for own in outer)]
    lower = sorted((roof for roof in roofs if roof.role == "lower"), key=lambda roof: -roof.rate)
    for roof in (*lower[-1:], *lower[:-1]):
        others = [other.rate for other in kept if not other.is_diagonal]
        if all(max(roof.rate, rate) / min(roof.rate, rate) >= _APART for rate in others):
            kept.append(roof)
    return [roof for roof in roofs if roof in kept]


def _are_alike(roof: RoofLine, other: RoofLine) -> bool:
    return roof.resource == other.resource and other.rate / roof.rate < _ALIKE


def _named(roof: RoofLine, axis: Axis) -> RoofLine:
    """Return a roof with the name of the bytes that its axis is over."""
    if axis == "total" or roof.resource != "dram":
        return roof
    resource = f"dram_{axis}"
    label = roof.label.removeprefix(shown_name("dram"))
    return replace(roof, resource=resource, label=f"{shown_name(resource)}{label}")
