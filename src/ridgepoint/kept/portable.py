"""Records outside an archive: in a file that a repository can keep, or on the way to another."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec

from ridgepoint.core.documents import (
    decode,
    document_kind,
    encode,
    kind_of,
    legible,
    to_fields,
)
from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.kept.archive_record import (
    PROGRAMS,
    Kind,
    Record,
    command_text,
    record_of,
    require_label,
)
from ridgepoint.models.summary import summary_of

_REMEDY = "give a file written by 'ridgepoint export'"
_EXACT = 2.0**53
"""Up to it a float holds every whole number."""

Content = Machine | MeasuredCluster | Measurement | Timing | OperatorProfile
_CONTENTS: dict[str, tuple[Kind, type[Content]]] = {
    "machine": ("machine", Machine),
    "cluster": ("cluster", MeasuredCluster),
    "measurement": ("measurement", Measurement),
    "timing": ("measurement", Timing),
    "operators": ("operators", OperatorProfile),
}
"""Kind of the record, and class, by the kind of a document."""


@dataclass(frozen=True, kw_only=True)
class Portable:
    """A record with its content and the machine that bounds it, as one value.

    Parameters
    ----------
    kind : {"machine", "measurement", "cluster", "operators"}
    created : str
        When it was kept, ISO 8601, UTC.
    name : str
        Name of the machine or the cluster, or the command as a shell takes it.
    document : bytes
        JSON document.
    origin : str
        Where it comes from, for messages.
    source : str
        The file or the archive that it comes from; records of one source may share a name.
    fingerprint : str or None
        Of a machine.
    label, note : str or None
    summary : str or None
        JSON of a measurement's `ridgepoint.models.summary.Summary`.
    machine : Portable or None
        The machine, or cluster, that bounded a measurement.
    """

    kind: Kind
    created: str
    name: str
    document: bytes
    origin: str
    source: str
    fingerprint: str | None = None
    label: str | None = None
    note: str | None = None
    summary: str | None = None
    machine: Portable | None = None

    @cached_property
    def digest(self) -> str:
        """Checksum of the content, as `digest_of` returns it."""
        return digest_of(self.document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """The machine that bounds the measurement of a `RecordFile`, as the file holds it.

    Parameters
    ----------
    created : str
    digest : str
    document : dict
    label, note : str or None
    """

    created: str
    digest: str
    document: dict[str, Any]
    label: str | None = None
    note: str | None = None


@document_kind("record", remedy=_REMEDY)
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFile:
    """A record as a file holds it.

    Parameters
    ----------
    created : str
        When it was kept, ISO 8601, UTC.
    digest : str
        Checksum of the content; see `digest_of`.
    document : dict
        The content: a document of kind ``machine``, ``cluster``, ``measurement``, ``timing`` or
        ``operators``.
    label, note : str or None
        Name that a user gave it, and remark about it; None: none.
    machine : Machinery or None
        The machine or the cluster that bounds a measurement; None: none does.
    """

    label: str | None = None
    note: str | None = None
    created: str
    digest: str
    document: dict[str, Any]
    machine: Machinery | None = None


def digest_of(document: bytes) -> str:
    """Return a checksum of what a JSON document says, whatever its layout and order of keys.

    Examples
    --------
    >>> digest_of(b'{"a": 1, "b": [2.0]}') == digest_of(b'{"b":[2],"a":1}')
    True
    """
    said = msgspec.json.encode(_canonical(msgspec.json.decode(document)), order="sorted")
    return f"sha256:{hashlib.sha256(said).hexdigest()}"


def _canonical(value: Any) -> Any:
    # Tools that lay JSON out anew may write 2.0 as 2.
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    if isinstance(value, dict):
        return {key: _canonical(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_canonical(part) for part in value]
    return value


def text_of(record: Portable) -> str:
    """Return the text of a record's file: indented, lists of numbers on one line each."""
    machine = record.machine
    fields = to_fields(
        RecordFile(
            **_described(record),
            machine=None if machine is None else Machinery(**_described(machine)),
        )
    )
    return f"{_laid_out(fields, '')}\n"


def _described(record: Portable) -> dict[str, Any]:
    return {
        "label": record.label,
        "note": record.note,
        "created": record.created,
        "digest": record.digest,
        "document": msgspec.json.decode(record.document),
    }


