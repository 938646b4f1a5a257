"""Quantities as users write them in files: a number, a prefix, and always a unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from ridgepoint.core.units import parse_si

Dimension = Literal["time", "work", "work rate", "bytes", "byte rate", "intensity"]

_UNITS: Mapping[Dimension, tuple[str, ...]] = {
    "time": ("s",),
    "work": ("flop", "FLOP", "BOP", "op"),
    "work rate": ("flop/s", "FLOP/s", "BOP/s", "op/s"),
    "bytes": ("B", "byte"),
    "byte rate": ("B/s", "byte/s"),
    "intensity": ("flop/B", "flop/byte", "FLOP/B", "FLOP/byte", "BOP/B", "BOP/byte"),
}
_LONG_TIMES = {"min": 60.0, "h": 3600.0, "d": 86400.0}
_EXAMPLES: Mapping[Dimension, str] = {
    "time": "4 s, 20 ms or 6 h",
    "work": "6.4 Tflop",
    "work rate": "415 Tflop/s",
    "bytes": "320 GB",
    "byte rate": "250 GB/s",
    "intensity": "1.25 flop/B",
}
_OF_WHOLE = {"work rate": "work", "byte rate": "bytes"}


def quantity(value: object, dimension: Dimension) -> float:
    """Return a quantity in its base unit.

    Parameters
    ----------
    value : object
        A text such as ``"250 GB/s"``.
    dimension : str

    Returns
    -------
    float
        Finite and >= 0.

    Raises
    ------
    ValueError
        If it is none; the message says how to write it.

    Examples
    --------
    >>> quantity("250 GB/s", "byte rate"), quantity("6 h", "time")
    (250000000000.0, 21600.0)
    """
    example = _EXAMPLES[dimension]
    if isinstance(value, bool) or not isinstance(value, str):
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise ValueError(f'{value!r} has no unit; write it like "{example}"')
        raise ValueError(f'{value!r} is no text; write it like "{example}"')
    number = _parsed(value, dimension)
    if number is None:
        raise ValueError(f'{value!r} {_instead(value, dimension)}; write it like "{example}"')
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{value!r} is not finite and >= 0")
    return number


def _parsed(text: str, dimension: Dimension) -> float | None:
    if dimension == "time":
        for unit, seconds in _LONG_TIMES.items():
            head = text.strip().removesuffix(unit)
            if head != text.strip():
                try:
                    return float(head) * seconds
                except ValueError:
                    continue
    for unit in _UNITS[dimension]:
        try:
            return parse_si(text, unit)
        except ValueError:
            continue
    return None


def _instead(text: str, wanted: Dimension) -> str:
    """Return what a text is, where it is not what was wanted."""
    for other in _UNITS:
        if other == wanted or _parsed(text, other) is None:
            continue
        if _OF_WHOLE.get(wanted) == other:
            return "is a total, where a rate is needed"
        if _OF_WHOLE.get(other) == wanted:
            return "is a rate, where a total is needed"
        return f"is a quantity of {other}, not of {wanted}"
    if text.strip().lower().lstrip("+-").startswith(("nan", "inf")):
        return "is not finite"
    if text.rstrip().lower().endswith("flops"):
        return "may be a total or a rate: flops is no unit"
    return f"has no unit of {wanted}"
