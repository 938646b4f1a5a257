"""A small canvas of characters: lines in braille or in plain ASCII, and text over them.

plotext, the usual choice, dropped its plotting functions with version 6; what a chart needs of it
fits here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

# Dots of a braille cell by row and column, as offsets from U+2800.
_BRAILLE = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK = 0x2800
_DASH = 4
_RESET = "\x1b[0m"

Cell = tuple[int, int]


def _stroke(across: float, down: float, *, dashed: bool) -> str:
    """Return the ASCII character of a line that goes so many cells."""
    if abs(down) > 1:
        upright = ":" if dashed else "|"
        return upright if abs(across) < 1 else "/"
    return "." if dashed else "-"


@dataclass(slots=True)
class Canvas:
    """Rows and columns of characters.

    Parameters
    ----------
    columns, rows : int
    ascii : bool
        Draw lines with ``-``, ``/``, ``|``, ``.`` and ``:`` instead of braille.
    """

    columns: int
    rows: int
    ascii: bool = False
    _dots: dict[Cell, int] = field(default_factory=dict)
    _strokes: dict[Cell, str] = field(default_factory=dict)
    _text: dict[Cell, str] = field(default_factory=dict)
    _styles: dict[Cell, str] = field(default_factory=dict)

    def line(
        self, start: tuple[float, float], end: tuple[float, float], *, dashed: bool, style: str = ""
    ) -> None:
        """Draw a straight line between two places, in fractions from the lower left corner."""
        wide, high = (1, 1) if self.ascii else (2, 4)
        x0, x1 = (start[0] * self.columns * wide, end[0] * self.columns * wide)
        y0, y1 = ((1 - y) * self.rows * high for y in (start[1], end[1]))
        is_steep = abs(y1 - y0) > abs(x1 - x0)
        steps = max(int(max(abs(x1 - x0), abs(y1 - y0)) * 2), 1)
        for step in range(steps + 1):
            x = math.floor(x0 + (x1 - x0) * step / steps)
            y = math.floor(y0 + (y1 - y0) * step / steps)
            cell = (y // high, x // wide)
            if not self._holds(cell) or (dashed and (y if is_steep else x) % _DASH >= _DASH // 2):
                continue
            if self.ascii:
                self._strokes.setdefault(cell, _stroke(x1 - x0, y1 - y0, dashed=dashed))
            else:
                self._dots[cell] = self._dots.get(cell, 0) | _BRAILLE[y % high][x % wide]
            self._styles.setdefault(cell, style)

    def cell(self, place: tuple[float, float]) -> Cell:
        """Return the cell of a place in fractions from the lower left corner."""
        row = min(max(math.floor((1 - place[1]) * self.rows), 0), self.rows - 1)
        return row, min(max(math.floor(place[0] * self.columns), 0), self.columns - 1)

    def is_free(self, row: int, column: int, text: str) -> bool:
        """Return whether a text fits into the canvas there without touching another."""
        cells = [(row, column + offset) for offset in range(-1, len(text) + 1)]
        return all(self._holds(cell) for cell in cells[1:-1]) and not any(
            cell in self._text for cell in cells
        )

    def strokes_under(self, row: int, column: int, text: str) -> int:
        """Return how many cells with lines a text would hide."""
        cells = ((row, column + offset) for offset in range(len(text)))
        return sum(cell in self._dots or cell in self._strokes for cell in cells)

    def write(self, row: int, column: int, text: str, *, style: str = "") -> None:
        """Write a text over whatever is there."""
        for offset, character in enumerate(text):
            cell = (row, column + offset)
            if self._holds(cell):
                self._text[cell] = character
                # A row may end in blanks, which are cut.
                self._styles[cell] = style if character != " " else ""

    def lines(self, *, color: bool) -> list[str]:
        """Return the rows as text, with terminal colours where asked."""
        return [self._row(row, color) for row in range(self.rows)]

    def _holds(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns

    def _row(self, row: int, color: bool) -> str:
        shown, current = [], ""
        for column in range(self.columns):
            cell = (row, column)
            style = self._styles.get(cell, "") if color else ""
            if style != current:
                shown.append(_RESET * bool(current) + style)
                current = style
            shown.append(self._character(cell))
        return "".join(shown) + _RESET * bool(current)

    def _character(self, cell: Cell) -> str:
        if cell in self._text:
            return self._text[cell]
        if cell in self._dots:
            return chr(_BLANK + self._dots[cell])
        return self._strokes.get(cell, " ")
