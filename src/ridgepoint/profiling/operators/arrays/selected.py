"""How many values of its data a call works on, where that is not in shapes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def selected(name: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> int | None:
    """Return how many values a call works on, as its rule needs it.

    Parameters
    ----------
    name : str
        Name of the operator.
    arguments : tuple
        Plain arrays, and other values.
    options : mapping of str to object

    Returns
    -------
    int or None
        None: its rule needs no such number, or the arguments do not fit the function.
    """
    if (counting := _COUNTING.get(name)) is None:
        return None
    with contextlib.suppress(Exception):  # the call itself will say what is wrong with them
        return counting(*arguments, **options)
    return None


def _between_points(x: Any, xp: Any, fp: Any, *_: Any, **__: Any) -> int:
    """Return how many values `numpy.interp` computes: those upon a point it takes as they are."""
    values, points = np.asarray(x, float), np.asarray(xp, float)
    at = np.searchsorted(points, values, side="right") - 1
    is_between = (at >= 0) & (at < points.size - 1)
    return int(np.count_nonzero(is_between & (points[at] != values)))


def _within_range(a: Any, bins: Any = 10, range: Any = None, *_: Any, **__: Any) -> int | None:
    """Return how many values `numpy.histogram` counts; None: all."""
    if range is None:
        return None
    first, last = range
    if first == last:
        first, last = first - 0.5, last + 0.5
    values = np.asarray(a)
    return int(np.count_nonzero((values >= first) & (values <= last)))


_COUNTING: Mapping[str, Callable[..., int | None]] = {
    "numpy.interp": _between_points,
    "numpy.histogram": _within_range,
}
