"""Doubts about many ceilings, folded: forty lines that say the same are read by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Ceiling
from ridgepoint.show.words import shown_name, shown_pattern, shown_place

MARK = "~"
"""Stands before the rate of a ceiling with a caution of its own."""

# More ceilings than this are counted, not named.
_MOST_NAMED = 2
# A number on its own: not the 2 of L2 or the 64 of fp64.
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")

Doubt = tuple[Ceiling, Caution]


def ceiling_cautions(ceilings: Sequence[Ceiling]) -> list[Caution]:
    """Return the ceilings' cautions, those of the same code and remedy as one.

    Parameters
    ----------
    ceilings : sequence of Ceiling
        Those without a rate keep their reasons, whole.
    """
    doubts = [(ceiling, caution) for ceiling in ceilings for caution in ceiling.cautions]
    unknown = [doubt for doubt in doubts if doubt[0].rate is None]
    rated = [doubt for doubt in doubts if doubt[0].rate is not None]
    n_marked = sum(bool(ceiling.cautions) for ceiling in ceilings if ceiling.rate is not None)
    folded = [Caution(code, _named(group), remedy) for (code, remedy), group in _groups(unknown)]
    for (code, remedy), group in _groups(rated):
        count = len({id(ceiling) for ceiling, _ in group})
        if count <= _MOST_NAMED:
            folded.append(Caution(code, _named(group), remedy))
            continue
        marked = f"marked {MARK}" if count == n_marked else f"among those marked {MARK}"
        seen = f"{count} of {len(ceilings)} ceilings ({marked}): {_in_common(group)}"
        folded.append(Caution(code, seen, remedy))
    return folded


def _groups(doubts: Sequence[Doubt]) -> Iterator[tuple[tuple[str, str], list[Doubt]]]:
    """Yield code and remedy, and the doubts that share them, in order of appearance."""
    groups: dict[tuple[str, str], list[Doubt]] = {}
    for doubt in doubts:
        groups.setdefault((doubt[1].code, doubt[1].remedy), []).append(doubt)
    yield from groups.items()


def _name(ceiling: Ceiling) -> str:
    pattern = shown_pattern(ceiling.name)
    return (
        f"{shown_name(ceiling.resource)} {pattern} on {shown_place(ceiling.threads, ceiling.part)}"
    )


def _named(group: Sequence[Doubt]) -> str:
    """Return every ceiling with what was seen of it; what was seen of several, once."""
    names: dict[str, list[str]] = {}
    for ceiling, caution in group:
        names.setdefault(caution.seen, []).append(_name(ceiling))
    return "; ".join(f"{', '.join(named)}: {seen}" for seen, named in names.items())


def _in_common(group: Sequence[Doubt]) -> str:
    """Return what was seen, numbers that differ as a range; else of the first ceiling."""
    texts = [caution.seen for _, caution in group]
    if len({_NUMBER.sub("", text) for text in texts}) > 1:
        return f"for example {_name(group[0][0])}: {texts[0]}"
    columns = iter(zip(*map(_NUMBER.findall, texts), strict=True))
    return _NUMBER.sub(lambda _: _range(next(columns)), texts[0])


def _range(numbers: Sequence[str]) -> str:
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if float(low) == float(high) else f"{low} to {high}"
