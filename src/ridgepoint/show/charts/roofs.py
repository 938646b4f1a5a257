"""The roofs of a machine as lines on the plane, and the frame that they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import LEVELS, PRECISIONS, RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.work import Metric
from ridgepoint.show.charts.plane import Coordinates, RidgeMark, Role, RoofLine
from ridgepoint.show.words import shown_cores, shown_name, shown_pattern

_FRAME_PRECISIONS = ("fp64", "fp32")
# Two ceilings nearer than this are one line to the eye.
_APART = 1.3
_MOST_LOWER = 3
# The share of a decade above the highest peak that its label needs.
_HEADROOM = 1.6


def machine_frame(machine: Machine, *, metric: Metric = "flop") -> tuple[Coordinates, Coordinates]:
    """Return the limits of both axes: whole decades, the same for every run on a machine.

    Parameters
    ----------
    machine : Machine
    metric : {"flop", "bop"}
        What work is counted in.

    Returns
    -------
    tuple
        Limits of intensity in flop/byte: a decade or more beyond the outermost ridge points of
        fp64 and fp32, or of BOP, of one core and of all. Limits of performance in flop/s: from
        where the lowest bandwidth enters at the left to above the highest peak.
    """
    core_counts = (1.0, float(machine.cores))
    framing = _FRAME_PRECISIONS if metric == "flop" else ("bop",)
    precisions = [n for n in framing if machine.knows(n)] or known_precisions(machine)[:1]
    peaks = [float(machine.rate(n, cores=q)) for n in precisions for q in core_counts] or [1e9]
    slopes = [
        float(machine.rate(level, cores=q)) for level in known_levels(machine) for q in core_counts
    ] or peaks
    left = _decade_below(min(peaks) / max(slopes)) / 10
    right = _decade_above(max(peaks) / min(slopes)) * 10
    ceilings = [c.rate.median for n in precisions for c in _of_any_work(machine, n) if c.rate]
    bottom = _decade_below(min([left * min(slopes), *ceilings]))
    return (left, right), (bottom, _decade_above(max(peaks) * _HEADROOM))


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


def known_levels(machine: Machine) -> list[str]:
    """Return the memory levels with a bandwidth, from the core outwards."""
    return [level for level in LEVELS if machine.knows(level)]


def known_precisions(machine: Machine) -> list[str]:
    """Return the precisions with a peak."""
    return [name for name in PRECISIONS if machine.knows(name)]


def drawn_roofs(
    machine: Machine,
    *,
    precisions: Sequence[str],
    cores: float,
    beside: Sequence[float],
    corner: Coordinates,
    right: float,
) -> tuple[RoofLine, ...]:
    """Return the roofs to draw: outer ones, lower ceilings, those of other core counts.

    Parameters
    ----------
    machine : Machine
    precisions : sequence of str
        Whose peaks are drawn; known to the machine.
    cores : float
        Cores of the outer roofs.
    beside : sequence of float
        Core counts whose peaks and DRAM bandwidth are drawn beside them.
    corner : tuple of float
        Lower left corner of the frame.
    right : float
        Its right edge, flop/byte.
    """
    levels = known_levels(machine)
    outer = _set(
        machine,
        precisions=precisions,
        levels=levels,
        cores=cores,
        role="outer",
        corner=corner,
        right=right,
    )
    roofs = list(outer)
    slopes = [roof.rate for roof in outer if roof.is_diagonal]
    if precisions:
        drawn = [
            float(machine.rate(name, cores=count))
            for name in precisions
            for count in (cores, *beside)
        ]
        for name, rate in _lower_ceilings(machine, precisions, cores, drawn):
            start = (max(rate / max(slopes), corner[0]) if slopes else corner[0], rate)
            roofs.append(
                RoofLine(
                    resource=precisions[0],
                    role="lower",
                    label=_label(precisions[0], name, rate),
                    tag=shown_pattern(name),
                    rate=rate,
                    cores=cores,
                    start=start,
                    end=(right, rate),
                )
            )
    rates = {(roof.resource, roof.rate) for roof in outer}
    for other in beside:
        others = _set(
            machine,
            precisions=precisions,
            levels=levels[-1:],
            cores=other,
            role="beside",
            corner=corner,
            right=right,
        )
        roofs += [roof for roof in others if (roof.resource, roof.rate) not in rates]
    return tuple(roofs)


def _set(
    machine: Machine,
    *,
    precisions: Sequence[str],
    levels: Sequence[str],
    cores: float,
    role: Role,
    corner: Coordinates,
    right: float,
) -> list[RoofLine]:
    """Return the peaks and bandwidths of one number of cores."""
    peaks = {name: float(machine.rate(name, cores=cores)) for name in precisions}
    slopes = {level: float(machine.rate(level, cores=cores)) for level in levels}
    highest = max(peaks.values(), default=None)
    roofs = []
    for resource, rate in (*peaks.items(), *slopes.items()):
        if resource in slopes:
            left = max(corner[0], corner[1] / rate)
            ridge = right if highest is None else min(highest / rate, right)
            start, end = (left, left * rate), (ridge, ridge * rate)
        else:
            ridge = rate / max(slopes.values()) if slopes else corner[0]
            start, end = (max(ridge, corner[0]), rate), (right, rate)
        named = _label(resource, _pattern(machine, resource, cores), rate)
        value = format_si(rate, _unit(resource), digits=3)
        of_cores = f"{shown_name(resource)} {shown_cores(cores)} {value}"
        roofs.append(
            RoofLine(
                resource=resource,
                role=role,
                label=of_cores if role == "beside" else named,
                tag=f"{cores:.3g}c" if role == "beside" else shown_name(resource),
                rate=rate,
                cores=cores,
                start=start,
                end=end,
            )
        )
    return roofs


def _unit(resource: str) -> str:
    return "B/s" if RESOURCES[resource].unit == "byte" else f"{RESOURCES[resource].unit}/s"


def _label(resource: str, pattern: str, rate: float) -> str:
    value = format_si(rate, _unit(resource), digits=3)
    return f"{shown_name(resource)} {shown_pattern(pattern)} {value}"


def _rated(machine: Machine, resource: str) -> list[Ceiling]:
    wanted = RESOURCES[resource]
    return [ceiling for ceiling in machine.ceilings if ceiling.rate_of(wanted) is not None]


def _of_any_work(machine: Machine, resource: str) -> list[Ceiling]:
    return [c for c in _rated(machine, resource) if not c.bounds_some_work_alone]


def _pattern(machine: Machine, resource: str, cores: float) -> str:
    """Return which pattern reached a roof, with the measured threads nearest to the cores."""
    threads = sorted({ceiling.threads for ceiling in _rated(machine, resource)})
    nearest = min(threads, key=lambda count: abs(count - cores))
    best = machine.best(resource, threads=nearest)
    assert best is not None  # `threads` holds only counts that have one
    return best.name


def _lower_ceilings(
    machine: Machine, precisions: Sequence[str], cores: float, drawn: Sequence[float]
) -> list[tuple[str, float]]:
    """Return patterns of the first precision, well below its peak and apart from what is drawn."""
    rates: dict[str, float] = {}
    for name in {ceiling.name for ceiling in _of_any_work(machine, precisions[0])}:
        rates[name] = float(machine.rate(precisions[0], cores=cores, patterns=(name,)))
    kept, lower = list(drawn), []
    peak = max(rates.values(), default=0.0)
    for name, rate in sorted(rates.items(), key=lambda item: (-item[1], item[0])):
        apart = all(max(rate, other) / min(rate, other) >= _APART for other in kept)
        if apart and rate < peak:
            kept.append(rate)
            lower.append((name, rate))
    # The lowest ceiling says what untuned code can hope for: it stays when others must go.
    return lower if len(lower) <= _MOST_LOWER else [*lower[: _MOST_LOWER - 1], lower[-1]]


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
