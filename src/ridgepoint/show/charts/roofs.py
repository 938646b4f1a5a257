"""The roofs of a machine as lines on the plane, and the frame that they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.roofs import (
    ShownRoof,
    shown_roofs,
)
from ridgepoint.show.charts.plane import Coordinates, RidgeMark, RoofLine
from ridgepoint.show.words import shown_cores, shown_name, shown_pattern


def widened(limits: Coordinates, values: Iterable[float]) -> Coordinates:
    """Return limits widened by whole decades until they hold every value."""
    low, high = limits
    for value in values:
        low, high = min(low, _decade_below(value)), max(high, _decade_above(value))
    return low, high


def _decade_below(value: float) -> float:
    return float(f"1e{math.floor(math.log10(value))}")


def _decade_above(value: float) -> float:
    return float(f"1e{math.ceil(math.log10(value))}")


def decades(limits: Coordinates) -> list[float]:
    """Return every power of ten within the limits."""
    low, high = (round(math.log10(limit)) for limit in limits)
    return [float(f"1e{power}") for power in range(low, high + 1)]


def intensity_ticks(limits: Coordinates) -> tuple[tuple[float, str], ...]:
    """Return the ticks of an axis of intensities."""
    return tuple((value, f"{value:g}".replace("e-0", "e-")) for value in decades(limits))


def performance_ticks(limits: Coordinates) -> tuple[tuple[float, str], ...]:
    """Return the ticks of an axis of performances."""
    return tuple((value, format_si(value, "").rstrip()) for value in decades(limits))


def drawn_roofs(
    machine: Machine,
    *,
    precisions: Sequence[str],
    cores: float,
    beside: Sequence[float],
    corner: Coordinates,
    right: float,
) -> tuple[RoofLine, ...]:
    """Return `shown_roofs` as lines; see `roof_lines`."""
    roofs = shown_roofs(machine, precisions=precisions, cores=cores, beside=beside)
    return roof_lines(roofs, corner=corner, right=right)


def roof_lines(
    roofs: Iterable[ShownRoof],
    *,
    corner: Coordinates,
    right: float,
    letters: Mapping[int, str] | None = None,
) -> tuple[RoofLine, ...]:
    """Return roofs as lines within the frame.

    Parameters
    ----------
    roofs : iterable of ShownRoof
    corner : tuple of float
        Lower left corner of the frame.
    right : float
        Its right edge, flop/byte.
    letters : mapping of int to str or None
        Of the programs whose own mixes have roofs; None: there is one program, without a letter.
    """
    lines = []
    for roof in roofs:
        if roof.is_peak:
            start, end = (max(roof.ridge, corner[0]), roof.rate), (right, roof.rate)
        else:
            left, ridge = max(corner[0], corner[1] / roof.rate), min(roof.ridge, right)
            start, end = (left, left * roof.rate), (ridge, ridge * roof.rate)
        letter = "" if letters is None or roof.program is None else letters[roof.program]
        label, tag = _names(roof, letter)
        lines.append(
            RoofLine(
                resource=roof.resource,
                role=roof.role,
                label=label,
                tag=tag,
                rate=roof.rate,
                cores=roof.cores,
                start=start,
                end=end,
            )
        )
    return tuple(lines)


def _names(roof: ShownRoof, letter: str) -> tuple[str, str]:
    """Return what is written on a roof, and the same in one short word."""
    value = format_si(roof.rate, RESOURCES[roof.resource].rate_unit, digits=3)
    name, pattern = shown_name(roof.resource), shown_pattern(roof.pattern)
    of_letter = f" of {letter}" if letter else ""
    return {
        "outer": (f"{name} {pattern} {value}", name),
        "own": (f"own mix{of_letter} {value}", f"mix{of_letter}"),
        "lower": (f"{name} {pattern} {value}", pattern),
        "beside": (f"{name} {shown_cores(roof.cores)} {value}", f"{roof.cores:.3g}c"),
    }[roof.role]


def ridge_marks(roofs: Sequence[RoofLine]) -> tuple[RidgeMark, ...]:
    """Return where the outer bandwidths meet the outer peaks."""
    outer = [roof for roof in roofs if roof.role == "outer"]
    return tuple(
        RidgeMark(
            level=slope.resource,
            precision=peak.resource,
            at=(peak.rate / slope.rate, peak.rate),
            label=f"{peak.rate / slope.rate:.2g}",
        )
        for peak in outer
        if not peak.is_diagonal
        for slope in outer
        if slope.is_diagonal
    )
