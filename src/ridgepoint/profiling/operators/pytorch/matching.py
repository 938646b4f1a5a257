"""Match what PyTorch's profiler saw of a run with the calls that were recorded of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MOST_INSIDE = 8
"""Calls that are looked at for one that is an event with those before it inside."""

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


def times_of(expected: Sequence[Expected], events: Sequence[Event]) -> list[float | None] | None:
    """Return the time of each recorded call, seconds.

    Parameters
    ----------
    expected : sequence of Expected
        Calls in the order in which they were made.
    events : sequence of Event
        In the order of their beginnings, each before those inside of it.

    Returns
    -------
    list of float or None, or None
        None for views that this run did without. None instead of the list: the run made other
        calls than those, or in another order, so that no time is known.

    Notes
    -----
    An event that has the name and shapes of the next call is that call, and what is inside of it
    belongs to it. So it is if those before the next call of that name are all inside of it: what
    an operator saves for its gradient, or casts, has been recorded before it, and its time is
    taken from the operator's. Any other event is a function made of several operators, which are
    looked for inside of it, or does nothing that was recorded. A call of the same name and shapes
    cannot be taken for another, since all calls that do work must be found, in their order. Where
    PyTorch is recorded it does some operations on a new array that it otherwise does in place
    (``add`` for ``add_``): both do the same work and move the same bytes, and are taken for each
    other.
    """
    return _times(expected, events, 0, len(events))


def _times(
    expected: Sequence[Expected], events: Sequence[Event], begin: int, end: int
) -> list[float | None] | None:
    found: list[float | None] = []
    at = begin
    while at < end and len(found) < len(expected):
        event = events[at]
        own = _views_before(expected, len(found), event)
        if own is not None:
            found += [None] * own
            found.append(event.elapsed_s)
        elif (inside := _inside(expected, len(found), events, at)) is not None:
            found += inside
            found.append(event.elapsed_s - sum(time_s or 0.0 for time_s in inside))
        else:
            at += 1
            continue
        at = event.after
    if not all(one.is_view for one in expected[len(found) :]):
        return None
    return found + [None] * (len(expected) - len(found))


def _views_before(expected: Sequence[Expected], first: int, event: Event) -> int | None:
    """Return the number of views to leave out until an event is the next call; None: it is not."""
    for at in range(first, len(expected)):
        if _is(expected[at], event):
            return at - first
        if not expected[at].is_view:
            return None
    return None


def _inside(
    expected: Sequence[Expected], first: int, events: Sequence[Event], at: int
) -> list[float | None] | None:
    """Return the times of the calls before one that is this event, if they are all inside of it."""
    event = events[at]
    for last in range(first + 1, min(first + _MOST_INSIDE, len(expected))):
        if _is(expected[last], event):
            return _times(expected[first:last], events, at + 1, event.after)
    return None


def _is(expected: Expected, event: Event) -> bool:
    return event.shapes == expected.shapes and event.name in (expected.name, f"{expected.name}_")
