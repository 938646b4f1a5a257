"""Records of elsewhere put into an archive: nothing twice, and every number newly given."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.kept.archive_content import FACTS, insert, unpacked
from ridgepoint.kept.archive_record import LONGEST_LABEL, PROGRAMS, Kind
from ridgepoint.kept.portable import Portable, digest_of

if TYPE_CHECKING:
    import sqlite3

_Key = tuple[str, str, str | None]
"""Kind, name and, of measurements, the date: what records with the same content have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What became of a record of elsewhere.

    Parameters
    ----------
    id : int
        Its number here.
    kind : {"machine", "measurement", "cluster", "operators"}
    name : str
        Name of the machine or the cluster, or the command as a shell takes it.
    origin : str
        Where it comes from.
    is_new : bool
        Whether it was kept now; False: it was here already.
    label : str or None
        Its name here.
    own_label : str or None
        Its name there; it has another one here if that was taken.
    """

    id: int
    kind: Kind
    name: str
    origin: str
    is_new: bool
    label: str | None
    own_label: str | None

    @property
    def is_renamed(self) -> bool:
        """Whether it was kept by another name than its own."""
        return self.is_new and self.label != self.own_label


def merge(connection: sqlite3.Connection, records: Iterable[Portable]) -> list[Merged]:
    """Put records into an archive, with the machines that bound them.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of an archive, within a transaction.
    records : iterable of Portable

    Returns
    -------
    list of Merged
        Every machine before the measurements that it bounds, each once. A record whose content,
        and whose machine, are here already is not kept again. A name that another record has
        here gets a number behind it.
    """
    merging = _Merging.of(connection)
    for record in records:
        merging.add(record)
    return list(merging.done.values())


@dataclass(slots=True, kw_only=True)
class _Merging:
    """The state of a merge.

    Parameters
    ----------
    connection : sqlite3.Connection
    ids : dict
        Records here by what those of the same content have in common.
    machine_ids : dict of int to int or None
        The machine of each record here.
    labels : dict of int to str
        Names of the records here.
    taken : set of str
        These names.
    digests : dict of int to str or None
        Of the content of records here, as far as they are known; None: it is damaged.
    renamed : dict of (str, str) to str
        Names here by source and name there.
    done : dict of int to Merged
    """

    connection: sqlite3.Connection
    ids: dict[_Key, list[int]]
    machine_ids: dict[int, int | None]
    labels: dict[int, str]
    taken: set[str]
    digests: dict[int, str | None] = field(default_factory=dict)
    renamed: dict[tuple[str, str], str] = field(default_factory=dict)
    done: dict[int, Merged] = field(default_factory=dict)

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> _Merging:
        """Return the beginning, with what is here already."""
        ids: dict[_Key, list[int]] = {}
        machine_ids = {}
        for id, kind, name, created, machine_id in connection.execute(
            "SELECT id, kind, name, created, machine_id FROM record ORDER BY id"
        ):
            ids.setdefault(_key(kind, name, created), []).append(id)
            machine_ids[id] = machine_id
        labels: dict[int, str] = dict(
            connection.execute("SELECT id, label FROM about WHERE label IS NOT NULL").fetchall()
        )
        return cls(
            connection=connection,
            ids=ids,
            machine_ids=machine_ids,
            labels=labels,
            taken=set(labels.values()),
        )

    def add(self, record: Portable) -> int:
        """Keep a record, and before it its machine, unless it is here; return its number here."""
        machine_id = None if record.machine is None else self.add(record.machine)
        id = self._found(record, machine_id)
        if id is None:
            id = self._kept(record, machine_id)
        elif id not in self.done:
            self._note(id, record, is_new=False)
        return id

    def _note(self, id: int, record: Portable, *, is_new: bool) -> None:
        # Without its content, which would fill the memory.
        self.done[id] = Merged(
            id=id,
            kind=record.kind,
            name=record.name,
            origin=record.origin,
            is_new=is_new,
            label=self.labels.get(id),
            own_label=record.label,
        )

    def _found(self, record: Portable, machine_id: int | None) -> int | None:
        """Return the record here that is the same; None: there is none."""
        for id in self.ids.get(_key(record.kind, record.name, record.created), []):
            # What was exported without its machine is the same measurement.
            is_same_machine = machine_id in (None, self.machine_ids[id])
            if is_same_machine and self._digest(id) == record.digest:
                return id
        return None

    def _digest(self, id: int) -> str | None:
        if id not in self.digests:
            self.digests[id] = None
            ((*facts, content, digest),) = self.connection.execute(
                f"SELECT {FACTS}, document, digest FROM record WHERE id = ?", (id,)
            ).fetchall()
            with suppress(InvalidDocument):  # damaged: the sound one is kept beside it
                document = unpacked(tuple(facts), content, digest, origin=f"record {id}")
                self.digests[id] = digest_of(document)
        return self.digests[id]

    def _kept(self, record: Portable, machine_id: int | None) -> int:
        label = self._label(record)
        created = record.created or datetime.now(UTC).isoformat(timespec="seconds")
        id = insert(
            self.connection,
            (record.kind, created, record.name, record.fingerprint, machine_id),
            record.document,
            label=label,
            note=record.note,
            summary=record.summary,
        )
        self.ids.setdefault(_key(record.kind, record.name, created), []).append(id)
        self.machine_ids[id], self.digests[id] = machine_id, record.digest
        if label is not None:
            self.labels[id] = label
            self.taken.add(label)
        self._note(id, record, is_new=True)
        return id

    def _label(self, record: Portable) -> str | None:
        """Return the name that a record gets here: its own, unless others have it."""
        if record.label is None:
            return None
        known = self.renamed.get((record.source, record.label))
        if known is None:
            known, number = record.label, 1
            while known in self.taken:
                number += 1
                ending = f"-{number}"
                known = record.label[: LONGEST_LABEL - len(ending)] + ending
            self.renamed[record.source, record.label] = known
        return known


def _key(kind: str, name: str, created: str) -> _Key:
    # A machine may have been kept in several archives, at different times.
    return kind, name, created if kind in PROGRAMS else None
