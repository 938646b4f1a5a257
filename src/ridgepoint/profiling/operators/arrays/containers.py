"""Exchange arrays within lists, tuples and dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def exchanged(value: Any, is_one: Callable[[Any], bool], exchange: Callable[[Any], Any]) -> Any:
    """Return a value with the arrays inside it exchanged.

    Parameters
    ----------
    value : object
        An array, or lists, tuples and dictionaries of arrays; all else stays as it is.
    is_one : callable
        Returns whether a value is to be exchanged.
    exchange : callable
    """
    if is_one(value):
        return exchange(value)
    kind = type(value)
    if kind in (list, tuple):
        return kind([exchanged(one, is_one, exchange) for one in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(exchanged(one, is_one, exchange) for one in value))
    if kind is dict:
        return {key: exchanged(one, is_one, exchange) for key, one in value.items()}
    return value
