"""A program's place under its roofs in one line, measured or given."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.work import WORK_UNITS, Metric


def place_in_words(
    bindings: Iterable[str],
    metric: Metric,
    *,
    attainable: float | None,
    performance: float | None,
    efficiency: float | None,
) -> str:
    """Return what limits a program and how near it is; what is not known is left out.

    Parameters
    ----------
    bindings : iterable of str
        Resources and constraints that bind equally.
    metric : {"flop", "bop"}
    attainable, performance : float or None
        flop/s or BOP/s.
    efficiency : float or None
    """
    limits = (RESOURCES[name].label if name in RESOURCES else name for name in bindings)
    parts = [f"limited by {' and '.join(limits)}"]
    unit = f"{WORK_UNITS[metric]}/s"
    if attainable is not None:
        parts.append(f"attainable {format_si(attainable, unit)}")
    if performance is not None:
        parts.append(f"reached {format_si(performance, unit)}")
    if efficiency is not None:
        parts.append(f"efficiency {efficiency:.1%}")
    return ", ".join(parts)
