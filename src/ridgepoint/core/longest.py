"""Which of several times is the longest, and which are as long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount

Name = TypeVar("Name", bound=str)


def longest(times: Mapping[Name, Amount]) -> str | npt.NDArray[np.str_]:
    """Return the name of the longest of several times; of equal ones the first."""
    names, parts = np.array(list(times)), [np.asarray(part) for part in times.values()]
    # Not argmax over a stack: along its short first axis that is thirty times slower.
    chosen = np.zeros(np.broadcast_shapes(*(part.shape for part in parts)), dtype=np.intp)
    most = parts[0]
    for index, part in enumerate(parts[1:], start=1):
        np.copyto(chosen, index, where=part > most)
        most = np.maximum(most, part)
    return str(names[chosen]) if chosen.ndim == 0 else names[chosen]


def as_long(times: Mapping[Name, Amount], *, within: float) -> dict[Name, npt.NDArray[np.bool_]]:
    """Return which of several times are as long as the longest of them.

    Parameters
    ----------
    times : mapping of str to float or ndarray
        Seconds; shapes broadcast.
    within : float
        Factor, >= 1: times that differ by no more are equally long.

    Returns
    -------
    dict of str to ndarray of bool, shape (...,)
        A time of 0 is never among them.

    Examples
    --------
    >>> alike = as_long({"compute": 1.0, "dram": 0.99, "network": 0.5}, within=1.02)
    >>> [name for name, is_one in alike.items() if is_one]
    ['compute', 'dram']
    """
    parts = np.broadcast_arrays(*times.values())
    enough = np.maximum.reduce(parts) / within
    return {name: (part > 0) & (part >= enough) for name, part in zip(times, parts, strict=True)}
