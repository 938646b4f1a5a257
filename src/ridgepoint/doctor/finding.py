"""One line of what the doctor finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor's table.

    Parameters
    ----------
    what : str
        Meter or precondition.
    works : bool
    detail : str
        What was found: the version, or why it does not work.
    remedy : str or None
        What to do; None: nothing need be done.
    cost : str or None
        What the user goes without; None: nothing.
    """

    what: str
    works: bool
    detail: str
    remedy: str | None = None
    cost: str | None = None
