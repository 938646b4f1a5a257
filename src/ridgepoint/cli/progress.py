"""What long steps say on standard error while they last."""

from __future__ import annotations

import time

from rich.console import Console

_BETWEEN_LINES_S = 2.0


class Progress:
    """A line that changes on a terminal; elsewhere a line per step, not too often.

    Parameters
    ----------
    console : Console
        Of standard error.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = console.status("") if console.is_terminal else None
        self._last_s = float("-inf")

    def step(self, what: str, output_is_shown: bool = False) -> None:
        """Say what begins now; keep still while the program writes to the same terminal."""
        if self._status is not None:
            self._status.stop()
            if not output_is_shown:
                self._status.update(what)
                self._status.start()
            return
        now = time.monotonic()
        if now - self._last_s >= _BETWEEN_LINES_S:
            self._last_s = now
            self._console.print(f"ridgepoint: {what}", markup=False, highlight=False)

    def fraction(self, what: str, done: int, total: int) -> None:
        """Say what begins now and how much of all is done."""
        self.step(f"measuring the machine ({100 * done // total} %): {what}")

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._status is not None:
            self._status.stop()
