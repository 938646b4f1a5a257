"""A measured program on the plane of a roofline: its points, its limit, its parts, its key."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from ridgepoint.models.points import Point, limit_of, points_of
from ridgepoint.show.chart import Entry, Interval, Label, Line, Mark, Shape
from ridgepoint.show.charts.parts import ShownPart, ShownParts, shown_parts
from ridgepoint.show.charts.subjects import Subject, summary_of

SHAPES: dict[str, Shape] = {"dram": "circle", "l3": "diamond", "l2": "square", "l1": "triangle"}
"""Of a point over the traffic of each level."""

_SMALL = 0.8
# Areas of discs over that of a program's mark: for no share of the time, and added for all.
_SMALLEST = 0.36
_GROWTH = 1.6
_LETTER_RANK, _UNKNOWN_RANK, _PART_RANK = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramMarks:
    """A program on the plane.

    Parameters
    ----------
    index : int
        Its number, which is its colour.
    subject : Subject
    points : tuple of Point
        Points from the core outwards; empty if nothing can be drawn, and a note says why.
    limit : tuple of float or None
        Intensity at DRAM, and the attainable performance there; None: not known.
    parts : ShownParts
        Regions and functions.
    clock_hz : float or None
        Core clock, where rates are told per cycle; None: per second.
    """

    index: int
    subject: Subject
    points: tuple[Point, ...]
    limit: tuple[float, float] | None
    parts: ShownParts
    clock_hz: float | None = None

    @classmethod
    def of(cls, index: int, subject: Subject, *, clock_hz: float | None = None) -> Self:
        """Return a program with all that is drawn of it."""
        return cls(
            index=index,
            subject=subject,
            points=points_of(subject.analysis),
            limit=limit_of(subject.analysis),
            parts=shown_parts(subject, clock_hz=clock_hz),
            clock_hz=clock_hz,
        )

    @property
    def letter(self) -> str:
        """Its name on the plane."""
        return letter_of(self.index)

    @property
    def is_alone(self) -> bool:
        """Whether only its limit is known, because its time is not."""
        return not self.points and self.limit is not None

    @property
    def limit_text(self) -> str:
        """Its limit in a few words."""
        return self.subject.limit

    @property
    def is_capped(self) -> bool:
        """Whether its limit is marked above its point."""
        return bool(self.points) and self.limit is not None

    @property
    def held(self) -> tuple[list[float], list[float]]:
        """Intensities and performances that the frame must hold."""
        every = [*self.points, *(part.place.point for part in self.parts.drawn)]
        x = [
            value
            for point in every
            for value in (point.intensity, *_ends(point))
            if math.isfinite(value)
        ]
        y = [value for point in every for value in (point.low, point.high) if value > 0]
        limit = self.limit or ()
        return [*x, *limit[:1]], [*y, *limit[1:]]

    def lines(self, x_limits: Interval, y_limits: Interval) -> Iterator[Line]:
        """Yield the lines from its points to each other, to its limit, and to the axis."""
        if len(self.points) > 1:
            places = tuple(drawn_at(point, x_limits) for point in self.points)
            yield Line(kind="path", places=places, ink=self.index)
        if self.limit is not None:
            x, high = self.limit
            heights = [point.performance for point in self.points if point.level == "dram"]
            low = heights[0] if heights else y_limits[0]
            yield Line(kind="stem", places=((x, low), (x, high)), ink=self.index)
        for part in self.parts.drawn:
            x, y = drawn_at(part.place.point, x_limits)
            if not part.place.is_timed:
                yield Line(kind="stem", places=((x, y_limits[0]), (x, y)), ink=self.index)
            if part.place.roof is not None:
                yield Line(kind="above", places=((x, part.place.roof), (x, y)))

    def limit_marks(self, x_limits: Interval) -> Iterator[Mark]:
        """Yield a cap at its limit, and at the roofs of parts that are above theirs."""
        if self.limit is not None and self.is_capped:
            yield Mark(at=self.limit, shape="cap", ink=self.index, name=self.letter,
                       summary=f"attainable: {self.subject.limit}")  # fmt: skip
        for part in self.parts.drawn:
            if part.place.roof is not None:
                at = drawn_at(part.place.point, x_limits)[0], part.place.roof
                yield Mark(at=at, shape="cap", ink="alarm", name=f"roof of {part.label}")

    def part_marks(self, x_limits: Interval, *, several: bool) -> Iterator[Mark]:
        """Yield a disc for each part, with its share of the time as area."""
        # From the top: lines from points to names then rarely cross.
        heights = sorted(-part.place.point.performance for part in self.parts.drawn)
        for part in self.parts.drawn:
            point = part.place.point
            name = f"{self.letter} {part.label}" if several else part.label
            rank = _PART_RANK + heights.index(-point.performance)
            yield Mark(
                at=drawn_at(point, x_limits),
                ink=self.index,
                face="pale" if part.place.is_timed else "hollow",
                x_interval=_across(point, x_limits),
                y_interval=(point.low, point.high) if point.low < point.high else None,
                size=disc_size(part.share),
                edge="right" if math.isinf(point.intensity) else None,
                is_alarming=part.place.roof is not None,
                label=Label(text=name, rank=rank),
                name=name,
                summary=part.summary,
            )

    def marks(self, x_limits: Interval, *, several: bool) -> Iterator[Mark]:
        """Yield its points, or its limit if its time is unknown."""
        letter = letter_label(self.letter) if several else None
        for point in self.points:
            is_dram = point.level == "dram"
            yield Mark(
                at=drawn_at(point, x_limits),
                shape=SHAPES[point.level],
                ink=self.index,
                face="full" if is_dram else "hollow",
                x_interval=_across(point, x_limits),
                y_interval=(point.low, point.high),
                size=1.0 if is_dram else _SMALL,
                edge="right" if math.isinf(point.intensity) else None,
                label=letter if point is self.points[-1] else None,
                name=self.letter,
                summary=self.summary(say_cores=False),
                glyph=self.letter if is_dram else self.letter.lower(),
            )
        if self.is_alone and self.limit is not None:
            yield Mark(at=self.limit, ink=self.index, face="hollow", label=letter,
                       name=self.letter, glyph=f"{self.letter}?")  # fmt: skip
            yield time_unknown(at=self.limit, ink=self.index)

    def summary(self, *, say_cores: bool) -> str:
        """Return its name and its place in figures."""
        place = summary_of(self.subject, say_cores=say_cores, clock_hz=self.clock_hz)
        return f"{self.subject.name}: {place}" if place else self.subject.name

    def entries(self, *, several: bool, say_cores: bool) -> Iterator[Entry]:
        """Yield its rows of the key."""
        is_marked = bool(self.points) or self.is_alone
        yield Entry(
            text=self.summary(say_cores=say_cores),
            ink=self.index,
            shape="circle" if is_marked else None,
            face="hollow" if self.is_alone else "full",
            lead=self.letter if several else "",
            glyph=self.letter,
        )
        for part in self.parts.drawn:
            yield self._part_entry(part)

    def _part_entry(self, part: ShownPart) -> Entry:
        return Entry(
            text=f"{part.subject.name}: {part.summary}",
            ink=self.index,
            shape="circle",
            face="pale" if part.place.is_timed else "hollow",
            is_part=True,
            glyph="!" if part.place.roof is not None else "",
        )


def letter_of(index: int) -> str:
    """Return the name on the plane of a program, by its number: A, B, ... Z, AA, AB, ..."""
    name, number = "", index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = f"{chr(ord('A') + rest)}{name}"
    return name


def letter_label(letter: str) -> Label:
    """Return the letter beside a program's point."""
    return Label(text=letter, rank=_LETTER_RANK, is_bold=True)


def time_unknown(*, at: tuple[float, float], ink: int) -> Mark:
    """Return the words beside the limit of a program whose time is unknown."""
    label = Label(text="time unknown", rank=_UNKNOWN_RANK, is_optional=True)
    return Mark(at=at, shape="none", ink=ink, label=label)


def drawn_at(point: Point, x_limits: Interval) -> tuple[float, float]:
    """Return the place where a point is drawn: the right edge for one at infinity."""
    return min(point.intensity, x_limits[1]), point.performance


def _ends(point: Point) -> tuple[float, ...]:
    return () if point.intensity_range is None else point.intensity_range.ends


def _across(point: Point, x_limits: Interval) -> Interval | None:
    """Return the interval of an intensity as it is drawn: up to the right edge at most."""
    if point.intensity_range is None:
        return None
    low, high = point.intensity_range.ends
    return min(low, x_limits[1]), min(high, x_limits[1])


def disc_size(share: float | None) -> float:
    """Return the size of a part's mark over that of a program's, by its share of the time."""
    return math.sqrt(_SMALLEST + _GROWTH * min(share or 0.0, 1.0))
