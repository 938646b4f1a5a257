"""What was kept: machines, clusters and measurements in one SQLite file.

The file is made whole or not at all, every record is one transaction, and a record that was
reported as kept survives the end of the process at any moment. A file that is not a sound
archive of this version is refused and left as it is.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import quote

import platformdirs

from ridgepoint.archive_file import (
    ELSEWHERE,
    SCHEMA,
    SET_ASIDE,
    TABLES,
    TO_CLUSTERS,
    explain,
    is_there,
    refused,
    why,
)
from ridgepoint.documents import Value, decode, encode, legible
from ridgepoint.errors import ArchiveRefused, InvalidDocument
from ridgepoint.machine import Machine
from ridgepoint.measured_cluster import MeasuredCluster
from ridgepoint.measurement import Measurement

Kind = Literal["machine", "measurement", "cluster"]

_MACHINES = ("machine", "cluster")
"""Kinds that bound a measurement: of a cluster its slowest node does."""

_APPLICATION_ID = 0x52696467  # "Ridg"

_LISTED = "SELECT id, kind, created, name, machine_id FROM record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the archive says of something it keeps, without the thing itself.

    Parameters
    ----------
    id : int
    kind : {"machine", "measurement", "cluster"}
    created : str
        When it was kept, ISO 8601, UTC.
    name : str
        The machine's or the cluster's name, or the command as a shell takes it.
    machine_id : int or None
        Of a measurement, the record of the machine that bounded it.
    """

    id: int
    kind: Kind
    created: str
    name: str
    machine_id: int | None


def default_path() -> Path:
    """Return where the archive is: ``RIDGEPOINT_ARCHIVE``, or the user's data directory."""
    chosen = os.environ.get("RIDGEPOINT_ARCHIVE")
    if chosen:
        return Path(chosen)
    return Path(platformdirs.user_data_dir("ridgepoint")) / "archive.sqlite3"


