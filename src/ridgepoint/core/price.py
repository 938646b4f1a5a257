"""What the use of a machine costs, as users write it: ``1.2 USD/h``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Self

_SECONDS = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0,
    "hour": 3600.0, "d": 86400.0, "day": 86400.0,
}  # fmt: skip
_FORM = re.compile(
    r"\s*(?P<before>[^\d\s.+-]*)\s*(?P<number>\d+\.?\d*|\.\d+)(?:(?P<power>[eE][-+]?\d+))?"
    r"\s*(?P<after>[^\d\s/.]*)\s*/\s*(?P<per>[a-z]+)\s*"
)
_EXAMPLE = "1.2 USD/h"
_LARGEST = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of using one machine for a time.

    Parameters
    ----------
    per_s : float
        Amount of money per second, >= 0.
    currency : str
        As it was written: ``USD``, ``€``; empty: none was.
    """

    per_s: float
    currency: str

    def __post_init__(self) -> None:
        if not 0 <= self.per_s < math.inf:
            raise ValueError(f"per_s must be finite and >= 0, got {self.per_s!r}")

    @property
    def per_h(self) -> float:
        """Amount of money per hour."""
        return self.per_s * 3600.0

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the price that a text states.

        Raises
        ------
        ValueError
            If it is none; in the message, the text after the semicolon says what to write.

        Examples
        --------
        >>> Price.of("1.8 USD/h")
        Price(per_s=0.0005, currency='USD')
        """
        written = _FORM.fullmatch(value) if isinstance(value, str) else None
        if written is None:
            raise ValueError(f'{value!r} is not a price; write it like "{_EXAMPLE}"')
        if written["per"] not in _SECONDS:
            raise ValueError(f'{value!r} is not per s, min, h or day; write it like "{_EXAMPLE}"')
        if written["before"] and written["after"]:
            raise ValueError(f'{value!r} has two currencies; write it like "{_EXAMPLE}"')
        number = float(written["number"] + (written["power"] or ""))
        if number > _LARGEST:
            raise ValueError(f'{value!r} is not a price; write it like "{_EXAMPLE}"')
        return cls(
            per_s=number / _SECONDS[written["per"]],
            currency=written["before"] or written["after"],
        )
