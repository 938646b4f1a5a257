"""What a caller of `ridgepoint.operators` asks for, whatever the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a profile of operators.

    Parameters
    ----------
    name : str
        Name of the program.
    repetitions : int or None
        Number of samples of each time; None: as many as the intervals need.
    limit_s : float
        Time limit of all runs together, seconds.
    backward : callable or "sum" or None
        Loss of the program's result, from which a backward pass starts; ``"sum"``: the sum of all
        results. None: no backward pass.
    optimizer : object or None
        Optimizer whose step follows; None: none.
    report : callable
        Is told what begins.
    """

    name: str
    repetitions: int | None = None
    limit_s: float = 60.0
    backward: Any = None
    optimizer: Any = None
    report: Callable[[str], None] = lambda what: None

    @property
    def what(self) -> str:
        """The beginning of messages about this program."""
        return f"cannot profile {self.name!r}"
