"""The names of kept records, read without the documents and all that understands them."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from ridgepoint.kept.archive_connection import ArchiveConnection
from ridgepoint.kept.archive_file import default_path

_MOST = 1000
_PATIENCE_S = 0.2


def kept_labels(path: Path | None = None, kinds: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return the names that users gave to records, last first, each with what it names.

    Parameters
    ----------
    path : Path or None
        The archive; None: the one in use.
    kinds : collection of {"machine", "measurement", "cluster", "operators"}
        Of these kinds; empty: of any.

    Returns
    -------
    list of (str, str)
        Name, and the machine, cluster or command that was measured; at most 1000.

    Raises
    ------
    ArchiveRefused
        If the file is not a sound archive.
    """
    with closing(
        ArchiveConnection((path or default_path()).absolute(), patience_s=_PATIENCE_S)
    ) as file:
        if (file.schema() or 0) < 3:
            return []
        rows = file.rows(
            "SELECT label, kind, name FROM record JOIN about USING (id) "
            "WHERE label IS NOT NULL ORDER BY record.id DESC"
        )
    named: dict[str, str] = {}
    for label, kind, name in rows:
        if not kinds or kind in kinds:
            named.setdefault(label, name)
    return list(named.items())[:_MOST]
