"""Progress below a notebook's cell: HTML without scripts, so that every notebook can show it."""

from __future__ import annotations

import html
import time
from importlib import import_module
from typing import Any

_BETWEEN_S = 0.1


class NotebookProgress:
    """One line below a cell that changes, and vanishes at the end.

    It appears with the first step: what is ready at once shows nothing. Steps that follow each
    other within a tenth of a second are left out.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        self._last_s = float("-inf")

    def step(self, what: str, output_is_shown: bool = False) -> None:
        """Say what begins now; how long it takes is not known."""
        self._show(f"<progress></progress> {html.escape(what)}", what)

    def fraction(self, what: str, done: int, total: int) -> None:
        """Say what begins now and how much of all is done."""
        text = f"measuring the machine: {what}, {done} of {total}"
        self._show(f'<progress value="{done}" max="{total}"></progress> {html.escape(text)}', text)

    def close(self) -> None:
        """Take the line away."""
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)

    def _show(self, line: str, text: str) -> None:
        now_s = time.monotonic()
        if now_s - self._last_s < _BETWEEN_S:
            return
        self._last_s = now_s
        content = {"text/plain": text, "text/html": f"<div>{line}</div>"}
        if self._handle is None:
            # IPython is there, since a notebook runs this; nothing else needs it.
            display: Any = import_module("IPython.display").display
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
