"""Why an archive file cannot be used, and what to do: SQLite's result codes in plain words."""

ELSEWHERE = "keep it elsewhere with RIDGEPOINT_ARCHIVE"
SET_ASIDE = f"restore a copy, move it away to begin a new one, or {ELSEWHERE}"

# By the name of SQLite's result code, or its beginning: why, and what to do.
_REFUSALS = {
    "SQLITE_BUSY": ("another process has kept it locked", "try again when that one has ended"),
    "SQLITE_FULL": ("the disk is full", f"make room, or {ELSEWHERE}"),
    "SQLITE_READONLY_ROLLBACK": (
        "a write was interrupted, and undoing it needs permission to write",
        "open it once as a user who may write it",
    ),
    "SQLITE_READONLY_DBMOVED": ("it was moved or removed meanwhile", "try again"),
    "SQLITE_READONLY": ("it may not be written", f"permit writing, or {ELSEWHERE}"),
    "SQLITE_PERM": ("it may not be opened", f"permit it, or {ELSEWHERE}"),
    "SQLITE_CANTOPEN": (
        "it, or the journal beside it, cannot be opened",
        f"permit reading the file and writing its folder, or {ELSEWHERE}",
    ),
    "SQLITE_NOTADB": ("it is no SQLite file, or its beginning is damaged", SET_ASIDE),
    "SQLITE_CORRUPT": ("it is damaged", SET_ASIDE),
    "SQLITE_IOERR": (
        "the system failed to read or write it",
        f"look at the disk and its quota, or {ELSEWHERE}",
    ),
}


def explain(name: str, text: str) -> tuple[str, str]:
    """Return why SQLite failed and what to do.

    Parameters
    ----------
    name : str
        SQLite's result code, for example ``SQLITE_IOERR_WRITE``.
    text : str
        What SQLite says, for codes that are not known here: these come from damaged tables.
    """
    for beginning, explained in _REFUSALS.items():
        if name.startswith(beginning):
            return explained
    return f"it is damaged ({text})", SET_ASIDE
