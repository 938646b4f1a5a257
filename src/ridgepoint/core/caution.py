"""A doubt about a result: data that travels with it into text, JSON and figures."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caution:
    """One doubt: what was observed and what a user can do about it.

    Parameters
    ----------
    code : str
        Short stable identifier, for example ``"few-samples"``.
    seen : str
        What was observed, with its figures.
    remedy : str
        What to do about it.
    effect : float or None
        Largest relative error that this may cause in the value it concerns, as a share of that
        value; 0: none. None: not known.
    on : str or None
        The value it concerns: the path of a resource (``compute``, ``dram``, ...), or ``time``,
        the runtime. None: all amounts.
    """

    code: str
    seen: str
    remedy: str
    effect: float | None = None
    on: str | None = None

    def __str__(self) -> str:
        return f"{self.code}: {self.seen}; {self.remedy}"
