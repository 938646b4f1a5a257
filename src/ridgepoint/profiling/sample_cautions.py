"""What to doubt in a time that was measured several times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate

_NOISY = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """What to do about a time that is not known well.

    Parameters
    ----------
    few : str
        If it was measured too rarely for an interval.
    noisy : str
        If its interval is wide.
    """

    few: str
    noisy: str


def sample_cautions(runtime: Estimate, *, what: str, more: Remedies) -> Iterator[Caution]:
    """Yield why a time is not known well: too few samples, or too wide an interval.

    Parameters
    ----------
    runtime : Estimate
    what : str
        What was timed: "the runtime".
    more : Remedies
    """
    spread = runtime.relative_spread
    if spread is None:
        yield Caution(
            "few-samples",
            f"{what} was measured {runtime.n} time(s): too few for a 95 % interval",
            more.few,
        )
    elif spread > _NOISY:
        yield Caution(
            "noisy",
            f"the 95 % interval of {what} is {spread:.0%} of its median (n = {runtime.n})",
            more.noisy,
            effect=spread / 2,
            on="time",
        )
