"""Names that tell things apart."""

from __future__ import annotations

from collections.abc import Iterable


def named_twice(names: Iterable[str]) -> str | None:
    """Return the first name that was there before; None: all differ.

    Examples
    --------
    >>> named_twice(["a", "b", "c", "b", "a"]), named_twice(["a", "b"])
    ('b', None)
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
