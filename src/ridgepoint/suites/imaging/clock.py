"""A clock for the parts of a run, each without the parts within it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

Timed = Callable[[str], AbstractContextManager[None]]
"""Gives a context that times the part of this name."""


def untimed(name: str) -> AbstractContextManager[None]:
    """Time nothing."""
    return nullcontext()


@dataclass(slots=True)
class Spent:
    """Time spent in a part.

    Parameters
    ----------
    wall_s, cpu_s : float
        Elapsed seconds; CPU seconds of all threads.
    executions : int
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    executions: int = 0


class Clock:
    """Times the parts of a run; of a part within another, only the inner one counts the time.

    Parameters
    ----------
    settle : callable
        Waits for what was begun: a GPU works on after a call returns.
    now : callable
        Returns elapsed and CPU seconds, from any zero.
    """

    def __init__(
        self,
        settle: Callable[[], object] = lambda: None,
        now: Callable[[], tuple[float, float]] = lambda: (time.perf_counter(), time.process_time()),
    ) -> None:
        self.spent: defaultdict[str, Spent] = defaultdict(Spent)
        self._settle, self._now = settle, now
        self._open: list[str] = []
        self._since = (0.0, 0.0)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time what is done within as the part of this name."""
        self._turn()
        self._open.append(name)
        self.spent[name].executions += 1
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        """Charge the time since the last turn to the innermost part."""
        self._settle()
        now = self._now()
        if self._open:
            spent = self.spent[self._open[-1]]
            spent.wall_s += now[0] - self._since[0]
            spent.cpu_s += now[1] - self._since[1]
        self._since = now
