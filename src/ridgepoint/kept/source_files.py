"""Source files that counts name, as long as they are what was measured."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

_MOST_BYTES = 5_000_000
_ENDINGS = frozenset(
    {
        *(".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".h", ".hh", ".hpp", ".hxx", ".inl", ".tcc"),
        *(".f", ".for", ".f90", ".f95", ".f03", ".f08", ".rs", ".go", ".zig", ".d", ".jl", ".py"),
        *(".pyx", ".m", ".mm", ".swift", ".s", ".asm", ".ispc"),
    }
)
"""Of source code: a record of somebody else may name any file."""


def unchanged_lines(paths: Iterable[str], *, since: str) -> dict[str, tuple[str, ...]]:
    """Return the lines of those files that were not written since a measurement.

    Parameters
    ----------
    paths : iterable of str
        As debug information names them; those that are not absolute, not there, unreadable, larger
        than 5 MB, or without the ending of source code are left out.
    since : str
        When the measurement began, ISO 8601 with its offset.

    Returns
    -------
    dict of str to tuple of str
    """
    began_s = datetime.fromisoformat(since).timestamp()
    found = {}
    for name in dict.fromkeys(paths):
        path = Path(name)
        with contextlib.suppress(OSError, ValueError):
            status = path.stat()
            is_same = status.st_mtime <= began_s and status.st_size <= _MOST_BYTES
            is_source = path.resolve().suffix.lower() in _ENDINGS
            if path.is_absolute() and path.is_file() and is_source and is_same:
                found[name] = tuple(path.read_text("utf-8", "replace").splitlines())
    return found
