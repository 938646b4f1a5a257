"""What an archive gives: descriptions of its records, and their content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from ridgepoint.core.collecting import not_collecting
from ridgepoint.core.documents import Value, decode, kind_of, require_known
from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.kept.archive_connection import ArchiveConnection
from ridgepoint.kept.archive_content import FACTS, unpacked
from ridgepoint.kept.archive_file import default_path
from ridgepoint.kept.archive_record import LISTED, Kind, Record, record_of
from ridgepoint.kept.archive_refusals import no_such_name, not_counted, nothing
from ridgepoint.kept.portable import Portable

if TYPE_CHECKING:
    import pandas as pd

    from ridgepoint.core.table import Table

_MOST_DIGITS = 100
"""More are no number of a record, and int() refuses far longer numbers."""

ArchivePath = Path | str | None
"""An archive's file; None: the archive in use (``RIDGEPOINT_ARCHIVE``, or the user's)."""


class ArchiveReading:
    """The part of `ridgepoint.kept.archive.Archive` that writes nothing."""

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

    def records(
        self, kind: Kind | None = None, *, last: int | None = None, containing: str | None = None
    ) -> list[Record]:
        """Return records, oldest first; none if there is no archive yet.

        Parameters
        ----------
        kind : {"machine", "measurement", "cluster", "operators"} or None
            None: every kind.
        last : int or None
            How many at most, the last ones; None: all.
        containing : str or None
            Text that the record's name, its command or its machine's own name contains, in upper
            or lower case; None: any.
        """
        condition = "(?1 IS NULL OR kind = ?1) ORDER BY record.id DESC"
        with not_collecting():
            if containing is None:
                rows = self._listed(f"{condition} LIMIT ?2", kind, -1 if last is None else last)
            else:
                wanted = containing.casefold()
                rows = [
                    row
                    for row in self._listed(condition, kind)
                    # Name, and label.
                    if wanted in row[3].casefold() or wanted in (row[5] or "").casefold()
                ][:last]
            return [record_of(row) for row in reversed(rows)]

    def count(self) -> int:
        """Return how many records there are."""
        rows = self._file.rows("SELECT count(*) FROM record")
        return rows[0][0] if rows else 0

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
        kinds : sequence of {"machine", "measurement", "cluster", "operators"}
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
        if not self._says_more():
            return None
        rows = self._listed("label = ? ORDER BY record.id DESC", text)
        return next((record_of(row) for row in rows if not kinds or row[1] in kinds), None)

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

    def operators(self, id: int) -> OperatorProfile:
        """Return the kept operators of a program.

        Raises
        ------
        ArchiveRefused
            If this id is not that of operators.
        InvalidDocument
            If this record is damaged, or of a newer schema.
        """
        return self._value("operators", OperatorProfile, id)

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

    def _listed(self, condition: str, *arguments: object) -> list[tuple[Any, ...]]:
        return self._file.rows(f"{LISTED[self._says_more()]} WHERE {condition}", *arguments)

    def _says_more(self) -> bool:
        """Return whether the archive keeps names, notes and summaries: old ones do not."""
        return (self._file.schema() or 0) >= 3

    def _nothing(self, kind: str, id: object) -> ArchiveRefused:
        return nothing(self.path, self.count(), kind, id)
