"""Which modules of a model a table has room for; layers that are alike are one."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence

from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup
from ridgepoint.models.operators.placed import paths_to

_NUMBERED = re.compile(r"(.*_|)(\d+)")
"""A part of a path that a number tells from others: by PyTorch ``0``, by Flax ``Dense_0``."""


def modules_shown(
    analysis: OperatorAnalysis, *, most: int
) -> tuple[tuple[OperatorGroup, ...], int]:
    """Return the modules of all depths that there is room for, and how many are left out.

    Parameters
    ----------
    analysis : OperatorAnalysis
    most : int
        Most modules; the outermost is always among them.

    Returns
    -------
    tuple
        Modules in the order of their first calls, each before those inside it. Each depth is
        complete, or its modules of most time are there; of the next depths none is. Modules that
        differ in nothing but a number in their path are one: ``h.0-11``.
    """
    every = folded_modules(analysis.modules)
    kept = {id(group) for group in every if not group.name}
    for depth in sorted({_depth(group) for group in every if group.name}):
        at_depth = [group for group in every if group.name and _depth(group) == depth]
        room = most - len(kept)
        longest = sorted(at_depth, key=lambda group: -(group.share or 0.0))[: max(room, 0)]
        kept |= {id(group) for group in longest}
        if len(longest) < len(at_depth):
            break
    shown = [group for group in every if id(group) in kept]
    place = {group.name: at for at, group in enumerate(every)}
    shown.sort(key=lambda group: [place[path] for path in paths_to(group.name) if path in place])
    return tuple(shown), len(every) - len(shown)


def folded_modules(modules: Sequence[OperatorGroup]) -> tuple[OperatorGroup, ...]:
    """Return modules, of which those are one that are alike but for a number in their path.

    Parameters
    ----------
    modules : sequence of OperatorGroup
        Each with all inside it, as `OperatorAnalysis.modules`.

    Returns
    -------
    tuple of OperatorGroup
        Alike are modules of one parent, or of parents that are, with as many calls of the same
        demands. The number in a path is then that of the first and of the last. Numbers are parts
        of their own, or stand behind an underscore: ``h.0``, ``Block_0``.
    """
    likeness = {group.name: _likeness(group) for group in modules}
    found: dict[Hashable, list[OperatorGroup]] = {}
    for group in modules:
        found.setdefault(_key(group.name, likeness), []).append(group)
    return tuple(_folded(alike) for alike in found.values())


def _key(path: str, likeness: Mapping[str, Hashable]) -> Hashable:
    return tuple(
        (found[1], likeness.get(around)) if (found := _NUMBERED.fullmatch(part)) else part
        for part, around in zip(path.split("."), paths_to(path)[1:] or [""], strict=True)
    )


def _likeness(group: OperatorGroup) -> Hashable:
    return tuple(
        sorted(
            (one.name, one.phase, repr(one.calls), repr(one.asked))
            for one in (placed.operator for placed in group.operators)
        )
    )


def _folded(alike: Sequence[OperatorGroup]) -> OperatorGroup:
    """Return several modules as one, with a range for each number that differs."""
    if len(alike) == 1:
        return alike[0]
    paths = [group.name.split(".") for group in alike]
    names = [
        part if part == last else f"{part}-{last.rpartition('_')[2]}"
        for part, last in zip(paths[0], paths[-1], strict=True)
    ]
    operators = tuple(placed for group in alike for placed in group.operators)
    return OperatorGroup(name=".".join(names), operators=operators)


def _depth(group: OperatorGroup) -> int:
    return group.name.count(".")
