"""Which cautions could change a verdict: these are told in full, the others in one line."""

from __future__ import annotations

from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.placement import Placement
from ridgepoint.models.thresholds import FAR_BELOW, LEAST_CHANGE, POOR_TIME

# The 95 % interval of a ceiling reaches over what these are about.
_WITHIN_THE_INTERVAL = frozenset({"disturbed", "noisy", "unstable"})
# A disturbance cannot have cost a ceiling more than the ceiling lacks of its theory.
_HELD_UP = frozenset({"shared-core"})


def matters(caution: Caution, placement: Placement | None) -> bool:
    """Return whether a caution could change what bounds a program, or how near it is.

    Parameters
    ----------
    caution : Caution
    placement : Placement or None
        Of the program; None: nothing bounds it.

    Returns
    -------
    bool
        True where the caution does not say how far a number may be off.

    Notes
    -----
    The time of the path that a caution is about is changed by its effect, both ways. It matters
    if the efficiency moves by `LEAST_CHANGE` of the roof, or if another path has the longest time
    then; the latter not where the program is so far below every roof that none explains its time.
    A runtime that may be off by a quarter always matters.
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
        # A runtime that is longer comes to the same as paths that are shorter.
        moved = factor if caution.on == "time" else max(after.values()) / bound_s
        if efficiency is not None and abs(moved - 1) * efficiency >= LEAST_CHANGE:
            return True
        is_explained = efficiency is None or max(moved, 1.0) * efficiency >= FAR_BELOW
        if is_explained and after[str(placement.bound.limiter)] < max(after.values()):
            return True
    return False


def cautions_that_matter(machine: Machine) -> dict[tuple[str, str, int, str | None], set[Caution]]:
    """Return the cautions of ceilings that could change a verdict, by the ceiling's key.

    Parameters
    ----------
    machine : Machine

    Returns
    -------
    dict
        Of ceilings that bound programs: the fastest for a resource, or a direction of it, at a
        number of threads. A caution of theirs matters unless their 95 % interval, or what theory
        says, keeps them within `LEAST_CHANGE` of their median. Ceilings that could not be
        measured keep all of theirs.
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
    """Return whether a ceiling may be off by so much that it matters, or by nobody knows what."""
    effect, rate = caution.effect, ceiling.rate
    assert rate is not None
    if effect is None and caution.code in _WITHIN_THE_INTERVAL:
        if rate.low is None or rate.high is None:
            return True
        effect = max(rate.high / rate.median - 1, 1 - rate.low / rate.median)
    if effect is None and caution.code in _HELD_UP and ceiling.theoretical is not None:
        effect = max(ceiling.theoretical / rate.median - 1, 0.0)
    return effect is None or effect >= LEAST_CHANGE
