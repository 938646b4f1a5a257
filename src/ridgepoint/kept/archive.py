"""The archive: machines, clusters and measurements in one SQLite file.

The file is created completely or not at all, every record is one transaction, and a record that
was reported as kept survives the end of the process at any moment. A file that is not a sound
archive of this version is refused and left unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal

import msgspec

from ridgepoint.core.documents import encode, legible
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.kept.archive_content import insert
from ridgepoint.kept.archive_file import default_path, require_writable
from ridgepoint.kept.archive_reading import ArchivePath, ArchiveReading
from ridgepoint.kept.archive_record import (
    LISTED,
    MACHINES,
    Kind,
    Record,
    command_text,
    record_of,
    require_label,
)
from ridgepoint.kept.archive_refusals import bounds_others
from ridgepoint.kept.merging import Merged, merge
from ridgepoint.kept.portable import Portable
from ridgepoint.models.condensed import condensed
from ridgepoint.models.summary import summary_of

__all__ = ["Archive", "ArchivePath", "Record", "default_path", "require_label"]

_Facts = tuple[Kind, str, str | None, int | None]
"""Kind, name, fingerprint, and the record of the machine."""


class Archive(ArchiveReading):
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

    def require_writable(self) -> None:
        """Refuse at once whatever would prevent keeping a record, as far as it can be known.

        Raises
        ------
        ArchiveRefused
            If the file, or the folder that it is to be made in, may not be written.
        """
        require_writable(self.path)
        self._file.require_sound()

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
        summary = self._summary(measurement, machine_id)
        facts: _Facts = ("measurement", command_text(measurement), None, machine_id)
        if isinstance(measurement, Measurement):
            measurement = condensed(measurement)
        return self._keep(facts, encode(measurement), label, note, summary)

    def keep_operators(
        self,
        profile: OperatorProfile,
        machine_id: int | None,
        *,
        label: str | None = None,
        note: str | None = None,
    ) -> int:
        """Keep the operators of a program and return their id: see `keep_measurement`."""
        facts: _Facts = ("operators", command_text(profile), None, machine_id)
        summary = self._summary(profile, machine_id)
        return self._keep(facts, encode(profile), label, note, summary)

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

    def _summary(
        self, measured: Measurement | Timing | OperatorProfile, machine_id: int | None
    ) -> str | None:
        # A damaged machine prevents the summary but not the record.
        with suppress(InvalidDocument):
            machine = None if machine_id is None else self.machine(machine_id)
            return msgspec.json.encode(summary_of(measured, machine)).decode()
        return None

    def _say(self, id: int, column: Literal["label", "note"], text: str | None) -> None:
        self.record(id)
        with self._file.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO about (id) VALUES (?)", (id,))
            connection.execute(f"UPDATE about SET {column} = ? WHERE id = ?", (text, id))
