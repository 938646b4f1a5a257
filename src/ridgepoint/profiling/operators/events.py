"""Match what a library's own profiler saw of a run with the calls that were recorded of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Shapes = tuple[tuple[int, ...], ...]
"""Shapes of the arrays among a call's arguments, without scalars, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A call that a profiler saw, maybe inside of another one.

    Parameters
    ----------
    name : str
    shapes : tuple
    elapsed_s : float
        Time of the call, with all that it calls.
    after : int
        Number of the first event after it that is not inside of it.
    """

    name: str
    shapes: Shapes
    elapsed_s: float
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A call that was recorded.

    Parameters
    ----------
    name : str
    shapes : tuple
    is_view : bool
        It does no work: a run can do without it, or make another view in its place.
    """

    name: str
    shapes: Shapes
    is_view: bool


def matched(expected: Sequence[Expected], events: Sequence[Event]) -> list[int | None] | None:
    """Return the event of each recorded call.

    Parameters
    ----------
    expected : sequence of Expected
        Calls in the order in which they were made.
    events : sequence of Event
        In the order of their beginnings, each before those inside of it.

    Returns
    -------
    list of int or None, or None
        Numbers of events; None for views that this run did not make. None instead of the list: the
        run made other calls than those, or in another order, so that no time is known.

    Notes
    -----
    An event that has the name and shapes of the next call is that call, and what is inside of it
    belongs to it. Any other event is a function made of several operators, which are looked for
    inside of it, or does nothing that was recorded. A call of the same name and shapes cannot be
    taken for another, since all calls that do work must be found, in their order. Where PyTorch is
    recorded it does some operations on a new array that it otherwise does in place (``add`` for
    ``add_``): both do the same work and move the same bytes, and are taken for each other.
    """
    found: list[int | None] = []
    at = 0
    while at < len(events) and len(found) < len(expected):
        skipped = _views_before(expected, len(found), events[at])
        if skipped is None:
            at += 1
            continue
        found += [None] * skipped
        found.append(at)
        at = events[at].after
    if not all(one.is_view for one in expected[len(found) :]):
        return None
    return found + [None] * (len(expected) - len(found))


def _views_before(expected: Sequence[Expected], begin: int, event: Event) -> int | None:
    """Return the number of views to leave out until an event is the next call; None: it is not."""
    for at in range(begin, len(expected)):
        one = expected[at]
        if event.name in (one.name, f"{one.name}_") and event.shapes == one.shapes:
            return at - begin
        if not one.is_view:
            return None
    return None
