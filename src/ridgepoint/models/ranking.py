"""Which cautions could change a verdict: they are shown in full, the others in one line."""

from __future__ import annotations

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import FAR_BELOW, LEAST_CHANGE, POOR_TIME

# The 95 % interval of a ceiling already covers the effects of these.
_WITHIN_THE_INTERVAL = frozenset({"disturbed", "noisy", "unstable"})
# A disturbance cannot have lowered a ceiling by more than its distance to the theoretical rate.
_HELD_UP = frozenset({"shared-core"})


def matters(caution: Caution, placement: Placement | None) -> bool:
    """Return whether a caution could change a program's limit, or how near it is to the limit.

    Parameters
    ----------
    caution : Caution
    placement : Placement or None
        Placement of the program; None: nothing bounds it.

    Returns
    -------
    bool
        True if the caution does not state how far a number may be off.

    Notes
    -----
    The time of the path that a caution concerns is changed by its effect, both up and down. It
    matters if the efficiency then changes by `LEAST_CHANGE` of the roof, or if another path then
    has the longest time; the latter does not count if the program is so far below every roof that
    none explains its time. A runtime that may be off by a quarter always matters.
    """
    effect = caution.effect
    if effect is None or (caution.on == "time" and effect >= POOR_TIME):
        return True
    if placement is None or placement.bound is None:
        return effect >= LEAST_CHANGE
    efficiency = placement.efficiency
    before = {path: float(time) for path, time in placement.bound.times_s.items()}
    bound_s = max(before.values(), default=0.0)
    if not bound_s:
        return effect > 0
    for factor in (1 + effect, max(1 - effect, 0.0)):
        after = {
            path: time * factor if caution.on in {None, path} else time
            for path, time in before.items()
        }
        # A longer runtime is equivalent to shorter paths.
        moved = factor if caution.on == "time" else max(after.values()) / bound_s
        if efficiency is not None and abs(moved - 1) * efficiency >= LEAST_CHANGE:
            return True
        is_explained = efficiency is None or max(moved, 1.0) * efficiency >= FAR_BELOW
        if is_explained and after[str(placement.bound.limiter)] < max(after.values()):
            return True
    return False


def cautions_that_matter(machine: Machine) -> dict[tuple[str, str, int, str | None], set[Caution]]:
    """Return the ceilings' cautions that could change a verdict, by the ceiling's key.

    Parameters
    ----------
    machine : Machine

    Returns
    -------
    dict
        Cautions of ceilings that bound programs: the fastest for a resource, or a direction of
        it, at a number of threads. They matter unless the 95 % interval or the theoretical rate
        keeps the ceiling within `LEAST_CHANGE` of its median. For ceilings that could not be
        measured, all cautions matter.
    """
    binding = _binding(machine)
    doubts = {}
    for ceiling in machine.ceilings:
        if ceiling.rate is None:
            doubts[ceiling.key] = set(ceiling.cautions)
        elif ceiling.key in binding:
            doubts[ceiling.key] = {
                caution for caution in ceiling.cautions if _is_large(caution, ceiling)
            }
    return {key: cautions for key, cautions in doubts.items() if cautions}


def _binding(machine: Machine) -> set[tuple[str, str, int, str | None]]:
    """Return the keys of the ceilings that bound programs."""
    counts = {ceiling.threads for ceiling in machine.ceilings}
    best = (machine.best(name, threads=count) for name in RESOURCES for count in counts)
    return {ceiling.key for ceiling in best if ceiling is not None}


def _is_large(caution: Caution, ceiling: Ceiling) -> bool:
    """Return whether a caution's effect on a ceiling is large enough to matter, or unknown."""
    effect, rate = caution.effect, ceiling.rate
    assert rate is not None
    if effect is None and caution.code in _WITHIN_THE_INTERVAL:
        if rate.low is None or rate.high is None:
            return True
        effect = max(rate.high / rate.median - 1, 1 - rate.low / rate.median)
    if effect is None and caution.code in _HELD_UP and ceiling.theoretical is not None:
        effect = max(ceiling.theoretical / rate.median - 1, 0.0)
    return effect is None or effect >= LEAST_CHANGE
