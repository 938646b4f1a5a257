"""The second run of a script, in which one of its regions is counted.

It is told by a folder which region that is, and what the results of others were that it comes to
first; at the result of that region it leaves there how often it was entered, and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.measurement import Measurement

_VARIABLE = "RIDGEPOINT_WATCHED"
_ASSIGNMENT = "assignment.json"
_ENTRIES = "entries"


@dataclass(slots=True)
class Replay:
    """What a watch knows of the run that it is in.

    Parameters
    ----------
    folder : Path
    name : str
        Of the region that is counted.
    earlier : dict of str to str
        Measurements of other regions, as documents.
    entries : int
        Of the watch's region so far.
    """

    folder: Path
    name: str
    earlier: dict[str, str]
    entries: int = 0

    @staticmethod
    def prepare(folder: Path, name: str, earlier: Mapping[str, Measurement]) -> dict[str, str]:
        """Return the environment of a run that counts a region."""
        documents = {name: encode(measured).decode() for name, measured in earlier.items()}
        (folder / _ASSIGNMENT).write_text(json.dumps([name, documents]))
        return {_VARIABLE: str(folder)}

    @staticmethod
    def entries_of(folder: Path, what: str, exit_status: int) -> int:
        """Return how often the region was entered in that run.

        Raises
        ------
        CannotMeasure
            If the run did not come to the region's result, or never entered it before.
        """
        remedy = "let the script do the same work in every run, without input"
        try:
            entries = int((folder / _ENTRIES).read_text())
        except FileNotFoundError:
            raise CannotMeasure(
                what,
                reason=(
                    "the second run of the script, which is counted, ended with status "
                    f"{exit_status} before it reached the same result()"
                ),
                remedy=remedy,
            ) from None
        if not entries:
            raise CannotMeasure(
                what,
                reason="the second run of the script, which is counted, never entered the region",
                remedy=remedy,
            )
        return entries

    def answer(self, name: str) -> Measurement:
        """Return the result of another region; at that of the counted one, end the process."""
        if name == self.name:
            (self.folder / _ENTRIES).write_text(str(self.entries))
            _end()
        if name not in self.earlier:
            raise CannotMeasure(
                f"cannot measure region {name!r}",
                reason=f"it was not measured in the first run of the script before {self.name!r}",
                remedy="let the script do the same work in every run",
            )
        return decode(self.earlier[name], Measurement, origin="the first run")


def _end() -> NoReturn:
    """End at once: all that comes after is of no use here."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)


def replay_here() -> Replay | None:
    """Return what this run is to count; None: it is a first run."""
    folder = os.environ.get(_VARIABLE)
    if folder is None:
        return None
    name, earlier = json.loads((Path(folder) / _ASSIGNMENT).read_text())
    return Replay(Path(folder), name, earlier)
