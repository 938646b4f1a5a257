"""The rows of an archive's records: documents packed, and guarded by a digest.

Every function works on an open connection, within the transaction of whoever calls it.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any

from ridgepoint.core.documents import legible
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.kept.archive_record import Kind

if TYPE_CHECKING:
    import sqlite3

Facts = tuple[Kind, str, str, str | None, int | None]
"""Kind, date, name, fingerprint, and the record of the machine."""

FACTS = "kind, created, name, fingerprint, machine_id"
"""The columns of `Facts`."""

_PLAIN = b"{"  # the first byte of a JSON document; a compressed one begins with another


def insert(
    connection: sqlite3.Connection,
    facts: Facts,
    document: bytes,
    *,
    label: str | None,
    note: str | None,
    summary: str | None,
) -> int:
    """Write a record, with what is said about it, and return its id."""
    content = min(document, zlib.compress(document), key=len)
    ((last,),) = connection.execute(
        "SELECT max(id) FROM (SELECT max(id) AS id FROM record UNION SELECT max(id) FROM about)"
    ).fetchall()
    id: int = (last or 0) + 1
    connection.execute(
        f"INSERT INTO record (id, {FACTS}, document, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (id, *facts, content, _digest(facts, content)),
    )
    text = None if note is None else legible(note)
    if (label, text, summary) != (None, None, None):
        connection.execute(
            "INSERT INTO about (id, label, note, summary) VALUES (?, ?, ?, ?)",
            (id, label, text, summary),
        )
    return id


def unpacked(facts: tuple[Any, ...], content: bytes, digest: bytes, *, origin: str) -> bytes:
    """Return the document of a record.

    Raises
    ------
    InvalidDocument
        If it, or the facts beside it, have changed since they were kept.
    """
    if digest != _digest(facts, content):
        raise InvalidDocument(
            f"cannot read {origin} as a {facts[0]}",
            reason="its bytes have changed since it was kept",
            remedy="measure it again, or restore a copy of the archive",
        )
    return content if content.startswith(_PLAIN) else zlib.decompress(content)


def _digest(facts: tuple[object, ...], content: bytes) -> bytes:
    """Return a checksum that shows whether a record is unchanged: SQLite has none."""
    return hashlib.sha256(repr(facts).encode() + content).digest()
