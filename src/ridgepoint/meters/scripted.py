"""A meter that counts nothing and returns what it was given: for tests."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.counted import Counted
from ridgepoint.core.machine import Cache
from ridgepoint.meters import Launch, Meter, Selection, Unavailable


class ScriptedMeter:
    """Runs a command as it is and returns counts that were decided beforehand.

    Parameters
    ----------
    counted : Counted
        What every run of any command did.
    unavailable : Unavailable or None
        What to say of this host; None: the meter works.
    """

    name = "scripted"
    slowdown = "1"
    selection: Selection | None = None
    stand_in: Meter | None = None
    without_traffic: Meter | None = None

    def __init__(self, counted: Counted, *, unavailable: Unavailable | None = None) -> None:
        self.counted = counted
        self.unavailable = unavailable
        self.commands: list[tuple[str, ...]] = []  # what was run, in order

    def why_unavailable(self) -> Unavailable | None:
        """Return what the meter was told to say."""
        return self.unavailable

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Run the command and return the counts that were given; `caches` does not matter."""
        self.commands.append(tuple(command))
        launch(command)
        return self.counted
