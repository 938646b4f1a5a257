"""A program of which only figures are given, on the plane of a roofline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.given_points import PlacedPoint
from ridgepoint.models.work import WORK_UNITS
from ridgepoint.show.chart import Entry, Interval, Line, Mark
from ridgepoint.show.charts.program_marks import letter_label, letter_of, time_unknown
from ridgepoint.show.cycles import shown_rate
from ridgepoint.show.given_text import limits_of, notes_of
from ridgepoint.show.words import percent, printable, shown_cores, shown_intensity


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMarks:
    """A given point on the plane.

    Parameters
    ----------
    index : int
        Its number among all programs, which is its colour and its letter.
    placed : PlacedPoint
    clock_hz : float or None
        Core clock, where rates are told per cycle; None: per second.
    """

    index: int
    placed: PlacedPoint
    clock_hz: float | None = None

    @property
    def letter(self) -> str:
        """Its name on the plane."""
        return letter_of(self.index)

    @property
    def limit_text(self) -> str:
        """Its limit in a few words."""
        return limits_of(self.placed)

    @property
    def has_interval(self) -> bool:
        """Whether an interval is drawn at its point."""
        estimates = (self.placed.intensity, self.placed.performance)
        return any(estimate is not None and estimate.interval for estimate in estimates)

    @property
    def is_capped(self) -> bool:
        """Whether its limit is marked above its point."""
        return self.placed.performance is not None and self._limit is not None

    @property
    def held(self) -> tuple[list[float], list[float]]:
        """Intensities and performances that the frame must hold."""
        placed = self.placed
        x = _ends(placed.intensity)
        limit = () if placed.attainable is None else (placed.attainable.median,)
        return x, [*_ends(placed.performance), *limit]

    @property
    def _limit(self) -> tuple[float, float] | None:
        """Its intensity and what it can attain; None: one is unknown or infinite."""
        placed = self.placed
        if placed.intensity is None or placed.attainable is None:
            return None
        return placed.intensity.median, placed.attainable.median

    def lines(self, y_limits: Interval) -> Iterator[Line]:
        """Yield the line from its point, or the axis, to its limit."""
        if self._limit is not None:
            x, high = self._limit
            reached = self.placed.performance
            low = y_limits[0] if reached is None else reached.median
            yield Line(kind="stem", places=((x, low), (x, high)), ink=self.index)

    def marks(self, x_limits: Interval, *, several: bool) -> Iterator[Mark]:
        """Yield its limit and its point, or only its limit if its time is unknown."""
        label = letter_label(self.letter) if several else None
        placed, limit = self.placed, self._limit
        across = None if placed.intensity is None else placed.intensity.interval
        if placed.performance is None:
            if limit is not None:
                up = None if placed.attainable is None else placed.attainable.interval
                yield Mark(at=limit, ink=self.index, face="hollow", label=label, name=self.letter,
                           x_interval=_within(across, x_limits), y_interval=up,
                           summary=self.summary(say_cores=False),
                           glyph=f"{self.letter}?")  # fmt: skip
                yield time_unknown(at=limit, ink=self.index)
            return
        if limit is not None:
            yield Mark(at=limit, shape="cap", ink=self.index, name=self.letter,
                       summary=f"attainable: {limits_of(placed)}")  # fmt: skip
        x = x_limits[1] if placed.intensity is None else placed.intensity.median
        yield Mark(
            at=(x, placed.performance.median),
            ink=self.index,
            x_interval=_within(across, x_limits),
            y_interval=placed.performance.interval,
            edge="right" if placed.intensity is None else None,
            is_alarming=placed.is_above_roof,
            label=label,
            name=self.letter,
            summary=self.summary(say_cores=False),
            glyph=self.letter,
        )

    def summary(self, *, say_cores: bool) -> str:
        """Return its name and its place in figures."""
        placed, parts = self.placed, []
        unit = WORK_UNITS[placed.metric]
        if placed.performance is None:
            parts.append("time unknown")
        else:
            parts.append(shown_rate(placed.performance.median, unit, clock_hz=self.clock_hz))
        if placed.intensity is not None:
            parts.append(f"{shown_intensity(placed.intensity.median)} {unit}/byte")
        limit = limits_of(placed)
        if placed.efficiency is not None:
            roof = " roof" if placed.bindings[0] in RESOURCES else ""
            above = " (above it)" if placed.is_above_roof else ""
            parts.append(f"{percent(placed.efficiency.median)} of {limit}{roof}{above}")
        elif placed.attainable is not None:
            most = shown_rate(placed.attainable.median, unit, clock_hz=self.clock_hz)
            parts.append(f"at most {most} ({limit})")
        if say_cores:
            parts.append(shown_cores(placed.cores))
        return f"{printable(placed.point.name)} (given): {', '.join(parts)}"

    def entry(self, *, several: bool, say_cores: bool) -> Entry:
        """Return its row of the key."""
        is_marked = self.placed.performance is not None or self._limit is not None
        return Entry(
            text=self.summary(say_cores=say_cores),
            ink=self.index,
            shape="circle" if is_marked else None,
            face="hollow" if self.placed.performance is None else "full",
            lead=self.letter if several else "",
            glyph=self.letter,
        )

    @property
    def notes(self) -> Iterator[str]:
        """Yield what is missing, or not at its true place."""
        if self.placed.performance is None:
            yield (
                "its time is unknown: the mark is the most that its limit allows, at its intensity "
                "at DRAM"
            )
        yield from notes_of(self.placed)


def _ends(estimate: Estimate | None) -> list[float]:
    """Return the value and the ends of its interval, as far as they are on the plane."""
    if estimate is None:
        return []
    ends = (estimate.median, *(estimate.interval or ()))
    return [value for value in ends if 0 < value < math.inf]


def _within(interval: Interval | None, limits: Interval) -> Interval | None:
    return None if interval is None else (interval[0], min(interval[1], limits[1]))