def _laid_out(value: Any, indent: str) -> str:
    deeper = f"{indent}  "
    if isinstance(value, dict) and value:
        parts = (f"{_scalar(key)}: {_laid_out(part, deeper)}" for key, part in value.items())
        return _in_lines("{}", parts, indent)
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        return _in_lines("[]", (_laid_out(part, deeper) for part in value), indent)
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    return _scalar(value)


def _in_lines(brackets: str, parts: Any, indent: str) -> str:
    joined = f",\n{indent}  ".join(parts)
    return f"{brackets[0]}\n{indent}  {joined}\n{indent}{brackets[1]}"


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_record(document: bytes, *, origin: str) -> Portable:
    """Return the record that a file holds: one of `text_of`, or a machine's or cluster's document.

    Parameters
    ----------
    document : bytes
    origin : str
        Path of the file.

    Raises
    ------
    InvalidDocument
        If it is damaged, of a newer schema, or something else.
    """
    kind = kind_of(document)
    if kind in ("machine", "cluster"):
        value = decode(document, _CONTENTS[kind][1], origin=origin)
        created = getattr(value, "created", None) or ""
        return _portable(value, encode(value), created=created, origin=origin, source=origin)
    file = decode(document, RecordFile, origin=origin)
    machine = None
    if file.machine is not None:
        machine = _read(file.machine, f"the machine of {origin}", origin, None)
        if machine.kind in PROGRAMS:
            raise _refused(f"the machine of {origin}", "it is a program", _REMEDY)
    record = _read(file, origin, origin, machine)
    if machine is not None and record.kind not in PROGRAMS:
        raise _refused(origin, f"a {record.kind} is not bounded by a machine", _REMEDY)
    return record


def _read(
    part: RecordFile | Machinery, origin: str, source: str, machine: Portable | None
) -> Portable:
    kind = part.document.get("kind")
    if kind not in _CONTENTS:
        raise _refused(origin, f"its content is of kind {kind!r}", _REMEDY)
    document = msgspec.json.encode(part.document)
    value = decode(document, _CONTENTS[kind][1], origin=origin)
    if digest_of(document) != part.digest:
        raise _refused(
            origin,
            "its content is not the one that its digest was computed from",
            "restore the file, or export the record again",
        )
    try:
        datetime.fromisoformat(part.created)
        if part.label is not None:
            require_label(part.label)
    except ValueError:
        reason = f"created: {part.created!r} is not a date and time"
        raise _refused(origin, reason, "correct this field") from None
    except RidgepointError as error:
        raise _refused(origin, f"label: {error.reason}", error.remedy) from error
    return _portable(
        value,
        document,
        created=part.created,
        origin=origin,
        source=source,
        label=part.label,
        note=part.note,
        machine=machine,
    )


def _portable(
    value: Content,
    document: bytes,
    *,
    created: str,
    origin: str,
    source: str,
    label: str | None = None,
    note: str | None = None,
    machine: Portable | None = None,
) -> Portable:
    summary = None
    if isinstance(value, Measurement | Timing | OperatorProfile):
        bounding = None if machine is None else one_node(machine)
        summary = msgspec.json.encode(summary_of(value, bounding)).decode()
        name = command_text(value)
    else:
        name = value.name
    return Portable(
        kind=_CONTENTS[kind_of(document) or ""][0],
        created=created,
        name=name,
        fingerprint=value.fingerprint if isinstance(value, Machine) else None,
        document=document,
        origin=origin,
        source=source,
        label=label,
        note=None if note is None else legible(note),
        summary=summary,
        machine=machine,
    )


def content_of(record: Portable) -> Content:
    """Return the value that a record holds."""
    kind = kind_of(record.document) or ""
    return decode(record.document, _CONTENTS[kind][1], origin=record.origin)


def described(record: Portable) -> Record:
    """Return what is said of a record, with the number 0: it has none."""
    return record_of(
        (
            *(0, record.kind, record.created, record.name, None),
            *(record.label, record.note, record.summary),
        )
    )


def one_node(record: Portable) -> Machine:
    """Return the machine of a record, or the slowest node of a cluster."""
    value = content_of(record)
    if isinstance(value, MeasuredCluster):
        return value.slowest()
    assert isinstance(value, Machine)  # whoever reads a record's machine has made sure
    return value


def _refused(origin: str, reason: str, remedy: str) -> InvalidDocument:
    return InvalidDocument(f"cannot read {origin} as a record", reason=reason, remedy=remedy)
