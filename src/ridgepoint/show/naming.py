"""Labels of a chart: each is put where there is room, so that none lies on another or on a point.

Nothing is drawn here: a chart's lines, marks and areas take their room on the plane, and its
labels find theirs in what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from ridgepoint.show import theme
from ridgepoint.show.chart import Area, Bar, Chart, Ink, Label, Line, Mark
from ridgepoint.show.labels import (
    MOST_CROSSED,
    Box,
    Pair,
    Room,
    Segment,
    along,
    around,
    crosses,
    far_from,
    grid_in,
    holds,
    lead,
)
from ridgepoint.show.sheet import Sheet
from ridgepoint.show.text_size import text_width

_STRAIGHT = math.radians(5)
_LEAST_STEP = 1.0
"""Points: a smaller step of a staircase is not seen."""
_LEAD_COST = 3
_NAMED_AT_END = ("curve", "second", "fit", "total", "limit")
"""Lines that are named beside their last place where no part of them is long enough."""
_ON = (0.0,)
_BESIDE_THEN_ON = (0.6, -0.6, 1.1, -1.1, 0.0)
"""Where a label along a line stands: its middle above the line, in its heights."""
_UNDER = ("lower", "beside")
_LEAST_LENGTH = 0.7
"""Of a label along a line: a shorter line is not named along it."""
_CLEAR = 2
"""Costs of lines that a label may lie on while there is another place farther away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A label that has found its place.

    Parameters
    ----------
    text : str
    box : Box
    ink : int or str
    size : float
    is_bold : bool
    lead : Segment or None
        A line that joins it to its point, as it is not beside it.
    area : int or str or None
        Colour of the area that it lies in; None: it lies in none, or in several.
    is_on_bar : bool
    """

    text: str
    box: Box
    ink: Ink
    size: float
    is_bold: bool
    lead: Segment | None = None
    area: Ink | None = None
    is_on_bar: bool = False


@dataclass(slots=True)
class Naming:
    """Places for the labels of a chart.

    Parameters
    ----------
    chart : Chart
    sheet : Sheet
    placed : list of Placed
    left_out : list of str
        Labels for whose whole text there was no room.
    """

    chart: Chart
    sheet: Sheet
    room: Room = field(init=False)
    placed: list[Placed] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Give lines and marks their room."""
        self.room = Room(frame=self.sheet.frame)
        for line in self.chart.lines:
            self._hold_line(line)
        for mark in self.chart.marks:
            self.room.taken.append(self._around(mark))
            if mark.x_interval is not None:
                ends = [self._at((x, mark.at[1])) for x in mark.x_interval]
                self.room.lines.append(((ends[0], ends[1]), 1))

    def place_all(self) -> None:
        """Place every label, in the order of their ranks."""
        jobs: list[tuple[int, Label, Callable[[str], bool]]] = []

        def add(label: Label | None, name: Callable[[str], bool]) -> None:
            if label is not None and label.text:
                jobs.append((label.rank, label, name))

        for line in self.chart.lines:
            add(line.label, partial(self._name_line, line))
        for mark in self.chart.marks:
            add(mark.label, partial(self._name_mark, mark))
        for area in self.chart.areas:
            add(area.label, partial(self._name_area, area))
        for bar in self.chart.bars:
            add(bar.label, partial(self._name_bar, bar))
        for _, label, name in sorted(jobs, key=lambda job: job[0]):
            if name(label.text):
                continue
            if label.short:
                name(label.short)
            if not label.is_optional:
                self.left_out.append(label.text)

    def _at(self, place: Pair) -> Pair:
        return self.sheet.at(place, self.chart)

    def _hold_line(self, line: Line) -> None:
        places = [self._at(place) for place in line.places]
        if line.kind == "points":
            size = self.sheet.marker * 0.75
            self.room.taken += [Box(centre=place, width=size, height=size) for place in places]
            return
        cost = theme.STROKES[line.kind].cost
        self.room.lines += [(part, cost) for part in self._straight(line)]

    def _around(self, mark: Mark) -> Box:
        """Return the rectangle that a mark and its vertical interval fill."""
        size = 0.0 if mark.shape == "none" else self.sheet.marker * mark.size * 1.2
        (x, y), height = self._at(mark.at), 2.4 if mark.shape == "cap" else size
        low, high = y - height / 2, y + height / 2
        if mark.y_interval is not None:
            ends = [self._at((mark.at[0], end))[1] for end in mark.y_interval]
            low, high = min(low, *ends), max(high, *ends)
        width = size * 1.35 if mark.shape == "cap" else size
        return Box(centre=(x, (low + high) / 2), width=width, height=high - low)

    def _take(
        self,
        label: Label,
        text: str,
        box: Box | None,
        ink: Ink,
        *,
        size: float | None = None,
        joined: Segment | None = None,
        is_on_bar: bool = False,
    ) -> bool:
        """Keep a label's place; return whether there is one."""
        if box is None:
            return False
        placed = Placed(
            text=text,
            box=box,
            ink=ink,
            size=self.sheet.small if size is None else size,
            is_bold=label.is_bold,
            lead=joined,
            area=self._area_of(box),
            is_on_bar=is_on_bar,
        )
        self.placed.append(placed)
        return True

    def _area_of(self, box: Box) -> Ink | None:
        """Return the ink of the area that a label lies in."""
        for area in reversed(self.chart.areas):
            corners = [self._at(corner) for corner in area.corners]
            if all(holds(corners, corner) for corner in box.corners):
                return area.ink
        return None

    def _size_of(self, label: Label, text: str) -> Pair:
        """Return width and height of a label beside something."""
        size = self.sheet.small
        width = text_width(text, size, is_bold=label.is_bold) + 2
        return width, size * 1.1

    def _name_line(self, line: Line, text: str) -> bool:
        """Write a line's label along its longest straight part, or beside one of its places."""
        assert line.label is not None
        ink: Ink = line.ink if line.ink is not None else theme.STROKES[line.kind].ink or "ink"
        ink = "note" if ink in ("faint", "undecided") else ink
        parts = list(self._straight(line))
        if line.label.where != "beside":
            box = self._along(line, text, parts)
            if box is not None:
                return self._take(line.label, text, box, ink)
            # A line that is not within the frame needs no label.
            if not parts or line.kind not in _NAMED_AT_END:
                return not parts
        width, height = self._size_of(line.label, text)
        places = [self._at(place) for place in reversed(line.places)]
        box = self.room.place(
            Box(centre=centre, width=width, height=height)
            for place in places
            for centre in around(place, width, height, marker=self.sheet.marker)
        )
        return self._take(line.label, text, box, ink)

    def _along(self, line: Line, text: str, parts: list[Segment]) -> Box | None:
        """Return a place along a line; None: there is no room."""
        assert line.label is not None
        size = self.sheet.small
        height = size * 1.2
        tight = text_width(text, size, is_bold=line.label.is_bold)
        offsets = _ON if line.kind == "iso" else _BESIDE_THEN_ON
        # What runs close below a roof is named below, where it cannot be taken for that roof.
        down_first = tuple(-offset for offset in offsets) if line.kind in _UNDER else offsets
        for part in sorted(parts, key=lambda part: -math.dist(*part)):
            length = math.dist(*part)
            if length <= tight * _LEAST_LENGTH:
                return None
            upwards = part if part[0][0] <= part[1][0] else (part[1], part[0])
            is_rising = upwards[0][0] < upwards[1][0] and upwards[1][1] - upwards[0][1] > 1
            places = along(
                upwards,
                # Some room at the ends of the line, if it is long enough.
                width=max(min(tight + size, length - 1), tight),
                height=height,
                offsets=[height * offset for offset in (down_first if is_rising else offsets)],
                from_right=not is_rising and line.kind != "iso",
            )
            box = self.room.place(places, own=part)
            if box is not None:
                return box
        return None

    def _name_mark(self, mark: Mark, text: str) -> bool:
        """Write a mark's label beside it, or farther away at the end of a line."""
        assert mark.label is not None
        at = self._at(mark.at)
        width, height = self._size_of(mark.label, text)
        if mark.label.where == "upright":
            centre = (at[0], at[1] + self.sheet.small * 0.35 + width / 2)
            boxes = [Box(centre=centre, width=width, height=height, angle=math.pi / 2)]
            return self._take(
                mark.label, text, self.room.place(boxes), mark.ink, size=self.sheet.small * 0.92
            )
        marker = self.sheet.marker * max(mark.size, 0.8)
        if mark.label.where == "inside" and mark.edge is None and marker >= height:
            middle = Box(centre=at, width=width, height=height)
            if not any(middle.overlaps(label.box) for label in self.placed):
                return self._take(mark.label, text, middle, mark.ink, is_on_bar=True)
        if mark.label.where == "right":
            end = at[0] if mark.x_interval is None else self._at((mark.x_interval[1], at[1]))[0]
            gap = 3 if mark.shape == "none" else marker * 0.75 + 2
            boxes = [Box(centre=(end + gap + width / 2, at[1]), width=width, height=height)]
            return self._take(mark.label, text, self.room.place(boxes), mark.ink)
        near = self._boxes(around(at, width, height, marker=marker), width, height)
        box = self.room.place(near, most=_CLEAR)
        if box is None and not mark.label.is_optional:
            box = self._far(mark, at, width, height)
            if box is not None:
                joined = lead(at, box)
                self.room.lines.append((joined, _LEAD_COST))
                return self._take(mark.label, text, box, mark.ink, joined=joined)
        return self._take(mark.label, text, box or self.room.place(near), mark.ink)

    @staticmethod
    def _boxes(centres: Iterable[Pair], width: float, height: float) -> list[Box]:
        return [Box(centre=centre, width=width, height=height) for centre in centres]

    def _far(self, mark: Mark, at: Pair, width: float, height: float) -> Box | None:
        """Return a place away from a mark, which no other label parts from it."""
        marker = self.sheet.marker * mark.size
        boxes = self._boxes(far_from(at, width, height, marker=marker), width, height)
        names = [label.box for label in self.placed]
        roofs = [line for line, cost in self.room.lines if cost > MOST_CROSSED]
        free = [box for box in boxes if not any(name.meets(lead(at, box)) for name in names)]
        # A line to a label that crosses a roof seems to belong to the other side of it.
        near_side = [box for box in free if not any(crosses(lead(at, box), r) for r in roofs)]
        return self.room.place(near_side, most=_CLEAR) or self.room.place(free, most=_CLEAR)

    def _name_area(self, area: Area, text: str) -> bool:
        """Write an area's label where in it there is most room."""
        assert area.label is not None
        size = self.sheet.font
        corners = [self._at(corner) for corner in area.corners]
        width = text_width(text, size, is_bold=area.label.is_bold) + 4
        height = size * 1.25 * (text.count("\n") + 1)
        box = self.room.place(
            box
            for box in self._boxes(grid_in(corners), width, height)
            if all(holds(corners, corner) for corner in box.corners)
        )
        ink: Ink = "undecided" if area.ink is None else area.ink
        return self._take(area.label, text, box, ink, size=size)

    def _name_bar(self, bar: Bar, text: str) -> bool:
        """Write a bar's label in its middle if it fits; it is never said to be left out."""
        assert bar.label is not None
        (left, y), (right, _) = (self._at((end, bar.row)) for end in (bar.begin, bar.end))
        width, height = self._size_of(bar.label, text)
        if width > right - left:
            return True
        box = self.room.place([Box(centre=((left + right) / 2, y), width=width, height=height)])
        ink: Ink = "ink" if bar.face != "full" else "paper"
        self._take(bar.label, text, box, ink, is_on_bar=True)
        return True

    def _straight(self, line: Line) -> Iterator[Segment]:
        """Yield the straight parts of a line within the frame."""
        places = _seen([self._at(place) for place in line.places])
        start = 0
        for index in range(1, len(places)):
            is_last = index + 1 == len(places)
            if is_last or not _is_straight(places[start], places[index], places[index + 1]):
                part = _within((places[start], places[index]), self.sheet)
                if part is not None:
                    yield part
                start = index


