"""Where labels go: plain geometry, so that no two of them lie on each other or on a point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

Pair = tuple[float, float]
Segment = tuple[Pair, Pair]

# A label over more than this hides more than it says: two dashed lines and a thin one.
MOST_CROSSED = 5
_ASLANT = math.sin(math.radians(15))
_EIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1))
_FARTHEST = 8
"""Heights of a text that it may stand above or below its point, joined to it by a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle turned around its centre.

    Parameters
    ----------
    centre : tuple of float
    width, height : float
        In the unit of the centre.
    angle : float
        Radians, counterclockwise.
    """

    centre: Pair
    width: float
    height: float
    angle: float = 0.0

    @property
    def corners(self) -> tuple[Pair, ...]:
        """The four corners, counterclockwise."""
        along = (math.cos(self.angle) * self.width / 2, math.sin(self.angle) * self.width / 2)
        across = (-math.sin(self.angle) * self.height / 2, math.cos(self.angle) * self.height / 2)
        signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        return tuple(
            (
                self.centre[0] + a * along[0] + b * across[0],
                self.centre[1] + a * along[1] + b * across[1],
            )
            for a, b in signs
        )

    @property
    def extent(self) -> Pair:
        """How far it reaches from its centre, across and upwards."""
        x, y = abs(math.cos(self.angle)), abs(math.sin(self.angle))
        return (self.width * x + self.height * y) / 2, (self.width * y + self.height * x) / 2

    def overlaps(self, other: Box) -> bool:
        """Return whether the two share any area."""
        # Most are far apart, which is seen at once.
        across, up = (mine + its for mine, its in zip(self.extent, other.extent, strict=True))
        if abs(self.centre[0] - other.centre[0]) >= across:
            return False
        if abs(self.centre[1] - other.centre[1]) >= up:
            return False
        axes = (self.angle, self.angle + math.pi / 2, other.angle, other.angle + math.pi / 2)
        return not any(_apart(self.corners, other.corners, angle) for angle in axes)

    def meets(self, segment: Segment) -> bool:
        """Return whether a straight line from one place to another touches the rectangle."""
        (x0, y0), (x1, y1) = segment
        axes = (self.angle, self.angle + math.pi / 2, math.atan2(y1 - y0, x1 - x0) + math.pi / 2)
        return not any(_apart(self.corners, segment, angle) for angle in axes)

    def within(self, other: Box) -> bool:
        """Return whether it lies inside a rectangle that is not turned."""
        (left, bottom), (right, top) = other.corners[0], other.corners[2]
        return all(left <= x <= right and bottom <= y <= top for x, y in self.corners)


def _apart(first: Sequence[Pair], second: Sequence[Pair], angle: float) -> bool:
    """Return whether a gap separates two convex shapes in one direction."""
    x, y = math.cos(angle), math.sin(angle)
    ends, others = ([px * x + py * y for px, py in shape] for shape in (first, second))
    return max(ends) <= min(others) or max(others) <= min(ends)


@dataclass(slots=True)
class Room:
    """The room that is left for labels.

    Parameters
    ----------
    frame : Box
        No label leaves it.
    lines : list of (Segment, int)
        Labels avoid them, the more the higher the number, but may lie on them if there is no
        better place.
    taken : list of Box
        Labels never lie on these.
    """

    frame: Box
    lines: list[tuple[Segment, int]] = field(default_factory=list)
    taken: list[Box] = field(default_factory=list)

    def place(
        self,
        candidates: Iterable[Box],
        *,
        own: Segment | None = None,
        most: int = MOST_CROSSED,
    ) -> Box | None:
        """Take the first candidate that crosses least; None: there is no room.

        Parameters
        ----------
        candidates : iterable of Box
            The preferred one first.
        own : Segment or None
            The line that is being labelled, which may be crossed. One that runs beside it, and
            between it and the label, would be taken for it, and counts as crossed.
        most : int
            What all lines that it crosses may cost.
        """
        best: tuple[int, Box] | None = None
        for box in candidates:
            if not box.within(self.frame) or any(box.overlaps(other) for other in self.taken):
                continue
            crossed = sum(
                cost
                for line, cost in self.lines
                if line != own and (box.meets(line) or _parts(line, box, own))
            )
            if crossed <= most and (best is None or crossed < best[0]):
                best = (crossed, box)
            if crossed == 0:
                break
        if best is None:
            return None
        self.taken.append(best[1])
        return best[1]


def _parts(line: Segment, box: Box, own: Segment | None) -> bool:
    """Return whether a line runs between a label and its own line, in nearly their direction."""
    if own is None:
        return False
    angles = [math.atan2(y1 - y0, x1 - x0) for (x0, y0), (x1, y1) in (line, own)]
    if abs(math.sin(angles[0] - angles[1])) > _ASLANT:
        return False
    (x0, y0), (x, y) = own[0], box.centre
    up = (y - y0) * math.cos(box.angle) - (x - x0) * math.sin(box.angle)
    middle = (x + up / 2 * math.sin(box.angle), y - up / 2 * math.cos(box.angle))
    return replace(box, centre=middle, height=abs(up)).meets(line)


def along(
    segment: Segment,
    *,
    width: float,
    height: float,
    offsets: Sequence[float],
    from_right: bool,
) -> list[Box]:
    """Return places for a text on a line and turned with it.

    Parameters
    ----------
    segment : Segment
        The line, left end first.
    width, height : float
        Of the text.
    offsets : sequence of float
        Distances of the middle of a text above the line, the preferred one first.
    from_right : bool
        Which end is preferred.

    Returns
    -------
    list of Box
        Where the line is shorter than the text: one, flush with its right end.
    """
    (x0, y0), (x1, y1) = segment
    angle, length = math.atan2(y1 - y0, x1 - x0), math.hypot(x1 - x0, y1 - y0)

    def box(at: float, offset: float) -> Box:
        x = x0 + at * math.cos(angle) - offset * math.sin(angle)
        y = y0 + at * math.sin(angle) + offset * math.cos(angle)
        return Box(centre=(x, y), width=width, height=height, angle=angle)

    if length <= width:
        return [box(length - width / 2, offsets[0])]
    steps = max(int((length - width) / height * 3), 1)
    places = [width / 2 + (length - width) * step / steps for step in range(steps + 1)]
    ordered = places[::-1] if from_right else places
    return [box(at, offset) for offset in offsets for at in ordered]


def around(at: Pair, width: float, height: float, *, marker: float) -> Iterator[Pair]:
    """Yield middles of texts of a size around a point, the nearest first.

    Parameters
    ----------
    at : tuple of float
    width, height : float
        Of the text.
    marker : float
        Size of what is drawn at the point.
    """
    for far in (1.0, 1.6, 2.4):
        gap = marker * 0.75 * far
        for right, up in _EIGHT:
            diagonal = math.sqrt(0.5) if right and up else 1.0
            yield (
                at[0] + right * (width / 2 + gap * diagonal),
                at[1] + up * (height / 2 + gap * diagonal),
            )


def far_from(at: Pair, width: float, height: float, *, marker: float) -> Iterator[Pair]:
    """Yield middles of texts farther from a point, to which a line may join them."""
    for reach in (1.5, 4.0, 8.0):
        beside = marker / 2 + 2 + width / 2 + reach * height
        for step in range(_FARTHEST + 1):
            for right, up in ((1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1)):
                if step or right:
                    yield at[0] + right * beside, at[1] + up * (marker / 2 + 2 + step * height)


def lead(at: Pair, box: Box) -> Segment:
    """Return the shortest line from a point to a text that is not turned."""
    (left, bottom), (right, top) = box.corners[0], box.corners[2]
    return at, (min(max(at[0], left), right), min(max(at[1], bottom), top))


def grid_in(corners: list[Pair]) -> list[Pair]:
    """Return places in the rectangle around a polygon, those nearest to its middle first."""
    across, up = zip(*corners, strict=True)
    middle = (sum(across) / len(across), sum(up) / len(up))
    left, bottom, width, height = min(across), min(up), max(across) - min(across), max(up) - min(up)
    places = (
        (left + width * i / 16, bottom + height * j / 24)
        for i in range(1, 16)
        for j in range(1, 24)
    )
    return sorted(places, key=lambda place: math.dist(place, middle))


def holds(corners: list[Pair], place: Pair) -> bool:
    """Return whether a convex polygon, counterclockwise, holds a place."""
    return all(
        (x1 - x0) * (place[1] - y0) - (y1 - y0) * (place[0] - x0) >= 0
        for (x0, y0), (x1, y1) in pairwise([*corners, corners[0]])
    )


def crosses(first: Segment, second: Segment) -> bool:
    """Return whether two straight lines cross."""
    (x0, y0), (x1, y1) = first
    length, angle = math.dist(*first), math.atan2(y1 - y0, x1 - x0)
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    return Box(centre=middle, width=length, height=0.01, angle=angle).meets(second)
