"""The line of a JSON text on which a value stands."""

from __future__ import annotations

import re
from json import JSONDecoder

from ridgepoint.core.faults import Path

_GAP = re.compile(r"[\s:,]*")
_DECODER = JSONDecoder()


def line_of(text: str, path: Path) -> int:
    r"""Return the line on which a value begins; if it is missing, that of the value around it.

    Parameters
    ----------
    text : str
        Valid JSON.
    path : Path

    Examples
    --------
    >>> line_of('{"a": 1,\n "b": [2,\n  3]}', ("b", 1))
    3
    """
    at = _after_gap(text, 0)
    for step in path:
        within = _begin(text, at, step)
        if within is None:
            break
        at = within
    return text.count("\n", 0, at) + 1


def _begin(text: str, at: int, step: str | int) -> int | None:
    """Return where a value begins within the object or list that begins at `at`."""
    is_object, at, place = text[at] == "{", at + 1, 0
    while text[at := _after_gap(text, at)] not in "]}":
        key: str | int = place
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _after_gap(text, at)
        if key == step:
            return at
        _, at = _DECODER.raw_decode(text, at)
        place += 1
    return None


def _after_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return at if gap is None else gap.end()
