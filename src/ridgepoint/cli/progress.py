"""What long steps say on standard error while they last."""

from __future__ import annotations

import threading
import time

from rich.console import Console
from rich.text import Text

from ridgepoint.core.units import format_duration

_BETWEEN_LINES_S = 2.0
_LONG_S = 5.0
"""A step that lasts longer says how long it has lasted."""

_FIRST_REMINDER_S = 30.0


class Progress:
    """A line that changes on a terminal; elsewhere a line per step, not too often.

    A long step says how long it has lasted: on a terminal beside it, elsewhere in a line after
    half a minute, and whenever it has lasted twice as long again.

    Parameters
    ----------
    console : Console
        Of standard error.
    first_reminder_s : float
    """

    def __init__(self, console: Console, *, first_reminder_s: float = _FIRST_REMINDER_S) -> None:
        self._console = console
        self._status = console.status("") if console.is_terminal else None
        self._last_s = float("-inf")
        self._first_reminder_s = first_reminder_s
        self._ended: threading.Event | None = None

    def step(self, what: str, output_is_shown: bool = False) -> None:
        """Say what begins now; keep still while the program writes to the same terminal."""
        self._begin(what, output_is_shown)
        if self._status is None and not output_is_shown:
            self._ended = threading.Event()
            threading.Thread(target=self._remind, args=(what, self._ended), daemon=True).start()

    def _begin(self, what: str, output_is_shown: bool) -> None:
        self._end_reminders()
        if self._status is not None:
            self._status.stop()
            if not output_is_shown:
                self._status.update(_Lasting(what))
                self._status.start()
            return
        now = time.monotonic()
        if now - self._last_s >= _BETWEEN_LINES_S:
            self._last_s = now
            self._say(what)

    def fraction(self, what: str, done: int, total: int) -> None:
        """Say what begins now and how much of all is done."""
        self._begin(f"measuring the machine ({100 * done // total} %): {what}", False)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._end_reminders()
        if self._status is not None:
            self._status.stop()

    def _end_reminders(self) -> None:
        if self._ended is not None:
            self._ended.set()

    def _remind(self, what: str, ended: threading.Event) -> None:
        lasted_s, again_s = 0.0, self._first_reminder_s
        while not ended.wait(again_s - lasted_s):
            lasted_s, again_s = again_s, 2 * again_s
            self._say(f"{what}; {format_duration(lasted_s)} so far")

    def _say(self, what: str) -> None:
        self._console.print(f"ridgepoint: {what}", markup=False, highlight=False)


class _Lasting:
    """A step, drawn again and again while it lasts."""

    def __init__(self, what: str) -> None:
        self._what, self._began_s = what, time.monotonic()

    def __rich__(self) -> Text:
        lasted_s = time.monotonic() - self._began_s
        so_far = f"; {format_duration(lasted_s)} so far" if lasted_s >= _LONG_S else ""
        return Text(f"{self._what}{so_far}")
