"""Sums of amounts of which some may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def sum_if_known(amounts: Iterable[Number | None]) -> Number | None:
    """Return a sum; unknown + anything = unknown.

    Examples
    --------
    >>> sum_if_known([1, 2]), sum_if_known([1, None]), sum_if_known([])
    (3, None, 0)
    """
    total: Number = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total
