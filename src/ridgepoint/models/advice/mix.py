"""Floating-point work by instruction, and the least time that a machine needs for it that way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ridgepoint.counts import Counts
from ridgepoint.machine import Machine

Kind = tuple[str, int, bool]
"""Precision, vector width in bit (0: scalar), whether a multiply and an add are fused."""

Mix = Mapping[Kind, float]
"""Flop by kind."""

# Start-up code does a few flop of every kind; below this share a kind changes no time.
_USED_SHARE = 0.01
# Pipes that add beside the multiply-adds make a mix of both faster by a half (Zen 4) or more;
# what noise adds is less than this.
_SEPARATE_PIPES = 1.1
_OPERATIONS = ("add", "mul", "fma", "fma+add")


def mix_of(counts: Counts) -> Mix | None:
    """Return the flop by kind; None: the meter cannot tell."""
    mix: dict[Kind, float] = {}
    for kind in counts.flop:
        if kind.flop < _USED_SHARE * counts.work_flop:
            continue
        if kind.width_bits is None or kind.fma is None:
            return None
        mix[kind.precision, kind.width_bits, kind.fma] = float(kind.flop)
    return mix or None


def widest_bits(machine: Machine, precision: str) -> int:
    """Return the widest vector with a ceiling of its own; 0: there is none but scalar ones."""
    widths = (0, 128, 256, 512)
    return max((w for w in widths if _rates(machine, precision, w, 1.0)), default=0)


def widened(mix: Mix, machine: Machine, change: Callable[[int, int], bool]) -> Mix:
    """Return a mix with flop done by the widest vectors instead.

    Parameters
    ----------
    mix : Mix
    machine : Machine
    change : callable
        Takes a width and the widest one, bit; says whether these flop change.
    """
    wide: dict[Kind, float] = {}
    for (precision, width, fma), flop in mix.items():
        widest = widest_bits(machine, precision)
        key = (precision, widest if change(width, widest) else width, fma)
        wide[key] = wide.get(key, 0.0) + flop
    return wide


def mix_time_s(mix: Mix, machine: Machine, cores: float, *, best: bool = False) -> float | None:
    """Return the least time for flop done by these kinds of instruction.

    Parameters
    ----------
    mix : Mix
    machine : Machine
    cores : float
    best : bool
        Whether flop may be fused: by the best ceiling of their width.

    Returns
    -------
    float or None
        Seconds; None: the machine has no ceiling for one of them.

    Notes
    -----
    Widths share the pipes, so their times add. Within a width, additions and products run at the
    rate of either where they share pipes with multiply-adds, and beside them where they do not:
    a mix of multiply-adds and additions that beats multiply-adds alone shows which it is.
    """
    total = 0.0
    for precision, width in dict.fromkeys((p, w) for p, w, _ in mix):
        fused = mix.get((precision, width, True), 0.0)
        single = mix.get((precision, width, False), 0.0)
        rates = _rates(machine, precision, width, cores)
        if not rates:
            return None
        fastest = (fused + single) / max(rates.values())
        total += fastest if best else max(fastest, _as_it_is(fused, single, rates))
    return total


def _as_it_is(fused: float, single: float, rates: Mapping[str, float]) -> float:
    """Return the seconds of multiply-adds and of single operations of one width."""
    fma = rates.get("fma", max(rates.values()))
    alone = [rates[name] for name in ("add", "mul") if name in rates] or [fma]
    if rates.get("fma+add", 0.0) > _SEPARATE_PIPES * fma:
        return max(fused / fma, single / sum(alone))
    return fused / fma + single / max(alone)


def _rates(machine: Machine, precision: str, width_bits: int, cores: float) -> dict[str, float]:
    """Return the rates of the ceilings of one width, flop/s, by operation."""
    width = f"{width_bits}-bit" if width_bits else "scalar"
    rates = {}
    for operation in _OPERATIONS:
        own = tuple(
            ceiling
            for ceiling in machine.ceilings
            if (ceiling.resource, ceiling.name) == (precision, f"{operation} {width}")
        )
        only = replace(machine, ceilings=own)
        if only.knows(precision):
            rates[operation] = float(only.rate(precision, cores=cores))
    return rates
