"""The file of an archive: its tables, its existence, and why it may be unusable, in plain words.

Schema 2 keeps clusters too. Schema 3 keeps descriptions of records (names, notes, results in
short) and compressed documents. Schema 4 keeps the operators of programs too. An older archive is
read as it is, and brought up to date when something is written to it, within the same
transaction.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import platformdirs

from ridgepoint.core.errors import ArchiveRefused, reason_of

SCHEMA = 4
"""Of the tables; a document inside has a schema of its own."""

_TWO_KINDS = "'machine', 'measurement'"
_THREE_KINDS = f"{_TWO_KINDS}, 'cluster'"
_KINDS = f"{_THREE_KINDS}, 'operators'"


def _records(kinds: str) -> tuple[str, str]:
    """Return the definition of a table of records of these kinds, and of its index."""
    # typeof() in the checks: SQLite stores any type in any column, and a flipped byte changes it.
    return (
        f"""CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ({kinds})),
    created TEXT NOT NULL CHECK (typeof(created) = 'text'),
    name TEXT NOT NULL CHECK (typeof(name) = 'text'),
    fingerprint TEXT CHECK (typeof(fingerprint) IN ('text', 'null')),
    machine_id INTEGER REFERENCES record (id) CHECK (typeof(machine_id) IN ('integer', 'null')),
    document BLOB NOT NULL CHECK (typeof(document) = 'blob'),
    digest BLOB NOT NULL CHECK (typeof(digest) = 'blob')
)""",
        "CREATE INDEX record_by_fingerprint ON record (fingerprint, id)",
    )


# The description of a record may change; the record may not. A description without a record
# belonged to a deleted one: its number is not used again.
_ABOUT = """CREATE TABLE about (
    id INTEGER PRIMARY KEY,
    label TEXT CHECK (typeof(label) IN ('text', 'null')),
    note TEXT CHECK (typeof(note) IN ('text', 'null')),
    summary TEXT CHECK (typeof(summary) IN ('text', 'null'))
)"""

TABLES = {
    1: _records(_TWO_KINDS),
    2: _records(_THREE_KINDS),
    3: (*_records(_THREE_KINDS), _ABOUT),
    4: (*_records(_KINDS), _ABOUT),
}
"""By schema."""


def _with_more_kinds(schema: int) -> tuple[str, ...]:
    """Return what makes the table of records anew, as it is in a schema."""
    return (
        "DROP INDEX record_by_fingerprint",
        f"ALTER TABLE record RENAME TO record_{schema - 1}",
        TABLES[schema][0],
        f"INSERT INTO record SELECT * FROM record_{schema - 1}",
        f"DROP TABLE record_{schema - 1}",
        TABLES[schema][1],
        f"PRAGMA user_version = {schema}",
    )


MIGRATIONS = {
    2: _with_more_kinds(2),
    3: (_ABOUT, "PRAGMA user_version = 3"),
    4: _with_more_kinds(4),
}
"""What makes an archive of the schema before one of this, within one transaction."""

_LEAST_FREE_BYTES = 1 << 20
"""A record takes less, but for large programs; a journal beside it too."""

_LEAST_BYTES = 512  # SQLite's smallest page

ELSEWHERE = "use another path with RIDGEPOINT_ARCHIVE"
SET_ASIDE = f"restore a copy, move the file away to begin a new archive, or {ELSEWHERE}"

# Reason and remedy by the name of SQLite's result code, or its beginning.
_REFUSALS = {
    "SQLITE_BUSY": ("another process keeps it locked", "try again when that process has ended"),
    "SQLITE_FULL": ("the disk is full", f"make room, or {ELSEWHERE}"),
    "SQLITE_READONLY_ROLLBACK": (
        "a write was interrupted, and undoing it needs permission to write",
        "open it once as a user who may write to it",
    ),
    "SQLITE_READONLY_DBMOVED": ("it was moved or removed while it was open", "try again"),
    "SQLITE_READONLY_DIRECTORY": (
        "its folder is not writable, and SQLite must write a journal beside it",
        f"make the folder writable, or {ELSEWHERE}",
    ),
    "SQLITE_READONLY": ("it is not writable", f"make it writable, or {ELSEWHERE}"),
    "SQLITE_PERM": ("permission to open it is denied", f"grant the permission, or {ELSEWHERE}"),
    "SQLITE_CANTOPEN": (
        "it, or the journal beside it, cannot be opened",
        f"make the file readable and its folder writable, or {ELSEWHERE}",
    ),
    "SQLITE_NOTADB": ("it is not an SQLite file, or its beginning is damaged", SET_ASIDE),
    "SQLITE_CORRUPT": ("it is damaged", SET_ASIDE),
    "SQLITE_IOERR": (
        "the system failed to read or write it",
        f"check the disk and its quota, or {ELSEWHERE}",
    ),
}


def explain(name: str, text: str) -> tuple[str, str]:
    """Return why SQLite failed, and what to do.

    Parameters
    ----------
    name : str
        SQLite's result code, for example ``SQLITE_IOERR_WRITE``.
    text : str
        SQLite's message, for codes that are not known here: these come from damaged tables.
    """
    for beginning, explained in _REFUSALS.items():
        if name.startswith(beginning):
            return explained
    return f"it is damaged ({text})", SET_ASIDE


def refused(path: Path, reason: str, remedy: str) -> ArchiveRefused:
    """Return the error for an archive that cannot be used."""
    return ArchiveRefused(f"cannot use the archive {path}", reason=reason, remedy=remedy)


def require_writable(path: Path) -> None:
    """Refuse an archive that may not be written, or a folder in which none can be created.

    Raises
    ------
    ArchiveRefused
    """
    target = path
    while not target.exists():
        target = target.parent
    # SQLite makes its journal beside the file.
    for needed in {target, target if target.is_dir() else target.parent}:
        if not os.access(needed, os.W_OK):
            raise refused(path, f"{needed} cannot be written", f"make it writable, or {ELSEWHERE}")
    disk = os.statvfs(target)
    free = disk.f_bavail if os.geteuid() else disk.f_bfree
    # Some file systems do not tell their size.
    if disk.f_blocks and free * disk.f_frsize < _LEAST_FREE_BYTES:
        raise refused(path, "the disk is full", f"make room, or {ELSEWHERE}")


def default_path() -> Path:
    """Return where the archive is: ``RIDGEPOINT_ARCHIVE``, or the user's data directory.

    Raises
    ------
    ArchiveRefused
        If the user has no home directory, as a container's may.
    """
    chosen = os.environ.get("RIDGEPOINT_ARCHIVE")
    if chosen:
        return Path(chosen)
    try:
        return Path(platformdirs.user_data_dir("ridgepoint")) / "archive.sqlite3"
    except RuntimeError as error:
        raise ArchiveRefused(
            "cannot use an archive",
            reason="there is no home directory to keep it in",
            remedy="name a file in RIDGEPOINT_ARCHIVE, or set HOME",
        ) from error


def is_there(path: Path) -> bool:
    """Return whether there is a file.

    Raises
    ------
    ArchiveRefused
        If it cannot be an archive, whatever its content: a folder, a device, or too short; or if
        the path leads nowhere.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise refused(path, reason_of(error), f"correct the path, or {ELSEWHERE}") from error
    if stat.S_ISDIR(status.st_mode):
        raise refused(path, "it is a directory", "name a file")
    if not stat.S_ISREG(status.st_mode):
        raise refused(path, "it is not a regular file", "name a regular file")
    if status.st_size < _LEAST_BYTES:  # SQLite would take it for a new, empty database
        seen = f"it is too short, with {status.st_size} bytes" if status.st_size else "it is empty"
        raise refused(path, seen, SET_ASIDE)
    return True
