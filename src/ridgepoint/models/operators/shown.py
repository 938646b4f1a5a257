"""Which modules of a model a table has room for."""

from __future__ import annotations

from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup


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
        Modules in the order of their first calls, outer ones first. Each depth is complete, or its
        modules of most time are there; of the next depths none is.
    """
    every = analysis.modules
    kept = {id(group) for group in every if not group.name}
    for depth in sorted({_depth(group) for group in every if group.name}):
        at_depth = [group for group in every if group.name and _depth(group) == depth]
        room = most - len(kept)
        longest = sorted(at_depth, key=lambda group: -(group.share or 0.0))[: max(room, 0)]
        kept |= {id(group) for group in longest}
        if len(longest) < len(at_depth):
            break
    shown = tuple(group for group in every if id(group) in kept)
    return shown, len(every) - len(shown)


def _depth(group: OperatorGroup) -> int:
    return group.name.count(".")
