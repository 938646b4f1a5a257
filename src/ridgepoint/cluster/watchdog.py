"""Ends a rank that waits for one that will never come, and says which one that is.

A launcher mostly ends all ranks when one of them dies. Not all do, and a link that is down looks
like nothing at all: so every step has a limit.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

GRACE_S = 5.0
"""How long rank 0 listens for signs of life once a step has taken too long."""


class Watchdog(threading.Thread):
    """A thread that ends this process when a step takes longer than its limit.

    Parameters
    ----------
    overdue : callable
        Called with the step's name when it is overdue, in this thread; returns the line to say, or
        None to say nothing.
    end : callable
        Ends this process, and others with it if it can.
    """

    def __init__(
        self,
        overdue: Callable[[str], str | None],
        end: Callable[[int], None] = os._exit,
    ) -> None:
        super().__init__(name="ridgepoint-watchdog", daemon=True)
        self._overdue, self._end = overdue, end
        self._changed = threading.Condition()
        self._steps: list[tuple[str, float]] = []
        self._over = False

    @contextlib.contextmanager
    def step(self, name: str, *, limit_s: float) -> Iterator[None]:
        """Limit the time that a step may take; of steps within steps each has its own."""
        entry = (name, time.monotonic() + limit_s)
        with self._changed:
            self._steps.append(entry)
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._steps.remove(entry)
                self._changed.notify()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def run(self) -> None:
        """Wait until a step is overdue."""
        with self._changed:
            while not self._over:
                name, deadline = min(
                    self._steps, key=lambda step: step[1], default=("", float("inf"))
                )
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(None if left_s == float("inf") else left_s)
            else:
                return
        line = self._overdue(name)
        if line is not None:
            print(f"ridgepoint: {line}", file=sys.stderr, flush=True)
        self._end(2)
