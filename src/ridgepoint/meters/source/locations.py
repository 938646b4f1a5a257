"""Where instructions stand in the source: the debug metadata of a module's text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_ENTRY = re.compile(r"!(\d+) = (?:distinct )?!(DI(?:Location|Subprogram|LexicalBlock\w*|File))\(")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!?(\w+))')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")

Place = tuple[str, int]
"""A file's path and a line in it, counted from 1; line 0: none in particular."""

Position = tuple[str, int, int]
"""A place, and a column in bytes, counted from 1; column 0: none in particular."""


class Locations:
    """Places by the number of their debug metadata.

    Parameters
    ----------
    lines : iterable of str
        The module's text.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._fields: dict[int, dict[str, str]] = {}
        for line in lines:
            if line.startswith("!") and (found := _ENTRY.match(line)):
                self._fields[int(found[1])] = {
                    key: text or bare for key, text, bare in _FIELD.findall(line, found.end())
                }

    def place(self, number: int | None) -> Place | None:
        """Return the place of a location or a subprogram; None: it has none."""
        fields = self._fields.get(number) if number is not None else None
        if fields is None:
            return None
        file = self._file(fields)
        return None if file is None else (file, int(fields.get("line", 0)))

    def position(self, number: int | None) -> Position | None:
        """Return the place of a location with its column; None: it has none."""
        place = self.place(number)
        if place is None or number is None:
            return None
        return (*place, int(self._fields[number].get("column", 0)))

    def _file(self, fields: dict[str, str]) -> str | None:
        """Return the file of an entry, or of the scope around it."""
        seen = 0
        while "file" not in fields:
            scope = self._fields.get(int(fields.get("scope", "-1")))
            seen += 1
            if scope is None or seen > len(self._fields):
                return None
            fields = scope
        file = self._fields.get(int(fields["file"]))
        if file is None:
            return None
        name, folder = (_unescaped(file.get(key, "")) for key in ("filename", "directory"))
        return os.path.normpath(os.path.join(folder, name))


def _unescaped(text: str) -> str:
    return os.fsdecode(
        _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text).encode("latin-1", "replace")
    )
