"""Whole numbers that callers give: of nodes, devices, batches."""

from __future__ import annotations

from numbers import Real


def require_whole(**values: object) -> None:
    """Refuse anything but whole numbers > 0, named as the caller knows them.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> require_whole(nodes=4, batch=8.0)
    >>> require_whole(nodes=1.5)
    Traceback (most recent call last):
    ValueError: nodes must be a whole number > 0, got 1.5
    """
    for name, value in values.items():
        number = 0.0 if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        if not (number >= 1 and number.is_integer()):
            raise ValueError(f"{name} must be a whole number > 0, got {value!r}")
