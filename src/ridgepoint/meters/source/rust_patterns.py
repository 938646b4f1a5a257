"""Tell patterns of Rust from expressions, by their text: IR tests both with the same comparisons.

``1..=5 => ...`` compares as ``1 <= x && x <= 5`` does, but a pattern is no operator. A location of
rustc's names where either begins; what follows tells which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from ridgepoint.meters.source.locations import Position

_TOKEN = re.compile(
    rb"\s+|//[^\n]*|/\*(?s:.*?)\*/"
    rb"|(?P<float>\d[\d_]*(?:\.\d[\d_]*(?:[eE][-+]?[\d_]+)?|[eE][-+]?[\d_]+|(?=f32|f64))(?:f32|f64)?)"
    rb"|(?P<number>\d\w*)"
    rb"|(?P<text>b?'(?:[^'\\]|\\.[^']*)')"
    rb"|(?P<path>[A-Za-z_]\w*(?:\s*::\s*\w+)*)"
    rb"|(?P<sign>\.\.=|\.\.\.|\.\.|=>|==|&&|\|\||.)"
)
_RANGES = (b"..=", b"...", b"..")
# What may follow a whole pattern, and no first operand of a comparison.
_ENDS = frozenset((b"=>", b"=", b"|", b"if", b",", b")", b"]", b"}", b"@"))
_BORROWS = re.compile(rb"(?:[&*(\s]|mut\b)+")
_JOINED = re.compile(rb"(?:[^{};=]|=(?!>))*&&[(!*\s-]*")
_LONGEST = 10_000  # bytes of a pattern
_CLOSES = {b"[": 1, b"]": -1}


class Patterns:
    """Says where patterns begin, in the files of a crate.

    Parameters
    ----------
    files : sequence of str
        Absolute paths.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = {path: _File(path) for path in files}

    def begins(self, position: Position | None) -> bool:
        """Return whether a pattern that is tested by comparison begins at a position."""
        if position is None or position[0] not in self._files:
            return False
        path, line, column = position
        return self._files[path].has_pattern(line, column)

    def is_borrowed(self, outer: Position | None, inner: Position | None) -> bool:
        """Return whether nothing but `&`, `mut`, `*` and brackets stands between two positions."""
        if outer is None or inner is None or outer[0] != inner[0] or outer[0] not in self._files:
            return False
        between = self._files[outer[0]].between(outer[1:], inner[1:])
        return between is not None and _BORROWS.fullmatch(between) is not None

    def joins(self, left: Position | None, right: Position | None) -> bool:
        """Return whether `&&` stands before the second of two positions, and no block between."""
        if left is None or right is None or left[0] != right[0] or left[0] not in self._files:
            return False
        between = self._files[left[0]].between(left[1:], right[1:])
        return between is not None and _JOINED.fullmatch(between) is not None


class _File:
    """A source file, which is read when it is asked for."""

    def __init__(self, path: str) -> None:
        self._path = path

    @cached_property
    def _lines(self) -> tuple[bytes, list[int]]:
        text = Path(self._path).read_bytes()
        return text, [0, *(match.end() for match in re.finditer(rb"\n", text))]

    def has_pattern(self, line: int, column: int) -> bool:
        at = self._offset(line, column)
        return at is not None and is_pattern(self._lines[0][at : at + _LONGEST])

    def between(self, begin: tuple[int, int], end: tuple[int, int]) -> bytes | None:
        first, last = self._offset(*begin), self._offset(*end)
        return None if first is None or last is None else self._lines[0][first:last]

    def _offset(self, line: int, column: int) -> int | None:
        starts = self._lines[1]
        if not 1 <= line <= len(starts) or not column:
            return None
        return starts[line - 1] + column - 1


def is_pattern(text: bytes) -> bool:
    """Return whether a text begins with a pattern that is tested by comparison.

    Examples
    --------
    >>> is_pattern(b"1..=5 => 2"), is_pattern(b"1 <= x"), is_pattern(b"[a, .., b] => a + b")
    (True, False, True)
    """
    tokens = _tokens(text)
    kind, first = next(tokens, ("", b""))
    while first in (b"-", b"&"):
        kind, first = next(tokens, ("", b""))
    if first in _RANGES:
        return True
    if first == b"[":
        depth = 1
        while depth:
            kind, token = next(tokens, ("", b""))
            if not kind:
                return False
            depth += _CLOSES.get(token, 0)
        return next(tokens, ("", b""))[1] in _ENDS
    _, second = next(tokens, ("", b""))
    if second == b"@":
        return True
    return second in _RANGES or (kind == "float" and second in _ENDS)


def _tokens(text: bytes) -> Iterator[tuple[str, bytes]]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup is not None:
            yield match.lastgroup, match[0]
