"""What to doubt in the times of calls, or of entries of a region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si

_OVERHEAD = 0.01
_NOISY = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How to speak of what was timed.

    Parameters
    ----------
    one : str
        "a call".
    around : str
        What takes time around it.
    more : str
        How to get more samples.
    """

    one: str
    around: str
    more: str


def time_cautions(runtime: Estimate, *, overhead_s: float, words: Words) -> Iterator[Caution]:
    """Yield why a runtime may not be what it seems."""
    spread = runtime.relative_spread
    if spread is None:
        yield Caution(
            "few-samples",
            f"the runtime was measured {runtime.n} time(s): too few for a 95 % interval",
            words.more,
        )
    elif spread > _NOISY:
        yield Caution(
            "noisy",
            f"the 95 % interval of the runtime is {spread:.0%} of its median (n = {runtime.n})",
            f"stop other programs, or {words.more}",
            effect=spread / 2,
            on="time",
        )
    if overhead_s > _OVERHEAD * runtime.median:
        yield Caution(
            "overhead",
            f"{words.one} takes {format_si(runtime.median, 's')}, and {words.around} at least "
            f"{format_si(overhead_s, 's')} of it",
            f"let {words.one} do more",
            effect=overhead_s / runtime.median,
            on="time",
        )
