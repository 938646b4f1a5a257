"""The line of each key in a TOML file, which the standard library's reader does not report."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ridgepoint.core.faults import Path

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_QUOTES = ('"""', "'''", '"', "'")


@dataclass(slots=True)
class _Open:
    """What the value of a key has left open at the end of a line."""

    brackets: int = 0
    quote: str = ""

    @property
    def is_open(self) -> bool:
        return self.brackets > 0 or bool(self.quote)

    def read(self, text: str) -> None:
        """Scan to the end of a line."""
        at = 0
        while at < len(text):
            at = self._within(text, at) if self.quote else self._outside(text, at)
        if self.quote in ('"', "'"):  # such a string ends with its line; the reader refuses it
            self.quote = ""

    def _within(self, text: str, at: int) -> int:
        if text[at] == "\\" and self.quote[0] == '"':
            return at + 2
        if text.startswith(self.quote, at):
            length, self.quote = len(self.quote), ""
            return at + length
        return at + 1

    def _outside(self, text: str, at: int) -> int:
        if text[at] == "#":
            return len(text)
        for quote in _QUOTES:
            if text.startswith(quote, at):
                self.quote = quote
                return at + len(quote)
        self.brackets += (text[at] in "[{") - (text[at] in "]}")
        return at + 1


def lines_of(text: str) -> Mapping[Path, int]:
    r"""Return the line of every key and table of a TOML text, by its path.

    Keys of a table that stands on one line have the line of that table. For a text that is not
    TOML, the result is undefined.

    Examples
    --------
    >>> lines_of('name = "x"\n[stages.grid]\ntime = "4 s"')[("stages", "grid", "time")]
    3
    """
    lines: dict[Path, int] = {}
    within: Path = ()
    lengths: dict[Path, int] = {}  # of arrays of tables
    value = _Open()
    for number, line in enumerate(text.split("\n"), start=1):
        if value.is_open:
            value.read(line)
        elif header := _HEADER.match(line):
            within = _in_last(lengths, _parts(header[2]))
            _note(lines, within, number)
            if header[1] == "[[":
                lengths[within] = lengths.get(within, 0) + 1
                within = (*within, lengths[within] - 1)
                lines[within] = number
        elif key := _KEY.match(line):
            _note(lines, (*within, *_parts(key[1])), number)
            value.read(line[key.end() :])
    return lines


def line_of(lines: Mapping[Path, int], path: Path) -> int | None:
    """Return the line of a key, or of the table around it; None: neither is known."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def _note(lines: dict[Path, int], path: Path, number: int) -> None:
    for length in range(1, len(path) + 1):
        lines.setdefault(path[:length], number)


def _in_last(lengths: Mapping[Path, int], parts: Path) -> Path:
    """Return the path of a header: within the last table of each array on its way."""
    path: Path = ()
    for part in parts:
        path = (*path, lengths[path] - 1, part) if path in lengths else (*path, part)
    return path


def _parts(dotted: str) -> Path:
    path: list[str] = []
    within: Any = tomllib.loads(f"{dotted} = 0")
    while isinstance(within, dict):
        ((key, within),) = within.items()
        path.append(key)
    return tuple(path)
