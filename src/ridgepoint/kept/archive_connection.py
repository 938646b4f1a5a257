"""The connection to an archive's file: created completely, checked on opening, brought up to date.

Only this module imports sqlite3.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ridgepoint.core.errors import reason_of
from ridgepoint.kept.archive_file import (
    ELSEWHERE,
    MIGRATIONS,
    SCHEMA,
    SET_ASIDE,
    TABLES,
    explain,
    is_there,
    refused,
)

_APPLICATION_ID = 0x52696467  # "Ridg"

_QUICKLY_CHECKED_BYTES = 32 << 20
"""Every page of a file up to this size is checked when it is opened, which takes 0.1 s at most."""


class ArchiveConnection:
    """One archive file, opened when it is first needed.

    Parameters
    ----------
    path : Path
        Absolute path of the file.
    patience_s : float
        How long to wait for another process that writes, in seconds.

    Raises
    ------
    ArchiveRefused
        By every method, if the file is damaged, newer, not an archive, locked for longer than
        `patience_s`, or not permitted. The file is then unchanged.

    Notes
    -----
    A rollback journal, not a write-ahead log: that one needs memory shared between processes
    and so fails on the network file systems on which clusters keep home directories, and it
    cannot be read in a folder that may not be written. Commits are rare and small here.
    ``synchronous = EXTRA`` is FULL, and syncs the folder too once the journal is gone; without
    that a power failure just after a commit could bring the journal, and so the rollback, back.
    """

    def __init__(self, path: Path, *, patience_s: float) -> None:
        self._path, self._patience_s = path, patience_s
        self._connection: sqlite3.Connection | None = None
        self._is_checked = False
        if is_there(path):
            self._connection = self._open()

    def close(self) -> None:
        """Close the file; every method opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection, self._is_checked = None, False

    def schema(self) -> int | None:
        """Return the schema number of the tables; None: there is no file yet."""
        connection = self._opened()
        if connection is None:
            return None
        with self._refusing():
            return int(_ask(connection, "user_version"))

    def rows(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows that a query finds; none if there is no file yet."""
        connection = self._opened()
        if connection is None:
            return []
        with self._refusing():
            return connection.execute(query, arguments).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Provide the file in one transaction, created if missing, with the tables of `SCHEMA`.

        An early end of any kind, a signal or a power failure too, leaves the file unchanged:
        bringing old tables up to date is part of the transaction.
        """
        if self._opened() is None:
            self._create()
        self.require_sound()
        connection = self._opened()
        assert connection is not None  # it has just been made
        with self._refusing():
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_header(connection)  # a newer version may have written meanwhile
                for newer in range(_ask(connection, "user_version") + 1, SCHEMA + 1):
                    for statement in MIGRATIONS[newer]:
                        connection.execute(statement)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    connection.execute("ROLLBACK")
                raise

    def require_sound(self) -> None:
        """Check every page of the file, unless that has been done."""
        connection = self._opened()
        if connection is not None and not self._is_checked:
            with self._refusing():
                self._check_pages(connection)

    def shrink(self) -> None:
        """Return the space of deleted records to the disk, which meanwhile needs as much again."""
        connection = self._opened()
        if connection is not None:
            with self._refusing():
                connection.execute("VACUUM")

    def _opened(self) -> sqlite3.Connection | None:
        if self._connection is None and is_there(self._path):
            self._connection = self._open()
        return self._connection

    def _create(self) -> None:
        """Create an archive without records, unless another process has created one."""
        folder = self._path.parent
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
                    os.link(draft, self._path)
            finally:
                os.unlink(draft)
            directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            remedy = f"make {folder} writable, or {ELSEWHERE}"
            raise refused(self._path, f"{folder}: {reason_of(error)}", remedy) from error

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
                self._check_tables(connection)
                if self._path.stat().st_size <= _QUICKLY_CHECKED_BYTES:
                    self._check_pages(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _connect(self, options: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file://{quote(os.fsencode(self._path))}?{options}",
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
                self._path, "it is another program's database", f"name another file, or {ELSEWHERE}"
            )
        schema = _ask(connection, "user_version")
        if schema > SCHEMA:
            raise refused(
                self._path,
                f"its schema is {schema}, and this version reads schemas up to {SCHEMA}",
                f"use a newer Ridgepoint, or {ELSEWHERE}",
            )
        if schema not in TABLES:
            raise refused(self._path, f"it is damaged (schema {schema})", SET_ASIDE)

    def _check_pages(self, connection: sqlite3.Connection) -> None:
        answer = _ask(connection, "quick_check(1)")
        if answer != "ok":
            raise refused(self._path, f"it is damaged ({' '.join(answer.split())})", SET_ASIDE)
        self._is_checked = True

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        # Their order is not that in which they were made once room was given back.
        tables = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        if sorted(sql or "" for (sql,) in tables) != sorted(
            TABLES[_ask(connection, "user_version")]
        ):
            raise refused(
                self._path,
                ("it is damaged (its tables are not those that Ridgepoint made)"),
                SET_ASIDE,
            )
        # SQLite reads the missing end of a last page as zeros. While this reads, nobody writes:
        # another writer must not make the file grow, or shrink, between both numbers.
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            told_bytes = _ask(connection, "page_count") * _ask(connection, "page_size")
            file_bytes = self._path.stat().st_size
        finally:
            connection.execute("COMMIT")
        if file_bytes < told_bytes:
            raise refused(self._path, "it is damaged (its end is missing)", SET_ASIDE)

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
            raise refused(self._path, reason, remedy) from error
        except UnicodeDecodeError as error:  # SQLite's message quotes damaged bytes
            raise refused(self._path, "it is damaged", SET_ASIDE) from error


def _ask(connection: sqlite3.Connection, pragma: str) -> Any:
    return connection.execute(f"PRAGMA {pragma}").fetchone()[0]
