"""A doubt about a result: data that travels with it into text, JSON and figures."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caution:
    """One doubt: what was seen and what a user can do about it.

    Parameters
    ----------
    code : str
        Short stable identifier, for example ``"few-samples"``.
    seen : str
        What was observed, with its figures.
    remedy : str
        What to do about it.
    effect : float or None
        By which share of itself what it is about may be off, at most; 0: nothing is. None: not
        known.
    on : str or None
        What it is about: the path of a resource (``compute``, ``dram``, ...), or ``time``, the
        runtime. None: all amounts.
    """

    code: str
    seen: str
    remedy: str
    effect: float | None = None
    on: str | None = None

    def __str__(self) -> str:
        return f"{self.code}: {self.seen}; {self.remedy}"
