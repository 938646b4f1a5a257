"""Code with its repetitions folded: of 48 lines that differ in registers, one says it all."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST_PERIOD = 12
_LEAST_TURNS = 3
# What differs from turn to turn: numbers, in names of values and registers too.
_NUMBER = re.compile(r"(?<![\w<])[0-9][0-9A-Fa-f]*h?\b|(?<=[A-Za-z_%])\d+(?:_\d+)*")


def folded(lines: Sequence[str]) -> list[str]:
    """Return lines, each run of turns that differ in numbers only as one turn and a count.

    Examples
    --------
    >>> folded(["add x1, y", "add x2, y", "add x3, y", "add x4, y", "ret"])
    ['add x1, y', '... 3 more like it', 'ret']
    """
    shapes = [_shape(line) for line in lines]
    shown: list[str] = []
    at = 0
    while at < len(lines):
        period, turns = _run(shapes, at)
        shown += lines[at : at + period]
        if turns > 1:
            like = "it" if period == 1 else f"these {period}"
            shown.append(f"... {turns - 1} more like {like}")
        at += period * turns
    return shown


def _shape(line: str) -> str:
    return _NUMBER.sub("#", line)


def _run(shapes: Sequence[str], at: int) -> tuple[int, int]:
    """Return period and number of turns of the run that begins here; (1, 1): there is none."""
    best = (1, 1)
    for period in range(1, _LONGEST_PERIOD + 1):
        turns = 1
        while shapes[at : at + period] == shapes[at + turns * period : at + (turns + 1) * period]:
            turns += 1
            if at + turns * period >= len(shapes):
                break
        if turns >= _LEAST_TURNS and period * turns > best[0] * best[1]:
            best = (period, turns)
    return best
