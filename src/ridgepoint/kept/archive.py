"""The archive: machines, clusters and measurements in one SQLite file.

The file is created completely or not at all, every record is one transaction, and a record that
was reported as kept survives the end of the process at any moment. A file that is not a sound
archive of this version is refused and left unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec
import platformdirs

from ridgepoint.core.documents import Value, decode, encode, kind_of, legible, require_known
from ridgepoint.core.errors import ArchiveRefused, InvalidDocument
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.kept.archive_connection import ArchiveConnection
from ridgepoint.kept.archive_content import FACTS, insert, unpacked
from ridgepoint.kept.archive_file import require_writable
from ridgepoint.kept.archive_record import (
    LISTED,
    MACHINES,
    Kind,
    Record,
    command_text,
    record_of,
    require_label,
)
from ridgepoint.kept.archive_refusals import (
    bounds_others,
    no_such_name,
    not_counted,
    nothing,
)
from ridgepoint.kept.merging import Merged, merge
from ridgepoint.kept.portable import Portable
from ridgepoint.models.condensed import condensed
from ridgepoint.models.summary import summary_of

if TYPE_CHECKING:
    import pandas as pd

    from ridgepoint.core.table import Table

__all__ = ["Archive", "Record", "default_path", "require_label"]

_Facts = tuple[Kind, str, str | None, int | None]
"""Kind, name, fingerprint, and the record of the machine."""

_MOST_DIGITS = 100
"""More are no number of a record, and int() refuses far longer numbers."""

ArchivePath = Path | str | None
"""An archive's file; None: the archive in use (``RIDGEPOINT_ARCHIVE``, or the user's)."""


def default_path() -> Path:
    """Return where the archive is: ``RIDGEPOINT_ARCHIVE``, or the user's data directory."""
    chosen = os.environ.get("RIDGEPOINT_ARCHIVE")
    if chosen:
        return Path(chosen)
    return Path(platformdirs.user_data_dir("ridgepoint")) / "archive.sqlite3"


