"""Descriptions of the archive's records, and the names that they can have."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from ridgepoint.core.documents import legible
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.models.summary import Summary

Kind = Literal["machine", "measurement", "cluster", "operators"]

PROGRAMS: tuple[Kind, ...] = ("measurement", "operators")
"""Kinds that a machine bounds."""

MACHINES: tuple[Kind, ...] = ("machine", "cluster")
"""Kinds that bound a measurement: of a cluster its slowest node does."""

_FIELDS = "record.id, kind, created, name, machine_id"
LISTED = {
    False: f"SELECT {_FIELDS}, NULL, NULL, NULL FROM record",
    True: f"SELECT {_FIELDS}, label, note, summary FROM record LEFT JOIN about USING (id)",
}
"""By whether there is a table of what is said about records."""

LONGEST_LABEL = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The archive's description of a record, without its content.

    Parameters
    ----------
    id : int
    kind : {"machine", "measurement", "cluster", "operators"}
    created : str
        When it was kept, ISO 8601, UTC.
    name : str
        Name of the machine or the cluster, or the command as a shell takes it.
    machine_id : int or None
        For a measurement or operators, the record of the machine that bounded it; None: none did.
    label : str or None
        Name that a user gave it; None: none.
    note : str or None
        A user's remark about it; None: none.
    summary : Summary or None
        For a measurement or operators, the result in short; None: an earlier version kept it.
    """

    id: int
    kind: Kind
    created: str
    name: str
    machine_id: int | None
    label: str | None = None
    note: str | None = None
    summary: Summary | None = None


def command_text(measured: Measurement | Timing | OperatorProfile) -> str:
    """Return the command of a measured program as a shell takes it: the name of its record."""
    if isinstance(measured, OperatorProfile):
        return legible(measured.program)
    return legible(shlex.join(measured.command))


def require_label(label: str) -> str:
    """Return a name for a record if it is valid.

    Raises
    ------
    RidgepointError
        If it is empty or too long, or would be mistaken for something else where it is used: a
        number, an option or a file.
    """
    reason = None
    if not label.strip() or label != label.strip():
        reason = "it is empty, or begins or ends with a blank"
    elif len(label) > LONGEST_LABEL or not label.isprintable():
        reason = (
            f"it is longer than {LONGEST_LABEL} characters, or contains one that is not printable"
        )
    elif label.isdecimal():
        reason = "it looks like the number of a record"
    elif label.startswith("-"):
        reason = "it looks like an option"
    elif "/" in label or label.lower().endswith((".json", ".toml")):
        reason = "it looks like a file"
    if reason is not None:
        raise RidgepointError(
            f"cannot give a record the name {label!r}", reason=reason, remedy="choose another name"
        )
    return label


def record_of(row: tuple[Any, ...]) -> Record:
    """Return the record of a row of `LISTED`."""
    id, kind, created, name, machine_id, label, note, summary = row
    known = None
    if summary is not None:
        with suppress(msgspec.DecodeError):  # a newer version's, or damaged: no summary then
            known = msgspec.json.decode(summary, type=Summary)
    return Record(
        id=id,
        kind=kind,
        created=created,
        name=name,
        machine_id=machine_id,
        label=label,
        note=note,
        summary=known,
    )