def _seen(places: list[Pair]) -> list[Pair]:
    """Return a line without the steps that no eye can see."""
    seen = places[:1]
    for before, place in pairwise(places):
        if math.dist(place, seen[-1]) > _LEAST_STEP:
            # The corner of a step, where there is one.
            is_step = before[1] == seen[-1][1] and place[0] == before[0]
            seen += [before, place] if is_step and before != seen[-1] else [place]
    return seen if places[-1] == seen[-1] else [*seen, places[-1]]


def _is_straight(first: Pair, middle: Pair, last: Pair) -> bool:
    angles = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in ((first, middle), (middle, last))]
    return abs(angles[0] - angles[1]) < _STRAIGHT


def _within(segment: Segment, sheet: Sheet) -> Segment | None:
    """Return the part of a segment within the frame; None: there is none."""
    (x0, y0), (x1, y1) = segment
    enter, leave = 0.0, 1.0
    for begin, step, size in ((x0, x1 - x0, sheet.width), (y0, y1 - y0, sheet.height)):
        if step == 0:
            if not 0 <= begin <= size:
                return None
            continue
        ends = sorted((-begin / step, (size - begin) / step))
        enter, leave = max(enter, ends[0]), min(leave, ends[1])
    if enter >= leave:
        return None
    first, last = ((x0 + t * (x1 - x0), y0 + t * (y1 - y0)) for t in (enter, leave))
    return first, last