class Archive:
    """One archive file; a context manager that closes it.

    An archive that does not exist yet reads as empty and is created by the first record. An
    existing one is checked at once, so that a refusal comes before any work is done.

    Parameters
    ----------
    path : Path or str or None
        Path of the file; None: `default_path`.
    patience_s : float
        How long to wait for another process that writes, in seconds.

    Raises
    ------
    ArchiveRefused
        By every method, if the file is damaged, newer, not an archive, locked for longer than
        `patience_s`, or not permitted. The file is then unchanged.
    """

    def __init__(self, path: ArchivePath = None, *, patience_s: float = 10.0) -> None:
        self.path = (default_path() if path is None else Path(path)).absolute()
        self._file = ArchiveConnection(self.path, patience_s=patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; every method opens it again."""
        self._file.close()

    def require_writable(self) -> None:
        """Refuse at once whatever would prevent keeping a record, as far as it can be known.

        Raises
        ------
        ArchiveRefused
            If the file, or the folder that it is to be made in, may not be written.
        """
        require_writable(self.path)

    def keep_machine(
        self, machine: Machine, *, label: str | None = None, note: str | None = None
    ) -> int:
        """Keep a machine and return its id: once this returns, it is on the disk."""
        facts: _Facts = ("machine", machine.name, machine.fingerprint, None)
        return self._keep(facts, encode(machine), label, note)

    def keep_cluster(
        self, cluster: MeasuredCluster, *, label: str | None = None, note: str | None = None
    ) -> int:
        """Keep a measured cluster and return its id: once this returns, it is on the disk."""
        return self._keep(("cluster", cluster.name, None, None), encode(cluster), label, note)

    def keep_measurement(
        self,
        measurement: Measurement | Timing,
        machine_id: int | None,
        *,
        label: str | None = None,
        note: str | None = None,
    ) -> int:
        """Keep a measurement and return its id: once this returns, it is on the disk.

        Functions that did very little are kept as one remainder.

        Parameters
        ----------
        measurement : Measurement or Timing
        machine_id : int or None
            The kept machine, or cluster, that bounded it; None: nothing bounded it.
        label, note : str or None
            Name of the record, and a remark about it; None: none.
        """
        name = command_text(measurement)
        summary = None
        # A damaged machine prevents the summary but not the measurement.
        with suppress(InvalidDocument):
            machine = None if machine_id is None else self.machine(machine_id)
            summary = msgspec.json.encode(summary_of(measurement, machine)).decode()
        facts: _Facts = ("measurement", name, None, machine_id)
        if isinstance(measurement, Measurement):
            measurement = condensed(measurement)
        return self._keep(facts, encode(measurement), label, note, summary)

    def set_label(self, id: int, label: str | None) -> None:
        """Rename a record; None: remove its name."""
        self._say(id, "label", None if label is None else require_label(label))

    def set_note(self, id: int, note: str | None) -> None:
        """Replace the note of a record; None: remove it."""
        self._say(id, "note", None if note is None else legible(note))

    def delete(self, ids: Collection[int], *, with_measurements: bool = False) -> list[Record]:
        """Delete records, all of them or none, and return their descriptions.

        Their numbers are not used again. The file only becomes smaller with `shrink`.

        Parameters
        ----------
        ids : collection of int
        with_measurements : bool
            Whether to also delete the measurements that were bounded by a machine among them.

        Raises
        ------
        ArchiveRefused
            If a record is missing, or bounded measurements that are to stay.
        """
        chosen = set(ids)
        for id in chosen:
            self.record(id)
        with self._file.writing() as connection:
            # Within the transaction, in case another process keeps a measurement meanwhile.
            every = [record_of(row) for row in connection.execute(LISTED[True]).fetchall()]
            bounded = {record.id for record in every if record.machine_id in chosen}
            if bounded - chosen and not with_measurements:
                machines = [
                    record.id for record in every if record.id in chosen and record.kind in MACHINES
                ]
                raise bounds_others(self.path, machines, sorted(bounded - chosen))
            gone = [record for record in every if record.id in chosen | bounded]
            for record in gone:
                connection.execute("DELETE FROM record WHERE id = ?", (record.id,))
                connection.execute("INSERT OR REPLACE INTO about (id) VALUES (?)", (record.id,))
        return gone

    def shrink(self) -> None:
        """Return the space of deleted records to the disk, which meanwhile needs as much again."""
        self._file.shrink()

    def records(self, kind: Kind | None = None) -> list[Record]:
        """Return all records, oldest first; none if there is no archive yet."""
        rows = self._listed("?1 IS NULL OR kind = ?1 ORDER BY record.id", kind)
        return [record_of(row) for row in rows]

    def table(self) -> Table:
        """Return a table of all records, oldest first: see docs/tables.md."""
        from ridgepoint.kept.record_table import records_table

        return records_table(self.records())

    def frame(self) -> pd.DataFrame:
        """Return a frame of pandas with a row for each record, oldest first.

        Its `attrs` hold the ``units`` of its columns. `Archive.measurement` and `load` give the
        records themselves, whose own `frame` has their parts.

        Raises
        ------
        RidgepointError
            If pandas is not installed.
        """
        from ridgepoint.core.frames import frame

        return frame(self.table())

    def record(self, id: int) -> Record:
        """Return the description of one record.

        Raises
        ------
        ArchiveRefused
            If there is no such record.
        """
        # SQLite cannot compare with numbers beyond 64 bits.
        rows = self._listed("record.id = ?", id) if 0 < id < 1 << 63 else []
        if not rows:
            raise self._nothing("record", id)
        return record_of(rows[0])

    def find(self, text: str, kinds: Sequence[Kind] = ()) -> Record | None:
        """Return the record with a number or a name; None: no record has this name.

        Parameters
        ----------
        text : str
            A number is always that of a record; if several records have one name, the last is
            returned.
        kinds : sequence of {"machine", "measurement", "cluster"}
            Accepted kinds of a record found by name; empty: any.

        Raises
        ------
        ArchiveRefused
            If no record has this number.
        """
        if text.isdecimal():
            if len(text) > _MOST_DIGITS:
                raise self._nothing("record", f"{text[:_MOST_DIGITS]}…")
            return self.record(int(text))
        named = [record for record in self.records() if record.label == text]
        return next(
            (record for record in reversed(named) if not kinds or record.kind in kinds), None
        )

    def require(self, text: str, kinds: Sequence[Kind] = ()) -> Record:
        """Return the record with a number or a name, as `find` does, but never None.

        Raises
        ------
        ArchiveRefused
            If there is no such record.
        """
        record = self.find(text, kinds)
        if record is not None:
            return record
        labels = [record.label for record in self.records() if record.label is not None]
        raise no_such_name(self.path, labels, text, kinds)

    def machine(self, id: int) -> Machine:
        """Return a kept machine, or the slowest node of a kept cluster.

        Raises
        ------
        ArchiveRefused
            If no machine and no cluster has this id.
        InvalidDocument
            If this record is damaged, or of a newer schema.
        """
        if self.record(id).kind == "cluster":
            return self.cluster(id).slowest()
        return self._value("machine", Machine, id)

    def cluster(self, id: int) -> MeasuredCluster:
        """Return a kept cluster.

        Raises
        ------
        ArchiveRefused
            If no cluster has this id.
        InvalidDocument
            If this record is damaged, or of a newer schema.
        """
        return self._value("cluster", MeasuredCluster, id)

    def measurement(self, id: int) -> Measurement:
        """Return a kept measurement.

        Raises
        ------
        ArchiveRefused
            If no measurement has this id.
        InvalidDocument
            If this record is damaged, or of a newer schema.
        """
        measured = self.measured(id)
        if isinstance(measured, Measurement):
            return measured
        raise not_counted(measured, f"record {id} of {self.path}", f"'ridgepoint show {id}'")

    def measured(self, id: int) -> Measurement | Timing:
        """Return a kept measurement, or the times of a program that was not counted.

        Raises
        ------
        ArchiveRefused
            If no measurement has this id.
        InvalidDocument
            If this record is damaged, or of a newer schema.
        """
        document, origin = self._document("measurement", id)
        if kind_of(document) == "timing":
            return decode(document, Timing, origin=origin)
        return decode(document, Measurement, origin=origin)

    def latest_machine(self, fingerprint: str) -> tuple[int, Machine] | None:
        """Return the last machine kept with a fingerprint, and its id; None if there is none.

        Raises
        ------
        InvalidDocument
            If that record is damaged, or of a newer schema.
        """
        rows = self._file.rows(
            "SELECT id FROM record WHERE kind = 'machine' AND fingerprint = ?"
            " ORDER BY id DESC LIMIT 1",
            fingerprint,
        )
        return (rows[0][0], self.machine(rows[0][0])) if rows else None

    def portable(self, record: Record, machine: Portable | None = None) -> Portable:
        """Return a record with its content.

        Parameters
        ----------
        record : Record
            Of this archive.
        machine : Portable or None
            The record of the machine that bounds it.

        Raises
        ------
        InvalidDocument
            If it is damaged, or of a newer schema.
        """
        document, origin = self._document(record.kind, record.id)
        require_known(document, origin=origin)
        rows = self._file.rows("SELECT fingerprint FROM record WHERE id = ?", record.id)
        known = record.summary
        return Portable(
            kind=record.kind,
            created=record.created,
            name=record.name,
            document=document,
            origin=origin,
            source=str(self.path),
            fingerprint=rows[0][0],
            label=record.label,
            note=record.note,
            summary=None if known is None else msgspec.json.encode(known).decode(),
            machine=machine,
        )

    def merge(self, records: Iterable[Portable]) -> list[Merged]:
        """Keep records of elsewhere, all of them or none; see `ridgepoint.kept.merging.merge`.

        Raises
        ------
        ArchiveRefused
            If the archive cannot be written.
        InvalidDocument
            If a record is damaged; none is kept then.
        """
        with self._file.writing() as connection:
            return merge(connection, records)

    def _keep(
        self,
        facts: _Facts,
        document: bytes,
        label: str | None,
        note: str | None,
        summary: str | None = None,
    ) -> int:
        kind, name, fingerprint, machine_id = facts
        if label is not None:
            require_label(label)
        if machine_id is not None and self.record(machine_id).kind not in MACHINES:
            raise self._nothing("machine", machine_id)
        created = datetime.now(UTC).isoformat(timespec="seconds")
        written = (kind, created, name, fingerprint, machine_id)
        with self._file.writing() as connection:
            return insert(connection, written, document, label=label, note=note, summary=summary)

    def _say(self, id: int, column: Literal["label", "note"], text: str | None) -> None:
        self.record(id)
        with self._file.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO about (id) VALUES (?)", (id,))
            connection.execute(f"UPDATE about SET {column} = ? WHERE id = ?", (text, id))

    def _value(self, kind: Kind, value: type[Value], id: int) -> Value:
        document, origin = self._document(kind, id)
        return decode(document, value, origin=origin)

    def _document(self, kind: Kind, id: int) -> tuple[bytes, str]:
        """Return the document of a record, and its location, for messages."""
        if self.record(id).kind != kind:
            raise self._nothing(kind, id)
        ((*facts, content, digest),) = self._file.rows(
            f"SELECT {FACTS}, document, digest FROM record WHERE id = ?", id
        )
        origin = f"record {id} of {self.path}"
        return unpacked(tuple(facts), content, digest, origin=origin), origin

    def _listed(self, condition: str, argument: object) -> list[tuple[Any, ...]]:
        says_more = (self._file.schema() or 0) >= 3
        return self._file.rows(f"{LISTED[says_more]} WHERE {condition}", argument)

    def _nothing(self, kind: str, id: object) -> ArchiveRefused:
        return nothing(self.path, len(self.records()), kind, id)
