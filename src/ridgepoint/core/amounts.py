"""Numbers and arrays of numbers: models accept and return either."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Amount = float | Array
"""One number, or an array that stands for many designs at once."""


def plain(value: npt.ArrayLike) -> Amount:
    """Return a 0-dimensional value as a float, and any other as an array."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def positive(name: str, value: npt.ArrayLike) -> Array:
    """Return an argument as an array of finite numbers > 0.

    Raises
    ------
    ValueError
        If a number is not finite and positive; the message calls the argument `name`.
    """
    array = np.asarray(value, dtype=np.float64)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name} must be finite and > 0, got {value!r}")
    return array


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Amount:
    """Return a quotient: infinite if only `below` is 0, NaN if both are."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return plain(np.divide(above, below))
