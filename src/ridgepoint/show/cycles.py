"""Rates per cycle of a core's clock: as text, and as an axis."""

from __future__ import annotations

from ridgepoint.core.units import format_si
from ridgepoint.show.axes import decade_ticks, plain_number
from ridgepoint.show.chart import Axis, Interval

_LEAST, _MOST = 1e-3, 1e6
"""What is written without a prefix."""


def shown_rate(rate: float, unit: str, *, clock_hz: float | None = None, digits: int = 3) -> str:
    """Return a rate with its unit, per second or per cycle.

    Parameters
    ----------
    rate : float
        Per second.
    unit : str
        Of what is counted: ``flop``, ``BOP``, ``B``.
    clock_hz : float or None
        Core clock, for a rate per cycle; None: per second.
    digits : int

    Examples
    --------
    >>> shown_rate(4.8e9, "flop"), shown_rate(4.8e9, "flop", clock_hz=2.4e9)
    ('4.8 Gflop/s', '2 flop/cycle')
    """
    if clock_hz is None:
        return format_si(rate, f"{unit}/s", digits=digits)
    per_cycle = rate / clock_hz
    if _LEAST <= per_cycle < _MOST:
        return f"{float(f'{per_cycle:.{digits}g}'):g} {unit}/cycle"
    return format_si(per_cycle, f"{unit}/cycle", digits=digits)


def cycle_axis(limits: Interval, *, clock_hz: float, unit: str) -> Axis:
    """Return the axis of a performance per cycle, with ticks at whole powers of ten.

    Parameters
    ----------
    limits : tuple of float
        Limits in flop/s, which remain those of the plane.
    clock_hz : float
    unit : str
        ``flop``, ``BOP`` or ``pseudo flop``.
    """
    low, high = (limit / clock_hz for limit in limits)
    ticks = tuple(
        (value * clock_hz, text) for value, text in decade_ticks((low, high), plain_number)
    )
    return Axis(label=f"Performance [{unit}/cycle]", limits=limits, ticks=ticks)