class Archive:
    """One archive file; a context manager that closes it.

    An archive that does not exist yet reads as empty and is made by the first record kept. One
    that exists is checked at once, so that a refusal comes before any work is done.

    Parameters
    ----------
    path : Path or str or None
        None: `default_path`.
    patience_s : float
        How long to wait for another process that writes.

    Raises
    ------
    ArchiveRefused
        By every method, if the file is damaged, newer, not an archive, locked for longer than
        `patience_s`, or not permitted. The file is then as it was.

    Notes
    -----
    A rollback journal, not a write-ahead log: that one needs memory shared between processes
    and so fails on the network file systems on which clusters keep home directories, and it
    cannot be read in a folder that may not be written. Commits are rare and small here.
    ``synchronous = EXTRA`` is FULL, and syncs the folder too once the journal is gone; without
    that a power failure just after a commit could bring the journal, and so the rollback, back.
    """

    def __init__(self, path: Path | str | None = None, *, patience_s: float = 10.0) -> None:
        self.path = (default_path() if path is None else Path(path)).absolute()
        self._patience_s = patience_s
        self._connection: sqlite3.Connection | None = None
        if is_there(self.path):
            self._connection = self._open()

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
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def require_writable(self) -> None:
        """Refuse now what keeping something would refuse later, as far as that can be told.

        Raises
        ------
        ArchiveRefused
            If the file, or the folder that it is to be made in, may not be written.
        """
        target = self.path
        while not target.exists():
            target = target.parent
        # SQLite makes its journal beside the file.
        for needed in {target, target if target.is_dir() else target.parent}:
            if not os.access(needed, os.W_OK):
                raise refused(
                    self.path,
                    f"{needed} cannot be written",
                    f"permit writing there, or {ELSEWHERE}",
                )

    def keep_machine(self, machine: Machine) -> int:
        """Keep a machine and return its id: once this returns, it is on the disk."""
        return self._keep("machine", machine.name, machine.fingerprint, None, encode(machine))

    def keep_cluster(self, cluster: MeasuredCluster) -> int:
        """Keep a measured cluster and return its id: once this returns, it is on the disk."""
        return self._keep("cluster", cluster.name, None, None, encode(cluster))

    def keep_measurement(self, measurement: Measurement, machine_id: int | None) -> int:
        """Keep a measurement and return its id: once this returns, it is on the disk.

        Parameters
        ----------
        measurement : Measurement
        machine_id : int or None
            The kept machine, or cluster, that bounded it; None: none did.
        """
        name = legible(shlex.join(measurement.command))
        return self._keep("measurement", name, None, machine_id, encode(measurement))

    def records(self, kind: Kind | None = None) -> list[Record]:
        """Return what is kept, oldest first; nothing if there is no archive yet."""
        rows = self._rows(f"{_LISTED} WHERE ?1 IS NULL OR kind = ?1 ORDER BY id", kind)
        return [_record(row) for row in rows]

    def record(self, id: int) -> Record:
        """Return what the archive says of one record.

        Raises
        ------
        ArchiveRefused
            If there is no such record.
        """
        # Beyond 64 bits SQLite has no number to compare with.
        rows = self._rows(f"{_LISTED} WHERE id = ?", id) if 0 < id < 1 << 63 else []
        if not rows:
            raise self._nothing("record", id)
        return _record(rows[0])

    def machine(self, id: int) -> Machine:
        """Return a kept machine, or of a kept cluster its slowest node.

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
        return self._value("measurement", Measurement, id)

    def latest_machine(self, fingerprint: str) -> tuple[int, Machine] | None:
        """Return the machine kept last under a fingerprint, with its id; None if there is none.

        Raises
        ------
        InvalidDocument
            If that record is damaged, or of a newer schema.
        """
        rows = self._rows(
            "SELECT id FROM record WHERE kind = 'machine' AND fingerprint = ?"
            " ORDER BY id DESC LIMIT 1",
            fingerprint,
        )
        return (rows[0][0], self.machine(rows[0][0])) if rows else None

    def _keep(
        self,
        kind: Kind,
        name: str,
        fingerprint: str | None,
        machine_id: int | None,
        document: bytes,
    ) -> int:
        if machine_id is not None and self.record(machine_id).kind not in _MACHINES:
            raise self._nothing("machine", machine_id)
        if self._connection is None:
            if not is_there(self.path):
                self._create()
            self._connection = self._open()
        connection = self._connection
        created = datetime.now(UTC).isoformat(timespec="seconds")
        facts = (kind, created, name, fingerprint, machine_id)
        with self._refusing():
            connection.execute("BEGIN IMMEDIATE")
            try:
                if kind == "cluster" and _ask(connection, "user_version") == 1:
                    for statement in TO_CLUSTERS:
                        connection.execute(statement)
                cursor = connection.execute(
                    "INSERT INTO record"
                    " (kind, created, name, fingerprint, machine_id, document, digest)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*facts, document, _digest(facts, document)),
                )
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    connection.execute("ROLLBACK")
                raise
        return int(cursor.lastrowid or 0)

    def _value(self, kind: Kind, value: type[Value], id: int) -> Value:
        if self.record(id).kind != kind:
            raise self._nothing(kind, id)
        ((*facts, document, digest),) = self._rows(
            "SELECT kind, created, name, fingerprint, machine_id, document, digest"
            " FROM record WHERE id = ?",
            id,
        )
        origin = f"record {id} of {self.path}"
        if digest != _digest(tuple(facts), document):
            raise InvalidDocument(
                f"cannot read {origin} as a {kind}",
                reason="its bytes have changed since it was kept",
                remedy="measure it again, or restore a copy of the archive",
            )
        return decode(document, value, origin=origin)

    def _rows(self, query: str, argument: object) -> list[tuple[Any, ...]]:
        if self._connection is None:
            if not is_there(self.path):
                return []
            self._connection = self._open()
        with self._refusing():
            return self._connection.execute(query, (argument,)).fetchall()

    def _create(self) -> None:
        """Make an archive without records, whole or not at all, unless another process has."""
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(prefix=".ridgepoint-", dir=folder)
            os.close(handle)
            try:
                with self._refusing(), closing(sqlite3.connect(draft)) as connection:
                    connection.executescript(
                        f"PRAGMA application_id = {_APPLICATION_ID};"
                        f"PRAGMA user_version = {SCHEMA};" + ";".join(TABLES[SCHEMA])
                    )
                # A link, not a rename: it never replaces what another process has just made.
                with suppress(FileExistsError):
                    os.link(draft, self.path)
            finally:
                os.unlink(draft)
            directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            remedy = f"permit writing in {folder}, or {ELSEWHERE}"
            raise refused(self.path, f"{folder}: {why(error)}", remedy) from error

    def _open(self) -> sqlite3.Connection:
        # Immutable: SQLite reads the header without a lock and rolls no journal back, so that
        # another program's database stays untouched. A glance is no judge of damage, since it
        # may fall on a writer at work.
        unsure = suppress(sqlite3.Error, UnicodeDecodeError)
        with unsure, closing(self._connect("immutable=1")) as glance:
            self._check_header(glance)
        with self._refusing():
            # This opens a write-protected file for reading only, and makes none.
            connection = self._connect("mode=rw")
            try:
                connection.execute("PRAGMA synchronous = EXTRA")
                self._check_header(connection)
                self._check_pages(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _connect(self, options: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file://{quote(os.fsencode(self.path))}?{options}",
            uri=True,
            timeout=self._patience_s,
            isolation_level=None,  # transactions begin and end where the code says so
        )
        # A flipped byte in a name must not hide the records beside it.
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        return connection

    def _check_header(self, connection: sqlite3.Connection) -> None:
        if _ask(connection, "application_id") != _APPLICATION_ID:
            raise refused(
                self.path, "it is another program's database", f"name another, or {ELSEWHERE}"
            )
        schema = _ask(connection, "user_version")
        if schema > SCHEMA:
            raise refused(
                self.path,
                f"its schema is {schema}, and this version knows up to {SCHEMA}",
                f"use a newer Ridgepoint, or {ELSEWHERE}",
            )
        if schema not in TABLES:
            raise refused(self.path, f"it is damaged (schema {schema})", SET_ASIDE)

    def _check_pages(self, connection: sqlite3.Connection) -> None:
        found = _ask(connection, "quick_check(1)")
        if found != "ok":
            raise refused(self.path, f"it is damaged ({' '.join(found.split())})", SET_ASIDE)
        tables = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
        if tuple(sql for (sql,) in tables) != TABLES[_ask(connection, "user_version")]:
            raise refused(
                self.path, "it is damaged (its tables are not as they were made)", SET_ASIDE
            )
        # SQLite reads the missing end of a last page as zeros.
        if self.path.stat().st_size < _ask(connection, "page_count") * _ask(
            connection, "page_size"
        ):
            raise refused(self.path, "it is damaged (its end is missing)", SET_ASIDE)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn SQLite's errors into one clear line."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None)
            if name is None:  # misuse of the sqlite3 module: a bug, not a state of the file
                raise
            reason, remedy = explain(name, str(error))
            raise refused(self.path, reason, remedy) from error
        except UnicodeDecodeError as error:  # SQLite's message quotes damaged bytes
            raise refused(self.path, "it is damaged", SET_ASIDE) from error

    def _nothing(self, kind: str, id: int) -> ArchiveRefused:
        kept = len(self.records())
        if not kept:
            reason, remedy = "nothing is kept there yet", "use 'ridgepoint machine' or 'run' first"
        else:
            reason, remedy = f"it keeps {kept} records and no such {kind}", "see 'ridgepoint list'"
        what = f"cannot find {kind} {id} in the archive {self.path}"
        return ArchiveRefused(what, reason=reason, remedy=remedy)


def _ask(connection: sqlite3.Connection, pragma: str) -> Any:
    return connection.execute(f"PRAGMA {pragma}").fetchone()[0]


def _record(row: tuple[Any, ...]) -> Record:
    return Record(id=row[0], kind=row[1], created=row[2], name=row[3], machine_id=row[4])


def _digest(facts: tuple[object, ...], document: bytes) -> bytes:
    """Return what tells whether a record is as it was kept: SQLite has no checksums."""
    return hashlib.sha256(repr(facts).encode() + document).digest()
