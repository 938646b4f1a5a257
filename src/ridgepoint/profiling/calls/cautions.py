"""What to doubt in the times of calls, or of entries of a region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.profiling.sample_cautions import Remedies, sample_cautions

_OVERHEAD = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How to speak of what was timed.

    Parameters
    ----------
    one : str
        "a call".
    around : str
        What takes time around it.
    more : Remedies
        How to get more samples.
    """

    one: str
    around: str
    more: Remedies


def time_cautions(runtime: Estimate, *, overhead_s: float, words: Words) -> Iterator[Caution]:
    """Yield why a runtime may not be what it seems."""
    yield from sample_cautions(runtime, what="the runtime", more=words.more)
    if overhead_s > _OVERHEAD * runtime.median:
        yield Caution(
            "overhead",
            f"{words.one} takes {format_si(runtime.median, 's')}, and {words.around} at least "
            f"{format_si(overhead_s, 's')} of it",
            f"let {words.one} do more",
            effect=overhead_s / runtime.median,
            on="time",
        )
