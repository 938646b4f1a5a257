"""Why an archive cannot give what it is asked for, in plain words."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Timing


def nothing(path: Path, kept: int, kind: str, id: object) -> ArchiveRefused:
    """Return the error for a record that is not among those that are kept."""
    if not kept:
        reason, remedy = (
            "nothing is kept there yet",
            "run 'ridgepoint machine' or 'ridgepoint run' first",
        )
    else:
        reason, remedy = f"it keeps {kept} records, but no such {kind}", "see 'ridgepoint list'"
    what = f"cannot find {kind} {id} in the archive {path}"
    return ArchiveRefused(what, reason=reason, remedy=remedy)


def no_such_name(
    path: Path, labels: Sequence[str], text: str, kinds: Sequence[str]
) -> ArchiveRefused:
    """Return the error for a name that no record has."""
    near = difflib.get_close_matches(text, labels, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    what = " or ".join(kinds) or "record"
    return ArchiveRefused(
        f"cannot find {what} {text!r} in the archive {path}",
        reason="no record has this name",
        remedy=f"{hint}see 'ridgepoint list'",
    )


def bounds_others(path: Path, machines: Sequence[int], others: Sequence[int]) -> ArchiveRefused:
    """Return the error for machines that are to be deleted and still bound measurements."""
    listed = ", ".join(map(str, others))
    return ArchiveRefused(
        f"cannot delete {' and '.join(map(str, machines))} from the archive {path}",
        reason=f"the measurements {listed} are bounded by it",
        remedy="add --with-measurements to delete them too",
    )


def not_counted(timing: Timing, what: str, command: str) -> ArchiveRefused:
    """Return the error for times where a complete measurement is needed."""
    why = "" if timing.uncounted is None else f": {timing.uncounted.seen}"
    return ArchiveRefused(
        f"cannot use {what} as a complete measurement",
        reason=f"its work and traffic are unknown{why}",
        remedy=f"{command} shows its times; measure it again for the rest",
    )


def no_program(value: object) -> str:
    """Return what a record is that a program was expected to be."""
    if isinstance(value, Machine):
        return "it is a machine, not a program"
    if isinstance(value, MeasuredCluster):
        return "it is a cluster, not a program"
    return "it holds the operators of a program, not the program as a whole"
