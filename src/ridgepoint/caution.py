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
    """

    code: str
    seen: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.code}: {self.seen}; {self.remedy}"
