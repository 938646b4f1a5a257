"""The roofs of a machine as lines of a chart, and the frame that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ridgepoint.core.machine import Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.dc_ceilings import BOP, CALLED, DRAM
from ridgepoint.models.roofs import (
    RidgePoint,
    Role,
    ShownRoof,
    ceilings_of_any_work,
    known_levels,
    known_precisions,
)
from ridgepoint.models.work import Metric
from ridgepoint.show.axes import decade_above, decade_below, decade_ticks, plain_number, with_prefix
from ridgepoint.show.chart import Axis, Interval, Label, Line, LineKind, Mark
from ridgepoint.show.cycles import shown_rate
from ridgepoint.show.words import shown_cores, shown_name, shown_pattern

RANK_OF_LIMITS, RANK_OF_RIDGES, RANK_OF_REST = 10, 11, 12
"""The names of measured points choose their places before those of roofs; of these, those that
limit most come first."""

_KINDS: Mapping[Role, LineKind] = {
    "outer": "roof", "own": "own", "lower": "lower", "beside": "beside",
}  # fmt: skip
_FRAME_PRECISIONS = ("fp64", "fp32")
_RIDGE_SIZE = 0.48
HEADROOM = 1.6
"""A factor above the highest peak, whose label needs it."""
_LEAST_PEAK = 1e9


def machine_frame(machine: Machine, *, metric: Metric = "flop") -> tuple[Interval, Interval]:
    """Return the limits of both axes: whole decades, the same for every run on a machine.

    Parameters
    ----------
    machine : Machine
    metric : {"flop", "bop"}
        Unit of the work.

    Returns
    -------
    tuple
        Limits of intensity in flop/byte: a decade or more beyond the outermost ridge points of
        fp64 and fp32, or of BOP, for one core and for all. Limits of performance in flop/s: from
        the lowest bandwidth at the left edge to above the highest peak.
    """
    core_counts = np.array([1.0, machine.cores])
    framing = _FRAME_PRECISIONS if metric == "flop" else ("bop",)
    precisions = [name for name in framing if machine.knows(name)] or known_precisions(machine)[:1]
    peaks, slopes = (
        [rate for name in names for rate in np.atleast_1d(machine.rate(name, cores=core_counts))]
        for names in (precisions, known_levels(machine))
    )
    peaks = peaks or [_LEAST_PEAK]
    slopes = slopes or peaks
    left = decade_below(min(peaks) / max(slopes)) / 10
    right = decade_above(max(peaks) / min(slopes)) * 10
    ceilings = [
        ceiling.rate.median
        for name in precisions
        for ceiling in ceilings_of_any_work(machine, name)
        if ceiling.rate
    ]
    bottom = decade_below(min([left * min(slopes), *ceilings]))
    return (left, right), (bottom, decade_above(max(peaks) * HEADROOM))


def intensity_axis(limits: Interval, label: str) -> Axis:
    """Return an axis of intensities."""
    return Axis(label=label, limits=limits, ticks=decade_ticks(limits, plain_number))


def performance_axis(limits: Interval, label: str) -> Axis:
    """Return an axis of performances."""
    return Axis(label=label, limits=limits, ticks=decade_ticks(limits, with_prefix))


def roof_lines(
    roofs: Iterable[ShownRoof],
    *,
    x_limits: Interval,
    y_limits: Interval,
    letters: Mapping[int, str] | None = None,
    clock_hz: float | None = None,
) -> tuple[Line, ...]:
    """Return roofs as lines within the frame.

    Parameters
    ----------
    roofs : iterable of ShownRoof
    x_limits, y_limits : tuple of float
        Limits of intensity, flop/byte, and of performance, flop/s.
    letters : mapping of int to str or None
        Letters of the programs whose own mixes have roofs; None: one program, without a letter.
    clock_hz : float or None
        Core clock, where the rates are named per cycle; None: per second.
    """
    lines = []
    for roof in roofs:
        if roof.is_peak:
            start, end = (max(roof.ridge, x_limits[0]), roof.rate), (x_limits[1], roof.rate)
        else:
            left = max(x_limits[0], y_limits[0] / roof.rate)
            right = min(roof.ridge, x_limits[1])
            start, end = (left, left * roof.rate), (right, right * roof.rate)
        letter = "" if letters is None or roof.program is None else letters[roof.program]
        text, short = _names(roof, letter, clock_hz)
        is_limit = roof.role == "outer" and (
            roof.is_peak or RESOURCES[roof.resource].path == "dram"
        )
        rank = RANK_OF_LIMITS if is_limit else RANK_OF_REST
        lines.append(
            Line(
                kind=_KINDS[roof.role],
                places=(start, end),
                label=Label(text=text, short=short, rank=rank),
                name=text,
            )
        )
    return tuple(lines)


def _names(roof: ShownRoof, letter: str, clock_hz: float | None) -> tuple[str, str]:
    """Return the text on a roof, and the same in one short word."""
    unit = RESOURCES[roof.resource].unit.replace("byte", "B")
    value = shown_rate(roof.rate, unit, clock_hz=clock_hz)
    name, pattern = shown_name(roof.resource), shown_pattern(roof.pattern)
    of_letter = f" of {letter}" if letter else ""
    return {
        "outer": (f"{name} {pattern} {value}", name),
        "own": (f"own mix{of_letter} {value}", f"mix{of_letter}"),
        "lower": (f"{name} {pattern} {value}", pattern),
        "beside": (f"{name} {shown_cores(roof.cores)} {value}", f"{roof.cores:.3g}c"),
    }[roof.role]


def ridge_marks(points: Sequence[RidgePoint]) -> tuple[Mark, ...]:
    """Return ridge points as marks, with intensities unless these would need two rows."""
    several = len({point.work for point in points}) > 1
    return tuple(
        Mark(
            at=(point.intensity, point.performance),
            size=_RIDGE_SIZE,
            # Two rows of numbers would hide the roofs; the note has them all.
            label=Label(text=_shown(point), where="upright", rank=RANK_OF_RIDGES, is_optional=True)
            if not several or point.level == "dram"
            else None,
            name=f"ridge point of {shown_name(point.level)} and {point.work}",
            summary=f"{_shown(point)} {RESOURCES[point.work].unit}/byte",
        )
        for point in reversed(points)
    )


def ridge_note(points: Sequence[RidgePoint]) -> str:
    """Return every ridge point in one sentence."""
    several = len({point.work for point in points}) > 1
    named = (
        f"{shown_name(point.level)}{f' {point.work}' if several else ''} {_shown(point)}"
        for point in points
    )
    units = dict.fromkeys(f"{RESOURCES[point.work].unit}/byte" for point in points)
    return f"ridge points [{' '.join(units)}]: {', '.join(named)}"


def _shown(point: RidgePoint) -> str:
    return f"{point.intensity:.2g}"


def dc_names(machine: Machine, resources: Sequence[str] = (BOP, DRAM)) -> list[str]:
    """Return the patterns behind measured lower roofs; published ones keep their names."""
    if machine.source is not None:
        return []
    known = {(c.resource, c.name) for c in machine.ceilings if c.rate is not None}
    named: dict[str, list[str]] = {}
    for resource in resources:
        for name, called in CALLED.items():
            if (resource, name) in known:
                named.setdefault(called, []).append(f"{shown_name(resource)} {name}")
    text = "; ".join(f"{called}: {', '.join(names)}" for called, names in named.items())
    return [text] if text else []
