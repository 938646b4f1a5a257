"""Quantities with an uncertainty, as users write them: ``1.2 s ± 5%``, ``1.1..1.3 s``."""

from __future__ import annotations

import math
import re

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.quantities import Quantity
from ridgepoint.core.units import read_quantity

_PLUS_MINUS = re.compile(r"\s*(?:±|\+/-|\+-)\s*")
_RANGE = re.compile(r"(?<=[^.])\.\.(?=[^.])")
_UNIT = re.compile(r"(?<=[0-9.])\s*(?![eE][-+]?[0-9])([^\s0-9.].*)$")


def read_uncertain(text: str, kind: type[Quantity]) -> tuple[Estimate, str]:
    """Return a quantity with its interval, and its base unit.

    Parameters
    ----------
    text : str
        ``VALUE``; ``VALUE±SPREAD``, where ``+-`` stands for ``±`` and the spread is a percentage
        or in a unit of the same kind; or ``LOW..HIGH``, whose middle is the value. A unit may be
        written once, at the end.
    kind : type of Quantity

    Returns
    -------
    Estimate
        Without a stated uncertainty, it has no interval.
    str
        As of `ridgepoint.core.units.read_quantity`; empty if no unit is given.

    Raises
    ------
    ValueError
        If it is no such text, or the interval leaves the quantity's range; in the message, the
        text after the semicolon says what to write.

    Examples
    --------
    >>> from ridgepoint.core.quantities import Duration
    >>> read_uncertain("1.25 ± 0.25 s", Duration)[0].interval
    (1.0, 1.5)
    """
    if len(ends := _RANGE.split(text)) == 2:
        (first, unit), (last, other) = (kind.read(end) for end in _with_unit(*ends))
        _require_alike(text, unit, other)
        if first > last:
            raise ValueError(f"{text!r} ends before it begins; write LOW..HIGH")
        # Rounding must not move the middle outside.
        middle = min(max(float(first) / 2 + float(last) / 2, first), last)
        return Estimate([middle], interval=(float(first), float(last))), unit
    parts = _PLUS_MINUS.split(text)
    if len(parts) == 1:
        exact, unit = kind.read(text)
        return Estimate([exact]), unit
    if len(parts) != 2 or not all(parts):
        raise ValueError(f"{text!r} is not VALUE±SPREAD; write it like 1.2s±5% or 1.2s±0.1s")
    number, spread = parts
    if not (is_share := spread.endswith("%")):
        number, spread = _with_unit(number, spread)
    quantity, unit = kind.read(number)
    value = float(quantity)
    if is_share:
        half = value * _share(text, spread)
    else:
        half, other = _half(text, spread)
        _require_alike(text, unit, other)
    low, high = value - half, value + half
    if low < 0 or (low == 0 and not kind.may_be_zero) or not math.isfinite(high):
        limit = ">= 0" if kind.may_be_zero else "> 0"
        raise ValueError(f"the interval of {text!r} leaves the numbers {limit}; correct it")
    return Estimate([value], interval=(low, high)), unit


def _with_unit(first: str, last: str) -> tuple[str, str]:
    """Return two numbers, the first of which takes the unit of the last if it has none."""
    unit = _UNIT.search(last.strip())
    if unit is None or _UNIT.search(first.strip()) is not None:
        return first, last
    return f"{first.strip()}{unit[1]}", last


def _share(text: str, spread: str) -> float:
    try:
        share = float(spread.removesuffix("%")) / 100
    except ValueError as error:
        raise ValueError(f"{text!r} has no percentage after ±; write it like 1.2s±5%") from error
    if not 0 <= share < math.inf:
        raise ValueError(f"the spread of {text!r} is not >= 0; write it like 1.2s±5%")
    return share


def _half(text: str, spread: str) -> tuple[float, str]:
    try:
        half, unit = read_quantity(spread)
    except ValueError as error:
        raise ValueError(
            f"the spread of {text!r} is not a quantity; write it like 1.2s±5% or 1.2s±0.1s"
        ) from error
    if not 0 <= half < math.inf:
        raise ValueError(f"the spread of {text!r} is not >= 0; write it like 1.2s±5%")
    return half, unit


def _require_alike(text: str, unit: str, other: str) -> None:
    if unit != other:
        raise ValueError(
            f"{text!r} has two units; write the unit once, at the end, or the same unit twice"
        )
