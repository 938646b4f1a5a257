"""The plane of a chart in characters: lines, bars and marks, each named where there is room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

from ridgepoint.show.axes import share_of
from ridgepoint.show.canvas import Canvas, Cell
from ridgepoint.show.chart import Area, Bar, Chart, Face, Ink, Label, Line, Mark, Place, Shape
from ridgepoint.show.labels import grid_in, holds
from ridgepoint.show.theme import STROKES

_TICK_COLUMNS = 7
"""Columns left of the axis, unless it names rows."""
_MARGIN_ROWS = 3
"""Rows below the axis: itself, ticks, label."""
_SMALLEST_MARK = 0.5
"""What is smaller in a picture is not drawn: a letter is larger than it is."""
_EDGE = 1e-9
"""Rounding: a place so little beyond the frame is on it."""

SOLID = ("roof", "curve", "total", "change")
"""Lines that are not broken: other than in pictures, all are equally thick."""
_STRONG = ("roof", "curve")
_GLYPHS = {
    "circle": "●○", "square": "■□", "triangle": "▲△", "diamond": "◆◇", "down": "▼▽",
    "plus": "++", "cross": "xx", "star": "★☆", "cap": "┬┬",
}  # fmt: skip
"""A full and a hollow mark of every shape."""
_ALARM = "!"
_BLOCKS = ("█", "▓")
"""Of bars; neighbours have other inks, and so other blocks where there are no colours."""
_PALE_BLOCKS = {"pale": "░", "hollow": "░", "hatched": "▒"}

_BOLD, _DIM = "1", "2"
_PALETTE = ("34", "31", "32", "35", "33", "36")
_CODES = {
    "ink": "", "note": _DIM, "faint": _DIM, "interval": _DIM, "undecided": _DIM,
    "alarm": "31", "compute": "34", "memory": "32", "network": "31",
}  # fmt: skip


def style_of(ink: Ink, *, bold: bool = False) -> str:
    """Return the escape that begins an ink; empty: that of plain text."""
    code = _PALETTE[ink % len(_PALETTE)] if isinstance(ink, int) else _CODES[ink]
    codes = [*([_BOLD] if bold and code != _DIM else []), *([code] if code else [])]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def glyph_of(shape: Shape, face: Face) -> str:
    """Return what stands for a shape; empty for none."""
    return "" if shape == "none" else _GLYPHS[shape][face == "hollow"]


@dataclass(slots=True, kw_only=True)
class TextPlane:
    """A chart drawn on a canvas.

    Parameters
    ----------
    chart : Chart
    canvas : Canvas
    tick_columns : int
        Columns left of the axis.
    """

    chart: Chart
    canvas: Canvas
    tick_columns: int
    _owners: dict[Cell, str] = field(default_factory=dict)
    _under: dict[str, str] = field(default_factory=dict)
    _unwritten: list[Line] = field(default_factory=list)
    _nameless: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, chart: Chart, *, width: int, height: int, ascii: bool) -> Self:
        """Return a chart drawn on so many columns and rows, its axes included."""
        ticks, rows = _TICK_COLUMNS, height - _MARGIN_ROWS
        if chart.y.scale == "rows":
            longest = max((len(text) for _, text in chart.y.ticks), default=0)
            ticks, rows = min(max(longest, ticks), width // 3), 2 * len(chart.y.ticks) + 1
        beyond = chart.right.ticks if chart.right is not None else ()
        at_right = max((len(text) + 1 for _, text in beyond), default=0)
        canvas = Canvas(columns=width - ticks - 2 - at_right, rows=rows, ascii=ascii)
        plane = cls(chart=chart, canvas=canvas, tick_columns=ticks)
        for line in chart.lines:
            plane._draw_line(line)
        for bar in chart.bars:
            plane._draw_bar(bar)
        plane._put_marks()
        plane._put_labels()
        return plane

    def framed(self, *, color: bool) -> list[str]:
        """Return the canvas with its axes and ticks."""
        chart, canvas, columns = self.chart, self.canvas, self.tick_columns
        at_left = {self._cell((chart.x.limits[0], y))[0]: text for y, text in chart.y.ticks}
        beyond = chart.right.ticks if chart.right is not None else ()
        at_right = {self._cell((chart.x.limits[0], y))[0]: f" {text}" for y, text in beyond}
        corner, rule, post, tick = ("+", "-", "|", "+") if canvas.ascii else ("└", "─", "│", "┤")
        rows = [
            f"{at_left.get(number, '')[:columns]:>{columns}} {tick if number in at_left else post}"
            f"{line}{at_right.get(number, '')}"
            for number, line in enumerate(canvas.lines(color=color))
        ]
        below = [" "] * (canvas.columns + columns + 2)
        for x, text in chart.x.ticks:
            at = self._cell((x, chart.y.limits[0]))[1] + columns + 2
            start = min(at - len(text) // 2, len(below) - len(text))
            if all(mark == " " for mark in below[max(start - 1, 0) : start + len(text) + 1]):
                below[start : start + len(text)] = text
        axis = " " * (columns + 1) + corner + rule * canvas.columns
        return [*rows, axis, "".join(below), f"{chart.x.label:>{len(below)}}"]

    def unwritten(self) -> list[str]:
        """Return the labels of lines that are not on the plane, or not in full."""
        labels: dict[str, list[str]] = {}
        for line in sorted(self._unwritten, key=self.chart.lines.index):
            if line.label is not None:
                labels.setdefault(self._direction(line), []).append(line.label.text)
        return [f"{direction}{'; '.join(texts)}" for direction, texts in labels.items()]

    def hidden(self) -> list[str]:
        """Return which marks lie under others, and which have no name."""
        notes = []
        under = dict(reversed(self._under.items()))
        for owner in dict.fromkeys(under.values()):
            names = [name for name, over in under.items() if over == owner]
            verb = "their points lie" if len(names) > 1 else "its point lies"
            notes.append(f"{', '.join(names)}: {verb} under {owner}")
        if self._nameless:
            notes.append(f"not named for want of room: {'; '.join(self._nameless)}")
        return notes

    def _fractions(self, place: Place) -> Place:
        return share_of(place[0], self.chart.x), share_of(place[1], self.chart.y)

    def _cell(self, place: Place) -> Cell:
        """Return the cell of a place, or the nearest one."""
        return self.canvas.cell(self._fractions(place))

    def _holds(self, place: Place) -> bool:
        return all(-_EDGE <= share <= 1 + _EDGE for share in self._fractions(place))

    def _draw_line(self, line: Line) -> None:
        """Draw the strokes of a line, and the shapes at its places."""
        style = _line_style(line)
        if line.kind != "points":
            for start, end in pairwise(map(self._fractions, line.places)):
                self.canvas.line(start, end, dashed=line.kind not in SOLID, style=style)
        if line.shape is not None:
            for place in filter(self._holds, line.places):
                self.canvas.write(*self._cell(place), glyph_of(line.shape, "full"), style=style)

    def _draw_bar(self, bar: Bar) -> None:
        """Draw a bar one row high, with its label in it where that fits."""
        (row, first), (_, last) = self._cell((bar.begin, bar.row)), self._cell((bar.end, bar.row))
        length, style = max(last - first, 1), style_of(bar.ink)
        full = _BLOCKS[bar.ink % len(_BLOCKS) if isinstance(bar.ink, int) else 0]
        block = _PALE_BLOCKS.get(bar.face, full)
        self.canvas.write(row, first, block * length, style=style)
        if bar.label is not None and len(bar.label.text) + 2 <= length:
            text = f" {bar.label.text} "
            self.canvas.write(row, first + (length - len(text)) // 2, text, style=style)

    def _put_marks(self) -> None:
        """Write what stands for every mark; those that lie on others come last in a chart."""
        in_key = {entry.glyph or glyph_of(entry.shape or "none", entry.face)
                  for entry in self.chart.key}  # fmt: skip
        for mark in reversed(self.chart.marks):
            glyph = _mark_glyph(mark)
            if not glyph:
                continue
            row, column = self._glyph_cell(mark, glyph)
            cells = [(row, column + offset) for offset in range(len(glyph))]
            owner = next((self._owners[cell] for cell in cells if cell in self._owners), None)
            if owner is None:
                self.canvas.write(row, column, glyph, style=style_of(mark.ink, bold=True))
                self._owners |= dict.fromkeys(cells, mark.name)
            elif owner != mark.name and mark.shape != "cap" and glyph in in_key:
                self._under[mark.name] = owner

    def _glyph_cell(self, mark: Mark, glyph: str) -> Cell:
        row, column = self._cell(mark.at)
        return row, min(column, self.canvas.columns - len(glyph))

    def _put_labels(self) -> None:
        """Write every label where there is room, the lowest rank first."""
        owners: list[Line | Mark | Area] = [
            *self.chart.lines, *self.chart.marks, *self.chart.areas,
        ]  # fmt: skip
        labelled = [(owner.label, owner) for owner in owners if owner.label and owner.label.text]
        for label, owner in sorted(labelled, key=lambda pair: pair[0].rank):
            if isinstance(owner, Line):
                self._name_line(owner, label)
            elif isinstance(owner, Mark):
                self._name_mark(owner, label)
            else:
                self._name_area(owner, label)

    def _name_line(self, line: Line, label: Label) -> None:
        """Write a line's label on it or beside it, or its short one where that is turned."""
        if not any(map(self._holds, line.places)):
            return
        for text in filter(None, dict.fromkeys((label.text, label.short))):
            places = self._places_by_line(line, label, text)
            place = next((place for place in places if self.canvas.is_free(*place, text)), None)
            if place is not None:
                row, column = place
                is_within = any(row == first[0] == last[0] for first, last in self._parts(line))
                gap = " " * is_within
                written = f"{gap}{text}{gap}"
                self.canvas.write(row, column - len(gap), written, style=_line_style(line))
                if text == label.text:
                    return
                break
        if not label.is_optional:
            self._unwritten.append(line)

    def _clearest(self, places: Iterable[Cell], text: str) -> Cell:
        """Return the first of the places at which a text hides least of the lines."""
        return min(places, key=lambda place: self.canvas.strokes_under(place[0], place[1], text))

    def _places_by_line(self, line: Line, label: Label, text: str) -> Iterator[Cell]:
        """Yield where a text may name a line, the best place first."""
        length, is_curve = len(text), len(line.places) > 2
        if label.where not in ("beside", "right"):
            for left, right in sorted(self._parts(line), key=lambda part: -math.dist(*part)):
                if is_curve and math.dist(left, right) < length:
                    break
                if left[0] == right[0]:
                    yield from _on_level(left, right, length)
                elif left[1] == right[1]:
                    yield from _by_upright(left, right, length)
                elif text != label.text:
                    yield from _on_slope(left, right, length)
        if is_curve or label.where in ("beside", "right"):
            for place in reversed([*filter(self._holds, line.places)]):
                yield from _around(self._cell(place), length)

    def _parts(self, line: Line) -> Iterator[tuple[Cell, Cell]]:
        """Yield the ends of the straight parts of a line, the left one or the upper one first."""
        for start, end in pairwise(line.places):
            if self._holds(start) or self._holds(end):
                first, last = self._cell(start), self._cell(end)
                yield (first, last) if (first[1], first[0]) <= (last[1], last[0]) else (last, first)

    def _name_mark(self, mark: Mark, label: Label) -> None:
        """Write a mark's label beside it, unless its glyph says the same or is not there."""
        glyph, text = _mark_glyph(mark), label.text
        is_missing = mark.shape != "none" and (not glyph or mark.name in self._under)
        if is_missing or text.casefold() == glyph.casefold():
            return
        at = self._cell(mark.at)
        # Two names in one row stand two columns apart, lest they read as one.
        free = [
            (row, column)
            for row, column in _around(at, len(text))
            if self.canvas.is_free(row, column, text)
            and (row == at[0] or self.canvas.is_free(row, column - 1, f" {text} "))
        ]
        if free:
            best = self._clearest(free, text)
            self.canvas.write(*best, text, style=style_of(mark.ink, bold=True))
        elif not label.is_optional:
            self._nameless.append(text)

    def _name_area(self, area: Area, label: Label) -> None:
        """Write an area's label in it, as near to its middle as it hides no line."""
        rows = label.text.splitlines()
        corners = [self._fractions(corner) for corner in area.corners]
        style = style_of("ink" if area.ink is None else area.ink, bold=True)
        placed = []
        for middle in grid_in(corners):
            row, column = self.canvas.cell(middle)
            row -= (len(rows) - 1) // 2
            places = [(row + at, column - len(text) // 2) for at, text in enumerate(rows)]
            if all(
                self.canvas.is_free(*at, text) and self._is_within(at, text, corners)
                for at, text in zip(places, rows, strict=True)
            ):
                hidden = sum(map(self.canvas.strokes_under, *zip(*places, strict=True), rows))
                placed.append((hidden, places))
        if placed:
            for at, text in zip(min(placed, key=lambda place: place[0])[1], rows, strict=True):
                self.canvas.write(*at, text, style=style)
        elif not label.is_optional:
            self._nameless.append(" ".join(rows))

    def _is_within(self, cell: Cell, text: str, corners: list[Place]) -> bool:
        """Return whether both ends of a text lie in a polygon."""
        row, column = cell
        y = 1 - (row + 0.5) / self.canvas.rows
        ends = (column / self.canvas.columns, (column + len(text)) / self.canvas.columns)
        return all(holds(corners, (x, y)) for x in ends)

    def _direction(self, line: Line) -> str:
        """Return which lines are meant, as the beginning of a list of their labels."""
        if all(first[1] == last[1] for first, last in self._parts(line)):
            return "upright: "
        return "" if line.kind in SOLID else "dashed: "


def _line_style(line: Line) -> str:
    stroke = STROKES[line.kind]
    ink = line.ink if line.ink is not None else stroke.ink
    return style_of("ink" if ink is None else ink, bold=line.kind in _STRONG)


def _mark_glyph(mark: Mark) -> str:
    """Return what stands for a mark; empty: nothing."""
    if mark.shape == "none" or mark.size < _SMALLEST_MARK:
        return ""
    return mark.glyph or (_ALARM if mark.is_alarming else glyph_of(mark.shape, mark.face))


def _on_level(left: Cell, right: Cell, length: int) -> list[Cell]:
    """Return places on a level line from its right end, where no other line can be meant."""
    flush = right[1] - length + 1
    columns = range(flush, left[1], -1)
    within = [(left[0] + down, column) for down in (0, -1, 1) for column in columns]
    return within or [(left[0] - 1, flush), (left[0] + 1, flush)]


def _by_upright(top: Cell, bottom: Cell, length: int) -> list[Cell]:
    """Return places beside an upright line, from its top."""
    rows = range(top[0], bottom[0] + 1)
    return [(row, column) for row in rows for column in (top[1] + 1, top[1] - length)]


def _on_slope(left: Cell, right: Cell, length: int) -> list[Cell]:
    """Return places centred on a line, from its left end."""
    rise, run = right[0] - left[0], right[1] - left[1]
    steps = range(length, run)
    return [(round(left[0] + rise * at / run), left[1] + at - length // 2) for at in steps]


def _around(cell: Cell, length: int) -> list[Cell]:
    """Return places beside a cell, then above and below it."""
    row, column = cell
    middle = column - length // 2
    beside = [(row, column + 2), (row, column - length - 1)]
    aslant = [
        (near, at) for near in (row - 1, row + 1) for at in (middle, column, column - length + 1)
    ]
    return beside + aslant
