"""Whether a program's floating-point work, and which of it, is worth a roof."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.counts import Counts
from ridgepoint.demand import Amount
from ridgepoint.resources import PRECISIONS

# Of all instructions. Start-up, formatting and hashing do a few flop in any program; a loop
# that computes does one in ten instructions.
_HARDLY_ANY = 1e-4
# Start-up code does a few flop of every kind; below this share a precision is not "used".
_USED_SHARE = 0.01


def hardly_any(counts: Counts) -> bool:
    """Return whether the flop are so few, or none, that a flop roofline says nothing of them."""
    return not counts.work_flop or counts.work_flop < _HARDLY_ANY * counts.instructions


def hardly_any_text(counts: Counts) -> str:
    """Return in words that there is hardly any floating-point work, or none, with its count."""
    if not counts.work_flop:
        return "no floating-point work"
    return f"hardly any floating-point work ({counts.work_flop} flop)"


def used_precisions(work: Mapping[str, Amount]) -> dict[str, float]:
    """Return the shares of the precisions that matter, in the order of `PRECISIONS`.

    Parameters
    ----------
    work : mapping of str to float
        Flop of one program by precision; other resources are passed over.
    """
    flop = {name: float(work[name]) for name in PRECISIONS if name in work}
    total = sum(flop.values())
    return {
        name: part / total
        for name, part in flop.items()
        if part > 0 and part / total >= _USED_SHARE
    }
