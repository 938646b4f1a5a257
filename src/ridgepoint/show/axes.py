"""Axes: limits that hold values, ticks that can be read, and shapes on logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ridgepoint.core.units import format_si
from ridgepoint.show.chart import Axis, Interval, Place, Ticks

_LEAST_SI, _MOST_SI = 1e-15, 1e27
_STEPS = (1.0, 2.0, 5.0, 10.0)
_FAR_OFF = -20.0
# A hair: 1e-3 is 10 ** -3 in two ways.
_HAIR = 1e-9


def decade_below(value: float) -> float:
    """Return the power of ten at or below a positive value."""
    return float(f"1e{math.floor(math.log10(value) + _HAIR)}")


def decade_above(value: float) -> float:
    """Return the power of ten at or above a positive value."""
    return float(f"1e{math.ceil(math.log10(value) - _HAIR)}")


def decades(values: Iterable[float], *, room: float = 1.0) -> Interval:
    """Return whole decades that hold positive values, and a factor beyond them."""
    known = list(values)
    bottom = decade_below(min(known) / room)
    return bottom, max(decade_above(max(known) * room), bottom * 10)


def widened(limits: Interval, values: Iterable[float]) -> Interval:
    """Return limits widened by whole decades until they hold every positive value."""
    low, high = limits
    for value in values:
        low, high = min(low, decade_below(value)), max(high, decade_above(value))
    return low, high


def stepped(values: Iterable[float], *, room: float = 1.0) -> Interval:
    """Return limits at 1, 2 or 5 in a decade that hold positive values, and a factor beyond them.

    >>> stepped([3.0, 80.0])
    (2.0, 100.0)
    """
    known = list(values)
    low, high = min(known) / room, max(known) * room
    below, above = (10.0 ** math.floor(math.log10(value)) for value in (low, high))
    return (
        max(below * step for step in _STEPS if below * step <= low),
        min(above * step for step in _STEPS if above * step >= high),
    )


def decade_ticks(limits: Interval, shown: Callable[[float], str], *, most: int = 9) -> Ticks:
    """Return ticks at powers of ten within limits; at most `most`, so that they can be read."""
    first = math.ceil(math.log10(limits[0]) - _HAIR)
    last = math.floor(math.log10(limits[1]) + _HAIR)
    step = max(-(-(last - first) // (most - 1)), 1)
    powers = range(first, last + 1, step)
    return tuple((float(f"1e{power}"), shown(float(f"1e{power}"))) for power in powers)


def log_ticks(limits: Interval, shown: Callable[[float], str], *, most: int = 9) -> Ticks:
    """Return ticks at 1, 2, 5, 10, ..., or at powers of ten where those would be many."""
    first, last = (math.floor(math.log10(limit)) for limit in limits)
    values = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in (1, 2, 5)]
    low, high = limits[0] * (1 - _HAIR), limits[1] * (1 + _HAIR)
    within = [value for value in values if low <= value <= high]
    if len(within) > most:
        return decade_ticks(limits, shown)
    return tuple((value, shown(value)) for value in within)


def power_ticks(limits: Interval, shown: Callable[[float], str], *, most: int = 9) -> Ticks:
    """Return ticks at powers of 2, or of 4 and more where they would be many."""
    first = math.ceil(math.log2(limits[0]) - _HAIR)
    last = math.floor(math.log2(limits[1]) + _HAIR)
    step = max(-(-(last - first + 1) // most), 1)
    # Multiples of the step, so that 1 is among them.
    powers = range(-(-first // step) * step, last + 1, step)
    return tuple((2.0**power, shown(2.0**power)) for power in powers)


def linear_ticks(limits: Interval, shown: Callable[[float], str], *, most: int = 7) -> Ticks:
    """Return ticks at multiples of 1, 2 or 5 times a power of ten."""
    span = limits[1] - limits[0]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(
        power * digit for digit in (1, 2, 5, 10, 20) if span / (power * digit) <= most - 1 + _HAIR
    )
    first, last = math.ceil(limits[0] / step - _HAIR), math.floor(limits[1] / step + _HAIR)
    # Rounded, since 3 x 0.1 is not 0.3.
    values = (float(f"{number * step:.12g}") for number in range(first, last + 1))
    return tuple((value, shown(value)) for value in values)


def log_axis(
    label: str,
    limits: Interval,
    shown: Callable[[float], str],
) -> Axis:
    """Return a logarithmic axis with ticks at decades."""
    return Axis(label=label, limits=limits, ticks=decade_ticks(limits, shown))


def share_of(value: float, axis: Axis) -> float:
    """Return where a value is between the limits of an axis; what has no logarithm is far off."""
    low, high = axis.limits
    if axis.scale != "log":
        return (value - low) / (high - low)
    return math.log(value / low) / math.log(high / low) if value > 0 else _FAR_OFF


def decimal_ticks(limits: Interval, *, most: int = 7) -> Ticks:
    """Return ticks of a linear axis without a unit, all with as many decimals."""
    ticks = linear_ticks(limits, plain_number, most=most)
    digits = max((len(text.partition(".")[2]) for _, text in ticks), default=0)
    return tuple((value, f"{value:.{digits}f}") for value, _ in ticks)


def plain_number(value: float) -> str:
    """Return the text of a tick without a unit, such as an intensity."""
    return f"{value:g}".replace("e-0", "e-")


def with_prefix(value: float) -> str:
    """Return the text of a tick whose unit stands in the label, with a prefix of the SI."""
    return si_text(value, "").strip()


def si_text(value: float, unit: str, *, digits: int = 4) -> str:
    """Return a value with a prefix, or with an exponent where there is none."""
    if value and not _LEAST_SI <= abs(value) < _MOST_SI:
        return f"{value:.{digits}g} {unit}"
    return format_si(value, unit, digits=digits)


def clipped(
    corners: Iterable[Place], keeps: Iterable[Callable[[float, float], float]]
) -> tuple[Place, ...]:
    """Return the part of a polygon in which every function is >= 0.

    Parameters
    ----------
    corners : iterable of (float, float)
        > 0; the sides are straight on logarithmic axes.
    keeps : iterable of callable
        Of the logarithms of both coordinates, and linear in them.
    """
    polygon = [(math.log10(x), math.log10(y)) for x, y in corners]
    for keep in keeps:
        kept: list[Place] = []
        for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            inside, beyond = keep(*here), keep(*there)
            if inside >= 0:
                kept.append(here)
            if inside * beyond < 0:
                share = inside / (inside - beyond)
                kept.append(
                    (here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1]))
                )
        polygon = kept
    return tuple((10.0**x, 10.0**y) for x, y in polygon)
