"""Numbers and arrays of numbers, which models take and return alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Amount = float | Array
"""One number, or an array that stands for many designs at once."""


def plain(value: npt.ArrayLike) -> Amount:
    """Return a float where there is a single number, else the array."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def positive(name: str, value: npt.ArrayLike) -> Array:
    """Return an argument as an array.

    Raises
    ------
    ValueError
        If a number is not finite and positive; `name` is the argument's.
    """
    array = np.asarray(value, dtype=np.float64)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name} must be finite and > 0, got {value!r}")
    return array


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Amount:
    """Return a quotient: infinite over 0, NaN of 0 over 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return plain(np.divide(above, below))
