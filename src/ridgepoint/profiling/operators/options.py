"""What a caller of `ridgepoint.operators` asks for, whatever the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ridgepoint.core.machine import Cache


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
    check : bool
        Whether a call of each operator is counted too, by its instructions.
    caches : tuple of Cache or None
        Caches that are simulated for that; None: this host's.
    """

    name: str
    repetitions: int | None = None
    limit_s: float = 60.0
    backward: Any = None
    optimizer: Any = None
    report: Callable[[str], None] = lambda what: None
    check: bool = False
    caches: tuple[Cache, ...] | None = None

    @property
    def what(self) -> str:
        """The beginning of messages about this program."""
        return f"cannot profile {self.name!r}"
