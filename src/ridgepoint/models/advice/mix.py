"""The time that a program's flop would take with other instructions."""

from __future__ import annotations

from collections.abc import Callable

from ridgepoint.core.counts import Counts
from ridgepoint.core.machine import Machine
from ridgepoint.models.mix import DIVIDER, SINGLE, Kind, Mix, mix_bound, mix_of, rates_of
from ridgepoint.models.thresholds import USED


def used_mix(counts: Counts) -> Mix | None:
    """Return the flop by kind, without rare kinds; None: the meter cannot tell."""
    used = {kind: flop for kind, flop in mix_of(counts).items() if flop >= USED * counts.work_flop}
    is_known = all(width is not None and operation is not None for _, width, operation in used)
    return used if used and is_known else None


_WIDTHS = (0, 128, 256, 512)


def has_widths(machine: Machine, precision: str) -> bool:
    """Return whether ceilings tell scalar instructions and vectors apart."""
    return any(rates_of(machine, precision, width, cores=1.0) for width in _WIDTHS)


def widest_bits(machine: Machine, precision: str) -> int:
    """Return the widest vector with a ceiling of its own, bits; 0: only scalar ones have."""
    return max((w for w in _WIDTHS if rates_of(machine, precision, w, cores=1.0)), default=0)


def widened(mix: Mix, machine: Machine, change: Callable[[int, int], bool]) -> Mix:
    """Return a mix in which the widest vectors do some of the flop.

    Parameters
    ----------
    mix : Mix
    machine : Machine
    change : callable
        Takes a kind's width and the widest one, in bits; returns whether its flop change.
    """
    wide: dict[Kind, float] = {}
    for (precision, width, operation), flop in mix.items():
        widest = widest_bits(machine, precision)
        changes = width is not None and change(width, widest)
        key = (precision, widest if changes else width, operation)
        wide[key] = wide.get(key, 0.0) + flop
    return wide


def fused(mix: Mix) -> Mix:
    """Return a mix with as many products as possible fused with additions of their width.

    Single operations whose kind is unknown may all be fused.
    """
    paired = dict(mix)
    for precision, width, _ in mix:
        add, mul, single, fma = (
            (precision, width, operation) for operation in ("add", "mul", SINGLE, "fma")
        )
        pairs = min(paired.get(add, 0.0), paired.get(mul, 0.0))
        fusible = 2 * pairs + paired.pop(single, 0.0)
        if fusible:
            paired[fma] = paired.get(fma, 0.0) + fusible
        for kind in (add, mul):
            if kind in paired:
                paired[kind] -= pairs
    return {kind: flop for kind, flop in paired.items() if flop}


def mix_time_s(mix: Mix, machine: Machine, cores: float) -> float | None:
    """Return the least time for flop done by these kinds of instructions.

    Parameters
    ----------
    mix : Mix
    machine : Machine
    cores : float

    Returns
    -------
    float or None
        Seconds; None: the machine has no ceiling for one of these widths.
    """
    if not all(
        rates_of(machine, precision, width or 0, cores=cores) for precision, width, _ in mix
    ):
        return None
    bound = mix_bound(mix, machine, cores=cores)
    return None if bound is None else bound.time_s


def is_known(mix: Mix, machine: Machine) -> bool:
    """Return whether the machine has a ceiling for every kind of a mix."""
    bound = mix_bound(mix, machine, cores=1.0)
    return bound is not None and not bound.unknown


def divider_s(mix: Mix, machine: Machine, cores: float) -> float:
    """Return the least seconds that the divider needs for a mix, as far as they are known."""
    bound = mix_bound(mix, machine, cores=cores)
    return 0.0 if bound is None else bound.constraints_s.get(DIVIDER, 0.0)


def multiplied(mix: Mix) -> Mix:
    """Return a mix with products in place of divisions and square roots."""
    changed: dict[Kind, float] = {}
    for (precision, width, operation), flop in mix.items():
        kind = (precision, width, "mul" if operation in {"div", "sqrt"} else operation)
        changed[kind] = changed.get(kind, 0.0) + flop
    return changed
