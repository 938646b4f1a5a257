"""What a rule is, and what it raises where it cannot tell."""

from __future__ import annotations

from collections.abc import Callable

from ridgepoint.core.operators import Asked, Call

Rule = Callable[[Call], Asked]
"""States what a call asks for; raises `NoRule` where it cannot tell."""


class NoRule(Exception):
    """A rule cannot tell what a call asks for; the message says why, as a clause."""


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text, which spaces separate."""
    return tuple(text.split())
